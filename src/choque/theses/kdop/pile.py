"""The six runs of the k-DOP thesis: a tower of convex bodies that falls and spreads, measured frame by frame."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Integer
from choque.broad import BroadPhase
from choque.broad.sap_kdop import SapKdop
from choque.lab.stopwatch import Clock, Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict
from choque.narrow.convex.cores import Cores, cores_of_shapes
from choque.narrow.shapes import CONVEX
from choque.theses.kdop import frames as frame_tables
from choque.theses.kdop.frames import FrameRow
from choque.theses.kdop.particles import Matching, match_shape, rest_shapes
from choque.theses.kdop.shape_matching import ShapeMatching
from choque.theses.kdop.tower import Tower
from choque.world import StepReport, World

PRESSED = 0.15
"""Share of its height by which a body is flattened from below before it is matched, as resting bodies are."""
REPEATS = 3

Points = NDArray[np.float64]


def seconds_a_match(world: World, most: int = 256, clock: Clock = time.perf_counter) -> float:
    """Return the seconds to match the shape of one of the first ``most`` convex bodies; ``world`` is not changed.

    Their particles are pressed from below, then matched; the time of pressing is subtracted.
    """
    rows = np.flatnonzero(world.bodies.kind == CONVEX)[:most].astype(np.int32)
    cores, places = cores_of_shapes(world.bodies.shapes(), np.stack((rows, rows), axis=1), 1)
    bodies = np.unique(places[:, 0]).astype(np.int64)
    rest, mean = np.empty_like(cores.points), np.zeros((len(cores.spans), 3))
    rest_shapes(cores, rest, mean)
    pressed = cores.points.copy()
    for first, last in cores.spans[bodies, :2].tolist():
        height = pressed[first:last, 1]
        np.maximum(height, height.min() + PRESSED * np.ptp(height), out=height)
    _go(cores, bodies[:1], pressed, rest, mean, True)  # compiles
    spent = [_timed(clock, cores, bodies, pressed, rest, mean, matches) for matches in (True, False)]
    return max(spent[0] - spent[1], 0.0) / len(bodies)


def _timed(
    clock: Clock, cores: Cores, bodies: NDArray[np.int64], pressed: Points, rest: Points, mean: Points, matches: bool
) -> float:
    best = np.inf
    for _ in range(REPEATS):
        begin = clock()
        _go(cores, bodies, pressed, rest, mean, matches)
        best = min(best, clock() - begin)
    return float(best)


@kernel
def _go(cores: Cores, bodies: NDArray[np.int64], pressed: Points, rest: Points, mean: Points, matches: bool) -> None:
    """Put the particles of each body where they were pressed to, and match its shape if wanted."""
    count = len(cores.spans)
    turn, state, version = np.zeros((count, 3, 3)), np.zeros(count, np.uint8), np.zeros(count, np.int64)
    matching = Matching(rest, mean, turn, state, version)
    work, moment, counts = np.empty((5, 3, 3)), np.empty((3, 3)), np.zeros(5, np.int64)
    for at in range(len(bodies)):
        body: Integer = bodies[at]
        for row in range(cores.spans[body, 0], cores.spans[body, 1]):
            for axis in range(3):
                cores.points[row, axis] = pressed[row, axis]
        if matches:
            match_shape(cores, body, matching, work, moment, counts)


BODIES, GROUND = "convex-convex", "convex-plane"
COST_INTERVAL = 500
"""Frames between two measurements of the time to match a shape."""
WARM_UP_FRAMES = 120
"""Enough for the bodies of a low tower to touch each other and the ground."""
MAX_FRAME_SECONDS = 0.04
"""Worst-case seconds of a frame of 512 bodies, to estimate a run beforehand; in proportion for others."""


class PileTrial(Trial):
    """A tower with one kind of bounding volume, from its start to its last frame.

    Parameters
    ----------
    tower
        The initial state of every run.
    volume
        The bounds that ``sap-kdop`` is given.
    frames
        Steps of a run.
    folder
        Folder of the tables of frames; None to write none.
    """

    def __init__(self, tower: Tower, volume: str, frames: int, folder: Path | None = None) -> None:
        self.name, self.tower, self.frames, self.folder = volume, tower, frames, folder
        self.rows: list[FrameRow] = []
        """One for each frame of the latest run."""
        self.landed: int | None = None
        """The frame in which the last body touched something for the first time."""
        self.start_hash = tower.world(bounds=volume, threads=1).hash()
        self._world: World | None = None

    def prepare(self) -> None:
        """Put the bodies where they start."""
        self._world = self.tower.world(bounds=self.name, threads=1)

    def run(self, watch: Stopwatch) -> None:
        """Make all steps."""
        if self._world is None or self._world.frame:
            self.prepare()
        world = self._world
        assert world is not None
        self.rows, self.landed = [], None
        untouched = np.ones(len(world), np.bool_)
        match_seconds = 0.0
        for frame in range(self.frames):
            if frame % COST_INTERVAL == 0:
                match_seconds = seconds_a_match(world, clock=self.clock)
            watch.skip()
            began = self.clock()
            report = world.step(self.tower.dt)
            # A world measures its stages in wall time; their shares are applied to the clock of the study.
            pace = (self.clock() - began) / report.total_seconds
            parts = self._parts(world, report, match_seconds / pace)
            watch.divide(parts, report.total_seconds)
            self.rows.append(self._row(world, report, parts, 1e3 * pace))
            if self.landed is None:
                untouched[world.contacts().pairs.reshape(-1)] = False
                if not untouched[1:].any():
                    self.landed = report.frame
        watch.skip()

    def release(self) -> None:
        """Write the tables of the run."""
        if self.folder is not None:
            tower = self.tower
            name = frame_tables.file_name(tower.preset, tower.elongation, self.name, tower.n, tower.seed)
            frame_tables.write(self.folder, name, self.rows)

    def warm_up(self, patience: float) -> None:
        """Run a few steps to compile. Early frames are cheap, so the full run is bounded by a worst-case estimate."""
        worst = self.frames * MAX_FRAME_SECONDS * self.tower.n / 512
        if worst > patience:
            raise CutOff(f"might take {worst:.0f} s; {patience:g} s are allowed")
        low = Tower(8, preset="reproduce", elongation=self.tower.elongation)
        world = low.world(bounds=self.name, threads=1)
        for _ in range(WARM_UP_FRAMES):
            world.step(low.dt)
        seconds_a_match(world)

    def check(self) -> Verdict:
        """Check that all numbers are finite, and that the candidates of the last frame contain all contacts."""
        world = self._world
        assert world is not None
        bodies = world.bodies
        if not (np.isfinite(bodies.position).all() and np.isfinite(bodies.rotation).all()):
            return Verdict("wrong", "a body's pose is no longer finite")
        found = world.shadow(world.settings.broad, bounds=self.name).find(bodies).contacts.pairs
        expected = world.shadow("brute", bounds="box").find(bodies).contacts.pairs
        if not np.array_equal(found, expected):
            return Verdict("wrong", f"{len(found)} collisions behind the volumes, {len(expected)} among all pairs")
        return Verdict("exact")

    def counters(self) -> Mapping[str, int | float]:
        """Return means over the frames of the latest run, and the maximum number of pairs."""
        columns = {name: np.array([getattr(row, name) for row in self.rows]) for name in frame_tables.COUNTS}
        means = {
            f"mean_{name}": float(columns[name].mean())
            for name in frame_tables.COUNTS
            if name not in ("frame", "pca_changes") and not name.startswith("axis")
        }
        return {
            "frames": len(self.rows),
            "most_pairs": int(columns["pairs"].max()),
            "most_body_pairs": int(columns["body_pairs"].max()),
            "axis_changes": int(columns["pca_changes"][-1]),
            **means,
        }

    def facts(self) -> Mapping[str, int | float | str]:
        """Return the hash of the start, and the frames in which the last body lands and the axis first turns."""
        turned = next((row.frame for row in self.rows if row.axis_y == 0), None)
        facts = {"start_hash": f"{self.start_hash:016x}", "landed": self.landed, "axis_turned": turned}
        return {name: value for name, value in facts.items() if value is not None}

    def _parts(self, world: World, report: StepReport, match_seconds: float) -> dict[str, float]:
        """Return the wall seconds of each stage, which add up to those of the step."""
        spent, stages = report.seconds, _broad_of(world).stage_seconds
        matching = min(int(_response_of(world).counts[2:4].sum()) * match_seconds, spent["response"])
        return {
            "build": spent["bounds"],
            "pca": stages["axis"],
            "projection": stages["projection"],
            "radix": stages["sort"],
            "prune": max(spent["broad"] - sum(stages.values()), 0.0),
            "narrow": spent["narrow"],
            "gjk_epa": spent["response"] - matching,
            "shape_matching": matching,
            "integrate": spent["integrate"],
        }

    def _row(self, world: World, report: StepReport, parts: Mapping[str, float], scale: float) -> FrameRow:
        """Return a row of the table; ``scale`` converts wall seconds to milliseconds of the study's clock."""
        tests, _, matched, skipped = _response_of(world).counts[:4].tolist()
        pairs, hits = (
            {kinds: getattr(report.tally[kinds], name) if kinds in report.tally else 0 for kinds in (BODIES, GROUND)}
            for name in ("tests", "contacts")
        )
        times = {stage: scale * seconds for stage, seconds in parts.items()}
        narrow = times.pop("narrow")
        broad = _broad_of(world)
        return FrameRow(
            frame=report.frame,
            **times,
            sap=times["projection"] + times["radix"] + times["prune"],
            pairs=report.pairs,
            body_pairs=pairs[BODIES],
            ground_pairs=pairs[GROUND],
            true_pairs=report.contacts,
            true_body_pairs=hits[BODIES],
            true_ground_pairs=hits[GROUND],
            false_positives=report.pairs - report.contacts,
            gjk_epa_count=tests,
            shape_matching_count=matched + skipped,
            pca_changes=len(broad.axis_changes) - 1,
            axis_x=broad.axis[0],
            axis_y=broad.axis[1],
            axis_z=broad.axis[2],
            frame_time=scale * report.total_seconds - narrow,
        )


def _broad_of(world: World) -> SapKdop:
    broad = world.detection.broad_phase
    assert isinstance(broad, BroadPhase)
    assert isinstance(broad.index, SapKdop)
    return broad.index


def _response_of(world: World) -> ShapeMatching:
    response = world.response
    assert isinstance(response, ShapeMatching)
    return response

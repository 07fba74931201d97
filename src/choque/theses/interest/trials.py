"""Runs in the arena: one as a configuration file says, and those that the study of the thesis measures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import choque
from choque._core import threads
from choque._core.kernel import kernel
from choque._core.pair_keys import pack_pairs
from choque._core.types import Pairs, Progress
from choque.bounds import Boxes, Spheres
from choque.broad import BroadPhase
from choque.files.csv_table import write_columns
from choque.interest import Areas
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import Trial
from choque.lab.verdict import Verdict
from choque.theses.evm.objects import sphere_mesh
from choque.theses.evm.triangles import triangles_meet
from choque.theses.interest.arena import Arena
from choque.theses.interest.config import InterestConfig
from choque.theses.interest.methods import SCANNING, make_method
from choque.theses.interest.repeated_pairs import distinct_by_scan

Triangles = NDArray[np.float64]
"""(m, 3, 3): the corners of triangles."""


class Facets(NamedTuple):
    """A faceted sphere of radius 1: its triangles, outward, their planes, and the sphere inside."""

    triangles: Triangles
    normals: NDArray[np.float64]
    """(m, 3) of the planes, outward."""
    levels: NDArray[np.float64]
    """(m,) distances of the planes from the center."""
    inner_radius: float
    """The smallest of these distances."""


@cache
def unit_facets() -> Facets:
    """Return the sphere of the thesis: 16 slices and 9 stacks, 256 triangles with area."""
    mesh = sphere_mesh(slices=16, stacks=9)
    triangles = np.ascontiguousarray(mesh.vertices[mesh.faces[~mesh.degenerate]])
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    normals /= np.linalg.norm(normals, axis=1)[:, np.newaxis]
    levels = (normals * triangles[:, 0]).sum(axis=1)
    outward = np.where(levels < 0, -1.0, 1.0)
    levels = np.abs(levels)
    return Facets(triangles, normals * outward[:, np.newaxis], levels, float(levels.min()))


def polygons_overlap(spheres: Spheres, pairs: Pairs, thread_count: int = 1) -> NDArray[np.bool_]:
    """Return which of the ``pairs`` of rows share a point as faceted solids, (m,); touching counts.

    Exact up to rounding, and a subset of what the bounding spheres give. O(1) for most pairs, O(m + hits) triangles for
    the few that their facets decide.
    """
    facets = unit_facets()
    hits = np.zeros(len(pairs), np.bool_)
    center, radius = spheres.center.astype(np.float64), spheres.radius.astype(np.float64)
    shares = threads.ranges(len(pairs), thread_count)
    threads.run(lambda part: _solids_meet(*shares[part], pairs, center, radius, facets, hits), len(shares))
    return hits


@kernel
def _solids_meet(
    first: int,
    last: int,
    pairs: Pairs,
    center: NDArray[np.float64],
    radius: NDArray[np.float64],
    facets: Facets,
    hits: NDArray[np.bool_],
) -> None:
    triangles, normals, levels, inner = facets
    count = triangles.shape[0]
    facing, others = np.empty((count, 3, 3)), np.empty((count, 3, 3))
    offset = np.empty(3)
    for k in range(first, last):
        i, j = pairs[k, 0], pairs[k, 1]
        for axis in range(3):
            offset[axis] = center[j, axis] - center[i, axis]
        distance = np.sqrt(offset[0] * offset[0] + offset[1] * offset[1] + offset[2] * offset[2])
        if distance > radius[i] + radius[j]:
            continue
        if distance <= inner * (radius[i] + radius[j]):
            hits[k] = True
            continue
        # One may be inside the other without contact of their surfaces.
        if _holds(normals, levels, offset, radius[i], 1.0) or _holds(normals, levels, offset, radius[j], -1.0):
            hits[k] = True
            continue
        own_count = _looking_at(triangles, radius[i], offset, 1.0, distance, radius[j], False, facing)
        other_count = _looking_at(triangles, radius[j], offset, -1.0, distance, radius[i], True, others)
        hits[k] = _any_meet(facing, own_count, others, other_count)


@kernel
def _holds(
    normals: NDArray[np.float64], levels: NDArray[np.float64], offset: NDArray[np.float64], radius: float, sign: float
) -> bool:
    """Return whether the center of the partner is behind all faces."""
    for face in range(levels.size):
        height = normals[face, 0] * offset[0] + normals[face, 1] * offset[1] + normals[face, 2] * offset[2]
        if sign * height > levels[face] * radius:
            return False
    return True


@kernel
def _looking_at(
    triangles: Triangles,
    radius: float,
    offset: NDArray[np.float64],
    sign: float,
    distance: float,
    other_radius: float,
    is_moved: bool,
    kept: Triangles,
) -> int:
    """Copy the triangles that reach into the sphere of the partner, relative to the first body. Return their number."""
    count = 0
    for row in range(triangles.shape[0]):
        nearest = -np.inf
        for corner in range(3):
            along = 0.0
            for axis in range(3):
                along += triangles[row, corner, axis] * offset[axis]
            nearest = max(nearest, sign * along / distance)
        if radius * nearest * (1 + 1e-12) < distance - other_radius:
            continue
        for corner in range(3):
            for axis in range(3):
                moved = offset[axis] if is_moved else 0.0
                kept[count, corner, axis] = radius * triangles[row, corner, axis] + moved
        count += 1
    return count


@kernel
def _any_meet(one: Triangles, one_count: int, two: Triangles, two_count: int) -> bool:
    for row in range(one_count):
        for column in range(two_count):
            if triangles_meet(one[row], two[column]):
                return True
    return False


COLUMNS = (
    "step", "pairs", "unique_pairs", "create_ms", "update_ms", "pairs_ms", "narrow_ms", "density", "collisions",
)  # fmt: skip
"""The columns of a log. ``pairs`` includes pairs that a partition finds again; only the first row has ``create_ms``."""

COUNTED = ("step", "pairs", "unique_pairs", "density", "collisions")

STAGES = ("create_ms", "update_ms", "pairs_ms")
"""The stages that the thesis times: the broad phase."""


class RunLog(NamedTuple):
    """A row for each step, in the order of `COLUMNS`, and its configuration."""

    config: InterestConfig
    table: NDArray[np.float64]

    def column(self, name: str) -> NDArray[np.float64]:
        """Return one column, a number for each step."""
        return self.table[:, COLUMNS.index(name)]

    @property
    def mean_pairs(self) -> float:
        """Mean candidate pairs of a step, as the thesis prints them."""
        return float(self.column("pairs").mean())

    @property
    def mean_milliseconds(self) -> float:
        """Mean time of the broad phase in a step [ms]: create, update and pairs."""
        return float(sum(self.column(stage).sum() for stage in STAGES) / len(self.table))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write comma-separated text."""
        write_columns(Path(path), dict(zip(COLUMNS, self.table.T, strict=True)))


def run_config(config: InterestConfig, *, progress: Progress | None = None) -> RunLog:
    """Run all steps. The same configuration gives the same log, except for times.

    A step is logged after its motion.
    """
    motion = _arena(config)
    first, bodies = Boxes(*motion.frame(0)), Spheres(*motion.spheres(0))

    def make() -> BroadPhase:
        return make_method(config.configuration, first, edge=config.edge, area=config.area)

    _narrow(config, bodies, make().pairs())  # load or compile kernels before timing
    watch = Stopwatch()
    broad = make()
    watch.lap("create_ms")
    counted = []
    for step in range(1, config.steps + 1):
        boxes, spheres = Boxes(*motion.frame(step)), Spheres(*motion.spheres(step))
        repeats = broad.counters.duplicates
        watch.skip()
        broad.update(boxes)
        watch.lap("update_ms")
        pairs = broad.pairs()
        watch.lap("pairs_ms")
        hits = _narrow(config, spheres, pairs)
        watch.lap("narrow_ms")
        met = len(pairs) + broad.counters.duplicates - repeats
        counted.append((step, met, len(pairs), motion.density(step), int(hits.sum())))
        if progress is not None:
            progress(step, config.steps, config.configuration)
    table = np.zeros((config.steps, len(COLUMNS)))
    table[:, [COLUMNS.index(name) for name in COUNTED]] = counted
    for stage, seconds in watch.stop().laps.items():
        table[: len(seconds), COLUMNS.index(stage)] = 1e3 * np.array(seconds)
    return RunLog(config, table)


def _narrow(config: InterestConfig, spheres: Spheres, pairs: Pairs) -> NDArray[np.bool_]:
    return polygons_overlap(spheres, pairs) if config.narrow == "polygons" else spheres.overlap(pairs)


def _arena(config: InterestConfig) -> Arena:
    options: dict[str, Any] = {
        "start": config.scenario,
        "edge": config.edge,
        "smallest": config.smallest_radius / config.edge,
        "largest": config.largest_radius / config.edge,
        "speed": config.speed,
        "speed_rule": config.speed_rule,
    }
    scene = choque.scene.generate(
        "arena", config.objects, seed=config.seed, frames=config.steps + 1, dtype="float64", **options
    )
    assert isinstance(scene.motion, Arena)
    return scene.motion


STEPS = 500
STRIDE = 5
"""Every fifth step is measured, the middle one of five; the thesis measures all 500."""

RADII: dict[str, dict[str, Any]] = {"equal": {"smallest": 0.053, "largest": 0.053}, "varied": {}}
"""Equal radii of 0.212 m, a fit, reproduce the printed pairs; the text has varied ones, 0.04 to 0.40 m."""


class ArenaTrial(Trial):
    """One configuration over the steps of one scene: create, then update, pairs and narrow at each step.

    The narrow phase is that of the thesis, a test of ``spheres``, or one of their ``polygons``. Pairs that a grid
    or a tree finds again are counted with the raw pairs. A sweep "-legacy" also searches each pair among those before.
    """

    def __init__(
        self, configuration: str, start: str, n: int, seed: int, radii: str = "equal", solids: str = "spheres"
    ) -> None:
        self.name = configuration
        self.solids = solids
        scene = choque.scene.generate(
            "arena", n, seed=seed, frames=STEPS + 1, start=start, dtype="float64", **RADII[radii]
        )
        assert isinstance(scene.motion, Arena)
        self.motion = scene.motion
        self.steps = range((STRIDE + 1) // 2, STEPS + 1, STRIDE)
        self.boxes = [Boxes(*scene.frame(0)), *(Boxes(*scene.frame(step)) for step in self.steps)]
        self.spheres = [Spheres(*self.motion.spheres(step)) for step in self.steps]
        self._counted: dict[str, int | float] = {}

    def run(self, watch: Stopwatch) -> None:
        """Run all steps."""
        broad = make_method(self.name, self.boxes[0])
        scans = self.name.startswith("SaP") and self.name.endswith(SCANNING)
        watch.lap("create")
        raw, unique, colliding = [], [], 0
        for boxes, spheres in zip(self.boxes[1:], self.spheres, strict=True):
            before = broad.counters.duplicates
            watch.skip()
            broad.update(boxes)
            watch.lap("update")
            pairs = broad.pairs()
            if scans:
                distinct_by_scan(pack_pairs(pairs))
            watch.lap("pairs")
            hits = polygons_overlap(spheres, pairs) if self.solids == "polygons" else spheres.overlap(pairs)
            watch.lap("narrow")
            colliding += int(hits.sum())
            unique.append(len(pairs))
            raw.append(len(pairs) + broad.counters.duplicates - before)
            watch.skip()
        self._pairs = broad.pairs()
        self._counted = {
            "raw_pairs": float(np.mean(raw)),
            "unique_pairs": float(np.mean(unique)),
            "colliding": colliding / len(unique),
            "steps": len(unique),
            **{f"tenth_{k}": float(np.mean(part)) for k, part in enumerate(np.array_split(raw, 10))},
            **{name: value for name, value in asdict(broad.counters).items() if name in ("tests", "exchanges")},
        }

    def check(self) -> Verdict:
        """Check that no two spheres that collide in the last step are missing from the candidates."""
        spheres = self.spheres[-1]
        all_pairs = np.stack(np.triu_indices(len(spheres), 1), axis=1).astype(np.int32)
        wanted = {tuple(pair) for pair in all_pairs[spheres.overlap(all_pairs)].tolist()}
        missing = wanted - {tuple(pair) for pair in self._pairs.tolist()}
        return Verdict("wrong", f"{len(missing)} missing") if missing else Verdict("exact")

    def counters(self) -> Mapping[str, int | float]:
        """Means over the steps of the last run."""
        return self._counted

    def facts(self) -> Mapping[str, int | float | str]:
        """Return the density of the scene in the middle of the run."""
        return {"density": self.motion.density(STEPS // 2)}


class ExtentsTrial(Trial):
    """``n`` extents, half of them areas, matched once, as papers on interest management report."""

    name = "areas"

    def __init__(self, n: int, seed: int, members: float = 3.0) -> None:
        random = np.random.default_rng((n, seed))
        self.position = random.random((n, 3))
        size = float((members / (n * 4 / 3 * np.pi)) ** (1 / 3))  # of area and body together
        self.size = 0.5 * size
        self.radius = np.ma.masked_array(np.full(n, self.size), mask=np.arange(n) % 2 == 0)
        self._pairs = np.empty((0, 2), np.int32)

    def run(self, watch: Stopwatch) -> None:
        """Match all extents."""
        areas = Areas(self.position, radius=self.radius, body_radius=self.size)
        watch.lap("create")
        self._pairs = areas.pairs()
        watch.lap("pairs")

    def check(self) -> Verdict:
        """Check a sample of the areas, each against all bodies."""
        firsts = self._pairs[:, 0]
        for owner in np.linspace(0, len(self.position) - 1, 50, dtype=int):
            apart = np.linalg.norm(self.position - self.position[owner], axis=1)
            near = np.flatnonzero(apart <= 2 * self.size) if owner % 2 else np.empty(0, int)
            found = self._pairs[np.searchsorted(firsts, owner) : np.searchsorted(firsts, owner + 1), 1]
            if not np.array_equal(found, near[near != owner]):
                return Verdict("wrong", f"the area of {owner}")
        return Verdict("exact")

    def counters(self) -> Mapping[str, int | float]:
        """Return the number of pairs."""
        return {"unique_pairs": len(self._pairs), "raw_pairs": len(self._pairs), "steps": 1}

"""One run in the arena as a configuration says, step by step: pairs, stage times, crowding and collisions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import choque
from choque._core.types import Pairs, Progress
from choque.bounds import Boxes, Spheres
from choque.broad import BroadPhase
from choque.files.csv_table import write_table
from choque.lab.stopwatch import Stopwatch
from choque.theses.interest.arena import Arena
from choque.theses.interest.config import InterestConfig
from choque.theses.interest.methods import make_method
from choque.theses.interest.polygons import polygons_overlap

COLUMNS = (
    "step", "pairs", "unique_pairs", "create_ms", "update_ms", "pairs_ms", "narrow_ms", "density", "collisions",
)  # fmt: skip
"""The columns of a log. ``pairs`` counts again what a partition meets again; creating is in the first row alone."""

COUNTED = ("step", "pairs", "unique_pairs", "density", "collisions")

STAGES = ("create_ms", "update_ms", "pairs_ms")
"""What the thesis times: the broad phase."""


class RunLog(NamedTuple):
    """A row for each step, in the order of `COLUMNS`, and the configuration that it came from."""

    config: InterestConfig
    table: NDArray[np.float64]

    def column(self, name: str) -> NDArray[np.float64]:
        """One column, a number for each step."""
        return self.table[:, COLUMNS.index(name)]

    @property
    def mean_pairs(self) -> float:
        """Candidate pairs a step, as the thesis prints them."""
        return float(self.column("pairs").mean())

    @property
    def mean_milliseconds(self) -> float:
        """Milliseconds of the broad phase a step: create, update and pairs."""
        return float(sum(self.column(stage).sum() for stage in STAGES) / len(self.table))

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write comma-separated text."""
        write_table(Path(path), list(COLUMNS), self.table)


def run_config(config: InterestConfig, *, progress: Progress | None = None) -> RunLog:
    """Run all steps; the same configuration gives the same log, times excepted.

    A step is logged after bodies have moved.
    """
    motion = _arena(config)
    first, bodies = Boxes(*motion.frame(0)), Spheres(*motion.spheres(0))

    def make() -> BroadPhase:
        return make_method(config.configuration, first, edge=config.edge, area=config.area)

    _narrow(config, bodies, make().pairs())  # kernels are loaded, or compiled, before anything is timed
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
        "arena", config.objects, config.seed, frames=config.steps + 1, dtype="float64", **options
    )
    assert isinstance(scene.motion, Arena)
    return scene.motion

"""One run in the arena as a configuration says, step by step: pairs, stage times, crowding and collisions."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import choque
from choque._types import Pairs
from choque.bounds import Boxes, Spheres
from choque.broad import BroadPhase
from choque.files.csv_table import write_table
from choque.lab.interest_config import InterestConfig
from choque.lab.interest_methods import make_method
from choque.lab.interest_polygons import polygons_overlap
from choque.scene.generators.arena import Arena

COLUMNS = (
    "step", "pairs", "unique_pairs", "create_ms", "update_ms", "pairs_ms", "narrow_ms", "density", "collisions",
)  # fmt: skip
"""The columns of a log. ``pairs`` counts again what a partition meets again; creating is in the first row alone."""

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


def run_config(config: InterestConfig, tell: Callable[[int, int], None] = lambda _done, _total: None) -> RunLog:
    """Run all steps; the same configuration gives the same log, times excepted.

    A step is logged after bodies have moved. ``tell`` is told how many steps are done, and of how many.
    """
    motion = _arena(config)
    first, bodies = Boxes(*motion.frame(0)), Spheres(*motion.spheres(0))

    def make() -> BroadPhase:
        return make_method(config.configuration, first, edge=config.edge, area=config.area)

    _narrow(config, bodies, make().pairs())  # kernels are loaded, or compiled, before anything is timed
    begin = perf_counter()
    broad = make()
    created = perf_counter() - begin
    rows = []
    for step in range(1, config.steps + 1):
        boxes, spheres = Boxes(*motion.frame(step)), Spheres(*motion.spheres(step))
        repeats = broad.counters.duplicates
        begin = perf_counter()
        broad.update(boxes)
        updated = perf_counter()
        pairs = broad.pairs()
        paired = perf_counter()
        hits = _narrow(config, spheres, pairs)
        tested = perf_counter()
        times = (created if step == 1 else 0.0, updated - begin, paired - updated, tested - paired)
        counts = step, len(pairs) + broad.counters.duplicates - repeats, len(pairs)
        rows.append((*counts, *(1e3 * seconds for seconds in times), motion.density(step), int(hits.sum())))
        tell(step, config.steps)
    return RunLog(config, np.array(rows, np.float64))


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

"""Picks a method for the bodies at hand, and says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np

from choque._types import Floats, Rows
from choque.broad._brute import Brute
from choque.broad._bvh import Bvh
from choque.broad._bvh_tree import Tree
from choque.broad._contract import BroadPhase
from choque.broad._emission import Sink
from choque.broad._grid import Grid
from choque.broad._pair_sets import Change
from choque.broad._records import PackedBoxes
from choque.broad._sap_direct import SapDirect
from choque.kernel import kernel

Method = TypeVar("Method", bound=BroadPhase)

BRUTE_UP_TO = 350
"""Up to here testing all pairs, 64 at a time, beats building anything."""

SWEEP_UP_TO = 2_500
"""Up to here one sweep beats a grid, whose cells take their time to lay out…"""

SWEEP_TESTS_MOST = 150.0
"""… unless a box overlaps more than this many others along the axis that is swept."""

GRID_TESTS_MOST = 45.0
"""A grid that takes more tests a box than this is slower than a tree, however many pairs there are."""

GRID_LEVELS_MOST = 2
"""Boxes of more classes of sizes than this are found faster by a tree (benchmarks/auto.md has the figures)."""

FEW = 0.05
"""A change of fewer bodies than this share is followed by a tree, at the cost of what moved."""


@dataclass(frozen=True)
class Choice:
    """The method that `auto` chose, and the reason."""

    method: str
    reason: str
    box_count: int
    dimension: int
    tests_per_box: float | None = None
    """What the grid would take, where one was tried."""

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"


class Auto(BroadPhase):
    """Hands the work to ``brute``, ``sap-direct``, ``grid`` or ``bvh``, as number, sizes, crowding and motion ask.

    Guarantees: those of the method chosen, which is in ``choice`` with the reason; all of them are exact. A grid is
    tried first and probed; where its cells are crowded a tree takes its place. When few bodies move, a tree follows
    them.
    """

    name: ClassVar[str] = "auto"
    follows_moves: ClassVar[bool] = True

    choice: Choice
    """What was chosen last, and why."""

    def _build(self) -> None:
        count = len(self)
        if count <= BRUTE_UP_TO:
            self._engage(Brute, f"{count:,} boxes are few enough to test all pairs")
            return
        if count <= SWEEP_UP_TO:
            tests = self._sweep_tests()
            if tests <= SWEEP_TESTS_MOST:
                self._engage(SapDirect, f"{count:,} boxes are swept faster than sorted into cells")
                return
        grid = self._engage(Grid, "")
        tests = grid.probe_tests()
        if grid.level_count > GRID_LEVELS_MOST:
            self._engage(Bvh, f"sizes differ, {4**grid.level_count:,}-fold or so; a tree takes them all", tests)
        elif tests > GRID_TESTS_MOST:
            self._engage(Bvh, f"cells would be crowded, at {tests:,.0f} tests a box; a tree follows the crowd", tests)
        else:
            self._settle("grid", f"about {tests:.0f} tests a box in cells sized from the data", tests)

    def _sweep_tests(self) -> float:
        """How many others a box overlaps along the widest axis, if they are spread evenly."""
        lower, upper = self._records[:, : self._dimension], self._records[:, 3 : 3 + self._dimension]
        with np.errstate(invalid="ignore", over="ignore"):
            extent = (upper.max(axis=0) - lower.min(axis=0)).astype(np.float64)
            axis = int(np.argmax(extent))
            return len(self) * float(np.mean(upper[:, axis] - lower[:, axis])) / float(extent[axis])

    def _emit(self, sink: Sink) -> None:
        self._engine._emit(sink)

    def _updated(self, previous: Floats) -> Change | None:
        if len(self) > SWEEP_UP_TO and previous.dtype == self._records.dtype:
            rows = np.flatnonzero(_changed_rows(previous, self._records))
            if len(rows) <= FEW * len(self):
                return self._moved(rows, previous[rows])
        self._build()
        return None

    def _moved(self, rows: Rows, previous: Floats) -> Change:
        if not isinstance(self._engine, Bvh):
            self._engage(
                Bvh, f"{len(rows):,} of {len(self):,} bodies moved; a tree follows them at the cost of what moved"
            )
        self._engine._records = self._records
        change = self._engine._moved(rows, previous)
        self.counters.note_bytes(self._engine.counters.peak_bytes)
        return change

    def _query_tree(self, dtype: Any) -> Tree:
        return self._engine._query_tree(dtype) if isinstance(self._engine, Bvh) else super()._query_tree(dtype)

    def _engage(self, method: type[Method], reason: str, tests: float | None = None) -> Method:
        engine = method(
            PackedBoxes(self._records, self._dimension), closed=self.closed, threads=self._requested_threads
        )
        self.counters.note_bytes(engine.counters.peak_bytes)
        engine._filter, engine.counters = self._filter, self.counters
        self._engine: BroadPhase = engine
        self._settle(method.name, reason, tests)
        return engine

    def _settle(self, method: str, reason: str, tests: float | None) -> None:
        self.choice = Choice(method, reason, len(self), self._dimension, tests)


@kernel
def _changed_rows(before: Any, after: Any) -> Any:
    changed = np.empty(before.shape[0], np.bool_)
    for i in range(before.shape[0]):
        same = True
        for bound in range(6):
            same &= before[i, bound] == after[i, bound]
        changed[i] = not same
    return changed

"""Picks a method for the bodies at hand, and says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from choque._types import Floats, Index, Rows
from choque.broad._auto_table import coordinates, present_table
from choque.broad._brute import Brute
from choque.broad._bvh import Bvh
from choque.broad._bvh_tree import Tree
from choque.broad._contract import BroadPhase, shallow_copy
from choque.broad._cost_table import Expectation
from choque.broad._emission import Sink
from choque.broad._grid import Grid
from choque.broad._pair_sets import Change
from choque.broad._sap_direct import SapDirect
from choque.broad._survey import survey_boxes
from choque.kernel import kernel

BRUTE_UP_TO = 350
"""Up to here testing all pairs, 64 at a time, beats even asking."""

ENGINES: dict[str, type[BroadPhase]] = {method.name: method for method in (Brute, SapDirect, Grid, Bvh)}
"""The candidates of the table."""

FEW = 0.05
"""A change of fewer bodies than this share is followed by a tree, at the cost of what moved."""

SWITCH_AT = 1.15
"""A method in charge stays there while it is expected to take less than this many times as long as the best."""

ASK_EVERY = 16
"""Updates of all bodies between two looks at what they are like now."""


@dataclass(frozen=True)
class Choice:
    """The method that `auto` chose, and the reason."""

    method: str
    box_count: int
    dimension: int
    why: str | Expectation
    tests_per_box: float | None = None
    """What a grid would take, where that was estimated."""

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.why if isinstance(self.why, str) else f"{self.why}, by the times measured on boxes like these"

    def __str__(self) -> str:
        return f"{self.method}: {self.reason}"


class Auto(BroadPhase):
    """Hands the work to ``brute``, ``sap-direct``, ``grid`` or ``bvh``: whoever was the fastest on boxes like these.

    A sample of the boxes is surveyed (`choque.broad._survey`) and a table of measured times consulted
    (`choque.broad._auto_table`). When few bodies move, a tree follows them.

    Guarantees: those of the method chosen, which is in ``choice`` with the reason; all of them are exact.
    """

    name: ClassVar[str] = "auto"
    follows_moves: ClassVar[bool] = True

    _engine: BroadPhase
    choice: Choice
    """What was chosen last, and why."""

    def _build(self) -> None:
        self._updates = 0
        self._engage(*self._chosen(moving=False))

    def _chosen(self, moving: bool) -> tuple[str, str | Expectation, float | None]:
        """The method for the present boxes, the reason, and the tests a box that a grid would take."""
        if len(self) <= BRUTE_UP_TO:
            return "brute", f"{len(self):,} boxes are few enough to test all pairs", None
        survey = survey_boxes(self._records)
        expected = present_table().choose_at(coordinates(survey, moving))
        present = self._engine.name if moving else expected.method
        stay = expected.ratios.get(present, np.inf) < SWITCH_AT
        return present if stay else expected.method, expected, survey.grid_tests

    def _emit(self, sink: Sink) -> None:
        self._engine._emit(sink)

    def _updated(self, previous: Floats) -> Change | None:
        if previous.dtype != self._records.dtype:
            self._build()
            return None
        if len(self) > BRUTE_UP_TO:
            count, rows = _changed_rows(previous, self._records, int(FEW * len(self)))
            if count <= len(rows):
                return self._moved(rows[:count], previous[rows[:count]])
        if self._updates % ASK_EVERY == 0:
            method, why, tests = self._chosen(moving=True)
            if method != self._engine.name:
                self._engage(method, why, tests)
                return None
            self._settle(why, tests)
        self._updates += 1
        self._engine = shallow_copy(self._engine)  # the state before the update may still be asked for
        self._engine._records = self._records
        return self._engine._updated(previous)

    def _moved(self, rows: Rows, previous: Floats) -> Change:
        if not isinstance(self._engine, Bvh):
            moved = f"{len(rows):,} of {len(self):,} bodies moved; a tree follows them at the cost of what moved"
            self._engage("bvh", moved)
        self._engine._records = self._records
        return self._engine._moved(rows, previous)

    def _query_tree(self, dtype: Any) -> Tree:
        return self._engine._query_tree(dtype) if isinstance(self._engine, Bvh) else super()._query_tree(dtype)

    def _engage(self, method: str, why: str | Expectation, tests: float | None = None) -> None:
        self._engine = ENGINES[method]._standing_in(self)
        self._settle(why, tests)

    def _settle(self, why: str | Expectation, tests: float | None) -> None:
        self.choice = Choice(self._engine.name, len(self), self._dimension, why, tests)


@kernel
def _changed_rows(before: Any, after: Any, most: Index) -> tuple[int, Any]:
    """How many rows differ, and which, ascending; one more than ``most`` stands for any greater number."""
    rows = np.empty(most, np.int64)
    count = 0
    for i in range(before.shape[0]):
        same = True
        for bound in range(6):
            same &= before[i, bound] == after[i, bound]
        if not same:
            if count == most:
                return most + 1, rows
            rows[count] = i
            count += 1
    return count, rows

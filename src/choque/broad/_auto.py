"""Picks a method for the bodies at hand, and says why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_sets import Change
from choque._core.tree import Tree
from choque._core.types import Floats, Index, Rows
from choque.broad._auto_table import CANDIDATES, present_table
from choque.broad._brute import Brute
from choque.broad._bvh import Bvh
from choque.broad._contract import BroadPhase, shallow_copy
from choque.broad._cost_table import Expectation, expected_ratios
from choque.broad._grid import Grid
from choque.broad._sap_direct import SapDirect
from choque.broad._sap_incremental import SapIncremental
from choque.broad._structure import Structure
from choque.broad._survey import ends_passed, sample_size, survey_numbers

BRUTE_UP_TO, BRUTE_IN_MOTION_UP_TO = 700, 150
"""Up to here testing all pairs, 64 at a time, beats even asking: boxes at rest, and boxes that move."""

ENGINES: dict[str, type[BroadPhase]] = {method.name: method for method in (Brute, SapDirect, SapIncremental, Grid, Bvh)}
"""The candidates of the table."""

FEW = 0.05
"""A change of fewer bodies than this share is followed by a tree, at the cost of what moved."""

SWITCH_AT = 1.08
"""A method in charge stays there while it is expected to take less than this many times as long as the best."""

ASK_EVERY = 16
"""Updates of all bodies between two looks at what they are like now."""

WILDER = 2.0
"""Who keeps an order between frames is questioned at once when bodies pass this many times as many others as before."""


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
    """Hands the work to ``brute``, a sweep, ``grid`` or ``bvh``: whoever was the fastest on boxes like these.

    A sample of the boxes is surveyed (`choque.broad._survey`) and a table of measured times consulted
    (`choque.broad._auto_table`). When few bodies move, whoever follows moves stays in charge, or a tree takes over.

    Guarantees: those of the method chosen, which is in ``choice`` with the reason; all of them are exact.
    """

    name: ClassVar[str] = "auto"
    follows_moves: ClassVar[bool] = True

    _engine: BroadPhase
    _why: str | NDArray[np.float64]
    """Words, or the ratios of the table: putting them into words takes longer than choosing."""
    _grid_tests: float | None

    @property
    def choice(self) -> Choice:
        """What was chosen last, and why."""
        why = self._why if isinstance(self._why, str) else Expectation.of(CANDIDATES, self._why)
        return Choice(self._engine.name, len(self), self._dimension, why, self._grid_tests)

    def _build(self) -> None:
        self._updates = 0
        self._passed = 0.0
        self._engage(self._chosen(None))

    def _chosen(self, previous: Floats | None) -> str:
        """The method for the present boxes, which were ``previous`` if they moved, and the reason noted."""
        self._grid_tests = None
        if len(self) <= (BRUTE_UP_TO if previous is None else BRUTE_IN_MOTION_UP_TO):
            self._why = f"{len(self):,} boxes are few enough to test all pairs"
            return "brute"
        moving = previous is not None
        before, table = previous if moving else self._records, present_table(moving)
        ratios, self._grid_tests, self._passed = _asked(
            self._records, before, sample_size(len(self)), moving, *table.arrays
        )
        self._why = ratios
        if moving and ratios[CANDIDATES.index(self._engine.name)] < SWITCH_AT:
            return self._engine.name
        return CANDIDATES[ratios.argmin()]

    def structure(self) -> Structure:
        """That of the method chosen."""
        return self._engine.structure()

    def _emit(self, sink: Sink) -> None:
        self._engine._emit(sink)

    def _updated(self, previous: Floats) -> Change | None:
        if previous.dtype != self._records.dtype:
            self._build()
            return None
        keeps_order = isinstance(self._engine, SapIncremental)
        if not keeps_order and len(self) > BRUTE_IN_MOTION_UP_TO:
            count, rows = _changed_rows(previous, self._records, int(FEW * len(self)))
            if count <= len(rows):
                return self._moved(rows[:count], previous[rows[:count]])
        is_wilder = keeps_order and ends_passed(previous, self._records) > WILDER * self._passed + 1.0
        if is_wilder or self._updates % ASK_EVERY == 0:
            method = self._chosen(previous)
            if method != self._engine.name:
                self._updates += 1
                self._engage(method)
                return None
        self._updates += 1
        self._engine = shallow_copy(self._engine)  # the state before the update may still be asked for
        self._engine._records = self._records
        return self._engine._updated(previous)

    def _moved(self, rows: Rows, previous: Floats) -> Change:
        if not self._engine.follows_moves:
            self._why = f"{len(rows):,} of {len(self):,} bodies moved; a tree follows them at the cost of what moved"
            self._grid_tests = None
            self._engage("bvh")
        self._engine._records = self._records
        return self._engine._moved(rows, previous)

    def _query_tree(self, dtype: Any) -> Tree:
        return self._engine._query_tree(dtype) if isinstance(self._engine, Bvh) else super()._query_tree(dtype)

    def _engage(self, method: str) -> None:
        self._engine = ENGINES[method]._standing_in(self)

    def _note_bytes(self, extra: int = 0) -> None:
        self._engine._note_bytes(extra)  # into the counters that both share; what is held is the engine's


@kernel
def _asked(
    records: Any, previous: Any, size: Index, moving: bool, weights: Any, middle: Any, points: Any, law: Any, left: Any
) -> tuple[Any, float, float]:
    """What the table says of these boxes, in one call; and two numbers of their survey, `grid_tests` and `passed`."""
    numbers = survey_numbers(records, previous, size, moving)
    return expected_ratios(numbers, weights, middle, points, law, left), numbers[1], numbers[5]


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

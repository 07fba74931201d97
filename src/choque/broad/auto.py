"""Picks a method for the bodies at hand, and says why.

The choice follows a table of what each method took on boxes like these, as the laboratory measured it: the study
``comparison`` writes one, ``performance-map.json``. One is shipped; the file that the environment variable
``CHOQUE_AUTO_TABLE`` names takes its place.
"""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_sets import Change
from choque._core.tree import Tree
from choque._core.types import Floats, Integer, Rows
from choque.broad.cost_table import CostTable, Expectation, TableArrays, expected_ratios, read_cost_table
from choque.broad.index import Index, find
from choque.broad.structure import Structure
from choque.broad.survey import Survey, ends_passed, sample_size, survey_numbers
from choque.errors import UnreadableFile

SHIPPED = Path(__file__).with_name("auto_table.json")
VARIABLE = "CHOQUE_AUTO_TABLE"

CANDIDATES = ("brute", "sap-direct", "sap-incremental", "grid", "bvh")
"""The methods that may be chosen; a table may know more."""

COORDINATES = ("n", "grid_tests", "sweep_tests", "size_classes", "moving", "passed")
"""Where boxes lie among all sets of boxes: the numbers of a `Survey`."""

WEIGHTS = {"grid_tests": 1.0, "sweep_tests": 0.5, "size_classes": 2.0, "moving": 10.0, "passed": 0.5}
"""How much a decade of each tells methods apart; what moves is not compared with what rests."""


MAX_BRUTE, MAX_BRUTE_MOVING = 700, 150
"""Up to this number of boxes, at rest and moving, testing all pairs is faster than consulting the table."""

MAX_MOVED_SHARE = 0.05
"""A change of a smaller share of the bodies is followed by a tree, at the cost of what moved."""

SWITCH_AT = 1.08
"""Hysteresis: keep the current method while its predicted time is below this multiple of the best."""

CONSULT_EVERY = 16
"""Updates of all bodies between two consultations of the table."""

WILDER = 2.0
"""A sorted order is reconsidered at once when bodies pass this multiple of the others that they passed before."""


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


class Auto(Index):
    """Uses ``brute``, a sweep, ``grid`` or ``bvh``: the one that was fastest on boxes like these.

    A sample of the boxes is surveyed (`choque.broad.survey`) and a table of measured times consulted
    (`choque.broad.cost_table`). When few bodies move, a method that follows moves is kept, or a tree takes over.

    Guarantees: those of the method chosen, which is in ``choice`` with the reason; all of them are exact.
    """

    name: ClassVar[str] = "auto"

    _chosen: Index
    _why: str | NDArray[np.float64]
    """Words, or the ratios of the table: putting them into words takes longer than choosing."""
    _grid_tests: float | None

    @property
    def choice(self) -> Choice:
        """The latest choice, and why."""
        why = self._why if isinstance(self._why, str) else Expectation.of(CANDIDATES, self._why)
        return Choice(self._chosen.name, len(self), self.table.dimension, why, self._grid_tests)

    def build(self) -> None:
        """Choose a method and build it."""
        self._updates = 0
        self._passed = 0.0
        self._use(self._choose(None))

    def update(self, previous: Floats) -> Change | None:
        """Follow with the method chosen, or with a better one."""
        if previous.dtype != self.records.dtype:
            self.build()
            return None
        keeps_order = self._chosen.name == "sap-incremental"
        if not keeps_order and len(self) > MAX_BRUTE_MOVING:
            count, rows = _changed_rows(previous, self.records, int(MAX_MOVED_SHARE * len(self)))
            if count <= len(rows):
                return self.move(rows[:count], previous[rows[:count]])
        is_wilder = keeps_order and ends_passed(previous, self.records) > WILDER * self._passed + 1.0
        if is_wilder or self._updates % CONSULT_EVERY == 0:
            method = self._choose(previous)
            if method != self._chosen.name:
                self._updates += 1
                self._use(method)
                return None
        self._updates += 1
        self._chosen, change = self._chosen.after(self.table)
        return change

    def move(self, rows: Rows, previous: Floats) -> Change:
        """Follow with the method chosen, or with a tree."""
        if type(self._chosen).move is Index.move:  # it does not follow moves
            self._why = f"{len(rows):,} of {len(self):,} bodies moved; a tree follows them at the cost of what moved"
            self._grid_tests = None
            self._use("bvh")
        else:
            self._chosen = copy.copy(self._chosen)
            self._chosen.table = self.table
        return self._chosen.move(rows, previous)

    def emit(self, sink: Sink) -> None:
        """Write the pairs of the method chosen."""
        self._chosen.emit(sink)

    def structure(self) -> Structure:
        """Return that of the method chosen."""
        return self._chosen.structure()

    def tree(self) -> Tree | None:
        """Return that of the method chosen."""
        return self._chosen.tree()

    @property
    def byte_count(self) -> int:
        """The bytes of the method chosen."""
        return self._chosen.byte_count

    def _choose(self, previous: Floats | None) -> str:
        """Return the method for the present boxes, which were ``previous`` if they moved, and note the reason."""
        self._grid_tests = None
        if len(self) <= (MAX_BRUTE if previous is None else MAX_BRUTE_MOVING):
            self._why = f"{len(self):,} boxes are few enough to test all pairs"
            return "brute"
        moving = previous is not None
        before, table = previous if moving else self.records, present_table(moving)
        ratios, self._grid_tests, self._passed = _consult(
            self.records, before, sample_size(len(self)), moving, table.arrays
        )
        self._why = ratios
        if moving and ratios[CANDIDATES.index(self._chosen.name)] < SWITCH_AT:
            return self._chosen.name
        return CANDIDATES[ratios.argmin()]

    def _use(self, method: str) -> None:
        self._chosen = find(method)().over(self.table, self.counters)


def coordinates(survey: Survey) -> tuple[float, ...]:
    """Where boxes lie: a number for each of `COORDINATES`."""
    return tuple(float(number) for number in survey)


@cache
def present_table(moving: bool) -> CostTable:
    """The places of the table in use that move, or those that rest; all of them where it has no such places.

    It is read when it is first used: the one that `VARIABLE` names then, or the one that is shipped.
    """
    path = os.environ.get(VARIABLE) or str(SHIPPED)
    table = read_cost_table(path, CANDIDATES, WEIGHTS)
    if table.coordinates != COORDINATES:
        raise UnreadableFile(
            f"The performance map {path} lies on {', '.join(table.coordinates)}; auto needs {', '.join(COORDINATES)}."
        )
    return table.only("moving", float(moving)) or table


@kernel
def _consult(records: Any, previous: Any, size: Integer, moving: bool, table: TableArrays) -> tuple[Any, float, float]:
    """Return the expected ratios of these boxes, and two numbers of their survey, ``grid_tests`` and ``passed``."""
    numbers = survey_numbers(records, previous, size, moving)
    return expected_ratios(numbers, table), numbers[1], numbers[5]


@kernel
def _changed_rows(before: Any, after: Any, maximum: Integer) -> tuple[int, Any]:
    """Return how many rows differ, and which, ascending; ``maximum`` + 1 stands for any greater number."""
    rows = np.empty(maximum, np.int64)
    count = 0
    for i in range(before.shape[0]):
        same = True
        for bound in range(6):
            same &= before[i, bound] == after[i, bound]
        if not same:
            if count == maximum:
                return maximum + 1, rows
            rows[count] = i
            count += 1
    return count, rows

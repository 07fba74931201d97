"""Picks a method for the bodies at hand, and says why.

The choice follows a table of what each method took on boxes like these, as the laboratory measured it: the study
``comparison`` writes one, ``performance-map.json``. One is shipped; the file that the environment variable
``CHOQUE_AUTO_TABLE`` names takes its place.
"""

from __future__ import annotations

import copy
import math
import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from choque._core.emission import Sink
from choque._core.kernel import inline, kernel
from choque._core.lanes import bit_count
from choque._core.pair_sets import Change
from choque._core.row_levels import BOXES_PER_ROW, MAX_ROWS_ALONG, WIDE
from choque._core.rows import Rows as Cells
from choque._core.tree import Tree
from choque._core.types import F64, Floats, Integer, Pairs, Rows
from choque.broad.cost_table import CostTable, Expectation, expect_ratios, read_cost_table
from choque.broad.index import Index, find
from choque.broad.structure import Structure
from choque.errors import UnreadableFile

SHIPPED = Path(__file__).with_name("auto_table.json")
VARIABLE = "CHOQUE_AUTO_TABLE"

CANDIDATES = ("brute", "sap-direct", "sap-incremental", "grid", "bvh")
"""The methods that may be chosen; a table may know more."""

COORDINATES = ("n", "grid_tests", "sweep_tests", "size_classes", "moving", "passed")
"""What places a set of boxes in the table: the number of boxes; about how many tests a box takes in a grid of one
level; how many others it overlaps along the best axis, if all were spread evenly; the number of fourfold classes of
their largest edges; 1 if all have just moved, 0 if they are new; how many ends of others an end has passed by moving.
"""

WEIGHTS = {"grid_tests": 1.0, "sweep_tests": 0.5, "size_classes": 2.0, "moving": 10.0, "passed": 0.5}
"""How far apart a factor of ten in each of them places two sets; sets that move and sets that rest are never near."""

MAX_BRUTE, MAX_BRUTE_MOVING = 720, 150
"""Up to this number of boxes, at rest and moving, testing all pairs is faster than consulting the table."""

MAX_MOVED_SHARE = 0.05  # a change of a smaller share of the bodies is followed by a tree, at the cost of what moved
SWITCH_AT = 1.08  # hysteresis: keep the current method while its predicted time is below this multiple of the best

TAKEN_UP_AT = np.array([1.0, 1.0, 1.15, 1.0, 1.0])
"""Factors of the expected times when a method is taken up: the order of ``sap-incremental`` takes as long to build as
three frames, which it must promise to win back."""

FEW_LARGER = np.array([1.0, 1.0, 1.0, 1.35, 1.0])
"""A floor or walls around bodies that are alike: the table does not know them, and a grid looks at sizes then."""

CONSULT_EVERY, MAX_APART = 16, 128
"""Updates of all bodies until the table is consulted again; twice as many each time it confirms the choice."""

WILDER = 2.0
"""A sorted order is reconsidered at once when bodies pass this multiple of the others that they passed before."""


@dataclass(frozen=True, repr=False)
class Choice:
    """The method that `auto` chose, and the reason."""

    method: str
    box_count: int
    dimension: int
    why: str | Expectation
    tests_per_box: float | None = None  # what a grid would take, where that was estimated

    @property
    def reason(self) -> str:
        """Why, in words."""
        return self.why if isinstance(self.why, str) else f"{self.why}, by the times measured on boxes like these"

    def __repr__(self) -> str:
        return f"{self.method}: {self.reason}"


class Auto(Index):
    """Uses ``brute``, a sweep, ``grid`` or ``bvh``: the one that was fastest on boxes like these.

    A sample of the boxes is surveyed (`survey_numbers`) and a table of measured times consulted
    (`choque.broad.cost_table`). When few bodies move, a method that follows moves is kept, or a tree takes over.
    `choque.pairs` asks only about boxes of different sizes or in crowds; all others take a grid.

    Guarantees: those of the method chosen, which is in ``choice`` with the reason; all of them are exact.
    """

    name: ClassVar[str] = "auto"

    _chosen: Index
    # words, or the survey and the ratios of the table: putting them into words takes longer than choosing
    _why: str | tuple[F64, F64]

    @property
    def choice(self) -> Choice:
        """The latest choice, and why."""
        where = (self._chosen.name, len(self), self.table.dimension)
        if isinstance(self._why, str):
            return Choice(*where, self._why)
        numbers, ratios = self._why
        return Choice(*where, Expectation.of(CANDIDATES, ratios), float(numbers[1]))

    def build(self) -> None:
        """Choose a method and build it."""
        self._until_look, self._apart, self._passed = 0, CONSULT_EVERY, 0.0
        self._use(self._choose(None))

    def update(self, previous: Floats) -> Change | None:
        """Follow with the method chosen, or with a better one."""
        records, chosen = self.table.records, self._chosen
        if previous.dtype != records.dtype:
            self.build()
            return None
        is_due = self._until_look == 0
        if chosen.name == "sap-incremental":
            is_due |= ends_passed(previous, records) > WILDER * self._passed + 1.0
        elif len(records) > MAX_BRUTE_MOVING:
            count, rows = _changed_rows(previous, records, int(MAX_MOVED_SHARE * len(records)))
            if count <= len(rows):
                return self.move(rows[:count], previous[rows[:count]])
        if is_due:
            method = self._choose(previous)
            self._apart = min(2 * self._apart, MAX_APART) if method == chosen.name else CONSULT_EVERY
            self._until_look = self._apart
            if method != chosen.name:
                self._use(method)
                return None
        self._until_look -= 1
        self._chosen, change = chosen.after(self.table)
        return change

    def move(self, rows: Rows, previous: Floats) -> Change:
        """Follow with the method chosen, or with a tree."""
        self._follow(rows, "moved", type(self._chosen).move is not Index.move)
        return self._chosen.move(rows, previous)

    def add(self, rows: Rows) -> Change:
        """Follow with the method chosen, or with a tree."""
        self._follow(rows, "came", type(self._chosen).add is not Index.add)
        return self._chosen.add(rows)

    def remove(self, rows: Rows) -> Change | None:
        """Follow with the method chosen."""
        self._follow(rows, "left", True)
        return self._chosen.remove(rows)

    def _follow(self, rows: Rows, did: str, can_follow: bool) -> None:
        """Let the method chosen take the present table, if it can follow what the bodies did, or a tree."""
        if can_follow:
            self._chosen = copy.copy(self._chosen)
            self._chosen.table = self.table
        else:
            self._why = f"{len(rows):,} of {len(self):,} bodies {did}; a tree follows them at the cost of what {did}"
            self._use("bvh")

    def pairs(self) -> Pairs:
        """Return those of the method chosen."""
        return self._chosen.pairs()

    def make_sink(self, keep: bool) -> Sink:
        """Return a sink with as many threads as the method chosen takes."""
        return self._chosen.make_sink(keep)

    def emit(self, sink: Sink) -> None:
        """Write the pairs of the method chosen."""
        self._chosen.emit(sink)

    def structure(self) -> Structure:
        """Return that of the method chosen."""
        return self._chosen.structure()

    def cell_rows(self) -> Cells | None:
        """Return those of the method chosen."""
        return self._chosen.cell_rows()

    def tree(self) -> Tree | None:
        """Return that of the method chosen."""
        return self._chosen.tree()

    @property
    def byte_count(self) -> int:
        """The bytes of the method chosen."""
        return self._chosen.byte_count

    def _choose(self, previous: Floats | None) -> str:
        """Return the method for the present boxes, which were ``previous`` if they moved, and note the reason."""
        if len(self) <= (MAX_BRUTE if previous is None else MAX_BRUTE_MOVING):
            self._why = f"{len(self):,} boxes are few enough to test all pairs"
            return "brute"
        moving = previous is not None
        table = present_table(moving)
        numbers, ratios = survey_numbers(self.records, previous), np.empty(len(CANDIDATES))
        expect_ratios(numbers[:6], table.arrays, ratios)
        ratios *= FEW_LARGER if numbers[6] else 1.0
        ratios /= ratios.min()
        self._passed, self._why = float(numbers[5]), (numbers, ratios)
        if moving and ratios[CANDIDATES.index(self._chosen.name)] < SWITCH_AT:
            return self._chosen.name
        return CANDIDATES[(ratios * TAKEN_UP_AT).argmin() if moving else ratios.argmin()]

    def _use(self, method: str) -> None:
        chosen = find(method)()
        chosen.table, chosen.counters = self.table, self.counters
        chosen.build()
        self._chosen = chosen


@cache
def present_table(moving: bool) -> CostTable:
    """Return the places of the table in use that move, or those that rest; all if it has no such places.

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


MIN_SAMPLE, MAX_SAMPLE = 64, 2048
"""Boxes in a sample: about twice the root of their number, so that comparing all of them costs a few percent."""


def survey_numbers(records: Floats, previous: Floats | None = None, count: int | None = None) -> F64:
    """Return the `COORDINATES` of boxes ``records`` (n, 6), which were ``previous`` (n, 6) before they moved: (7,).

    The last number is 1 if one of the first or last boxes is larger than all others of the sample, else 0. Infinite
    boxes are left out. With ``count`` they are an even sample of that number.

    Guarantees: the same answer for the same boxes; every (n/s)-th box is looked at and compared with the others of the
    sample, O(n) time in all. Estimates, good to a quarter or so where boxes are crowded.
    """
    numbers = np.zeros(len(COORDINATES) + 1)
    _survey_sample(records, sample_size(len(records)), len(records) if count is None else count, numbers)
    if previous is not None:
        numbers[4], numbers[5] = 1.0, ends_passed(previous, records)
    return numbers


def sample_size(count: int) -> int:
    """Return the sample size for ``count`` boxes."""
    return min(count, max(MIN_SAMPLE, min(MAX_SAMPLE, math.isqrt(4 * count))))


def ends_passed(previous: Floats, records: Floats) -> float:
    """Return only the last of the `COORDINATES`, from the smallest sample: O(1) time."""
    return float(_passed(previous, records, min(len(records), MIN_SAMPLE)))


@kernel
def _survey_sample(records: Any, size: Integer, count: Integer, numbers: Any) -> None:
    """Write the `COORDINATES` of ``count`` boxes that rest to ``numbers``, from a sample of ``size``."""
    lower, largest = np.empty((3, size), np.float64), np.empty(size, np.float64)
    low, high, longest, total = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for axis in range(3):
        low[axis], high[axis], longest[axis], total[axis] = np.inf, -np.inf, 0.0, 0.0
    taken = np.int64(0)
    numbers[0], numbers[3] = count, 1.0
    for place in range(size):
        i = (2 * place + 1) * records.shape[0] // (2 * size)  # a floor is often the first or the last
        largest[taken] = 0.0
        for axis in range(3):
            lower[axis, taken] = records[i, axis]
            largest[taken] = max(largest[taken], records[i, axis + 3] - lower[axis, taken])
        if not largest[taken] < np.inf:
            continue
        for axis in range(3):
            edge = records[i, axis + 3] - lower[axis, taken]
            low[axis] = min(low[axis], lower[axis, taken])
            high[axis] = max(high[axis], lower[axis, taken])
            longest[axis] = max(longest[axis], edge)
            total[axis] += edge
        taken += 1
    if taken < 2:
        return
    limit = 4.0 * max(longest[0], longest[1], longest[2])
    for end in range(-8, 8):
        for axis in range(3 if -records.shape[0] <= end < records.shape[0] else 0):
            edge = np.float64(records[end, axis + 3] - records[end, axis])
            numbers[6] = max(numbers[6], np.float64(limit < edge < np.inf))
    sweep = np.float64(count)
    for axis in range(3):
        if high[axis] > low[axis]:
            sweep = min(sweep, 2.0 * count * (total[axis] / taken) / (high[axis] - low[axis]))
    near = _count_near(lower, taken, _reach(low, high, longest, count))
    numbers[1] = near * np.float64(count) / (taken * (taken - 1.0))
    numbers[2], numbers[3] = sweep, _count_classes(largest, taken)


@kernel
def _passed(previous: Any, records: Any, size: Integer) -> float:
    """Return how many ends an end passes that moves by d: 2n d / extent, if n boxes lie evenly along the axis."""
    count = records.shape[0]
    shifts = np.empty(size, np.float64)
    passed = 0.0
    for axis in range(3):
        low, high, total, taken = np.inf, -np.inf, 0.0, 0
        for place in range(size):
            i = place * count // size
            shift = np.float64(records[i, axis]) - np.float64(previous[i, axis])
            if not abs(shift) < np.inf:
                continue
            shifts[taken] = shift
            total += shift
            taken += 1
            low = min(low, np.float64(records[i, axis]))
            high = max(high, np.float64(records[i, axis]))
        if high > low:
            away = 0.0
            for place in range(taken):
                away += abs(shifts[place] - total / taken)
            passed += 2.0 * count * (away / taken) / (high - low)
    return passed


@inline
def _reach(low: Any, high: Any, longest: Any, count: Integer) -> tuple[float, float, float]:
    """Return how far apart boxes of a grid are compared: the longest edge and half a cell, of cells as `rows` has."""
    wide_y, wide_z = WIDE * longest[1], WIDE * longest[2]
    extent_y, extent_z = high[1] - low[1], high[2] - low[2]
    # In each step rows grow by an eighth; there is one row at last, however far apart the boxes are.
    least_y, least_z = extent_y / MAX_ROWS_ALONG, extent_z / MAX_ROWS_ALONG
    wide_y, wide_z = max(wide_y, least_y), max(wide_z, least_z)
    rows = 1.0
    for _ in range(200):
        rows = np.floor(extent_y / wide_y) + 1.0 if wide_y > 0.0 else 1.0
        rows *= np.floor(extent_z / wide_z) + 1.0 if wide_z > 0.0 else 1.0
        if rows <= count // BOXES_PER_ROW + 1:
            break
        wide_y, wide_z = wide_y * 1.125, wide_z * 1.125
    cell_x = (high[0] - low[0]) * rows / count
    return longest[0] + 0.5 * cell_x, longest[1] + 0.5 * wide_y, longest[2] + 0.5 * wide_z


@inline
def _count_near(lower: Any, size: Integer, reach: tuple[float, float, float]) -> int:
    """Pairs of the sample whose lower corners are within reach of each other on every axis."""
    x, y, z = lower[0], lower[1], lower[2]
    rx, ry, rz = reach
    near = 0
    for i in range(size):
        xi, yi, zi = x[i], y[i], z[i]
        xs, ys, zs = x[i + 1 : size], y[i + 1 : size], z[i + 1 : size]
        for j in range(xs.size):
            near += (abs(xs[j] - xi) <= rx) & (abs(ys[j] - yi) <= ry) & (abs(zs[j] - zi) <= rz)
    return near


@inline
def _count_classes(largest: Any, size: Integer) -> int:
    """Return how many fourfold classes hold a box of the sample; a 4²⁴th of the largest or less is one class."""
    greatest = 0.0
    for i in range(size):
        greatest = max(greatest, largest[i])
    met = 0
    for i in range(size):
        place = 0
        bound = greatest * 0.25
        while largest[i] <= bound and place < 24:
            bound *= 0.25
            place += 1
        met |= 1 << place
    return bit_count(met)

"""A sweep of its own for every cell of a coarse grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.cells import cell_along
from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_keys import key_first, key_second
from choque._core.sort import radix_sort, to_places
from choque._core.types import Floats, Keys, Rows
from choque.broad.index import Index
from choque.broad.structure import Structure, cells_of
from choque.broad.sweep_order import Line, Order, boxes_in_order, order_of, widest_axis
from choque.broad.sweep_tiles import (
    LISTED_PER_BOX,
    ROW_BIT,
    TOUCHED_LIMITS,
    CellFrame,
    Entries,
    TileSweep,
    bulk_of,
    sample_of,
    typical_edges,
    within_budget,
)
from choque.errors import InvalidInput

BOXES_PER_CELL = 128
"""How many boxes a cell is meant to hold."""

EDGES_PER_CELL = 2.0
"""The least edge of a cell in typical edges of a box: smaller cells would list each box too often."""

MAX_GIVEN_CELLS = 1 << 24
"""The maximum of cells that may be given."""


class MultiSap(Index):
    """Lists the boxes in every cell of a coarse grid that they touch and sweeps each cell on its own.

    Parameters
    ----------
    cells
        How many cells along every axis, or along each; None for about 128 boxes in a cell.

    Notes
    -----
    Guarantees: exact, both topologies; a pair met in several cells is reported in one of them and counted in
    ``counters.duplicates`` in the others; O(n) memory beside the answer and the cells given. Each cell is swept
    along the axis on which its own boxes vary most; nearly linear in an even scene. Boxes that touch very many cells
    are swept apart, along one axis.

    The idea is that of Tracy, Buss and Woods, "Efficient Large-Scale Sweep and Prune Methods with AABB Insertion and
    Removal", 2009: many short sweeps, so that what is far apart in space is never close in an order.
    """

    name: ClassVar[str] = "multi-sap"

    def __init__(self, *, cells: int | Sequence[int] | None = None) -> None:
        self.cells = cells

    def build(self) -> None:
        """List the boxes in cells and sort each cell."""
        records, thread_count = self.records, self.thread_count()
        listed, starts, is_apart = _list_boxes(records, self._frame(), thread_count)
        listed = _each_in_order(listed, starts, thread_count)
        apart, others = None, None
        if is_apart is not None:
            axis, rows = widest_axis(records, self.table.dimension), np.arange(len(self), dtype=np.uint32)
            apart, others = self._line(rows[is_apart], axis), self._line(rows[~is_apart], axis)
        self._sweep = TileSweep.of(listed, starts, apart, others)

    def structure(self) -> Structure:
        """Return the cells that a box touches; boxes that are swept apart are in none."""
        starts, frame = self._sweep.starts, self._frame()
        cells = np.flatnonzero(np.diff(starts))
        grids = (frame.origin[np.newaxis], 1 / frame.per_unit[np.newaxis], frame.counts[np.newaxis])
        members = (self._sweep.tags >> ROW_BIT).astype(np.int32)
        borders = np.append(starts[cells], len(members))
        return cells_of(self.name, grids, np.zeros_like(cells), cells, borders, members, self.table.dimension)

    def emit(self, sink: Sink) -> None:
        """Sweep each cell."""
        self.counters.duplicates += self._sweep.emit(sink)

    def _frame(self) -> CellFrame:
        sample = sample_of(self.records)
        lowest, highest = bulk_of(sample)
        if self.cells is not None:
            return CellFrame.over(lowest, highest, np.array(_checked_cells(self.cells, self.table.dimension)))
        budget = max(len(self) / BOXES_PER_CELL, 1.0)
        with np.errstate(all="ignore"):
            extent = highest - lowest
            extent = np.where(np.isfinite(extent), extent, 0.0)
            cubes = within_budget(extent / extent.max() * budget, budget)
            most = extent / (EDGES_PER_CELL * typical_edges(sample))
        return CellFrame.over(lowest, highest, within_budget(np.minimum(cubes, most), budget))

    def _line(self, rows: Order, axis: int) -> Line:
        """Return the boxes ``rows`` in the order of ``axis``."""
        order = rows[order_of(self.records[rows, axis], self.thread_count())]
        return Line.of(boxes_in_order(self.records, order, axis, self.thread_count()), order)

    @property
    def byte_count(self) -> int:
        """The bytes of the records and of the sweeps."""
        return super().byte_count + self._sweep.nbytes


def _list_boxes(boxes: Floats, frame: CellFrame, thread_count: int) -> tuple[Entries, Rows, NDArray[np.bool_] | None]:
    """List ``boxes`` (n, 6) in every cell of ``frame`` that they touch, in linear time and memory.

    Returns
    -------
    listed
        The entries cell by cell, within a cell in the order of rows.
    starts
        (cells + 1,) where the list of each cell starts.
    is_apart
        (n,) True for boxes that touch too many cells and are in no list; None if there are none.
    """
    touched = np.empty(len(boxes), np.int32)
    threads.over_ranges(_count_touched, len(boxes), thread_count, boxes, frame, touched)
    is_apart = _too_many(touched)
    if is_apart is not None:
        touched[is_apart] = 0
    shares = threads.ranges(len(boxes), thread_count)
    places = np.zeros((len(shares), frame.cell_count), np.int64)
    threads.run(lambda k: _tally(*shares[k], boxes, touched, frame, places[k]), len(shares))
    entry_count = int(places.sum())
    starts: Rows = np.append(to_places(places), entry_count)
    listed = Entries(np.empty((entry_count, 6), boxes.dtype), np.empty(entry_count, np.uint32))
    threads.run(lambda k: _deal(*shares[k], boxes, touched, frame, places[k], listed), len(shares))
    return listed, starts, is_apart


def _too_many(touched: NDArray[np.int32]) -> NDArray[np.bool_] | None:
    """Return which boxes touch too many cells to be listed; None if none do."""
    for limit in TOUCHED_LIMITS:
        is_apart = touched > limit
        if touched.sum(where=~is_apart, dtype=np.int64) <= LISTED_PER_BOX * len(touched):
            break
    return is_apart if is_apart.any() else None


def _each_in_order(listed: Entries, starts: Rows, thread_count: int) -> Entries:
    """Return the list of each cell in the order of its own widest axis, which comes first of each three."""
    cell_count = len(starts) - 1
    axes = np.empty(cell_count, np.uint8)
    values: Floats = np.empty(len(listed.tags), listed.boxes.dtype)
    threads.over_ranges(_choose_axes, cell_count, thread_count, listed.boxes, starts, axes, values)
    # All by value, then by cell, which keeps the order within a cell.
    order = order_of(values, thread_count)
    cells = np.repeat(np.arange(cell_count, dtype=np.uint64), np.diff(starts))[order]
    keys = radix_sort((cells << np.uint64(32)) | order, 32, cell_count.bit_length(), thread_count)
    in_order = Entries(np.empty_like(listed.boxes), np.empty_like(listed.tags))
    threads.over_ranges(_reorder, len(values), thread_count, listed, keys, axes, in_order)
    return in_order


@kernel
def _find_cells(box: Any, frame: CellFrame, low: NDArray[np.int64], high: NDArray[np.int64]) -> None:
    """Write the first and last cell of ``box`` on each axis."""
    for axis in range(3):
        origin, per_unit, count = frame.origin[axis], frame.per_unit[axis], frame.counts[axis]
        low[axis] = cell_along(box[axis], origin, per_unit, count)
        # An empty half-open box ends just below its start.
        high[axis] = max(low[axis], cell_along(box[axis + 3], origin, per_unit, count))


@kernel
def _count_touched(first: int, last: int, boxes: Any, frame: CellFrame, touched: NDArray[np.int32]) -> None:
    """Count the cells that the boxes first … last − 1 touch."""
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(first, last):
        _find_cells(boxes[k], frame, low, high)
        touched[k] = (high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1)


@kernel
def _tally(
    first: int, last: int, boxes: Any, touched: NDArray[np.int32], frame: CellFrame, tally: NDArray[np.int64]
) -> None:
    """Count the boxes first … last − 1 in each cell."""
    counts = frame.counts
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(first, last):
        if touched[k] == 0:
            continue
        _find_cells(boxes[k], frame, low, high)
        for z in range(low[2], high[2] + 1):
            for y in range(low[1], high[1] + 1):
                for x in range(low[0], high[0] + 1):
                    tally[(z * counts[1] + y) * counts[0] + x] += 1


@kernel
def _deal(
    first: int,
    last: int,
    boxes: Any,
    touched: NDArray[np.int32],
    frame: CellFrame,
    places: NDArray[np.int64],
    listed: Entries,
) -> None:
    """Write the boxes first … last − 1 to the lists of their cells, from ``places`` on."""
    counts, entries, tags = frame.counts, listed.boxes, listed.tags
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(first, last):
        if touched[k] == 0:
            continue
        _find_cells(boxes[k], frame, low, high)
        row = np.uint32(k) << ROW_BIT
        for z in range(low[2], high[2] + 1):
            for y in range(low[1], high[1] + 1):
                for x in range(low[0], high[0] + 1):
                    cell = (z * counts[1] + y) * counts[0] + x
                    place = places[cell]
                    places[cell] = place + 1
                    for column in range(6):
                        entries[place, column] = boxes[k, column]
                    tags[place] = row | np.uint32((x == low[0]) + 2 * (y == low[1]) + 4 * (z == low[2]))


@kernel
def _choose_axes(first: int, last: int, boxes: Any, starts: Rows, axes: NDArray[np.uint8], values: Any) -> None:
    """Write the axis on which lower corners vary most in cells first … last − 1, and each box's lower bound on it."""
    total = np.empty(3)
    square = np.empty(3)
    for cell in range(first, last):
        begin, end = starts[cell], starts[cell + 1]
        total[:] = 0.0
        square[:] = 0.0
        for k in range(begin, end):
            for axis in range(3):
                offset = np.float64(boxes[k, axis]) - np.float64(boxes[begin, axis])
                if abs(offset) < np.inf:
                    total[axis] += offset
                    square[axis] += offset * offset
        widest = 0
        greatest = 0.0
        for axis in range(3):
            variance = square[axis] - total[axis] * total[axis] / max(end - begin, 1)
            if variance > greatest:
                widest, greatest = axis, variance
        axes[cell] = widest
        for k in range(begin, end):
            values[k] = boxes[k, widest]


@kernel
def _reorder(first: int, last: int, listed: Entries, keys: Keys, axes: NDArray[np.uint8], target: Entries) -> None:
    """Write the entries in the order of ``keys`` (cell, place), their axes rotated so that the cell's comes first."""
    for k in range(first, last):
        source = key_second(keys[k])
        axis = np.int64(axes[key_first(keys[k])])
        target.tags[k] = listed.tags[source]
        for place in range(3):
            target.boxes[k, place] = listed.boxes[source, axis]
            target.boxes[k, place + 3] = listed.boxes[source, axis + 3]
            axis = np.int64(axis + 1 if axis < 2 else 0)


def _checked_cells(given: int | Sequence[int], dimension: int) -> tuple[int, ...]:
    """Cells along x, y and z; one along z in 2D."""
    numbers = given if isinstance(given, Sequence) else (given,) * dimension
    whole = all(isinstance(number, Integral) and not isinstance(number, bool) and number >= 1 for number in numbers)
    if not whole or len(numbers) != dimension or math.prod(map(int, numbers)) > MAX_GIVEN_CELLS:
        raise InvalidInput(
            f"cells is {given!r}; in {dimension}D it must be one whole number of at least 1, or {dimension} of them, "
            f"that make no more than {MAX_GIVEN_CELLS:,} cells, or None to choose them from the boxes."
        )
    return (*map(int, numbers), 1)[:3]

"""A sweep of its own for every cell of a coarse grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.sort import radix_sort
from choque._core.types import Floats, Keys, Rows
from choque.broad._sweep_cells import CellSweep
from choque.broad._sweep_frame import CellFrame, bulk_of, sample_of, typical_edges, within_budget
from choque.broad._sweep_listing import CELL_BIT, Listing, list_boxes, rows_of
from choque.broad._sweep_order import Order, boxes_in_order, order_of, widest_axis
from choque.broad.index import Index
from choque.broad.structure import Structure, cells_of
from choque.broad.sweep_line import Line
from choque.errors import InvalidInput

BOXES_PER_CELL = 128
"""How many boxes a cell is meant to hold."""

EDGES_PER_CELL = 2.0
"""The least edge of a cell in typical edges of a box: smaller cells would list each box too often."""

GIVEN_CELL_MOST = 1 << 24
"""How many cells may be asked for."""


class MultiSap(Index):
    """Lists the boxes in every cell of a coarse grid that they touch and sweeps each cell on its own.

    Parameters
    ----------
    cells
        How many cells along every axis, or along each; None for about 128 boxes in a cell.

    Notes
    -----
    Guarantees: exact, both topologies; a pair met in several cells is reported in one of them and counted in
    ``counters.duplicates`` in the others; O(n) memory beside the answer and the cells asked for. Each cell is swept
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
        rows = np.arange(len(self), dtype=np.uint32)
        listing, is_apart = list_boxes(records, rows, self._frame(), thread_count)
        listing = _each_in_order(listing, thread_count)
        if is_apart is None:
            self._sweep = CellSweep(listing, None, None)
        else:
            axis = widest_axis(records)
            self._sweep = CellSweep(listing, self._line(rows[is_apart], axis), self._line(rows[~is_apart], axis))

    def structure(self) -> Structure:
        """Return the cells that a box touches; boxes that are swept apart are in none."""
        listing, frame = self._sweep.listing, self._frame()
        cells = np.flatnonzero(np.diff(listing.starts))
        grids = (frame.origin[np.newaxis], 1 / frame.per_unit[np.newaxis], frame.counts[np.newaxis])
        borders, members = np.append(listing.starts[cells], len(listing)), rows_of(listing).astype(np.int32)
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
        """The boxes ``rows`` in the order of ``axis``."""
        order = rows[order_of(self.records[rows, axis], self.thread_count())]
        return Line.of(boxes_in_order(self.records, order, axis, self.thread_count()), order)

    @property
    def byte_count(self) -> int:
        """The bytes of the records and of the sweeps."""
        return super().byte_count + self._sweep.nbytes


def _each_in_order(listing: Listing, thread_count: int) -> Listing:
    """The list of each cell in the order of its own widest axis, which comes first of each three."""
    cell_count = len(listing.starts) - 1
    axes = np.empty(cell_count, np.uint8)
    values: Floats = np.empty(len(listing), listing.boxes.dtype)
    threads.over_ranges(_choose_axes, cell_count, thread_count, listing.boxes, listing.starts, axes, values)
    # All by value, then by cell, which keeps the order of those in one cell.
    order = order_of(values, thread_count)
    cells = listing.tags[order] >> np.uint64(CELL_BIT)
    keys = radix_sort((cells << np.uint64(32)) | order, 32, cell_count.bit_length(), thread_count)
    boxes, tags = np.empty_like(listing.boxes), np.empty_like(listing.tags)
    threads.over_ranges(_reorder, len(listing), thread_count, listing.boxes, listing.tags, keys, axes, boxes, tags)
    return Listing(boxes, tags, listing.starts)


@kernel
def _choose_axes(first: int, last: int, boxes: Any, starts: Rows, axes: NDArray[np.uint8], values: Any) -> None:
    """For the cells first … last − 1: the axis on which lower corners vary most, and each box's lower bound on it."""
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
def _reorder(
    first: int, last: int, boxes: Any, tags: Keys, keys: Keys, axes: NDArray[np.uint8], new_boxes: Any, new_tags: Keys
) -> None:
    for k in range(first, last):
        source = np.int64(keys[k] & np.uint64(0xFFFFFFFF))
        axis = np.int64(axes[np.int64(keys[k] >> np.uint64(32))])
        new_tags[k] = tags[source]
        for place in range(3):
            new_boxes[k, place] = boxes[source, axis]
            new_boxes[k, place + 3] = boxes[source, axis + 3]
            axis = np.int64(axis + 1 if axis < 2 else 0)


def _checked_cells(given: int | Sequence[int], dimension: int) -> tuple[int, ...]:
    """Cells along x, y and z; one along z in 2D."""
    numbers = given if isinstance(given, Sequence) else (given,) * dimension
    whole = all(isinstance(number, Integral) and not isinstance(number, bool) and number >= 1 for number in numbers)
    if not whole or len(numbers) != dimension or math.prod(map(int, numbers)) > GIVEN_CELL_MOST:
        raise InvalidInput(
            f"cells is {given!r}; in {dimension}D it must be one whole number of at least 1, or {dimension} of them, "
            f"that make no more than {GIVEN_CELL_MOST:,} cells, or None to choose them from the boxes."
        )
    return (*map(int, numbers), 1)[:3]

"""Boxes listed in every cell of a frame that they touch, the few that touch too many kept apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.cells import cell_along
from choque._core.kernel import kernel
from choque._core.sort import to_places
from choque._core.types import Floats, Keys, Rows
from choque.broad._sweep_frame import CellFrame
from choque.broad._sweep_order import Order

CELL_BIT = 35
CELL_MOST = 1 << 29

LISTED_PER_BOX = 4
"""Boxes that touch the most cells are kept apart until the lists hold no more than this for each box."""

TOUCHED_MOST = (1 << 30, 1 << 16, 1 << 12, 1 << 9, 1 << 6)
"""How many cells a box may touch and still be listed: the first of these that keeps the lists short, else the last."""


@dataclass(frozen=True)
class Listing:
    """Boxes by cell.

    Attributes
    ----------
    boxes
        (m, 6), one for each box and cell that it touches, by cell, within a cell in the order given.
    tags
        (m,) one integer each: the cell from bit 35 on, the row from bit 3 on, and a bit for each axis on which the box
        starts in this cell.
    starts
        (cells + 1,) where the list of each cell starts.
    """

    boxes: Floats
    tags: Keys
    starts: Rows

    def __len__(self) -> int:
        return len(self.tags)

    @property
    def nbytes(self) -> int:
        """The bytes held."""
        return self.boxes.nbytes + self.tags.nbytes + self.starts.nbytes


def rows_of(listing: Listing) -> Rows:
    """(m,) the row of each entry."""
    return ((listing.tags >> np.uint64(3)) & np.uint64(0xFFFFFFFF)).astype(np.int64)


def list_boxes(
    boxes: Floats, rows: Order, frame: CellFrame, thread_count: int
) -> tuple[Listing, NDArray[np.bool_] | None]:
    """List ``boxes`` (n, 6), whose rows are ``rows``, in the cells of ``frame``.

    Linear in time and memory whatever the sizes: a box is read and written in one go, at the end of its cell's list.

    Returns
    -------
    listing
        The boxes by cell.
    is_apart
        (n,) True for those that touch too many cells and are in no list; None where there are none.
    """
    origin, per_unit, counts = frame.origin, frame.per_unit, frame.counts
    touched = np.empty(len(boxes), np.int32)
    threads.over_ranges(_count_touched, len(boxes), thread_count, boxes, origin, per_unit, counts, touched)
    is_apart = _too_many(touched)
    if is_apart is not None:
        touched[is_apart] = 0
    shares = threads.ranges(len(boxes), thread_count)
    places = np.zeros((len(shares), frame.cell_count), np.int64)
    threads.run(lambda k: _tally(*shares[k], boxes, touched, origin, per_unit, counts, places[k]), len(shares))
    listed_count = int(places.sum())
    starts: Rows = np.append(to_places(places), listed_count)
    listed: Floats = np.empty((listed_count, 6), boxes.dtype)
    tags: Keys = np.empty(listed_count, np.uint64)
    threads.run(
        lambda k: _deal(*shares[k], boxes, rows, touched, origin, per_unit, counts, places[k], listed, tags),
        len(shares),
    )
    return Listing(listed, tags, starts), is_apart


def _too_many(touched: NDArray[np.int32]) -> NDArray[np.bool_] | None:
    """Which boxes touch so many cells that the lists would grow long; None if none do."""
    for most in TOUCHED_MOST:
        is_apart = touched > most
        if touched.sum(where=~is_apart, dtype=np.int64) <= LISTED_PER_BOX * len(touched):
            break
    return is_apart if is_apart.any() else None


@kernel
def _find_cells(
    box: Any,
    origin: NDArray[np.float64],
    per_unit: NDArray[np.float64],
    counts: NDArray[np.int64],
    low: NDArray[np.int64],
    high: NDArray[np.int64],
) -> None:
    """The first and last cell of ``box`` on each axis."""
    for axis in range(3):
        low[axis] = cell_along(box[axis], origin[axis], per_unit[axis], counts[axis])
        above = cell_along(box[axis + 3], origin[axis], per_unit[axis], counts[axis])
        high[axis] = max(low[axis], above)  # an empty half-open box ends just below where it starts


@kernel
def _count_touched(
    first: int,
    last: int,
    boxes: Any,
    origin: NDArray[np.float64],
    per_unit: NDArray[np.float64],
    counts: NDArray[np.int64],
    touched: NDArray[np.int32],
) -> None:
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(first, last):
        _find_cells(boxes[k], origin, per_unit, counts, low, high)
        touched[k] = (high[0] - low[0] + 1) * (high[1] - low[1] + 1) * (high[2] - low[2] + 1)


@kernel
def _tally(
    first: int,
    last: int,
    boxes: Any,
    touched: NDArray[np.int32],
    origin: NDArray[np.float64],
    per_unit: NDArray[np.float64],
    counts: NDArray[np.int64],
    tally: NDArray[np.int64],
) -> None:
    """Count the boxes first … last − 1 in each cell."""
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(first, last):
        if touched[k] == 0:
            continue
        _find_cells(boxes[k], origin, per_unit, counts, low, high)
        for z in range(low[2], high[2] + 1):
            for y in range(low[1], high[1] + 1):
                for x in range(low[0], high[0] + 1):
                    tally[(z * counts[1] + y) * counts[0] + x] += 1


@kernel
def _deal(
    first: int,
    last: int,
    boxes: Any,
    rows: Order,
    touched: NDArray[np.int32],
    origin: NDArray[np.float64],
    per_unit: NDArray[np.float64],
    counts: NDArray[np.int64],
    places: NDArray[np.int64],
    listed: Any,
    tags: Keys,
) -> None:
    """Write the boxes first … last − 1 to the lists of their cells, from ``places`` on."""
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for k in range(first, last):
        if touched[k] == 0:
            continue
        _find_cells(boxes[k], origin, per_unit, counts, low, high)
        row = np.uint64(rows[k]) << np.uint64(3)
        for z in range(low[2], high[2] + 1):
            for y in range(low[1], high[1] + 1):
                for x in range(low[0], high[0] + 1):
                    cell = (z * counts[1] + y) * counts[0] + x
                    place = places[cell]
                    places[cell] = place + 1
                    for column in range(6):
                        listed[place, column] = boxes[k, column]
                    starting = (x == low[0]) + 2 * (y == low[1]) + 4 * (z == low[2])
                    tags[place] = (np.uint64(cell) << np.uint64(35)) | row | np.uint64(starting)

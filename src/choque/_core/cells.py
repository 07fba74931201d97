"""Cells of regular divisions of space, and where boxes lie in a stack of grids, one for each class of sizes."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.kernel import kernel
from choque._core.sort import radix_sort
from choque._core.types import Floats, Integer, Keys

MAX_LEVELS = 24
"""Levels hold boxes whose largest edge differs at most fourfold; the last one also holds all that are smaller still.
"""

MAX_AXIS_CELLS = 1 << 20
"""Cells along one axis, so that rounding in a cell number stays far below the margin."""

MARGIN = 1.0001
"""Reaches are this much longer than the largest box, so that no rounding can hide a box that touches."""

CELLS_PER_BOX = 4
"""Cells of a level for each of its boxes, at most: memory stays linear, and empty cells are cheap."""

FINE = 8
"""Cells along x are this many times shorter than along the other axes: a run of cells then hugs what it must cover.
"""

WIDE = 1.5
"""Cells along y and z are this many times longer than the largest box: fewer, longer runs (benchmarks/grid_cells.md).
"""


_GREATEST = float(np.finfo(np.float64).max)


class Levels(NamedTuple):
    """The grids of all levels that hold boxes, the largest boxes first; kernels take it whole."""

    frame: NDArray[np.float64]
    """(levels, 9) float64: origin (3), cells per unit of length (3), and how far before one's own lower corner the
    lower corner of an overlapping box may lie (3)."""
    shape: NDArray[np.int64]
    """(levels, 4) int64: cells along each axis, and the number of the level's first cell."""
    cell_count: int
    """The number of cells of all levels; boxes that fit no grid, being infinite, have this number."""


def sort_into_levels(records: Floats, thread_count: int, cells_per_box: float = CELLS_PER_BOX) -> tuple[Levels, Keys]:
    """Choose the grids from the data and sort the boxes by the cell of their lower corner.

    Returns
    -------
    levels
        The grids.
    keys
        (n,) uint64, sorted: cell number in the high half, row in the low half.
    """
    count = len(records)
    thread_count = threads.streams(thread_count, count)
    largest = max(threads.over_ranges(_largest_edge, count, thread_count, records))
    shares = threads.ranges(count, thread_count)
    surveys = np.zeros((len(shares), MAX_LEVELS + 1, 10))
    threads.run(lambda part: _measure_levels(*shares[part], records, largest, surveys[part]), len(shares))
    levels, level_numbers = _choose(_merged(surveys) if len(shares) > 1 else surveys[0], cells_per_box)
    keys: Keys = memory.empty(count, np.uint64)
    threads.over_ranges(_number_boxes, count, thread_count, records, largest, level_numbers, levels, keys)
    return levels, radix_sort(keys, 32, max(1, levels.cell_count.bit_length()), thread_count)


def lay_out(
    items: Floats, keys: Keys, cell_count: int, thread_count: int
) -> tuple[Any, NDArray[np.uint32], NDArray[np.uint32]]:
    """Lay the rows of ``items`` (n, k) out in the order of their ``keys``, those of `sort_into_levels`.

    Returns
    -------
    placed
        (n, k) the items in that order.
    rows
        (n,) the row of each.
    starts
        (cell_count + 2,) the place of the first item of each cell; those that fit no grid come last.
    """
    placed = memory.empty(items.shape, items.dtype)
    rows = memory.empty(len(keys), np.uint32)
    starts = memory.empty(cell_count + 2, np.uint32)
    threads.over_ranges(_lay_out, len(keys), thread_count, items, keys, placed, rows, starts)
    return placed, rows, starts


def _merged(surveys: NDArray[np.float64]) -> NDArray[np.float64]:
    """One survey from those of all threads; a level that a thread did not meet says nothing."""
    met = surveys[..., 0] > 0
    merged = np.zeros(surveys.shape[1:])
    merged[:, 0] = surveys[..., 0].sum(axis=0)
    merged[:, 1:4] = np.where(met[..., None], surveys[..., 1:4], np.inf).min(axis=0)
    merged[:, 4:10] = np.where(met[..., None], surveys[..., 4:10], -np.inf).max(axis=0)
    return merged


def _choose(survey: NDArray[np.float64], cells_per_box: float) -> tuple[Levels, NDArray[np.int64]]:
    """Grids for the levels in use, and the place of every level number among them (−1: not in use)."""
    numbers = np.full(MAX_LEVELS + 1, -1)
    used = [level for level in range(MAX_LEVELS) if survey[level, 0]]
    frame = np.zeros((len(used), 9))
    shape = np.ones((len(used), 4), np.int64)
    cell_count = 0
    for place, level in enumerate(used):
        numbers[level] = place
        count, *numbers_of_level = survey[level].tolist()
        lowest, highest, edges = numbers_of_level[:3], numbers_of_level[3:6], numbers_of_level[6:]
        extents = [high - low for low, high in zip(lowest, highest, strict=True)]
        sizes = _cell_sizes(extents, edges, cells_per_box * count + 64)
        for axis, (extent, size) in enumerate(zip(extents, sizes, strict=True)):
            if not (0.0 < size < math.inf):
                continue  # one cell for all: nothing to divide, or nothing that could be subtracted without overflow
            per_unit = min(1 / size, _GREATEST)
            frame[place, axis] = lowest[axis]
            frame[place, 3 + axis] = per_unit
            frame[place, 6 + axis] = edges[axis] * MARGIN + size * 1e-6
            shape[place, axis] = min(int(extent * per_unit) + 1, MAX_AXIS_CELLS)
        shape[place, 3] = cell_count
        cell_count += math.prod(shape[place, :3].tolist())
    return Levels(frame, shape, cell_count), numbers


def _cell_sizes(extents: list[float], edges: list[float], budget: float) -> list[float]:
    """Cells a little larger than the largest box (finer along x), or larger still where that would be too many cells.

    Infinity for an axis that cannot be divided because its extent overflows; 0 where it has none.
    """
    widths = (WIDE / FINE, WIDE, WIDE)
    least = [max(e * w, x / (MAX_AXIS_CELLS / 2)) for e, w, x in zip(edges, widths, extents, strict=True)]

    def sizes_for(edge: float) -> list[float]:
        return [max(size, edge * width) for size, width in zip(least, widths, strict=True)]

    def cell_count(sizes: list[float]) -> float:
        return math.prod(x // s + 1 for x, s in zip(extents, sizes, strict=True) if 0 < s < math.inf)

    low, high = 0.0, max((x for x in extents if x < math.inf), default=0.0)
    if cell_count(least) > budget:
        for _ in range(16):
            middle = math.sqrt(low * high) if low > 0 else high / 64
            low, high = (low, middle) if cell_count(sizes_for(middle)) <= budget else (middle, high)
        return sizes_for(high)
    return least


@kernel
def _largest_edge(first: int, last: int, records: Any) -> float:
    largest = 0.0
    for i in range(first, last):
        for axis in range(3):
            edge = np.float64(records[i, axis + 3]) - np.float64(records[i, axis])
            if edge < np.inf:
                largest = max(largest, edge)
    return largest


@kernel
def _level_of(edge: float, largest: float) -> int:
    """Return the level of an edge: 0 above a quarter of the largest, 1 above a sixteenth, …; MAX_LEVELS if infinite."""
    if not edge < np.inf:
        return MAX_LEVELS
    if edge <= 0.0:
        return MAX_LEVELS - 1  # points, which would go down all the levels one by one
    level = 0
    bound = largest * 0.25
    while edge <= bound and level < MAX_LEVELS - 1:
        bound *= 0.25
        level += 1
    return level


@kernel
def _measure_levels(first: int, last: int, records: Any, largest: float, survey: NDArray[np.float64]) -> None:
    """Write for each level the number of boxes, their minimum and maximum lower corner, and the longest edges."""
    for i in range(first, last):
        x0, y0, z0 = np.float64(records[i, 0]), np.float64(records[i, 1]), np.float64(records[i, 2])
        dx, dy, dz = records[i, 3] - x0, records[i, 4] - y0, records[i, 5] - z0
        row = survey[_level_of(max(dx, dy, dz), largest)]
        if row[0] == 0:
            row[1], row[2], row[3] = x0, y0, z0
            row[4], row[5], row[6] = x0, y0, z0
        row[0] += 1
        row[1], row[2], row[3] = min(row[1], x0), min(row[2], y0), min(row[3], z0)
        row[4], row[5], row[6] = max(row[4], x0), max(row[5], y0), max(row[6], z0)
        row[7], row[8], row[9] = max(row[7], dx), max(row[8], dy), max(row[9], dz)


@kernel
def _number_boxes(
    first: int, last: int, records: Any, largest: float, level_numbers: NDArray[np.int64], levels: Levels, keys: Keys
) -> None:
    """Write a key (cell of the lower corner, row) for each box."""
    frame, shape = levels.frame, levels.shape
    for i in range(first, last):
        x0, y0, z0 = np.float64(records[i, 0]), np.float64(records[i, 1]), np.float64(records[i, 2])
        edge = max(records[i, 3] - x0, records[i, 4] - y0, records[i, 5] - z0)
        level = level_numbers[_level_of(edge, largest)]
        cell = levels.cell_count
        if level >= 0:
            f, s = frame[level], shape[level]
            cx = cell_along(x0, f[0], f[3], s[0])
            cy = cell_along(y0, f[1], f[4], s[1])
            cz = cell_along(z0, f[2], f[5], s[2])
            cell = s[3] + (cz * s[1] + cy) * s[0] + cx
        keys[i] = (np.uint64(cell) << np.uint64(32)) | np.uint64(i)


@kernel
def _lay_out(
    first: int, last: int, items: Any, keys: Keys, placed: Any, rows: NDArray[np.uint32], starts: NDArray[np.uint32]
) -> None:
    previous = np.int64(keys[first - 1] >> np.uint64(32)) if first else np.int64(-1)
    for k in range(first, last):
        row = np.int64(keys[k] & np.uint64(0xFFFFFFFF))
        cell = np.int64(keys[k] >> np.uint64(32))
        rows[k] = row
        for column in range(items.shape[1]):
            placed[k, column] = items[row, column]
        for c in range(previous + 1, cell + 1):
            starts[c] = k
        previous = cell
    if last == keys.size:
        for c in range(previous + 1, starts.size):
            starts[c] = last


@kernel
def cell_along(value: float, origin: float, per_unit: float, cells: int) -> Integer:
    """Return the cell of ``value`` on one axis: monotone in it, which is all that correctness rests on."""
    position = (value - origin) * per_unit
    return np.int64(max(0.0, min(position, cells - 1.0)))

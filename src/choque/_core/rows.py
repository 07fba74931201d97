"""Boxes sorted into rows of cells, in columns that eight lanes test at once.

Space is cut into cells; a *row* is a line of cells along x. A box belongs to the row and cell of its lower corner. The
boxes of a row lie sorted along x, in eight columns: six bounds, the number of the box, and a word that says where its
partners can be. Boxes whose largest edges differ by more than about fourfold have rows of their own, in *levels*, the
largest boxes first; boxes that are infinite or too far out for a cell number form a last row, the giants.

How it is built, in four passes:

1. `_survey`: extent, longest edges and order of the bounds, at the speed of memory.
2. `_survey_levels`: the same for each level, where a sample says that sizes differ.
3. `_count_rows` and `_scatter`: a box goes to its row as one record. Rows are few, so that the last cache line of each
   stays in cache: nothing is gathered at random, and no keys are sorted.
4. `_fill_columns`: a row, which fits the first-level cache, is sorted along x by counting, and transposed.

Why no pair is missed: a cell number is ``(x - origin) * cells per unit`` in the float type of the boxes, which is
monotone in x, so that a partner's lower corner lies in no later cell than one's own upper corner. How far before one's
own lower corner a partner may start is the longest edge of its level, with room for rounding. Cells along y and z are
at least 1.25 longest edges wide, so that a box reaches no further than the next row.

O(n) memory, 32 bytes a box in float32 and 64 in float64 beside the records, which are gone after building.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.kernel import forceinline, kernel
from choque._core.lanes import columns_of_eight, put_record, survey_lanes
from choque._core.types import Floats, Integer

CLASSES = 128
"""Classes of sizes, each fourfold, by which levels are chosen."""

MAX_LEVELS = 24
"""The last level also holds all boxes that are smaller still."""

SAMPLE = 1_024
ALIKE = 0.98
"""Share of a sample whose sizes must lie within `ALIKE_RATIO` of the largest for a single level."""
ALIKE_RATIO = 8.0

WIDE = 2.5
"""Rows are this many longest edges wide and high: lanes make long runs cheap, and fewer rows are touched."""
MAX_CELLS = 16_000
"""Along x: a box notes two cell numbers of 14 bits."""
MAX_ROWS_ALONG = 4_096
BOXES_PER_ROW = 16
"""At least this many on average, so that memory stays linear."""
MARGIN = 1.0001

UP, DEEP, BACK = np.uint32(1 << 28), np.uint32(1 << 29), np.uint32(1 << 30)
"""A box reaches the row after its own in y, the layer after its own in z; a partner may start in the row before."""
CELL_BITS = np.uint32(14)
CELL = np.uint32((1 << 14) - 1)


class Rows(NamedTuple):
    """Boxes in rows of cells.

    Attributes
    ----------
    columns
        Flat: for each row eight columns, `column_place` apart: x0, y0, z0, x1, y1, z1, number, reach.
    words
        The same memory as unsigned numbers.
    row_start
        (rows + 2,) uint32: boxes before each row; the last row holds the giants.
    starts
        Flat uint32: for each row but the last, where each cell along x begins in it, and its end.
    frame
        (levels, 9): origin, cells per unit of length, and how far before a lower corner a partner may start.
    shape
        (levels, 5) int64: cells along x, y, z; the first row; where its cells begin in ``starts``.
    """

    columns: Floats
    words: NDArray[Any]
    row_start: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    frame: Floats
    shape: NDArray[np.int64]


class _Levels(NamedTuple):
    """The grids of all levels, and which level a box belongs to.

    Attributes
    ----------
    frame, shape
        As those of `Rows`.
    numbers
        (classes,) int64: the level of each class of sizes, see `_class_of`; empty if there is one level for all.
    limit
        Boxes that reach so far out are giants; infinity if there are none.
    """

    frame: Floats
    shape: NDArray[np.int64]
    numbers: NDArray[np.int64]
    limit: float


class _Records(NamedTuple):
    """Boxes by row: eight elements each, of which two are numbers: x0, y0, z0, number, x1, y1, z1, cell."""

    values: Floats
    words: NDArray[Any]


# Building


def build_rows(records: Floats, thread_count: int) -> Rows:
    """Sort boxes, (n, 6) records, into rows. O(n)."""
    shares = threads.ranges(len(records), threads.streams(thread_count, len(records)))
    if len(shares) == 1 and (alone := build_alike(records)) is not None:
        return alone
    flat, limit = records.reshape(-1), _limit(records.dtype)
    lanes = np.empty((len(shares), 3, 4, 6), records.dtype)
    threads.run(lambda k: _survey(*shares[k], flat, lanes[k].reshape(-1)), len(shares))
    least, greatest = lanes[:, 0].min(axis=(0, 1)), lanes[:, 1].max(axis=(0, 1))
    edges = lanes[:, 2, :, :3].max(axis=(0, 1))
    has_giants = not (least.min() > -limit and greatest.max() < limit)
    if has_giants or not _are_alike(records, float(edges.max())):
        found = np.zeros((len(shares), CLASSES, 10))
        found[:, :, 1:4], found[:, :, 4:7] = np.inf, -np.inf
        own_limit = limit if has_giants else np.inf
        threads.run(lambda k: _survey_classes(*shares[k], flat, own_limit, found[k]), len(shares))
        levels = _choose_levels(_merged(found), records.dtype, own_limit)
    else:
        only = np.concatenate(([len(records)], least[:3], greatest[:3], edges))[None, :]
        levels = _choose_levels(only, records.dtype, np.inf)
    return _lay_out(flat, levels, shares)


def build_alike(records: Floats) -> Rows | None:
    """Sort boxes of like sizes into rows, by one kernel on one thread; None if sizes differ or some are giants."""
    if not len(records):
        return None
    rows, scratch = _longest_rows(len(records), records.dtype)
    is_done = _build_alone(records.reshape(-1), _limit(records.dtype), scratch, rows)
    return _trimmed(rows) if is_done else None


def _limit(dtype: np.dtype[Any]) -> float:
    """Return how far out a box may reach: beyond, differences and products may overflow."""
    return 1e18 if dtype == np.float32 else 1e150


def _longest_rows(count: int, dtype: np.dtype[Any]) -> tuple[Rows, _Records]:
    """Return arrays for rows of one level and for records, as long as `_build_alone` can need."""
    word = np.uint32 if dtype == np.float32 else np.uint64
    most = count // BOXES_PER_ROW + 1
    columns = memory.aligned(64 * ((count + 7) // 8 + 2 * most + 3), dtype)
    values = memory.aligned(8 * count, dtype)
    starts = memory.empty(count + 2 * most, np.uint32)
    row_start = memory.empty(most + 4, np.uint32)
    rows = Rows(columns, columns.view(word), row_start, starts, np.empty((1, 9), dtype), np.empty((1, 5), np.int64))
    return rows, _Records(values, values.view(word))


def _trimmed(rows: Rows) -> Rows:
    """Return rows whose arrays are as long as they are used."""
    cells, along_y, along_z = rows.shape[0, :3].tolist()
    row_count = along_y * along_z + 1
    base, stride = columns_of(rows.row_start, row_count - 1)
    used = int(base + 8 * stride)
    return rows._replace(
        columns=rows.columns[:used],
        words=rows.words[:used],
        row_start=rows.row_start[: row_count + 1],
        starts=rows.starts[: (row_count - 1) * (cells + 1)],
    )


def _are_alike(records: Floats, largest: float) -> bool:
    """Whether nearly all boxes of a sample are about as large as the largest of all. It affects speed alone."""
    sample = records[:: max(1, len(records) // SAMPLE)]
    edges = (sample[:, 3:] - sample[:, :3]).max(axis=1)
    return len(edges) == 0 or bool((edges * ALIKE_RATIO >= largest).mean() >= ALIKE)


def _merged(found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the surveys of all threads as one."""
    return np.concatenate((found[..., :1].sum(axis=0), found[..., 1:4].min(axis=0), found[..., 4:].max(axis=0)), axis=1)


def _choose_levels(classes: NDArray[np.float64], dtype: np.dtype[Any], limit: float) -> _Levels:
    """Join classes of sizes to levels, the largest boxes first, and choose the cells of each.

    A row of ``classes`` holds the number of boxes, their least and greatest lower corner, and their longest edges.
    """
    used = np.flatnonzero(classes[:, 0])[::-1]
    numbers = np.full(len(classes), -1)
    levels: list[NDArray[np.float64]] = []
    for place in used:
        own = classes[place]
        if levels and (own[7:].max() * 4 > levels[-1][7:].max() or len(levels) == MAX_LEVELS):
            last = levels[-1]
            last[0] += own[0]
            last[1:4], last[4:] = np.minimum(last[1:4], own[1:4]), np.maximum(last[4:], own[4:])
        else:
            levels.append(own.copy())
        numbers[place] = len(levels) - 1
    levels = levels or [np.zeros(10)]  # for giants alone: a level without boxes
    greatest = max(float(np.abs(level[1:7]).max()) for level in levels)
    frame = np.zeros((len(levels), 9), dtype)
    shape = np.ones((len(levels), 5), np.int64)
    row = start = 0
    for number, level in enumerate(levels):
        _choose_cells(level, greatest, frame[number], shape[number])
        shape[number, 3:] = row, start
        rows = int(shape[number, 1] * shape[number, 2])
        row, start = row + rows, start + rows * (int(shape[number, 0]) + 1)
    return _Levels(frame, shape, numbers if len(classes) > 1 else numbers[:0], limit)


def _lay_out(flat: Floats, levels: _Levels, shares: list[tuple[int, int]]) -> Rows:
    """Count rows, scatter records, fill columns."""
    count, dtype = flat.size // 6, flat.dtype
    word = np.uint32 if dtype == np.float32 else np.uint64
    row_count = int((levels.shape[:, 1] * levels.shape[:, 2]).sum()) + 1
    counts = np.zeros((len(shares), row_count), np.uint32)
    threads.run(lambda k: _count_rows(*shares[k], flat, levels, counts[k]), len(shares))
    row_start = np.zeros(row_count + 1, np.uint32)
    np.cumsum(counts.sum(axis=0), out=row_start[1:])
    places = counts.cumsum(axis=0, dtype=np.uint32) - counts + row_start[:-1]
    values = memory.aligned(8 * count, dtype)
    records = _Records(values, values.view(word))
    threads.run(lambda k: _scatter(*shares[k], flat, levels, places[k], records), len(shares))
    base, stride = columns_of(row_start, row_count - 1)
    columns = memory.aligned(int(base + 8 * stride), dtype)
    start_count = int((levels.shape[:, 1] * levels.shape[:, 2] * (levels.shape[:, 0] + 1)).sum())
    starts = memory.empty(start_count, np.uint32)
    rows = Rows(columns, columns.view(word), row_start, starts, levels.frame, levels.shape)
    borders = even_borders(row_start, len(shares))
    threads.run(lambda k: _fill_columns(borders[k], borders[k + 1], records, rows), len(shares))
    return rows


def even_borders(starts: NDArray[Any], parts: int) -> list[int]:
    """Return borders between units so that each of ``parts`` stretches holds about as many items."""
    borders = np.searchsorted(starts, np.arange(parts + 1) * int(starts[-1]) // parts).tolist()
    borders[0], borders[-1] = 0, len(starts) - 1
    return [int(border) for border in borders]


@kernel
def _choose_cells(level: NDArray[np.float64], greatest: float, frame: Floats, shape: NDArray[np.int64]) -> None:
    """Fill the frame and the first three numbers of the shape of one level.

    ``level``: the number of boxes, their least and greatest corner, their longest edges; ``greatest``: the greatest
    coordinate of all levels.
    """
    # Rounding: a cell number is monotone, which is all that upper ends need; a reach is not, so it has room.
    step, tiny = 2.0**-22, 1e-37
    if frame.itemsize == 8:
        step, tiny = 2.0**-51, 1e-300
    count = np.int64(level[0])
    wide_y = WIDE * (level[8] * MARGIN + 2 * greatest * step) + tiny
    wide_z = WIDE * (level[9] * MARGIN + 2 * greatest * step) + tiny
    extent_y, extent_z = level[5] - level[2], level[6] - level[3]
    along_y = along_z = np.int64(0)
    while True:
        ratio_y, ratio_z = extent_y / wide_y, extent_z / wide_z
        if max(ratio_y, ratio_z) < MAX_ROWS_ALONG:
            along_y, along_z = np.int64(ratio_y) + 1, np.int64(ratio_z) + 1
            if along_y * along_z <= count // BOXES_PER_ROW + 1:
                break
        wide_y *= 1.1
        wide_z *= 1.1
    cells = max(np.int64(1), min(np.int64(MAX_CELLS), count // (along_y * along_z)))
    wide_x = max((level[4] - level[1]) / cells, tiny)
    for axis in range(3):
        frame[axis] = level[1 + axis]
        frame[6 + axis] = (level[7 + axis] * MARGIN + greatest * step) * (1 + 2 * step)
    frame[3], frame[4], frame[5] = 1 / wide_x, 1 / wide_y, 1 / wide_z
    shape[0], shape[1], shape[2] = cells + 1, along_y, along_z
    for axis in range(3):
        high = frame.dtype.type(level[4 + axis])
        # The last cell in the float type of the boxes, in which rounding may lead to one more than there is room for.
        while np.int64((high - frame[axis]) * frame[3 + axis]) >= shape[axis]:
            frame[3 + axis] *= 0.99999
        shape[axis] = np.int64((high - frame[axis]) * frame[3 + axis]) + 1


@kernel
def _build_alone(flat: Floats, limit: float, records: _Records, rows: Rows) -> bool:
    """Build rows of boxes of like sizes on one thread, in one call; False if they differ, or some are giants.

    The arrays of ``rows`` are as long as they can be; `_trimmed` makes them as long as they are.
    """
    count = flat.size // 6
    lanes = np.empty(72, flat.dtype)
    _survey(0, count, flat, lanes)
    level = np.empty(10)
    level[0] = count
    greatest = largest = 0.0
    for axis in range(3):
        low, high, top, edge = np.inf, -np.inf, -np.inf, 0.0
        for lane in range(axis, 24, 6):
            low = min(low, np.float64(lanes[lane]))
            high = max(high, np.float64(lanes[24 + lane]))
            top = max(top, np.float64(lanes[24 + lane + 3]))
            edge = max(edge, np.float64(lanes[48 + lane]))
        level[1 + axis], level[4 + axis], level[7 + axis] = low, high, edge
        # An empty box, as a half-open one at infinity becomes, begins at +inf and ends at -inf.
        greatest, largest = max(greatest, -low, high, top), max(largest, edge)
    if not greatest < limit:
        return False
    step = max(np.int64(1), np.int64(count // SAMPLE))
    sampled, alike = 0, 0
    for i in range(0, count, step):
        sampled += 1
        alike += _largest_edge(flat, 6 * i, np.inf) * ALIKE_RATIO >= largest
    if alike < ALIKE * sampled:
        return False
    _choose_cells(level, greatest, rows.frame[0], rows.shape[0])
    rows.shape[0, 3] = rows.shape[0, 4] = 0
    row_count = rows.shape[0, 1] * rows.shape[0, 2] + 1
    levels = _Levels(rows.frame, rows.shape, rows.shape[0, :0], np.inf)
    # Counts stand one place further on while boxes are counted, and places one while they are scattered.
    row_start = rows.row_start
    for row in range(row_count + 2):
        row_start[row] = 0
    _count_rows(0, count, flat, levels, row_start[2 : row_count + 2])
    for row in range(2, row_count + 2):
        row_start[row] += row_start[row - 1]
    _scatter(0, count, flat, levels, row_start[1 : row_count + 1], records)
    _fill_columns(0, row_count, records, rows)
    return True


@kernel
def _survey(first: int, last: int, flat: Floats, out: Floats) -> None:
    """Survey the boxes ``first`` to ``last`` - 1, see `survey_lanes`."""
    start, stop = 6 * first, 6 * last
    blocks = max((stop - start - 3) // 24, 0)
    survey_lanes(flat, start, blocks, out)
    for j in range(start + blocks * 24, stop):
        lane = (j - start) % 24
        out[lane] = min(out[lane], flat[j])
        out[24 + lane] = max(out[24 + lane], flat[j])
        if lane % 6 < 3:
            out[48 + lane] = max(out[48 + lane], flat[j + 3] - flat[j])


@forceinline
def _class_of(edge: Any) -> Any:
    """Return the class of sizes of a box by its largest edge: half the exponent of a float32."""
    return np.int64(np.float32(edge).view(np.int32)) >> 24


@forceinline
def _largest_edge(flat: Any, at: Integer, limit: Any) -> Any:
    """Return the largest edge of the box that begins ``at``, or -1 for a giant."""
    zero = flat.dtype.type(0)
    if limit < np.inf:
        for axis in range(3):
            if not (
                flat[at + axis] > -limit
                and flat[at + axis + 3] < limit
                and flat[at + axis] < limit
                and flat[at + axis + 3] > -limit
            ):
                return zero - flat.dtype.type(1)
    largest = zero
    for axis in range(3):
        largest = max(largest, flat[at + axis + 3] - flat[at + axis])
    return largest


@kernel
def _survey_classes(first: int, last: int, flat: Floats, limit: float, found: NDArray[np.float64]) -> None:
    """Add boxes to their classes: the number, the least and greatest lower corner, and the longest edges."""
    for i in range(first, last):
        edge = _largest_edge(flat, 6 * i, limit)
        if edge < 0:
            continue
        own = _class_of(edge)
        found[own, 0] += 1
        for axis in range(3):
            low, high = np.float64(flat[6 * i + axis]), np.float64(flat[6 * i + axis + 3])
            found[own, 1 + axis] = min(found[own, 1 + axis], low)
            found[own, 4 + axis] = max(found[own, 4 + axis], low)
            found[own, 7 + axis] = max(found[own, 7 + axis], high - low)


@forceinline
def _frame_of(levels: Any, level: Integer) -> Any:
    """Return the origin, the cells per unit, the first row and the rows along y of a level."""
    frame, shape = levels.frame, levels.shape
    origin, per_unit = (
        (frame[level, 0], frame[level, 1], frame[level, 2]),
        (frame[level, 3], frame[level, 4], frame[level, 5]),
    )
    return origin, per_unit, shape[level, 3], shape[level, 1]


@forceinline
def _place_of(flat: Any, i: Integer, levels: Any, only: Any, giants: Integer) -> Any:
    """Return the row of a box and its cell along x; ``giants`` and 0 for a giant.

    ``only`` is the frame of the first level, which loops hold in registers: most scenes have no other.
    """
    at = 6 * i
    origin, per_unit, first_row, along_y = only
    if levels.numbers.size > 0:
        edge = _largest_edge(flat, at, levels.limit)
        if edge < 0:
            return giants, np.uint32(0)
        origin, per_unit, first_row, along_y = _frame_of(levels, levels.numbers[_class_of(edge)])
    x = np.uint32((flat[at] - origin[0]) * per_unit[0])
    y = np.int64((flat[at + 1] - origin[1]) * per_unit[1])
    z = np.int64((flat[at + 2] - origin[2]) * per_unit[2])
    return first_row + z * along_y + y, x


@kernel
def _count_rows(first: int, last: int, flat: Floats, levels: _Levels, counts: NDArray[np.uint32]) -> None:
    """Count the boxes of each row; giants belong to the last."""
    giants = np.int64(counts.size - 1)
    only = _frame_of(levels, 0)
    for i in range(first, last):
        row, _ = _place_of(flat, i, levels, only, giants)
        counts[np.uint64(row)] += np.uint32(1)


@kernel
def _scatter(
    first: int, last: int, flat: Floats, levels: _Levels, places: NDArray[np.uint32], records: _Records
) -> None:
    """Write boxes to their rows as records; ``places``: where the next box of each row goes."""
    giants = np.int64(places.size - 1)
    values, words = records.values, records.words
    only = _frame_of(levels, 0)
    for i in range(first, last):
        row, cell = _place_of(flat, i, levels, only, giants)
        at = np.int64(places[np.uint64(row)])
        places[np.uint64(row)] = at + 1
        if 6 * i + 6 < flat.size:
            put_record(values, at, flat, i, cell)
        else:  # nothing may be read past the end
            words[at * 8 + 3], words[at * 8 + 7] = i, cell
            for axis in range(3):
                values[at * 8 + axis], values[at * 8 + 4 + axis] = flat[6 * i + axis], flat[6 * i + axis + 3]


def columns_of(row_start: Any, row: Integer) -> Any:
    """Return where the columns of a row begin, and how far apart they lie: at least eight places follow each row."""
    begin = (np.int64(row_start[row]) + 7) // 8 + 2 * row
    end = (np.int64(row_start[row + 1]) + 7) // 8 + 2 * row + 2
    return 64 * begin, 8 * (end - begin)


column_place = forceinline(columns_of)
"""`columns_of` for kernels."""


@kernel
def _fill_columns(first: int, last: int, records: _Records, rows: Rows) -> None:
    """Sort each row along x and write it in columns."""
    row_start, shape = rows.row_start, rows.shape
    longest: Integer = np.int64(0)
    cells: Integer = np.int64(0)
    for row in range(first, last):
        longest = max(longest, np.int64(row_start[row + 1]) - np.int64(row_start[row]))
    for number in range(shape.shape[0]):
        cells = max(cells, shape[number, 0])
    order, cursor = np.empty(longest + 8, np.uint32), np.empty(cells + 1, np.uint32)
    level: Integer = np.int64(0)
    for row in range(first, last):
        while level < shape.shape[0] and row >= shape[level, 3] + shape[level, 1] * shape[level, 2]:
            level += 1
        count = np.int64(row_start[row + 1]) - np.int64(row_start[row])
        base, stride = column_place(row_start, row)
        if level < shape.shape[0]:
            _sort_row(records, rows, row, level, order, cursor)
        else:
            for k in range(count):
                order[k] = row_start[row] + np.uint32(k)
        for k in range(count, count + 8):
            order[k] = row_start[row]
        # The last group brings lanes too many; they and all that follow become NaN, with which no comparison holds.
        for k in range(0, count, 8):
            columns_of_eight(records.values, order, k, rows.columns, base + k, stride)
        for k in range(count, stride):
            rows.columns[base + k] = np.nan
        if level < shape.shape[0]:
            _note_reach(rows, row, level, count)


@forceinline
def _sort_row(records: Any, rows: Any, row: Integer, level: Integer, order: Any, cursor: Any) -> None:
    """Sort the records of a row by their cells along x, by counting; write where each cell begins."""
    words, cells = records.words, rows.shape[level, 0]
    begin = np.int64(rows.row_start[row])
    count = np.int64(rows.row_start[row + 1]) - begin
    start = rows.shape[level, 4] + (row - rows.shape[level, 3]) * (cells + 1)
    for cell in range(cells + 1):
        cursor[cell] = 0
    for k in range(begin, begin + count):
        cursor[np.uint64(words[8 * k + 7])] += np.uint32(1)
    total = np.uint32(0)
    for cell in range(cells + 1):
        size = cursor[cell]
        rows.starts[start + cell] = total
        cursor[cell] = total
        total += size
    for k in range(begin, begin + count):
        own = np.uint64(words[8 * k + 7])
        order[np.uint64(cursor[own])] = k
        cursor[own] += np.uint32(1)


@forceinline
def _note_reach(rows: Any, row: Integer, level: Integer, count: Integer) -> None:
    """Write for each box of a row which cells along x its partners can begin in, and which rows beside its own."""
    columns, words, frame = rows.columns, rows.words, rows.frame
    base, stride = column_place(rows.row_start, row)
    zero, one = columns.dtype.type(0), columns.dtype.type(1)
    origin_x, origin_y, origin_z = frame[level, 0], frame[level, 1], frame[level, 2]
    per_x, per_y, per_z = frame[level, 3], frame[level, 4], frame[level, 5]
    reach_x, reach_y = frame[level, 6], frame[level, 7]
    cells_y = rows.shape[level, 1]
    last_x, last_y = rows.shape[level, 0] * one - one, cells_y * one - one
    last_z = rows.shape[level, 2] * one - one
    own = row - rows.shape[level, 3]
    y, z = own % cells_y, own // cells_y
    for k in range(base, base + count):
        from_x = np.uint32(max(zero, (columns[k] - reach_x - origin_x) * per_x))
        to_x = np.uint32(max(zero, min(last_x, (columns[k + 3 * stride] - origin_x) * per_x)))
        up = np.uint32(np.int64(min(last_y, (columns[k + 4 * stride] - origin_y) * per_y)) > y)
        deep = np.uint32(np.int64(min(last_z, (columns[k + 5 * stride] - origin_z) * per_z)) > z)
        back = np.uint32(np.int64(max(zero, (columns[k + stride] - reach_y - origin_y) * per_y)) < y)
        words[k + 7 * stride] = from_x | (to_x << CELL_BITS) | (up * UP) | (deep * DEEP) | (back * BACK)

"""Boxes sorted into rows of cells, in columns that eight lanes test at once.

Space is cut into cells; a *row* is a line of cells along x. A box belongs to the row and cell of its lower corner. The
boxes of a row lie sorted along x, in eight columns: six bounds, the number of the box, and a word that says where its
partners can be. Boxes whose largest edges differ by more than about fourfold have rows of their own, in *levels*, the
largest boxes first; the last row has the giants: infinite boxes, boxes too far out for a cell number, the few largest.

How it is built:

1. `choque._core.row_levels` surveys the boxes, at the speed of memory, and chooses the cells of each level.
2. `_count_rows` and `_scatter`: a box goes to its row as one record. Rows are few, so that the last cache line of each
   stays in cache: nothing is gathered at random, and no keys are sorted.
3. `_fill_columns`: a row, which fits the first-level cache, is sorted along x by counting, and transposed.

Why no pair is missed: a cell number is ``(x - origin) * cells per unit`` in the float type of the boxes, which is
monotone in x, so that a partner's lower corner lies in no later cell than one's own upper corner. How far before one's
own lower corner a partner may start is the longest edge of its level, with room for rounding. Cells along y and z are
at least 1.25 longest edges wide, so that a box reaches no further than the next row.

O(n) memory: 32 bytes a box in float32 and 64 in float64, and as much again while it is built.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.kernel import forceinline, kernel
from choque._core.lanes import columns_of_eight, prefetch, put_record
from choque._core.records import Corners
from choque._core.row_levels import Classes, Levels, choose_levels, class_of, largest_edge, number_at, survey
from choque._core.types import I64, U32, Floats, Integer

UP, DEEP, BACK = np.uint32(1 << 28), np.uint32(1 << 29), np.uint32(1 << 30)
"""A box reaches the row after its own in y, the layer after its own in z; a partner may start in the row before."""
CELL_BITS = np.uint32(14)
CELL = np.uint32((1 << 14) - 1)
LINE = 16
"""Elements that a cache line has at most: what is written soon is asked for so far ahead, since stores wait in turn."""


class Rows(NamedTuple):
    """Boxes in rows of cells."""

    columns: Floats  # flat: for each row eight columns, `column_place` apart: x0, y0, z0, x1, y1, z1, number, reach
    words: NDArray[Any]  # the same memory as unsigned numbers
    row_start: U32  # (rows + 2,) uint32: boxes before each row; the last row holds the giants
    starts: U32  # flat uint32: for each row but the last, where each cell along x begins in it, and its end
    # (levels, 9): origin, cells per unit of length, and how far before a lower corner a partner may start
    frame: Floats
    shape: I64  # (levels, 5) int64: cells along x, y, z; the first row; where its cells begin in ``starts``


class _Records(NamedTuple):
    """Boxes by row: eight elements each, of which two are numbers: x0, y0, z0, number, x1, y1, z1, cell."""

    values: Floats
    words: NDArray[Any]


# Building


def build_rows(records: Floats, thread_count: int) -> Rows:
    """Sort boxes, (n, 6) records, into rows. O(n)."""
    boxes = Corners.of_records(records)
    shares = sharing(boxes, thread_count)
    return lay_out(boxes, *choose_levels(boxes, survey(boxes, shares), shares), shares)[0]


def sharing(boxes: Corners, thread_count: int) -> list[tuple[int, int]]:
    """Return the boxes of each thread while rows are built: (first, last)."""
    return threads.ranges(boxes.box_count, threads.streams(thread_count, boxes.box_count))


def lay_out(
    boxes: Corners, levels: Levels, classes: Classes | None, shares: list[tuple[int, int]]
) -> tuple[Rows, Floats]:
    """Sort boxes into the rows of these ``levels``; also return the working array, which may be used again."""
    dtype = boxes.lower.dtype
    word = np.uint32 if dtype.itemsize == 4 else np.uint64
    cells, along_y, along_z, row, start = levels.shape[-1].tolist()
    row_count = row + along_y * along_z + 1
    counts, row_start = np.zeros((len(shares), row_count), np.uint32), np.empty(row_count + 1, np.uint32)
    values = memory.aligned(8 * boxes.box_count, dtype)
    columns = memory.aligned(64 * ((boxes.box_count + 7) // 8 + 2 * row_count), dtype)  # see `columns_of`
    starts = memory.empty(start + along_y * along_z * (cells + 1), np.uint32)
    records = _Records(values, values.view(word))
    rows = Rows(columns, columns.view(word), row_start, starts, levels.frame, levels.shape)
    if len(shares) == 1:
        _lay_out_alone(boxes, levels, classes, counts, records, rows)
        return rows, values
    threads.run(lambda k: _count_rows(*shares[k], boxes, levels, classes, counts[k]), len(shares))
    _to_places(counts, row_start)
    threads.run(lambda k: _scatter(*shares[k], boxes, levels, classes, counts[k], records), len(shares))
    borders = threads.even_borders(row_start, len(shares))
    threads.run(lambda k: _fill_columns(borders[k], borders[k + 1], records, rows), len(shares))
    return rows, values


@kernel
def _to_places(counts: U32, row_start: U32) -> None:
    """Turn how many boxes of each row the threads have (threads, rows) into where they go, and where rows begin."""
    total = np.uint32(0)
    for row in range(counts.shape[1]):
        row_start[row] = total
        for share in range(counts.shape[0]):
            own = counts[share, row]
            counts[share, row] = total
            total += own
    row_start[counts.shape[1]] = total


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
def _place_of(boxes: Any, i: Integer, levels: Any, classes: Any, only: Any, giants: Integer) -> Any:
    """Return the row of a box and its cell along x; ``giants`` and 0 for a giant.

    ``only`` is the frame of the first level, which loops hold in registers: without ``classes`` there is no other.
    """
    lower, at = boxes.lower, number_at(boxes, i)
    origin, per_unit, first_row, along_y = only
    if classes is not None:
        edge = largest_edge(boxes, i, classes.limit)
        level = classes.numbers[class_of(edge)] if edge >= 0 else np.int64(-1)
        if level < 0:
            return giants, np.uint32(0)
        origin, per_unit, first_row, along_y = _frame_of(levels, level)
    x = np.uint32((lower[at] - origin[0]) * per_unit[0])
    y = np.int64((lower[at + 1] - origin[1]) * per_unit[1])
    z = np.int64((lower[at + 2] - origin[2]) * per_unit[2])
    return first_row + z * along_y + y, x


@kernel
def _count_rows(first: int, last: int, boxes: Corners, levels: Levels, classes: Classes | None, counts: U32) -> None:
    """Count the boxes of each row; giants belong to the last."""
    giants = np.int64(counts.size - 1)
    only = _frame_of(levels, np.int64(0))
    for i in range(first, last):
        row, _ = _place_of(boxes, i, levels, classes, only, giants)
        counts[np.uint64(row)] += np.uint32(1)


@kernel
def _scatter(
    first: int, last: int, boxes: Corners, levels: Levels, classes: Classes | None, places: U32, records: _Records
) -> None:
    """Write boxes to their rows as records; ``places``: where the next box of each row goes."""
    giants = np.int64(places.size - 1)
    values, words, count = records.values, records.words, boxes.lower.size // boxes.step
    only = _frame_of(levels, np.int64(0))
    for i in range(first, last):
        row, cell = _place_of(boxes, i, levels, classes, only, giants)
        at = np.int64(places[np.uint64(row)])
        places[np.uint64(row)] = at + 1
        prefetch(values, 8 * at + LINE)
        begin = number_at(boxes, i)
        if i + 1 < count:
            put_record(values, at, boxes.lower, boxes.upper, begin, i, cell)
        else:  # nothing may be read past the end
            words[at * 8 + 3], words[at * 8 + 7] = i, cell
            for axis in range(3):
                values[at * 8 + axis] = boxes.lower[begin + axis]
                values[at * 8 + 4 + axis] = boxes.upper[begin + axis]


def columns_of(row_start: Any, row: Integer) -> Any:
    """Return where the columns of a row begin, and how far apart they lie: at least eight places follow each row."""
    begin = (np.int64(row_start[row]) + 7) // 8 + 2 * row
    end = (np.int64(row_start[row + 1]) + 7) // 8 + 2 * row + 2
    return 64 * begin, 8 * (end - begin)


column_place = forceinline(columns_of)  # `columns_of` for kernels


@kernel
def _fill_columns(first: int, last: int, records: _Records, rows: Rows) -> None:
    """Sort each row along x and write it in columns."""
    row_start, shape = rows.row_start, rows.shape
    longest: Integer = np.int64(0)
    cells: Integer = np.int64(0)
    for row in range(first, last):
        count = np.int64(row_start[row + 1]) - np.int64(row_start[row])
        longest = count if count > longest else longest
    for number in range(shape.shape[0]):
        cells = shape[number, 0] if shape[number, 0] > cells else cells
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
            for column in range(8):
                prefetch(rows.columns, base + k + 2 * LINE + column * stride)
        for k in range(count, stride):
            rows.columns[np.uint64(base + k)] = np.nan
        if level < shape.shape[0]:
            _note_reach(rows, row, level, count)


@kernel
def _lay_out_alone(
    boxes: Corners, levels: Levels, classes: Classes | None, counts: U32, records: _Records, rows: Rows
) -> None:
    """Count, scatter and fill on one thread: for few boxes, calling four kernels takes longer than their work."""
    last = boxes.lower.size // boxes.step
    _count_rows(0, last, boxes, levels, classes, counts[0])
    _to_places(counts, rows.row_start)
    _scatter(0, last, boxes, levels, classes, counts[0], records)
    _fill_columns(0, counts.shape[1], records, rows)


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
        cursor[np.uint64(words[np.uint64(8 * k + 7)])] += np.uint32(1)
    total = np.uint32(0)
    for cell in range(cells + 1):
        size = cursor[cell]
        rows.starts[np.uint64(start + cell)] = total
        cursor[cell] = total
        total += size
    for k in range(begin, begin + count):
        own = np.uint64(words[np.uint64(8 * k + 7)])
        order[np.uint64(cursor[own])] = k
        cursor[own] += np.uint32(1)


@forceinline
def _note_reach(rows: Any, row: Integer, level: Integer, count: Integer) -> None:
    """Write for each box of a row which cells along x its partners can begin in, and which rows beside its own."""
    columns, words, frame = rows.columns, rows.words, rows.frame
    base, stride = column_place(rows.row_start, row)
    zero, one, infinite = columns.dtype.type(0), columns.dtype.type(1), columns.dtype.type(np.inf)
    origin_x, origin_y, origin_z = frame[level, 0], frame[level, 1], frame[level, 2]
    per_x, per_y, per_z = frame[level, 3], frame[level, 4], frame[level, 5]
    reach_x, reach_y = frame[level, 6], frame[level, 7]
    cells_y, own = rows.shape[level, 1], row - rows.shape[level, 3]
    y, z = own % cells_y, own // cells_y
    last_x = rows.shape[level, 0] * one - one
    # Before the first row and behind the last one there is none.
    own_y = y * one if y > 0 else -infinite
    next_y = y * one + one if y + 1 < cells_y else infinite
    next_z = z * one + one if z + 1 < rows.shape[level, 2] else infinite
    for k in range(base, base + count):
        x0, y0 = columns[np.uint64(k)], columns[np.uint64(k + stride)]
        x1, y1 = columns[np.uint64(k + 3 * stride)], columns[np.uint64(k + 4 * stride)]
        z1 = columns[np.uint64(k + 5 * stride)]
        from_x, to_x = (x0 - reach_x - origin_x) * per_x, (x1 - origin_x) * per_x
        from_x = from_x if from_x > zero else zero
        to_x = to_x if to_x < last_x else last_x
        to_x = to_x if to_x > zero else zero
        word = np.uint32(np.int32(from_x)) | (np.uint32(np.int32(to_x)) << CELL_BITS)
        if (y1 - origin_y) * per_y >= next_y:
            word |= UP
        if (z1 - origin_z) * per_z >= next_z:
            word |= DEEP
        if (y0 - reach_y - origin_y) * per_y < own_y:
            word |= BACK
        words[np.uint64(k + 7 * stride)] = word

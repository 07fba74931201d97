"""The pairs of boxes in rows of cells, eight boxes at a time: a row against its neighbours, or all against other boxes.

`choque._core.rows` has the layout, and says why no pair is missed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from choque._core.emission import Sink
from choque._core.kernel import forceinline, helper, kernel
from choque._core.lanes import append_answers, append_pairs, compare_eight, list_marked, overlap_eight
from choque._core.records import Corners
from choque._core.row_levels import choose_levels, survey
from choque._core.rows import BACK, CELL, CELL_BITS, DEEP, UP, Rows, column_place, lay_out, sharing
from choque._core.sort import sorted_pairs
from choque._core.types import Integer, Keys, Pairs

SLICE = 256  # boxes of a row that are emitted together, against one neighbouring row at a time

BOXES_PER_BODY = 4
"""Boxes that cost as much as a body elsewhere, since eight are tested at once: decides when a second thread pays."""

TESTS_AT_ONCE = 1 << 20  # tests after which `emit_levels` returns, so that its caller can look whether boxes crowd
MAX_SINGLE_CALL = 16_000  # boxes for which one call of the emission kernel usually suffices, and no sink is made
MAX_TESTS = 150  # tests of a box, in the mean, above which another method may be faster than a grid


def emit_rows(sink: Sink, rows: Rows) -> None:
    """Write all pairs of boxes in rows to ``sink``."""
    count = int(rows.row_start[-1])
    sink.run(emit_levels, count, rows, grain=SLICE)
    if len(rows.shape) > 1 or rows.row_start[-2] < count:
        sink.run(_emit_across, count, rows)


def list_alike(boxes: Corners, thread_count: int) -> Pairs | None:
    """Return the sorted pairs of boxes of like sizes that do not crowd, at the least cost.

    None if sizes differ, some are infinite, they crowd in few cells, or not all corners are numbers in order.
    """
    shares = sharing(boxes, thread_count)
    found = survey(boxes, shares)
    if not (found.are_alike and (found.are_ordered or boxes.step == 6)):  # records were checked, and may be empty
        return None
    count = boxes.box_count
    rows, spare = lay_out(boxes, *choose_levels(boxes, found, shares), shares)
    if count <= MAX_SINGLE_CALL and thread_count == 1:
        chunk: Keys = spare.view(np.uint64)
        following, found_count, _ = emit_levels(0, count, chunk, rows)
        if following == count:  # nearly always: it stops before where tests or pairs are many
            return sorted_pairs([chunk[:found_count]], count, 1)
    sink = Sink(count, thread_count, None, max_tests=MAX_TESTS, spare=spare)
    sink.run(emit_levels, count, rows, grain=SLICE)
    return None if sink.is_stopped else sorted_pairs(sink.chunks, count, thread_count)


# Within a level


@kernel
def emit_levels(first: int, last: int, chunk: Keys, rows: Rows) -> tuple[int, int, int]:
    """Emission kernel: each box against the later ones of its level; a unit is a box, in the order of the rows.

    Boxes of one row up to the next multiple of `SLICE` are emitted together; if their pairs do not fit an empty chunk,
    one by one. ``first`` is a multiple of `SLICE`, or where this kernel ended: for want of room, or after
    `TESTS_AT_ONCE` tests.
    """
    listed = np.empty(SLICE + 16, np.uint32)
    row_start, shape = rows.row_start, rows.shape
    row, level = _row_of(rows, first)
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    unit: Integer = np.int64(first)
    while unit < last and level < shape.shape[0]:
        begin, end = np.int64(row_start[row]), np.int64(row_start[row + 1])
        stop = unit - unit % SLICE + SLICE
        stop = end if end < stop else stop
        stop = last if last < stop else stop
        if unit < stop:
            step = stop - unit
            if unit % SLICE > 0 and unit > begin:
                step = np.int64(1)  # a slice that was begun did not fit an empty chunk
            while unit < stop:
                now, tested = written, np.int64(0)
                for side in range(5):
                    now, more = _emit_side(rows, (row, level, side), unit - begin, step, chunk, now, listed)
                    tested += more
                    if now < 0:
                        break
                if now >= 0:
                    written, tests, unit = now, tests + tested, unit + step
                elif written == 0 and step > 1:
                    step = np.int64(1)
                else:
                    return unit, written, tests
        if unit == end:
            row += 1
            if row >= shape[level, 3] + shape[level, 1] * shape[level, 2]:
                level += 1
        if tests > TESTS_AT_ONCE and unit < last:
            return unit, written, tests
    return last, written, tests


@forceinline
def _row_of(rows: Any, unit: Integer) -> Any:
    """Return the row that holds the box at a place in the order of the rows, and its level."""
    low, high = np.int64(0), np.int64(rows.row_start.size - 2)
    while low < high:  # the last row that begins at or before it
        middle = (low + high + 1) // 2
        if np.int64(rows.row_start[middle]) <= unit:
            low = middle
        else:
            high = middle - 1
    level = np.int64(0)
    while level < rows.shape.shape[0] and low >= rows.shape[level, 3] + rows.shape[level, 1] * rows.shape[level, 2]:
        level += 1
    return low, level


@forceinline
def _emit_side(
    rows: Any,
    where: tuple[Integer, Integer, Integer],
    low: Integer,
    size: Integer,
    chunk: Any,
    written: Integer,
    listed: Any,
) -> Any:
    """Emit boxes of a row against the row itself (side 0) or one of the four neighbours that come after it.

    Return the pairs written so far, or -1 if they do not fit, and the tests.
    """
    row, level, side = where
    high = low + size
    words, row_start = rows.words, rows.row_start
    cells_x, cells_y = rows.shape[level, 0], rows.shape[level, 1]
    near, need = row, np.uint32(0)
    if side == 1:
        near, need = row + 1, UP
    elif side == 2:
        near, need = row + cells_y - 1, DEEP | BACK
    elif side == 3:
        near, need = row + cells_y, DEEP
    elif side == 4:
        near, need = row + cells_y + 1, DEEP | UP
    base, stride = column_place(row_start, row)
    reach = base + 7 * stride
    count = np.int64(0)
    for k in range(low, high, 8):
        count += list_marked(words, reach + k, need, np.uint32(k), listed, count)
    while count > 0 and np.int64(listed[count - 1]) >= high:
        count -= 1  # the last group reads past the part
    if count == 0:
        return written, np.int64(0)
    near_base, near_stride = column_place(row_start, near)
    start = rows.shape[level, 4] + (near - rows.shape[level, 3]) * (cells_x + 1)
    room = chunk.size - 8
    tests = np.int64(0)
    for k in range(count):
        own = base + np.int64(listed[k])
        word = np.uint32(words[np.uint64(own + 7 * stride)])
        number = np.uint32(words[np.uint64(own + 6 * stride)])
        at = own + 1
        if side > 0:
            at = near_base + np.int64(rows.starts[np.uint64(start + np.int64(word & CELL))])
        end = near_base + np.int64(rows.starts[np.uint64(start + np.int64((word >> CELL_BITS) & CELL) + 1)])
        tests += end - at if end > at else np.int64(0)
        while True:  # at least once: an empty run costs less than a branch that is hard to predict
            if written > room:
                return np.int64(-1), tests
            mask = overlap_eight(rows.columns, own, stride, at, near_stride)
            written += append_pairs(chunk, written, words, at + 6 * near_stride, number, mask)
            at += 8
            if at >= end:
                break
    return written, tests


# Across levels


@kernel
def _emit_across(first: int, last: int, chunk: Keys, rows: Rows) -> tuple[int, int, int]:
    """Emission kernel: each box against all larger ones of other levels, giants against all; a unit is as before."""
    row_start, shape = rows.row_start, rows.shape
    row, level = _row_of(rows, first)
    giants = row_start.size - 2
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    for unit in range(first, last):
        while unit >= np.int64(row_start[row + 1]):
            row += 1
            if level < shape.shape[0] and row >= shape[level, 3] + shape[level, 1] * shape[level, 2]:
                level += 1
        begin, place = written, unit - np.int64(row_start[row])
        if row < giants:
            written, tested = _emit_coarser(rows, row, level, place, chunk, written)
        else:
            written, tested = _emit_giant(rows, row, place, chunk, written)
        tests += tested
        if written < 0:
            return unit, begin, tests
    return last, written, tests


@forceinline
def _emit_coarser(rows: Any, row: Integer, own_level: Integer, place: Integer, chunk: Any, written: Integer) -> Any:
    """Emit a box of a row against the levels of larger boxes; as `_emit_side` returns."""
    columns, frame, shape = rows.columns, rows.frame, rows.shape
    base, stride = column_place(rows.row_start, row)
    own = base + place
    tests = np.int64(0)
    for level in range(own_level):
        from_x, to_x = _cell_range(columns[own], columns[own + 3 * stride], 0, frame, shape, level)
        from_y, to_y = _cell_range(columns[own + stride], columns[own + 4 * stride], 1, frame, shape, level)
        from_z, to_z = _cell_range(columns[own + 2 * stride], columns[own + 5 * stride], 2, frame, shape, level)
        for z in range(from_z, to_z + 1):
            for y in range(from_y, to_y + 1):
                line = z * shape[level, 1] + y
                near_base, near_stride = column_place(rows.row_start, shape[level, 3] + line)
                start = shape[level, 4] + line * (shape[level, 0] + 1)
                at = near_base + np.int64(rows.starts[start + from_x])
                end = near_base + np.int64(rows.starts[start + to_x + 1])
                tests += max(end - at, np.int64(0))
                written = _emit_run(rows, own, stride, (at, end, near_stride), chunk, written)
                if written < 0:
                    return written, tests
    return written, tests


@forceinline
def _emit_giant(rows: Any, row: Integer, place: Integer, chunk: Any, written: Integer) -> Any:
    """Emit a giant against the boxes of all rows before, and against the giants after it; as `_emit_side` returns."""
    base, stride = column_place(rows.row_start, row)
    own = base + place
    tests = np.int64(0)
    for near in range(row + 1):
        near_base, near_stride = column_place(rows.row_start, near)
        at = near_base if near < row else own + 1
        end = near_base + np.int64(rows.row_start[near + 1]) - np.int64(rows.row_start[near])
        tests += end - at
        written = _emit_run(rows, own, stride, (at, end, near_stride), chunk, written)
        if written < 0:
            return written, tests
    return written, tests


@helper
def _emit_run(
    rows: Any, own: Integer, stride: Integer, run: tuple[Integer, Integer, Integer], chunk: Any, written: Integer
) -> Any:
    """Emit a box against a run of boxes; return the pairs written so far, or -1 if they do not fit."""
    number = np.uint32(rows.words[own + 6 * stride])
    for at in range(run[0], run[1], 8):
        if written + 8 > chunk.size:
            return np.int64(-1)
        hits = overlap_eight(rows.columns, own, stride, at, run[2])
        written += append_pairs(chunk, written, rows.words, at + 6 * run[2], number, hits)
    return written


@forceinline
def _cell_range(low: Any, high: Any, axis: Integer, frame: Any, shape: Any, level: Integer) -> Any:
    """Return the first and last cell along an axis in which partners of an interval can begin; it may be infinite."""
    zero, one = frame.dtype.type(0), frame.dtype.type(1)
    last = shape[level, axis] * one - one
    origin, per_unit = frame[level, axis], frame[level, 3 + axis]
    before, after = (low - frame[level, 6 + axis] - origin) * per_unit, (high - origin) * per_unit
    return np.int64(max(zero, min(last, before))), np.int64(max(zero, min(last, after)))


# Two sets

DOUBT = np.uint32(1 << 31)
"""The mark of a pair that only equal bounds join, in the number of the box asked about; numbers have 31 bits."""


class Question(NamedTuple):
    """How the pairs of two sets are written."""

    rows_first: int  # 0 for keys of (box asked about, box of the rows), 1 for the other way round
    doubt: np.uint32  # 0, or `DOUBT` to mark pairs that touch without sharing more: rounded bounds do not decide these


def emit_between(sink: Sink, rows: Rows, asked: Rows, rows_first: bool, doubt: np.uint32 | None = None) -> None:
    """Write which boxes of ``asked`` overlap which boxes of ``rows``, of one float type, to ``sink``.

    Boxes are asked about in the order of their own rows, so that one finds the cells of the one before in the cache.
    """
    question = Question(int(rows_first), np.uint32(0) if doubt is None else doubt)
    sink.run(_emit_between, int(asked.row_start[-1]), rows, asked, question)


@kernel
def _emit_between(
    first: int, last: int, chunk: Keys, rows: Rows, asked: Rows, question: Question
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a box asked about: all rows of all levels where partners can begin, and the giants."""
    columns, frame, shape = asked.columns, rows.frame, rows.shape
    giants = rows.row_start.size - 2
    every_giant = (np.int64(0), np.int64(rows.row_start[giants + 1]) - np.int64(rows.row_start[giants]))
    row, _ = _row_of(asked, first)
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    for unit in range(first, last):
        while unit >= np.int64(asked.row_start[row + 1]):
            row += 1
        base, stride = column_place(asked.row_start, row)
        at = base + unit - np.int64(asked.row_start[row])
        begin, own = written, (at, stride)
        for level in range(shape.shape[0]):
            from_x, to_x = _cell_range(columns[at], columns[at + 3 * stride], 0, frame, shape, level)
            from_y, to_y = _cell_range(columns[at + stride], columns[at + 4 * stride], 1, frame, shape, level)
            from_z, to_z = _cell_range(columns[at + 2 * stride], columns[at + 5 * stride], 2, frame, shape, level)
            for z in range(from_z, to_z + 1):
                for y in range(from_y, to_y + 1):
                    line = z * shape[level, 1] + y
                    start = shape[level, 4] + line * (shape[level, 0] + 1)
                    run = (np.int64(rows.starts[start + from_x]), np.int64(rows.starts[start + to_x + 1]))
                    near = shape[level, 3] + line
                    tests += max(run[1] - run[0], 0)
                    written = _emit_answers(chunk, written, rows, near, run, asked, own, question)
                    if written < 0:
                        return unit, begin, tests
        if every_giant[1] > 0:
            tests += every_giant[1]
            written = _emit_answers(chunk, written, rows, giants, every_giant, asked, own, question)
            if written < 0:
                return unit, begin, tests
    return last, written, tests


@forceinline
def _emit_answers(
    chunk: Any,
    written: Integer,
    rows: Any,
    row: Integer,
    run: tuple[Integer, Integer],
    asked: Any,
    own: tuple[Integer, Integer],
    question: Any,
) -> Any:
    """Test a box against a run of a row; return the pairs written so far, or -1 if they do not fit."""
    base, stride = column_place(rows.row_start, row)
    number = np.uint32(asked.words[own[0] + 6 * own[1]])
    for at in range(base + run[0], base + run[1], 8):
        if written + 16 > chunk.size:
            return np.int64(-1)
        # Lanes behind the end of a run belong to cells that the box does not reach, or are NaN.
        found = compare_eight(rows.columns, at, stride, asked.columns, own[0], own[1])
        sure, touching, names = found >> 8, found & 255, at + 6 * stride
        if question.doubt == 0 or sure == touching:
            written += append_answers(chunk, written, rows.words, names, number, touching, question.rows_first)
        else:
            marked = number | question.doubt
            written += append_answers(chunk, written, rows.words, names, number, sure, question.rows_first)
            written += append_answers(chunk, written, rows.words, names, marked, touching ^ sure, question.rows_first)
    return written

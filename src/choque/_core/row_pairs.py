"""The pairs of boxes in rows of cells, eight boxes at a time: a row against its neighbours, or all against other boxes.

`choque._core.rows` has the layout, and says why no pair is missed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import forceinline, helper, kernel
from choque._core.lanes import append_answers, append_pairs, list_marked, meet_eight, overlap_eight
from choque._core.records import Questions, of_type
from choque._core.rows import BACK, CELL, CELL_BITS, DEEP, UP, Rows, column_place
from choque._core.types import Floats, Integer, Keys

SLICE = 256
"""Boxes of a row that are emitted together."""


class Slices(NamedTuple):
    """Stretches of at most `SLICE` boxes of one row each: the units of emission.

    Attributes
    ----------
    row
        (slices,) int64.
    first
        (slices,) int64: the place in its row of the first box.
    level
        (slices,) int64: the level of the row; the number of levels for the giants.
    """

    row: NDArray[np.int64]
    first: NDArray[np.int64]
    level: NDArray[np.int64]


def slices_of(rows: Rows) -> Slices:
    """Cut rows into slices."""
    borders = rows.row_start.astype(np.int64)
    counts = borders[1:] - borders[:-1]
    pieces: NDArray[np.int64] = -(-counts // SLICE)
    row = np.repeat(np.arange(len(counts)), pieces)
    number = np.arange(len(row)) - np.repeat(pieces.cumsum() - pieces, pieces)
    first_rows = np.append(rows.shape[:, 3], len(counts) - 1)
    return Slices(row, number * SLICE, np.searchsorted(first_rows, row, side="right") - 1)


@kernel
def emit_slices(first: int, last: int, chunk: Keys, rows: Rows, slices: Slices) -> tuple[int, int, int]:
    """Emission kernel: each box against the later ones of its level and all of coarser levels; giants against all.

    Unit k is box k % `SLICE` of slice k // `SLICE`. A slice is emitted as a whole; if its pairs do not fit an empty
    chunk, box by box.
    """
    listed = np.empty(SLICE + 16, np.uint32)
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    unit: Integer = first
    while unit < last:
        piece, offset = unit // SLICE, unit % SLICE
        whole = min(_slice_count(rows, slices, piece), offset + last - unit)
        step = np.int64(1) if offset > 0 else whole  # a slice that was begun did not fit an empty chunk
        while offset < whole:
            now, tested = _emit_part(rows, slices, piece, (offset, offset + step), chunk, written, listed)
            if now >= 0:
                written, tests, offset = now, tests + tested, offset + step
            elif written == 0 and step > 1:
                step = np.int64(1)
            else:
                return piece * SLICE + offset, written, tests
        unit = (piece + 1) * SLICE
    return last, written, tests


@forceinline
def _slice_count(rows: Any, slices: Any, piece: Integer) -> Any:
    """Return how many boxes a slice holds."""
    row = slices.row[piece]
    return min(np.int64(rows.row_start[row + 1]) - np.int64(rows.row_start[row]) - slices.first[piece], SLICE)


@helper
def _emit_part(
    rows: Any, slices: Any, piece: Integer, part: tuple[Integer, Integer], chunk: Any, written: Integer, listed: Any
) -> Any:
    """Emit the boxes part[0] to part[1] - 1 of a slice; return the pairs written so far, or -1 if they do not fit."""
    row, level = slices.row[piece], slices.level[piece]
    low, high = slices.first[piece] + part[0], slices.first[piece] + part[1]
    if level == rows.shape.shape[0]:
        return _emit_giants(rows, row, low, high, chunk, written)
    tests = np.int64(0)
    for side in range(5):
        now, tested = _emit_side(rows, (row, level, side), low, high, chunk, written, listed)
        if now < 0:
            return now, tested
        written, tests = now, tests + tested
    for coarser in range(level):
        now, tested = _emit_coarser(rows, row, coarser, low, high, chunk, written)
        if now < 0:
            return now, tested
        written, tests = now, tests + tested
    return written, tests


@helper
def _emit_side(
    rows: Any,
    where: tuple[Integer, Integer, Integer],
    low: Integer,
    high: Integer,
    chunk: Any,
    written: Integer,
    listed: Any,
) -> Any:
    """Emit boxes of a row against the row itself (side 0) or one of the four neighbours that come after it."""
    row, level, side = where
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
        word = np.uint32(words[own + 7 * stride])
        number = np.uint32(words[own + 6 * stride])
        at = own + 1
        if side > 0:
            at = near_base + np.int64(rows.starts[start + np.int64(word & CELL)])
        end = near_base + np.int64(rows.starts[start + np.int64((word >> CELL_BITS) & CELL) + 1])
        tests += max(end - at, np.int64(0))
        while True:  # at least once: an empty run costs less than a branch that is hard to predict
            if written > room:
                return np.int64(-1), tests
            mask = overlap_eight(rows.columns, own, stride, at, near_stride)
            written += append_pairs(chunk, written, words, at + 6 * near_stride, number, mask)
            at += 8
            if at >= end:
                break
    return written, tests


@helper
def _emit_coarser(
    rows: Any, row: Integer, level: Integer, low: Integer, high: Integer, chunk: Any, written: Integer
) -> Any:
    """Emit boxes of a row against all boxes of a level of larger boxes."""
    columns, words, frame, shape = rows.columns, rows.words, rows.frame, rows.shape
    base, stride = column_place(rows.row_start, row)
    room = chunk.size - 8
    tests = np.int64(0)
    for own in range(base + low, base + high):
        number = np.uint32(words[own + 6 * stride])
        from_x, to_x = _cells_between(columns, own, stride, 0, frame, shape, level)
        from_y, to_y = _cells_between(columns, own, stride, 1, frame, shape, level)
        from_z, to_z = _cells_between(columns, own, stride, 2, frame, shape, level)
        for z in range(from_z, to_z + 1):
            for y in range(from_y, to_y + 1):
                line = z * shape[level, 1] + y
                near_base, near_stride = column_place(rows.row_start, shape[level, 3] + line)
                start = shape[level, 4] + line * (shape[level, 0] + 1)
                at = near_base + np.int64(rows.starts[start + from_x])
                end = near_base + np.int64(rows.starts[start + to_x + 1])
                while at < end:
                    if written > room:
                        return np.int64(-1), tests
                    tests += min(end - at, 8)
                    mask = overlap_eight(columns, own, stride, at, near_stride)
                    written += append_pairs(chunk, written, words, at + 6 * near_stride, number, mask)
                    at += 8
    return written, tests


@forceinline
def _cells_between(
    columns: Any, own: Integer, stride: Integer, axis: Integer, frame: Any, shape: Any, level: Integer
) -> Any:
    """Return the first and last cell along an axis in which partners of a box can begin."""
    low, high = columns[own + axis * stride], columns[own + (axis + 3) * stride]
    return _cell_range(low, high, axis, frame, shape, level)


@forceinline
def _cell_range(low: Any, high: Any, axis: Integer, frame: Any, shape: Any, level: Integer) -> Any:
    """Return the first and last cell along an axis in which partners of an interval can begin; it may be infinite."""
    zero, one = frame.dtype.type(0), frame.dtype.type(1)
    last = shape[level, axis] * one - one
    origin, per_unit = frame[level, axis], frame[level, 3 + axis]
    before, after = (low - frame[level, 6 + axis] - origin) * per_unit, (high - origin) * per_unit
    return np.int64(max(zero, min(last, before))), np.int64(max(zero, min(last, after)))


@helper
def _emit_giants(rows: Any, row: Integer, low: Integer, high: Integer, chunk: Any, written: Integer) -> Any:
    """Emit giants against the boxes of all rows before, and against the giants after them."""
    words = rows.words
    base, stride = column_place(rows.row_start, row)
    room = chunk.size - 8
    tests = np.int64(0)
    for own in range(base + low, base + high):
        number = np.uint32(words[own + 6 * stride])
        for near in range(row + 1):
            near_base, near_stride = column_place(rows.row_start, near)
            at = near_base if near < row else own + 1
            end = near_base + np.int64(rows.row_start[near + 1]) - np.int64(rows.row_start[near])
            while at < end:
                if written > room:
                    return np.int64(-1), tests
                tests += min(end - at, 8)
                mask = overlap_eight(rows.columns, own, stride, at, near_stride)
                written += append_pairs(chunk, written, words, at + 6 * near_stride, number, mask)
                at += 8
    return written, tests


# Two sets


def emit_questions(sink: Sink, rows: Rows, records: Floats, order: NDArray[np.uint32], rows_first: bool) -> None:
    """Write which of ``records`` (k, 6) overlap which boxes of ``rows`` to ``sink``, record by record in ``order``.

    Keys are (record, number of the box), or the other way round with ``rows_first``.
    """
    questions = Questions(of_type(records, rows.columns.dtype), order, int(rows_first))
    sink.run(_emit_answers, len(records), questions, rows)


@kernel
def _emit_answers(first: int, last: int, chunk: Keys, questions: Questions, rows: Rows) -> tuple[int, int, int]:
    """Emission kernel; a unit is a question: the rows of all levels in which partners can begin, then the giants."""
    records, frame, shape = questions.records, rows.frame, rows.shape
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    for unit in range(first, last):
        begin = written
        i = np.int64(questions.order[unit])
        for level in range(shape.shape[0]):
            from_x, to_x = _cell_range(records[i, 0], records[i, 3], 0, frame, shape, level)
            from_y, to_y = _cell_range(records[i, 1], records[i, 4], 1, frame, shape, level)
            from_z, to_z = _cell_range(records[i, 2], records[i, 5], 2, frame, shape, level)
            for z in range(from_z, to_z + 1):
                for y in range(from_y, to_y + 1):
                    line = z * shape[level, 1] + y
                    start = shape[level, 4] + line * (shape[level, 0] + 1)
                    run = (np.int64(rows.starts[start + from_x]), np.int64(rows.starts[start + to_x + 1]))
                    written = _answer_run(chunk, written, rows, shape[level, 3] + line, run, questions, i)
                    tests += max(run[1] - run[0], 0)
                    if written < 0:
                        return unit, begin, tests
        giants = rows.row_start.size - 2
        run = (np.int64(0), np.int64(rows.row_start[giants + 1]) - np.int64(rows.row_start[giants]))
        written = _answer_run(chunk, written, rows, giants, run, questions, i)
        tests += run[1]
        if written < 0:
            return unit, begin, tests
    return last, written, tests


@helper
def _answer_run(
    chunk: Any, written: Integer, rows: Any, row: Integer, run: tuple[Integer, Integer], questions: Any, i: Integer
) -> Any:
    """Test a question against a run of a row; return the pairs written so far, or -1 if they do not fit."""
    base, stride = column_place(rows.row_start, row)
    for at in range(base + run[0], base + run[1], 8):
        if written + 8 > chunk.size:
            return np.int64(-1)
        hits = meet_eight(rows.columns, at, stride, questions.records, i)
        # Lanes behind the end of a run belong to cells that the question does not reach, or are NaN.
        written += append_answers(
            chunk, written, rows.words, at + 6 * stride, np.uint32(i), hits, np.int64(questions.rows_first)
        )
    return written

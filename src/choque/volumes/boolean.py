"""Regularised booleans of solids, regions and intervals, by one sweep in each dimension.

The general boolean of Aguilera (1998) with the plane-based acceleration of Rodríguez: the sweep visits the planes of
both operands in order, updates their current sections by XOR, combines the sections one dimension lower, and writes
the difference to the previous result. Where one operand has no section, the planes of the other are copied or skipped
without recursion.

Exact: integers only. Time is linear in the sections that meet. The result is sorted in the order of the operands.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from choque._core import check
from choque._core.kernel import kernel
from choque._core.types import I64
from choque.volumes.keys import BITS, LINE_MASK, PLANE_MASK, VertexKeys, group_end, merge_xor, xor_keys

OPERATIONS: Final = {"union": 0b1110, "intersection": 0b1000, "difference": 0b0100, "xor": 0b0110}
"""Truth tables: bit 2·p + q is set if the result is full where P is p and Q is q."""

GENERAL: Final = 0b10000  # flag beside a truth table: combine sections at every plane, also where one operand has none
END = np.iinfo(np.int64).max  # greater than every key


def combine_keys(
    left: VertexKeys,
    right: VertexKeys,
    dimension: int,
    operation: str,
    counts: I64 | None = None,
    *,
    accelerated: bool = True,
) -> VertexKeys:
    """Return the vertices of ``left operation right``; both are sorted keys of ``dimension`` in the same order.

    The work is added to ``counts`` (2,), if given: brinks read (pairs of vertices along the last axis), then pairs of
    sections combined. XOR is a single merge and counts nothing. Without acceleration the result is the same, from
    sections combined at every plane.
    """
    check.choice(operation, "boolean operation", OPERATIONS)
    if operation == "xor":
        return xor_keys(left, right)
    truth = OPERATIONS[operation] | (0 if accelerated else GENERAL)
    counts = np.zeros(2, np.int64) if counts is None else counts
    if dimension == 3:
        return _combine_solids(left, right, truth, counts)
    result = np.empty(4 * (len(left) + len(right)) + 16, np.int64)
    if dimension == 1:
        return result[: combine_runs(left, len(left), right, len(right), truth, result, counts)].copy()
    lines = np.empty((6, len(left) + len(right) + 1), np.int64)
    result, count = _combine_regions(left, len(left), right, len(right), truth, lines, result, counts)
    return result[:count].copy()


@kernel
def grown_keys(keys: VertexKeys, count: int, needed: int) -> VertexKeys:
    """Return ``keys``, or a larger array with its first ``count`` keys where it is shorter than ``needed``."""
    if needed <= len(keys):
        return keys
    larger = np.empty(max(needed, 2 * len(keys)), np.int64)
    copy_keys(keys, 0, count, larger, 0)
    return larger


@kernel
def copy_keys(source: VertexKeys, first: int, last: int, target: VertexKeys, at: int) -> None:
    """Copy ``source[first:last]`` to ``target[at:]``."""
    # A loop compiles faster than an assignment of slices, which brings NumPy's error messages with it.
    for row in range(first, last):
        target[at + row - first] = source[row]


@kernel
def combine_runs(
    left: VertexKeys, left_count: int, right: VertexKeys, right_count: int, truth: int, result: VertexKeys, counts: I64
) -> int:
    """Combine intervals: toggle at every end, and write an end wherever the combination flips. Return how many."""
    row, other, count, inside = 0, 0, 0, 0
    while row < left_count or other < right_count:
        one = left[row] if row < left_count else END
        two = right[other] if other < right_count else END
        end = one if one < two else two
        row += one == end
        other += two == end
        now = truth >> (2 * (row & 1) + (other & 1)) & 1
        result[count] = end
        count += now != inside
        inside = now
    counts[0] += (left_count + right_count) // 2
    return count


@kernel
def _combine_regions(
    left: VertexKeys,
    left_count: int,
    right: VertexKeys,
    right_count: int,
    truth: int,
    lines: I64,
    result: VertexKeys,
    counts: I64,
) -> tuple[VertexKeys, int]:
    """Combine regions by a sweep over lines. ``lines`` are six buffers, each long enough for all ends of both."""
    keep_left, keep_right = truth >> 2 & 1, truth >> 1 & 1
    one, next_one, two, next_two, now, before = lines[0], lines[1], lines[2], lines[3], lines[4], lines[5]
    one_count, two_count, before_count, count, row, other = 0, 0, 0, 0, 0, 0
    while row < left_count or other < right_count:
        left_line = left[row] >> BITS if row < left_count else END
        right_line = right[other] >> BITS if other < right_count else END
        line = left_line if left_line < right_line else right_line
        first, other_first = row, other
        row = group_end(left, row, left_count, BITS, line)
        other = group_end(right, other, right_count, BITS, line)
        result = grown_keys(result, count, count + 2 * (row - first + other - other_first + one_count + two_count))
        alone = (two_count == 0 and other == other_first) or (one_count == 0 and row == first)
        alone = alone and truth < GENERAL
        if row > first:
            one_count = merge_xor(one, one_count, left, first, row, LINE_MASK, next_one)
            one, next_one = next_one, one
        if other > other_first:
            two_count = merge_xor(two, two_count, right, other_first, other, LINE_MASK, next_two)
            two, next_two = next_two, two
        if alone:
            if row > first and keep_left:
                copy_keys(left, first, row, result, count)
                count += row - first
                before_count = one_count
                copy_keys(one, 0, one_count, before, 0)
            elif other > other_first and keep_right:
                copy_keys(right, other_first, other, result, count)
                count += other - other_first
                before_count = two_count
                copy_keys(two, 0, two_count, before, 0)
            continue
        now_count = combine_runs(one, one_count, two, two_count, truth, now, counts)
        start = count
        count += merge_xor(before, before_count, now, 0, now_count, LINE_MASK, result[count:])
        for position in range(start, count):
            result[position] |= line << BITS
        now, before = before, now
        before_count = now_count
    return result, count


@kernel
def _combine_solids(left: VertexKeys, right: VertexKeys, truth: int, counts: I64) -> VertexKeys:
    """Combine solids by a sweep over planes."""
    left_count, right_count = len(left), len(right)
    keep_left, keep_right = truth >> 2 & 1, truth >> 1 & 1
    one, next_one = np.empty(left_count, np.int64), np.empty(left_count, np.int64)
    two, next_two = np.empty(right_count, np.int64), np.empty(right_count, np.int64)
    lines = np.empty((6, left_count + right_count + 1), np.int64)
    now, before = np.empty(left_count + right_count + 16, np.int64), np.empty(left_count + right_count + 16, np.int64)
    result = np.empty(left_count + right_count + 16, np.int64)
    one_count, two_count, before_count, count, row, other = 0, 0, 0, 0, 0, 0
    before_is = 0  # where the previous result is: in `before`, or, after planes were copied, in `one` (1) or `two` (2)
    while row < left_count or other < right_count:
        left_plane = left[row] >> 2 * BITS if row < left_count else END
        right_plane = right[other] >> 2 * BITS if other < right_count else END
        plane = left_plane if left_plane < right_plane else right_plane
        first, other_first = row, other
        row = group_end(left, row, left_count, 2 * BITS, plane)
        other = group_end(right, other, right_count, 2 * BITS, plane)
        alone_left = two_count == 0 and other == other_first and truth < GENERAL
        alone_right = one_count == 0 and row == first and truth < GENERAL
        if before_is > 0 and not alone_left and not alone_right:
            source, source_count = (one, one_count) if before_is == 1 else (two, two_count)
            before = grown_keys(before, 0, source_count)
            copy_keys(source, 0, source_count, before, 0)
            before_count = source_count
            before_is = 0
        if row > first:
            one_count = merge_xor(one, one_count, left, first, row, PLANE_MASK, next_one)
            one, next_one = next_one, one
        if other > other_first:
            two_count = merge_xor(two, two_count, right, other_first, other, PLANE_MASK, next_two)
            two, next_two = next_two, two
        if alone_left:
            if keep_left:
                result = grown_keys(result, count, count + row - first)
                copy_keys(left, first, row, result, count)
                count += row - first
                before_is = 1
            continue
        if alone_right:
            if keep_right:
                result = grown_keys(result, count, count + other - other_first)
                copy_keys(right, other_first, other, result, count)
                count += other - other_first
                before_is = 2
            continue
        counts[1] += 1
        now, now_count = _combine_regions(one, one_count, two, two_count, truth, lines, now, counts)
        result = grown_keys(result, count, count + before_count + now_count)
        start = count
        count += merge_xor(before, before_count, now, 0, now_count, PLANE_MASK, result[count:])
        for position in range(start, count):
            result[position] |= plane << 2 * BITS
        now, before = before, now
        before_count = now_count
    return result[:count].copy()

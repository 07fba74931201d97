"""Collision from cached sections: the search starts where the two solids can meet and stops at the first overlap.

It compares slabs with slabs, strips with strips, runs with runs. A few slabs spread over the common range are probed
first, because solids that overlap mostly do so in the middle of the common range and not at its ends.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from choque._core.kernel import helper
from choque._core.types import I32, I64, Integer
from choque.volumes._sections import SectionArrays

Shift: TypeAlias = tuple[Integer, Integer, Integer]  # translation of the second solid, in the order of the keys
Range: TypeAlias = tuple[Integer, Integer]  # lower and upper coordinate along one axis
FOUND_SIZE = 8  # lower and upper corner of the overlap (0 to 5), runs compared (6), pairs of sections compared (7)
FAR: Integer = np.int64(1 << 40)  # greater than every coordinate
EVERYWHERE: Range = (-FAR, FAR)  # a range that holds every coordinate

PROBES = np.array([8, 4, 12, 2, 6, 10, 14], np.int64)
"""Positions that are probed first, in sixteenths of the common range."""
NO_PROBES = PROBES[:0]


@helper
def row_at(rows: I32, first: Integer, last: Integer, value: Integer) -> Integer:
    """Return the last of ``rows[first:last]`` whose coordinate is at most ``value``, or ``first``."""
    while last - first > 1:
        middle = (first + last) // 2
        if rows[middle, 0] <= value:
            first = middle
        else:
            last = middle
    return first


@helper
def find_overlap(
    one: SectionArrays, two: SectionArrays, shift: Shift, slack: Integer, probes: I64, only_probes: bool, found: I64
) -> bool:
    """Return whether two solids overlap when the second is moved by ``shift``; write a box of the overlap to ``found``.

    ``slack`` 0: interiors must meet. 1: touching is enough, and the box may have no thickness. With ``only_probes``
    only a few slabs are compared, and False decides nothing. No allocation. Time is linear in the runs of the slabs
    in the common range, and far less when there is an overlap.
    """
    slabs, other_slabs = one[0], two[0]
    low = max(slabs[0, 0], other_slabs[0, 0] + shift[0])
    high = min(slabs[slabs.shape[0] - 1, 0], other_slabs[other_slabs.shape[0] - 1, 0] + shift[0])
    if high - low >= 32:
        for sixteenths in probes:
            at = low + (high - low) * sixteenths // 16
            slab = row_at(slabs, 0, slabs.shape[0] - 1, at)
            other = row_at(other_slabs, 0, other_slabs.shape[0] - 1, at - shift[0])
            if sections_overlap(slab, one, other, two, shift, slack, EVERYWHERE, found):
                return True
    if only_probes:
        return False
    return slabs_overlap(one, two, shift, slack, (low, high), EVERYWHERE, found)


@helper
def slabs_overlap(
    one: SectionArrays, two: SectionArrays, shift: Shift, slack: Integer, planes: Range, lines: Range, found: I64
) -> bool:
    """Do the same for the slabs within ``planes``, a range along the first axis, and ``lines``, along the second."""
    low, high = planes
    if low >= high + slack:
        return False
    slabs, other_slabs = one[0], two[0]
    last, other_last = slabs.shape[0] - 1, other_slabs.shape[0] - 1
    slab = row_at(slabs, 0, last, low - slack)
    start = row_at(other_slabs, 0, other_last, low - slack - shift[0])
    while slab < last and slabs[slab, 0] < high + slack:
        while start < other_last and other_slabs[start + 1, 0] + shift[0] <= slabs[slab, 0] - slack:
            start += 1
        other = start
        while other < other_last and other_slabs[other, 0] + shift[0] < slabs[slab + 1, 0] + slack:
            if sections_overlap(slab, one, other, two, shift, slack, lines, found):
                return True
            other += 1
        slab += 1
    return False


@helper
def sections_overlap(
    slab: Integer,
    one: SectionArrays,
    other_slab: Integer,
    two: SectionArrays,
    shift: Shift,
    slack: Integer,
    lines: Range,
    found: I64,
) -> bool:
    """Do the same for one section of each within ``lines``, unless their ranges are apart."""
    slabs, strips, ends = one
    other_slabs, other_strips, other_ends = two
    shift_0, shift_1, shift_2 = shift
    first, last = slabs[slab, 1], slabs[slab + 1, 1] - 1
    start, other_last = other_slabs[other_slab, 1], other_slabs[other_slab + 1, 1] - 1
    if first >= last or start >= other_last:
        return False
    if slabs[slab, 2] >= other_slabs[other_slab, 3] + shift_2 + slack:
        return False
    if other_slabs[other_slab, 2] + shift_2 >= slabs[slab, 3] + slack:
        return False
    low = max(strips[first, 0], other_strips[start, 0] + shift_1, lines[0])
    high = min(strips[last, 0], other_strips[other_last, 0] + shift_1, lines[1])
    if low >= high + slack:
        return False
    found[7] += 1
    strip = row_at(strips, first, last, low - slack)
    start = row_at(other_strips, start, other_last, low - slack - shift_1)
    while strip < last and strips[strip, 0] < high + slack:
        while start < other_last and other_strips[start + 1, 0] + shift_1 <= strips[strip, 0] - slack:
            start += 1
        other = start
        while other < other_last and other_strips[other, 0] + shift_1 < strips[strip + 1, 0] + slack:
            row, row_last = strips[strip, 1], strips[strip + 1, 1]
            column, column_last = other_strips[other, 1], other_strips[other + 1, 1]
            while row < row_last and column < column_last:
                found[6] += 1
                if ends[row + 1] <= other_ends[column] + shift_2 - slack:
                    row += 2
                elif other_ends[column + 1] + shift_2 <= ends[row] - slack:
                    column += 2
                else:
                    found[0] = max(slabs[slab, 0], other_slabs[other_slab, 0] + shift_0)
                    found[3] = min(slabs[slab + 1, 0], other_slabs[other_slab + 1, 0] + shift_0)
                    found[1] = max(strips[strip, 0], other_strips[other, 0] + shift_1)
                    found[4] = min(strips[strip + 1, 0], other_strips[other + 1, 0] + shift_1)
                    found[2] = max(ends[row], other_ends[column] + shift_2)
                    found[5] = min(ends[row + 1], other_ends[column + 1] + shift_2)
                    return True
            other += 1
        strip += 1
    return False

"""How far to push one solid along an axis until the overlap with another ends."""

from __future__ import annotations

from choque._core.kernel import helper
from choque.volumes._overlap import Shift, row_at
from choque.volumes._sections import SectionArrays


@helper
def push_distance(one: SectionArrays, two: SectionArrays, shift: Shift, forward: bool, limit: int) -> int:
    """The least number of cells, below ``limit``, by which the second must move along the last axis to end all overlap.

    Every round finds the longest push that any overlapping pair of runs still asks for, and makes it; no shorter one
    would do, because that pair overlaps until then. The rounds end when nothing overlaps.
    """
    slabs, other_slabs = one[0], two[0]
    shift_0, shift_1, shift_2 = shift
    total = 0
    last, other_last = slabs.shape[0] - 1, other_slabs.shape[0] - 1
    while total < limit:
        step = 0
        moved = shift_2 + total if forward else shift_2 - total
        start = row_at(other_slabs, 0, other_last, slabs[0, 0] - shift_0)
        for slab in range(last):
            while start < other_last and other_slabs[start + 1, 0] + shift_0 <= slabs[slab, 0]:
                start += 1
            other = start
            while other < other_last and other_slabs[other, 0] + shift_0 < slabs[slab + 1, 0]:
                step = max(step, _section_push(slab, one, other, two, shift_1, moved, forward))
                other += 1
        if step == 0:
            return total
        total += step
    return limit


@helper
def _section_push(
    slab: int, one: SectionArrays, other_slab: int, two: SectionArrays, shift_1: int, shift_2: int, forward: bool
) -> int:
    """The longest push that a pair of overlapping runs of two sections asks for."""
    slabs, strips, ends = one
    other_slabs, other_strips, other_ends = two
    step = 0
    start, other_last = other_slabs[other_slab, 1], other_slabs[other_slab + 1, 1] - 1
    for strip in range(slabs[slab, 1], slabs[slab + 1, 1] - 1):
        while start < other_last and other_strips[start + 1, 0] + shift_1 <= strips[strip, 0]:
            start += 1
        other = start
        while other < other_last and other_strips[other, 0] + shift_1 < strips[strip + 1, 0]:
            row, row_last = strips[strip, 1], strips[strip + 1, 1]
            column, column_last = other_strips[other, 1], other_strips[other + 1, 1]
            while row < row_last and column < column_last:
                if ends[row + 1] <= other_ends[column] + shift_2:
                    row += 2
                elif other_ends[column + 1] + shift_2 <= ends[row]:
                    column += 2
                else:
                    if forward:
                        step = max(step, ends[row + 1] - other_ends[column] - shift_2)
                    else:
                        step = max(step, other_ends[column + 1] + shift_2 - ends[row])
                    if ends[row + 1] < other_ends[column + 1] + shift_2:
                        row += 2
                    else:
                        column += 2
            other += 1
    return step

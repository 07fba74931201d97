"""The sweeps of the EVM thesis over sorted vertices, with counters: collision, and the plain general boolean.

`sweep_collides` is the collision sweep of Ottogalli (2014): the boolean sweep that stops at the first pair of brinks
that overlap. It reads the vertices and caches nothing. The equal-parity rule of the thesis and its result, a single
point, become a yes or no. `choque.volumes.collision.search` answers the same question from cached sections, which is
faster from the second query on.

`combine` is the boolean of `choque.volumes` with counters; with ``improve=False`` it is the general boolean of Aguilera
(1998), without acceleration: the same result from more work.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.kernel import kernel
from choque.volumes import ExtremeVertices
from choque.volumes.boolean import OPERATIONS, combine_keys
from choque.volumes.keys import BITS, LINE_MASK, PLANE_MASK, VertexKeys, group_end, merge_xor


class SweepCounters:
    """Work of a sweep: ``brinks`` read on the lowest level, ``sections`` combined one dimension lower."""

    def __init__(self) -> None:
        self.counts = np.zeros(2, np.int64)
        """The array that kernels add to: brinks, then sections."""

    @property
    def brinks(self) -> int:
        """Number of brinks (pairs of vertices along the last axis) read on the lowest level."""
        return int(self.counts[0])

    @property
    def sections(self) -> int:
        """Number of pairs of sections passed to the level below."""
        return int(self.counts[1])


def sweep_collides(
    one: ExtremeVertices, two: ExtremeVertices, *, improve: bool = True, counters: SweepCounters | None = None
) -> bool:
    """Return whether the interiors of two objects meet, by the collision sweep of the thesis."""
    left, right, _ = one.together(two)
    return keys_collide(left, right, one.dimension, improve=improve, counters=counters)


def combine(
    one: ExtremeVertices,
    two: ExtremeVertices,
    operation: str,
    *,
    improve: bool = True,
    counters: SweepCounters | None = None,
) -> ExtremeVertices:
    """Return a regularised boolean; without ``improve`` by the general boolean, which recurses at every plane."""
    check.choice(operation, "boolean operation", OPERATIONS)
    left, right, offset = one.together(two)
    counts = (counters or SweepCounters()).counts
    keys = combine_keys(left, right, one.dimension, operation, counts, accelerated=improve)
    return ExtremeVertices(keys, one.order, offset)


def keys_collide(
    left: VertexKeys, right: VertexKeys, dimension: int, *, improve: bool = True, counters: SweepCounters | None = None
) -> bool:
    """Return whether two objects of sorted keys share more than their boundaries; same dimension, same order.

    Stops at the first overlap on every level. With ``improve`` it also skips sections that are empty or whose ranges
    along the second axis are apart. O(sections that meet) time; all memory is allocated before the sweep.
    """
    counts = (counters or SweepCounters()).counts
    sections = np.empty((4, max(len(left), len(right)) + 1), np.int64)
    lines = np.empty_like(sections)
    if dimension == 3:
        return bool(_solids_collide(left, right, improve, sections, lines, counts))
    if dimension == 2:
        return bool(_regions_collide(left, len(left), right, len(right), improve, lines, counts))
    return bool(_runs_collide(left, len(left), right, len(right), counts))


@kernel
def _runs_collide(
    left: VertexKeys, left_count: int, right: VertexKeys, right_count: int, counts: NDArray[np.int64]
) -> bool:
    """Return whether two sorted lists of ends share an interval of positive length."""
    row, other = 0, 0
    while row < left_count and other < right_count:
        counts[0] += 1
        if left[row + 1] <= right[other]:
            row += 2
        elif right[other + 1] <= left[row]:
            other += 2
        else:
            return True
    return False


@kernel
def _regions_collide(
    left: VertexKeys,
    left_count: int,
    right: VertexKeys,
    right_count: int,
    improve: bool,
    lines: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> bool:
    one, next_one, two, next_two = lines[0], lines[1], lines[2], lines[3]
    one_count, two_count, row, other = 0, 0, 0, 0
    while row < left_count and other < right_count:
        left_line, right_line = left[row] >> BITS, right[other] >> BITS
        line = left_line if left_line < right_line else right_line
        first, other_first = row, other
        row = group_end(left, row, left_count, BITS, line)
        other = group_end(right, other, right_count, BITS, line)
        if row > first:
            one_count = merge_xor(one, one_count, left, first, row, LINE_MASK, next_one)
            one, next_one = next_one, one
        if other > other_first:
            two_count = merge_xor(two, two_count, right, other_first, other, LINE_MASK, next_two)
            two, next_two = next_two, two
        if improve and (one_count == 0 or two_count == 0):
            continue
        if _runs_collide(one, one_count, two, two_count, counts):
            return True
    return False


@kernel
def _solids_collide(
    left: VertexKeys,
    right: VertexKeys,
    improve: bool,
    sections: NDArray[np.int64],
    lines: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> bool:
    one, next_one, two, next_two = sections[0], sections[1], sections[2], sections[3]
    left_count, right_count = len(left), len(right)
    one_count, two_count, row, other = 0, 0, 0, 0
    while row < left_count and other < right_count:
        left_plane, right_plane = left[row] >> 2 * BITS, right[other] >> 2 * BITS
        plane = left_plane if left_plane < right_plane else right_plane
        first, other_first = row, other
        row = group_end(left, row, left_count, 2 * BITS, plane)
        other = group_end(right, other, right_count, 2 * BITS, plane)
        if row > first:
            one_count = merge_xor(one, one_count, left, first, row, PLANE_MASK, next_one)
            one, next_one = next_one, one
        if other > other_first:
            two_count = merge_xor(two, two_count, right, other_first, other, PLANE_MASK, next_two)
            two, next_two = next_two, two
        if improve:
            if one_count == 0 or two_count == 0:
                continue
            if one[0] >> BITS >= two[two_count - 1] >> BITS or two[0] >> BITS >= one[one_count - 1] >> BITS:
                continue
        counts[1] += 1
        if _regions_collide(one, one_count, two, two_count, improve, lines, counts):
            return True
    return False

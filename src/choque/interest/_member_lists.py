"""Members of areas, kept between frames in lists that are a little too long, so that they serve for several.

A list holds the bodies that touch an area widened by a slack. As long as no two bodies together have moved by more than
the slack, every body that touches the area is in its list, and following the motion is one pass over the lists, which
finds members that enter and leave. These are the neighbour lists of Verlet, "Computer 'experiments' on classical
fluids", 1967, made directed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np

from choque._core import memory, threads
from choque._core.kernel import kernel
from choque._core.pair_sets import Change
from choque._core.types import F64, I32, U8, Integer, Pairs, Rows
from choque.interest._bodies import AreaBodies
from choque.interest._search import BodyIndex, find_members
from choque.neighbors.search import touches

ListArrays: TypeAlias = tuple[I32, Rows, U8]  # the others, starts and marks of `MemberLists`


@dataclass(frozen=True)
class MemberLists:
    """The list of each body."""

    bodies: AreaBodies  # the bodies when the lists were made
    slack: float  # how much larger than the areas the lists are
    others: I32  # (m,) int32: the rows of all lists, each ascending, in the order of the owners
    starts: Rows  # (n + 1,) int64: where the list of each row starts
    inside: U8  # (m,) uint8: 1 if the other touches the area itself; `follow` changes it
    index: BodyIndex | None = None  # the search structure that found them; None if no body has an area

    @property
    def arrays(self) -> ListArrays:
        """The arrays, as kernels take them."""
        return self.others, self.starts, self.inside

    @property
    def byte_count(self) -> int:
        """The size of all arrays [bytes]."""
        return self.others.nbytes + self.starts.nbytes + self.inside.nbytes + self.bodies.spheres.nbytes

    def serve(self, bodies: AreaBodies, thread_count: int) -> bool:
        """Return whether every body that touches an area of ``bodies``, whose radii are the same, is listed."""
        moved = farthest_move(self.bodies, bodies, thread_count)
        return moved == 0 or 2 * moved < self.slack * (1 - 1e-9)

    @cached_property
    def _pairs(self) -> Pairs:
        pairs: Pairs = memory.empty((len(self.others), 2), np.int32)
        pairs[:, 0] = np.repeat(np.arange(self.bodies.total, dtype=np.int32), np.diff(self.starts))
        pairs[:, 1] = self.others
        return pairs

    def members(self) -> Pairs:
        """Return the (owner, other) rows that touch, sorted; not to be changed."""
        return self._pairs if self.slack == 0 else self._pairs[self.inside.view(np.bool_)]

    def listed(self, row: int) -> I32:
        """Return the rows that touched the area of ``row``, widened by the slack, at the search; ascending."""
        return self.others[self.starts[row] : self.starts[row + 1]]

    def members_of(self, row: int) -> I32:
        """Return the rows that touch the area of ``row``, ascending."""
        span = slice(int(self.starts[row]), int(self.starts[row + 1]))
        return self.others[span][self.inside[span].view(np.bool_)]

    def follow(self, bodies: AreaBodies, is_box: bool, thread_count: int) -> tuple[Change, int]:
        """Update the members to new positions of the bodies. Return what changed, and the number of tests."""
        arguments = (bodies, self.arrays, is_box)
        return _changes_by(_follow, self.starts, self.starts, thread_count, *arguments), len(self.others)


def make_lists(bodies: AreaBodies, slack: float, is_box: bool, thread_count: int) -> tuple[MemberLists, int]:
    """Search the lists of all owners. Return them and the number of tests. O(n log n + m)."""
    others, starts, tests, index = find_members(bodies, slack, is_box, thread_count)
    lists = MemberLists(bodies, slack, others, starts, np.ones(len(others), np.uint8), index)
    if slack > 0:
        threads.over_ranges(_mark_inside, bodies.total, thread_count, bodies, lists.arrays, is_box)
        tests += len(others)
    return lists, tests


def changes(before: MemberLists, after: MemberLists, thread_count: int) -> Change:
    """Return what entered and left between two lists of the same bodies."""
    return _changes_by(_compare, after.starts, before.starts, thread_count, before.arrays, after.arrays)


def _changes_by(
    kernel: Callable[..., tuple[int, int]], entered_starts: Rows, left_starts: Rows, thread_count: int, *given: object
) -> Change:
    """Run ``kernel(first, last, *given, entered, left)`` over shares of all rows. Return its output.

    The kernel writes to both arrays, in order, from where the lists of its first row start, and returns two counts.
    """
    row_count = len(entered_starts) - 1
    shares = threads.ranges(row_count, threads.streams(thread_count, row_count))
    entered, left = (memory.empty((int(starts[-1]), 2), np.int32) for starts in (entered_starts, left_starts))
    counts = threads.run(lambda part: kernel(*shares[part], *given, entered, left), len(shares))
    firsts = [first for first, _ in shares]
    return Change(
        _closed_up(entered, entered_starts[firsts], [count for count, _ in counts]),
        _closed_up(left, left_starts[firsts], [count for _, count in counts]),
    )


def _closed_up(pairs: Pairs, firsts: Rows, counts: list[int]) -> Pairs:
    """Return the parts of ``pairs`` that begin at ``firsts``, concatenated."""
    total = 0
    for first, count in zip(firsts, counts, strict=True):
        if first > total:
            pairs[total : total + count] = pairs[first : first + count]
        total += count
    return pairs[:total].copy() if total < len(pairs) // 2 else pairs[:total]


def farthest_move(before: AreaBodies, after: AreaBodies, thread_count: int) -> float:
    """Return the largest distance that any body has moved."""
    arrays = (before.spheres, after.spheres)
    return max(threads.over_ranges(_farthest, after.total, thread_count, *arrays), default=0.0)


@kernel
def _farthest(first: int, last: int, before: F64, after: F64) -> float:
    squared, component = 0.0, 0.0
    for i in range(first, last):
        dx, dy, dz = after[i, 0] - before[i, 0], after[i, 1] - before[i, 1], after[i, 2] - before[i, 2]
        squared = max(squared, dx * dx + dy * dy + dz * dz)
        component = max(component, abs(dx), abs(dy), abs(dz))
    # A step too small to be squared is still a step.
    return np.sqrt(squared) if component > 1e-140 else 2.0 * component


@kernel
def _mark_inside(first: int, last: int, bodies: AreaBodies, lists: ListArrays, is_box: bool) -> None:
    """Mark the bodies that touch the area itself."""
    spheres, reaches = bodies
    listed, starts, inside = lists
    for i in range(first, last):
        x, y, z, reach = spheres[i, 0], spheres[i, 1], spheres[i, 2], reaches[i]
        others, flags = listed[starts[i] : starts[i + 1]], inside[starts[i] : starts[i + 1]]
        for k in range(flags.size):
            j = others[k]
            dx, dy, dz = spheres[j, 0] - x, spheres[j, 1] - y, spheres[j, 2] - z
            flags[k] = touches(dx, dy, dz, reach + spheres[j, 3], is_box)


@kernel
def _follow(
    first: int, last: int, bodies: AreaBodies, lists: ListArrays, is_box: bool, entered: Pairs, left: Pairs
) -> tuple[int, int]:
    """Mark the bodies that touch the area now, and write those that entered and left."""
    spheres, reaches = bodies
    listed, starts, inside = lists
    entering, leaving = entered[starts[first] :], left[starts[first] :]
    entered_count: Integer = 0
    left_count: Integer = 0
    for i in range(first, last):
        x, y, z, reach = spheres[i, 0], spheres[i, 1], spheres[i, 2], reaches[i]
        others, flags = listed[starts[i] : starts[i + 1]], inside[starts[i] : starts[i + 1]]
        for k in range(flags.size):
            j = others[k]
            dx, dy, dz = spheres[j, 0] - x, spheres[j, 1] - y, spheres[j, 2] - z
            now = np.uint8(touches(dx, dy, dz, reach + spheres[j, 3], is_box))
            if now > flags[k]:
                entering[entered_count, 0], entering[entered_count, 1] = i, j
                entered_count += 1
            elif now < flags[k]:
                leaving[left_count, 0], leaving[left_count, 1] = i, j
                left_count += 1
            flags[k] = now
    return entered_count, left_count


@kernel
def _compare(
    first: int, last: int, before: ListArrays, after: ListArrays, entered: Pairs, left: Pairs
) -> tuple[int, int]:
    """Merge the old and the new list of each row, without a branch on their contents; write who entered and left."""
    old_others, old_starts, old_inside = before
    new_others, new_starts, new_inside = after
    entering, leaving = entered[new_starts[first] :], left[old_starts[first] :]
    entered_count: Integer = 0
    left_count: Integer = 0
    for i in range(first, last):
        old, old_end = old_starts[i], old_starts[i + 1]
        new, new_end = new_starts[i], new_starts[i + 1]
        while old < old_end and new < new_end:
            was, now = old_others[old], new_others[new]
            was_in = np.int64(old_inside[old]) & np.int64(was <= now)
            is_in = np.int64(new_inside[new]) & np.int64(now <= was)
            # The buffers have space for one more row: the lists are not at their ends.
            entering[entered_count, 0], entering[entered_count, 1] = i, now
            leaving[left_count, 0], leaving[left_count, 1] = i, was
            entered_count += is_in & ~was_in
            left_count += was_in & ~is_in
            old += was <= now
            new += now <= was
        for k in range(old, old_end):
            leaving[left_count, 0], leaving[left_count, 1] = i, old_others[k]
            left_count += np.int64(old_inside[k])
        for k in range(new, new_end):
            entering[entered_count, 0], entering[entered_count, 1] = i, new_others[k]
            entered_count += np.int64(new_inside[k])
    return entered_count, left_count

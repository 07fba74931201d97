"""Who is in whose area, kept between frames: lists that are a little too long, so that they last for several.

A list holds the bodies that touch an area with a slack around it. As long as no two bodies together have moved by more
than the slack, whoever touches the area now is in its list, and following the motion is one pass over the lists, in
which entering and leaving show as they happen. These are the neighbour lists of Verlet, "Computer 'experiments' on
classical fluids", 1967, made directed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.kernel import kernel
from choque._core.pair_sets import Change
from choque._core.types import Index, Pairs, Rows
from choque.interest._bodies import Bodies
from choque.interest._search import search
from choque.interest._touch import touches


@dataclass(frozen=True)
class Lists:
    """The list of each body.

    Attributes
    ----------
    bodies
        The bodies when the lists were made.
    slack
        How much farther than the areas the lists reach.
    near
        (m, 2) int32, sorted: (owner, other) rows of all lists.
    starts
        (n + 1,) int64: where the list of each row starts.
    inside
        (m,) uint8: 1 where the other touches the area itself. The one thing that changes.
    """

    bodies: Bodies
    slack: float
    near: Pairs
    starts: Rows
    inside: NDArray[np.uint8]

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self.near.nbytes + self.starts.nbytes + self.inside.nbytes + self.bodies.spheres.nbytes

    def serve(self, bodies: Bodies, thread_count: int) -> bool:
        """Whether nobody touches an area of ``bodies``, which look as far as before, without being listed."""
        moved = farthest_move(self.bodies, bodies, thread_count)
        return moved == 0 or 2 * moved < self.slack * (1 - 1e-9)

    def members(self) -> Pairs:
        """The (owner, other) rows that touch, sorted."""
        return self.near if self.slack == 0 else self.near[self.inside.view(np.bool_)]

    def listed(self, row: int) -> NDArray[np.int32]:
        """The rows that touched the area of ``row``, widened by the slack, when the lists were made; ascending."""
        return self.near[self.starts[row] : self.starts[row + 1], 1]

    def members_of(self, row: int) -> NDArray[np.int32]:
        """The rows that touch the area of ``row``, ascending."""
        span = slice(int(self.starts[row]), int(self.starts[row + 1]))
        return self.near[span, 1][self.inside[span].view(np.bool_)]

    def follow(self, bodies: Bodies, is_box: bool, thread_count: int) -> tuple[Change, int]:
        """Note who touches now that the bodies are here, and say what changed, and at how many tests."""
        arrays = (bodies.spheres, bodies.reach, self.near, self.starts, self.inside, is_box)
        return _changes_by(_follow, self.starts, self.starts, thread_count, *arrays), len(self.near)


def make_lists(bodies: Bodies, slack: float, is_box: bool, thread_count: int) -> tuple[Lists, int]:
    """Search the lists of all owners; also the number of tests. O(n log n + m) time."""
    near, starts, tests = search(bodies, slack, is_box, thread_count)
    lists = Lists(bodies, slack, near, starts, np.ones(len(near), np.uint8))
    if slack > 0:
        arrays = (bodies.spheres, bodies.reach, near, starts, lists.inside, is_box)
        threads.over_ranges(_mark_inside, len(bodies), thread_count, *arrays)
        tests += len(near)
    return lists, tests


def changes(before: Lists, after: Lists, thread_count: int) -> Change:
    """What entered and left between two lists of the same bodies."""
    arrays = (before.near, before.starts, before.inside, after.near, after.starts, after.inside)
    return _changes_by(_compare, after.starts, before.starts, thread_count, *arrays)


def _changes_by(
    kernel: Callable[..., tuple[int, int]], entered_starts: Rows, left_starts: Rows, thread_count: int, *arrays: object
) -> Change:
    """What ``kernel(first, last, *arrays, entered, left)`` tells of shares of all rows.

    It writes to both arrays, in order, from where the lists of its first row start, and returns how many rows.
    """
    row_count = len(entered_starts) - 1
    shares = threads.ranges(row_count, threads.streams(thread_count, row_count))
    entered, left = (memory.empty((int(starts[-1]), 2), np.int32) for starts in (entered_starts, left_starts))
    counts = threads.run(lambda part: kernel(*shares[part], *arrays, entered, left), len(shares))
    firsts = [first for first, _ in shares]
    return Change(
        _closed_up(entered, entered_starts[firsts], [count for count, _ in counts]),
        _closed_up(left, left_starts[firsts], [count for _, count in counts]),
    )


def _closed_up(pairs: Pairs, firsts: Rows, counts: list[int]) -> Pairs:
    """The parts of ``pairs`` that begin at ``firsts``, one after the other."""
    total = 0
    for first, count in zip(firsts, counts, strict=True):
        if first > total:
            pairs[total : total + count] = pairs[first : first + count]
        total += count
    return pairs[:total].copy() if total < len(pairs) // 2 else pairs[:total]


def farthest_move(before: Bodies, after: Bodies, thread_count: int) -> float:
    """How far the body has moved that moved farthest."""
    arrays = (before.spheres, after.spheres)
    return max(threads.over_ranges(_farthest, len(after), thread_count, *arrays), default=0.0)


@kernel
def _farthest(first: int, last: int, before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    squared, component = 0.0, 0.0
    for i in range(first, last):
        dx, dy, dz = after[i, 0] - before[i, 0], after[i, 1] - before[i, 1], after[i, 2] - before[i, 2]
        squared = max(squared, dx * dx + dy * dy + dz * dz)
        component = max(component, abs(dx), abs(dy), abs(dz))
    # A step too small to be squared is still a step.
    return np.sqrt(squared) if component > 1e-140 else 2.0 * component


@kernel
def _mark_inside(
    first: int,
    last: int,
    spheres: NDArray[np.float64],
    reach: NDArray[np.float64],
    near: Pairs,
    starts: Rows,
    inside: NDArray[np.uint8],
    is_box: bool,
) -> None:
    """Note who touches the area itself."""
    for i in range(first, last):
        x, y, z, own_reach = spheres[i, 0], spheres[i, 1], spheres[i, 2], reach[i]
        others, flags = near[starts[i] : starts[i + 1]], inside[starts[i] : starts[i + 1]]
        for k in range(flags.size):
            j = others[k, 1]
            dx, dy, dz = spheres[j, 0] - x, spheres[j, 1] - y, spheres[j, 2] - z
            flags[k] = touches(dx, dy, dz, own_reach + spheres[j, 3], is_box)


@kernel
def _follow(
    first: int,
    last: int,
    spheres: NDArray[np.float64],
    reach: NDArray[np.float64],
    near: Pairs,
    starts: Rows,
    inside: NDArray[np.uint8],
    is_box: bool,
    entered: Pairs,
    left: Pairs,
) -> tuple[int, int]:
    """Note who touches the area now, and write who entered and who left."""
    entering, leaving = entered[starts[first] :], left[starts[first] :]
    entered_count: Index = 0
    left_count: Index = 0
    for i in range(first, last):
        x, y, z, own_reach = spheres[i, 0], spheres[i, 1], spheres[i, 2], reach[i]
        others, flags = near[starts[i] : starts[i + 1]], inside[starts[i] : starts[i + 1]]
        for k in range(flags.size):
            j = others[k, 1]
            dx, dy, dz = spheres[j, 0] - x, spheres[j, 1] - y, spheres[j, 2] - z
            now = np.uint8(touches(dx, dy, dz, own_reach + spheres[j, 3], is_box))
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
    first: int,
    last: int,
    old_near: Pairs,
    old_starts: Rows,
    old_inside: NDArray[np.uint8],
    new_near: Pairs,
    new_starts: Rows,
    new_inside: NDArray[np.uint8],
    entered: Pairs,
    left: Pairs,
) -> tuple[int, int]:
    """Merge the old and the new list of each row without a branch on what they hold; write who entered and left."""
    entering, leaving = entered[new_starts[first] :], left[old_starts[first] :]
    entered_count: Index = 0
    left_count: Index = 0
    for i in range(first, last):
        old, old_end = old_starts[i], old_starts[i + 1]
        new, new_end = new_starts[i], new_starts[i + 1]
        while old < old_end and new < new_end:
            before, now = old_near[old, 1], new_near[new, 1]
            was_in = np.int64(old_inside[old]) & np.int64(before <= now)
            is_in = np.int64(new_inside[new]) & np.int64(now <= before)
            # There is room for one more row than told so far: the lists are not at their ends.
            entering[entered_count, 0], entering[entered_count, 1] = i, now
            leaving[left_count, 0], leaving[left_count, 1] = i, before
            entered_count += is_in & ~was_in
            left_count += was_in & ~is_in
            old += before <= now
            new += now <= before
        for k in range(old, old_end):
            leaving[left_count, 0], leaving[left_count, 1] = i, old_near[k, 1]
            left_count += np.int64(old_inside[k])
        for k in range(new, new_end):
            entering[entered_count, 0], entering[entered_count, 1] = i, new_near[k, 1]
            entered_count += np.int64(new_inside[k])
    return entered_count, left_count

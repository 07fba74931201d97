"""Who is in whose area, kept between frames: lists that are a little too long, so that they last for several.

A list holds the bodies that touch an area with a slack around it. As long as no two bodies together have moved by more
than the slack, whoever touches the area now is in its list, and following the motion is one pass over the lists, in
which entering and leaving show as they happen. These are the neighbour lists of Verlet, "Computer 'experiments' on
classical fluids", 1967, made directed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque import threads
from choque._types import Index, Keys, Pairs, Rows
from choque.broad._emission import Sink
from choque.broad._pair_sets import Change
from choque.interest._bodies import Bodies
from choque.interest._groups import change_from_groups, sorted_groups
from choque.interest._search import emit_near
from choque.interest._touch import touches
from choque.kernel import kernel


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

    def members_of(self, row: int) -> NDArray[np.int32]:
        """The rows that touch the area of ``row``, ascending."""
        span = slice(int(self.starts[row]), int(self.starts[row + 1]))
        return self.near[span, 1][self.inside[span].view(np.bool_)]

    def follow(self, bodies: Bodies, is_box: bool, thread_count: int) -> tuple[Change, int]:
        """Note who touches now that the bodies are here, and say what changed, and at how many tests."""
        sink = self._pass(bodies, is_box, thread_count, tells=True)
        return change_from_groups(sink.chunks, len(bodies), thread_count), sink.tests

    def _pass(self, bodies: Bodies, is_box: bool, thread_count: int, tells: bool) -> Sink:
        sink = Sink(len(bodies), thread_count, None)
        arrays = (bodies.spheres, bodies.reach, self.near, self.starts, self.inside)
        sink.run(_follow, len(bodies), *arrays, is_box, tells)
        return sink


def make_lists(bodies: Bodies, slack: float, is_box: bool, thread_count: int) -> tuple[Lists, int]:
    """Search the lists of all owners; also the number of tests. O(n log n + m) time."""
    sink = Sink(8 * len(bodies), thread_count, None)
    emit_near(sink, bodies, slack, is_box)
    near, starts = sorted_groups(sink.chunks, len(bodies), thread_count)
    lists = Lists(bodies, slack, near, starts, np.ones(len(near), np.uint8))
    tests = sink.tests
    if slack > 0:
        tests += lists._pass(bodies, is_box, thread_count, tells=False).tests
    return lists, tests


def changes(before: Lists, after: Lists, thread_count: int) -> Change:
    """What entered and left between two lists of the same bodies."""
    sink = Sink(len(after.bodies), thread_count, None)
    arrays = (before.near, before.starts, before.inside, after.near, after.starts, after.inside)
    sink.run(_compare, len(after.bodies), *arrays)
    return change_from_groups(sink.chunks, len(after.bodies), thread_count)


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
def _follow(
    first: int,
    last: int,
    chunk: Keys,
    spheres: NDArray[np.float64],
    reach: NDArray[np.float64],
    near: Pairs,
    starts: Rows,
    inside: NDArray[np.uint8],
    is_box: bool,
    tells: bool,
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a list. Writes who entered, and with the highest bit set who left, if it ``tells``."""
    written = 0
    tests = 0
    for i in range(first, last):
        begin, end = starts[i], starts[i + 1]
        if tells and written + end - begin > chunk.size:
            return i, written, tests
        tests += end - begin
        x, y, z, own_reach = spheres[i, 0], spheres[i, 1], spheres[i, 2], reach[i]
        own = np.uint64(i) << np.uint64(32)
        others = near[begin:end]
        flags = inside[begin:end]
        for k in range(end - begin):
            j = others[k, 1]
            dx, dy, dz = spheres[j, 0] - x, spheres[j, 1] - y, spheres[j, 2] - z
            now = np.uint8(touches(dx, dy, dz, own_reach + spheres[j, 3], is_box))
            if tells and now != flags[k]:
                key = own | np.uint64(j)
                chunk[written] = key if now else key | (np.uint64(1) << np.uint64(63))
                written += 1
            flags[k] = now
    return last, written, tests


@kernel
def _compare(
    first: int,
    last: int,
    chunk: Keys,
    old_near: Pairs,
    old_starts: Rows,
    old_inside: NDArray[np.uint8],
    new_near: Pairs,
    new_starts: Rows,
    new_inside: NDArray[np.uint8],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a row, whose old and new list are merged without a branch on what they hold."""
    left = np.uint64(1) << np.uint64(63)
    written: Index = 0
    for i in range(first, last):
        old, old_end = old_starts[i], old_starts[i + 1]
        new, new_end = new_starts[i], new_starts[i + 1]
        if written + (old_end - old) + (new_end - new) > chunk.size:
            return i, written, 0
        own = np.uint64(i) << np.uint64(32)
        while old < old_end and new < new_end:
            before, now = old_near[old, 1], new_near[new, 1]
            was_in = np.int64(old_inside[old]) & np.int64(before <= now)
            is_in = np.int64(new_inside[new]) & np.int64(now <= before)
            chunk[written] = own | np.uint64(min(before, now)) | (left * np.uint64(was_in))
            written += was_in ^ is_in
            old += before <= now
            new += now <= before
        for k in range(old, old_end):
            chunk[written] = own | np.uint64(old_near[k, 1]) | left
            written += np.int64(old_inside[k])
        for k in range(new, new_end):
            chunk[written] = own | np.uint64(new_near[k, 1])
            written += np.int64(new_inside[k])
    return last, written, 0

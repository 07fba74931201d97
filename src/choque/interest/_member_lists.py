"""Members of areas, kept between frames in lists that are a little too long, so that they serve for several.

A list holds the bodies that touch an area widened by a slack. As long as no two bodies together have moved by more than
the slack, every body that touches the area is in its list, and following the motion is one pass over the lists, which
finds members that enter and leave. These are the neighbour lists of Verlet, "Computer 'experiments' on classical
fluids", 1967, made directed.

While few bodies change, the lists are left as they are, and the pairs around the bodies that change are searched before
and after the change, in the search structure that made the lists. Bodies that have changed since are *loose*: the
structure has them at a wrong place, so they are compared one by one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.cells import cell_along
from choque._core.kernel import forceinline, kernel
from choque._core.pair_keys import pair_key, unpack_pairs
from choque._core.pair_sets import Change
from choque._core.records import Questions
from choque._core.tree import WIDTH, Tree
from choque._core.tree_query import list_queries
from choque._core.types import F64, I32, I64, U8, U32, Integer, Keys, Pairs, Rows
from choque.interest._bodies import AreaBodies, half_edge
from choque.interest._search import BodyIndex, find_members
from choque.neighbors.search import touches

GONE = 2**32 - 1  # the row of a removed body in the search structure

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


# Changes of a few bodies


@dataclass
class Patch:
    """The bodies that have changed since the lists of all members were made."""

    # the search structure of the lists; its rows follow removals, and those of removed bodies are `GONE`
    index: BodyIndex
    margin: float  # how far the bodies that are not loose may be from their places in it
    largest: float  # at least the radius of the largest area
    most: float  # the radius of the largest body that the structure has
    is_box: bool  # whether areas and bodies are boxes
    loose: I64
    is_loose: U8  # the rows that have changed, and (n,) whether each has

    def loosen(self, rows: Rows) -> None:
        """Add rows to those that have changed."""
        new = rows[self.is_loose[rows] == 0]
        if new.size:
            self.is_loose[new] = 1
            self.loose = np.concatenate((self.loose, new))

    def extend(self, count: int) -> None:
        """Add ``count`` bodies after the others, all of them loose."""
        first = len(self.is_loose)
        self.is_loose = np.concatenate((self.is_loose, np.ones(count, np.uint8)))
        self.loose = np.concatenate((self.loose, np.arange(first, first + count)))

    def drop(self, rows: Rows) -> None:
        """Remove bodies; the rows after them move up."""
        ordered = np.sort(rows)
        staying = self.loose[~np.isin(self.loose, ordered)]
        self.loose = staying - np.searchsorted(ordered, staying)
        self.is_loose = np.delete(self.is_loose, rows)
        self.index = self.index._replace(rows=_without(self.index.rows.copy(), ordered))

    def around(self, rows: Rows, bodies: AreaBodies) -> Pairs:
        """Return all pairs (owner, other) in which one of ``rows`` is owner or member, (m, 2) rows, sorted."""
        patch = self.found, self.loose, self.is_loose, self.margin, self.largest, self.most, self.is_box
        size = 256
        while True:
            keys = np.empty(size, np.uint64)
            count, tests = _keys_around(rows, tuple(bodies), tuple(self.index), patch, keys)
            self.tests = tests
            if count <= size:
                found = np.sort(keys[:count])
                return unpack_pairs(found if len(rows) == 1 else np.unique(found))
            size = count

    def __post_init__(self) -> None:
        self.tests = 0  # those of the latest search
        self.found: NDArray[np.uint64] = np.empty(len(self.index.rows) + WIDTH, np.uint64)


def open_patch(index: BodyIndex, bodies: AreaBodies, margin: float, is_box: bool) -> Patch:
    """Return a patch without loose bodies."""
    reach = bodies.reach
    largest = float(reach[np.isfinite(reach)].max(initial=0.0))
    nothing, none_loose = np.empty(0, np.int64), np.zeros(bodies.total, np.uint8)
    return Patch(index, margin, largest, float(bodies.spheres[:, 3].max()), is_box, nothing, none_loose)


@kernel
def _without(rows: U32, gone: I64) -> U32:
    """Number ``rows`` without those that are ``gone``, ascending, in place."""
    for place in range(rows.size):
        row, before = np.int64(rows[place]), np.int64(0)
        while before < gone.size and gone[before] < row:
            before += 1
        if row != GONE:
            is_gone = before < gone.size and gone[before] == row
            rows[place] = GONE if is_gone else row - before
    return rows


@kernel
def _keys_around(
    chosen: Rows, bodies: tuple[Any, ...], structure: tuple[Any, ...], patch: tuple[Any, ...], keys: Keys
) -> tuple[int, int]:
    """Write the keys of all pairs around the rows ``chosen``, as far as they fit. Return their number, and tests.

    ``bodies``, ``structure`` and ``patch`` are the fields of `AreaBodies`, `BodyIndex` and `Patch`: Numba looks
    up the type of every field of a named tuple at every call, which takes longer than a search around one body.
    """
    spheres, reaches = bodies
    found, loose, is_loose, margin, largest, most, is_box = patch
    rows, starts, frame, shape, lanes, level_first = structure
    box, order = np.empty((1, 6)), np.empty(1, np.uint32)
    order[0] = 0
    count: Integer = 0
    tests: Integer = 0
    for k in range(chosen.size):
        i = chosen[k]
        far = max(reaches[i] + most, spheres[i, 3] + largest) + margin
        for axis in range(3):
            half = half_edge(spheres[i, axis], far)
            box[0, axis], box[0, axis + 3] = spheres[i, axis] - half, spheres[i, axis] + half
        if starts.size > 0:
            near = _list_cells(box, rows, starts, frame, shape, found)
        else:
            _, near, _ = list_queries(0, 1, found, Questions(box, order, 0), Tree(lanes, rows, level_first))
        tests += near + loose.size
        for at in range(near + loose.size):
            j = np.int64(found[at]) if at < near else loose[at - near]
            if j == i or (at < near and (j == GONE or is_loose[j])):
                continue
            dx, dy, dz = spheres[j, 0] - spheres[i, 0], spheres[j, 1] - spheres[i, 1], spheres[j, 2] - spheres[i, 2]
            if reaches[i] >= 0 and touches(dx, dy, dz, reaches[i] + spheres[j, 3], is_box):
                if count < keys.size:
                    keys[count] = pair_key(i, j)
                count += 1
            if reaches[j] >= 0 and touches(-dx, -dy, -dz, reaches[j] + spheres[i, 3], is_box):
                if count < keys.size:
                    keys[count] = pair_key(j, i)
                count += 1
    return count, tests


@forceinline
def _list_cells(box: Any, rows: Any, starts: Any, frame: Any, shape: Any, found: Any) -> Any:
    """Write the rows in the cells that ``box`` (1, 6) reaches to ``found``. Return how many there are."""
    count = np.int64(0)
    first_x, last_x = _span(box, frame, shape, 0)
    first_y, last_y = _span(box, frame, shape, 1)
    first_z, last_z = _span(box, frame, shape, 2)
    for z in range(first_z, last_z + 1):
        for y in range(first_y, last_y + 1):
            line = (z * shape[1] + y) * shape[0]
            for place in range(starts[line + first_x], starts[line + last_x + 1]):
                found[count] = rows[place]
                count += 1
    return count


@forceinline
def _span(box: Any, frame: Any, shape: Any, axis: Integer) -> Any:
    origin, per_unit, cells = frame[0, axis], frame[1, axis], shape[axis]
    return cell_along(box[0, axis], origin, per_unit, cells), cell_along(box[0, axis + 3], origin, per_unit, cells)

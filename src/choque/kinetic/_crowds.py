"""Meetings of very many end points: sorted at once instead of exchange by exchange.

k end points that meet at one time change places k·(k − 1)/2 times. Handled one by one, each exchange is a row of the
instant and several changes of the queue. Here the end points at one coordinate are sorted by velocity, in O(k log k)
time and O(k) memory; the exchanges are the inversions between the order before and the order after, and pairs of bodies
are judged by their ranks in both. Where no rounding is involved the result is that of the exchanges; otherwise end
points whose coordinates agree to rounding pass each other at once. It is used for motions without relative acceleration
only, and not where bodies bounce at the same time: two end points then change places once at most. No slot may be
empty.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choque._core.kernel import helper, inline
from choque._core.types import I32, I64, Integer
from choque.kinetic import loop
from choque.kinetic.certificates import MovingEnds, Paths, certify, position
from choque.kinetic.loop import EventBuffer, write_event


class Crowd(NamedTuple):
    """The order of all end points before and after an instant."""

    old_order: I32  # (axes, ends)
    old_rank: I32  # (axes, ends)
    order: I32  # (axes, ends)
    rank: I32  # (axes, ends)


def order_before(order: I32, rows: I64) -> I32:
    """Return the order before exchanges, given as rows whose first column is the certificate, were made."""
    before = order.copy()
    _undo(before, rows)
    return before


@helper
def _undo(order: I32, rows: I64) -> None:
    count = order.shape[1]
    for row in range(rows.shape[0] - 1, -1, -1):
        axis, slot = rows[row, 0] // count, rows[row, 0] % count
        order[axis, slot], order[axis, slot + 1] = order[axis, slot + 1], order[axis, slot]


@helper
def sort_due(motion: MovingEnds, totals: I64, now: float, scratch: I32) -> None:
    """Bring all end points whose certificates fail up to ``now`` into the order just after. ``scratch`` is (ends,).

    A run is extended by end points at the same coordinate and by certificates that fail, and sorted by velocity. What
    still fails within it, end points on one path that the topology puts in another order, is exchanged one by one.
    """
    order, rank, queue, paths = motion.order, motion.rank, motion.queue, motion.paths
    count, slots = order.shape[1], order.size
    line, first, last = np.int64(-1), np.int64(0), np.int64(0)
    while queue.due[0] <= now and queue.heap[0] < slots:
        axis, slot = np.int64(queue.heap[0]) // count, np.int64(queue.heap[0]) % count
        if axis == line and first <= slot < last:
            order[axis, slot], order[axis, slot + 1] = order[axis, slot + 1], order[axis, slot]
            changed, end = slot, slot + 1
        else:
            line, first, last = axis, slot, slot + 1
            place = position(paths, axis, np.int64(order[axis, slot]), now)
            while first > 0 and (
                position(paths, axis, np.int64(order[axis, first - 1]), now) == place
                or queue.due[queue.place[axis * count + first - 1]] <= now
            ):
                first -= 1
            while last + 1 < count and (
                position(paths, axis, np.int64(order[axis, last + 1]), now) == place
                or queue.due[queue.place[axis * count + last]] <= now
            ):
                last += 1
            _sort_by_velocity(motion, axis, first, last + 1, now, scratch)
            changed, end = first, last
        for each in range(changed, end + 1):
            rank[axis, order[axis, each]] = each
        for each in range(changed - 1, end + 1):
            totals[loop.SCHEDULED] += certify(motion, axis, each, now)


@inline
def _velocity(paths: Paths, axis: Integer, end: Integer, now: float) -> float:
    velocity: float = paths[axis, end, 1] + 2.0 * paths[axis, end, 2] * (now - paths[axis, end, 3])
    return velocity


@helper
def _sort_by_velocity(
    motion: MovingEnds, axis: Integer, first: Integer, stop: Integer, now: float, scratch: I32
) -> None:
    """Sort the slots from ``first`` to ``stop`` of an axis by velocity; equal ones keep their order (merge sort)."""
    line, paths = motion.order[axis], motion.paths
    width = np.int64(1)
    while width < stop - first:
        for start in range(first, stop, 2 * width):
            middle, end = min(start + width, stop), min(start + 2 * width, stop)
            left, right = start, middle
            for place in range(start, end):
                take_right = right < end and (
                    left == middle
                    or _velocity(paths, axis, np.int64(line[right]), now)
                    < _velocity(paths, axis, np.int64(line[left]), now)
                )
                scratch[place] = line[right] if take_right else line[left]
                right += take_right
                left += not take_right
        for place in range(first, stop):
            line[place] = scratch[place]
        width *= 2


@helper
def count_crowd(crowd: Crowd, paired: bool, totals: I64) -> None:
    """Add the meetings and exchanges of an instant to ``totals``."""
    axes, count = crowd.order.shape
    for axis in range(axes):
        meetings = np.int64(0)
        first: Integer = np.int64(0)
        while first < count:
            last = block_end(crowd, axis, first)
            if last > first:
                meetings += 1
                totals[loop.SIMPLE if last == first + 1 else loop.MULTIPLE] += 1
            for slot in range(first, last):
                left = np.int64(crowd.old_order[axis, slot])
                for other in range(slot + 1, last + 1):
                    right = np.int64(crowd.old_order[axis, other])
                    if crowd.rank[axis, left] > crowd.rank[axis, right]:
                        totals[loop.EXCHANGES] += 1
                        totals[loop.MIXED] += paired and (left ^ right) & 1 == 1 and left >> 1 != right >> 1
            first = last + 1
        totals[loop.INSTANTS] += meetings > 0


@helper
def block_end(crowd: Crowd, axis: Integer, first: Integer) -> Integer:
    """Return the last slot of the smallest block from slot ``first`` on that holds the same end points as before."""
    last: Integer = first
    slot = first
    while slot <= last:
        last = max(last, np.int64(crowd.rank[axis, crowd.old_order[axis, slot]]))
        slot += 1
    return last


@helper
def report_crowd(crowd: Crowd, closed: bool, time: float, totals: I64, events: EventBuffer) -> None:
    """Write the pairs that began and ended at an instant, each once; only count them if the buffer is empty."""
    axes, count = crowd.order.shape
    for axis in range(axes):
        first: Integer = np.int64(0)
        while first < count:
            last = block_end(crowd, axis, first)
            for slot in range(first, last):
                left = np.int64(crowd.old_order[axis, slot])
                for other in range(slot + 1, last + 1):
                    right = np.int64(crowd.old_order[axis, other])
                    if (
                        crowd.rank[axis, left] > crowd.rank[axis, right]
                        and (left ^ right) & 1 == 1
                        and left >> 1 != right >> 1
                        and _is_first(crowd, axis, left, right)
                    ):
                        _report_pair(crowd, closed, min(left, right) >> 1, max(left, right) >> 1, time, totals, events)
            first = last + 1


@helper
def _is_first(crowd: Crowd, axis: Integer, left: Integer, right: Integer) -> bool:
    """Return whether two ends are the first of their bodies, by axis and body, that changed places."""
    lower, upper = (left, right) if left & 1 == 0 else (right, left)
    a, b = min(lower, upper) >> 1, max(lower, upper) >> 1
    if lower >> 1 == b and _have_swapped(crowd, axis, 2 * a, 2 * b + 1):
        return False
    for before in range(axis):
        if _have_swapped(crowd, before, 2 * a, 2 * b + 1) or _have_swapped(crowd, before, 2 * b, 2 * a + 1):
            return False
    return True


@helper
def _have_swapped(crowd: Crowd, axis: Integer, one: Integer, other: Integer) -> bool:
    was = crowd.old_rank[axis, one] < crowd.old_rank[axis, other]
    return bool(was != (crowd.rank[axis, one] < crowd.rank[axis, other]))


@helper
def _report_pair(
    crowd: Crowd, closed: bool, a: Integer, b: Integer, time: float, totals: I64, events: EventBuffer
) -> None:
    before = after = at = True
    for axis in range(crowd.order.shape[0]):
        was = (
            crowd.old_rank[axis, 2 * a] < crowd.old_rank[axis, 2 * b + 1]
            and crowd.old_rank[axis, 2 * b] < crowd.old_rank[axis, 2 * a + 1]
        )
        now = crowd.rank[axis, 2 * a] < crowd.rank[axis, 2 * b + 1]
        now = now and crowd.rank[axis, 2 * b] < crowd.rank[axis, 2 * a + 1]
        met = _have_swapped(crowd, axis, 2 * a, 2 * b + 1) or _have_swapped(crowd, axis, 2 * b, 2 * a + 1)
        before, after, at = before and was, after and now, at and (now or met)
    if before == after and (before or not closed or not at):
        return
    for kind in range(1, -1, -1):
        if (kind == 1 and not before) or (kind == 0 and not after):
            if events.times.size:
                write_event(time, np.int64(kind), a, b, totals, events)
            else:
                totals[loop.EVENT_ROWS] += 1


@helper
def list_exchanges(crowd: Crowd, rows: I64, line: I64) -> Integer:
    """Write exchanges of neighbours (certificate, left, right) that lead from the old order to the new; count them.

    With too few ``rows`` they are only counted. ``line`` is (ends,), scratch.
    """
    axes, count = crowd.order.shape
    found = np.int64(0)
    for axis in range(axes):
        for slot in range(count):
            end = np.int64(crowd.old_order[axis, slot])
            place = slot
            while place > 0 and crowd.rank[axis, line[place - 1]] > crowd.rank[axis, end]:
                if found < rows.shape[0]:
                    rows[found, 0], rows[found, 1], rows[found, 2] = axis * count + place - 1, line[place - 1], end
                found += 1
                line[place] = line[place - 1]
                place -= 1
            line[place] = end
    return found

"""Failure times of certificates: two neighbours on a line change their order, or a body meets a wall.

``paths[axis, end]`` is (position, velocity, half the acceleration, since): the end point is at p + v·s + c·s² with
s = t − since. The ends of the body in row r are 2·r, the lower one, and 2·r + 1, the upper one: body and side of an end
are known without the number of bodies, and stay the same when bodies are added. (`choque.broad` numbers them r and
n + r, because its kernels sort the lower and upper sides as two contiguous columns.)

The direction in which two end points move is taken from derivatives, never from positions a little later: neighbours
that move apart are never scheduled, for any rounding. So each pair of linear motions is exchanged at most once,
each pair of quadratic motions at most twice, and every run ends. While all bodies follow their first paths, the
difference of positions is divided once: a linear failure time is the true one, rounded, if the differences are exact.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from choque._core.kernel import forceinline, helper
from choque._core.types import F64, I32, I64, Integer
from choque.kinetic.heap import Queue, build, reschedule

Paths = F64  # (axes, ends, 4): position, velocity, half the acceleration, the time since which they hold

EMPTY = -1  # what a slot holds that has no end point; see `choque.kinetic._slots`


class MovingEnds(NamedTuple):
    """Moving end points, their order on every axis, and the failure times of that order.

    Pass it to helpers only, which borrow it: counting references to its arrays would cost as much as the exchanges.
    """

    paths: Paths
    order: I32  # (axes, slots) the end points of each axis from left to right, and `EMPTY` slots between them
    rank: I32  # (axes, ends) the slot of each end point in ``order``; of end points that were removed, anything
    walls: F64  # (2, axes) the walls that bodies bounce from; empty if there are none
    # (axes, bodies) half the acceleration that presses a body against the wall where it rests, 0 for all others; empty
    # if there are no walls. The path of a body at rest has no acceleration.
    pressed: F64
    queue: Queue  # a certificate for each slot of each axis and, where there are walls, one for each body and axis
    closed: bool  # the topology: boxes that touch overlap
    paired: bool  # whether the ends belong to bodies, two each
    curved: bool  # whether two end points may have different accelerations


@helper
def descent(gap: float, slope: float, curve: float, elapsed: float) -> float:
    """Return when gap + slope·s + curve·s² passes from positive to negative; infinity if never after ``elapsed``.

    A time before ``elapsed`` means that it is negative already and stays so.
    """
    if not gap < math.inf:
        return math.inf  # also where both lie at the same infinity
    if curve == 0.0:
        return gap / -slope if slope < 0.0 else math.inf
    if curve > 0.0:
        # Past the lowest point it only rises. The comparison is monotone with the formulas of both roots.
        if slope >= 0.0 or -slope / (2.0 * curve) <= elapsed:
            return math.inf
        square = slope * slope - 4.0 * curve * gap
        return 2.0 * gap / (math.sqrt(square) - slope) if square > 0.0 else math.inf
    root = math.sqrt(max(slope * slope - 4.0 * curve * gap, 0.0))
    if slope > 0.0:
        return (slope + root) / (-2.0 * curve)
    return 2.0 * gap / (root - slope) if root > slope else 0.0


@forceinline
def failure_time(motion: MovingEnds, axis: Integer, left: Integer, right: Integer, now: float) -> float:
    """Return when ``right`` falls behind ``left``, its neighbour; at least ``now``, infinity if never.

    Two ends that share one path forever keep the order of the topology: closed, lower before upper; half-open, the
    reverse.
    """
    paths = motion.paths
    p0, v0, c0, since = paths[axis, left, 0], paths[axis, left, 1], paths[axis, left, 2], paths[axis, left, 3]
    p1, v1, c1, later = paths[axis, right, 0], paths[axis, right, 1], paths[axis, right, 2], paths[axis, right, 3]
    if since < later:
        step = later - since
        p0 += (v0 + c0 * step) * step
        v0 += 2.0 * c0 * step
        since = later
    elif later < since:
        step = since - later
        p1 += (v1 + c1 * step) * step
        v1 += 2.0 * c1 * step
    gap, slope, curve = p1 - p0, v1 - v0, c1 - c0
    if slope == 0.0 and curve == 0.0:
        side = left & 1
        crossed = gap == 0.0 and side != right & 1 and (side == 1) == motion.closed and left >> 1 != right >> 1
        return now if crossed and motion.paired else math.inf
    time = since + descent(gap, slope, curve, now - since)
    return time if time > now else now


@helper
def graze_time(paths: Paths, axis: Integer, left: Integer, right: Integer, now: float) -> float:
    """Return when two end points touch without passing each other; infinity if not after ``now``."""
    since = max(paths[axis, left, 3], paths[axis, right, 3])
    at, until = since - paths[axis, left, 3], since - paths[axis, right, 3]
    c0, c1 = paths[axis, left, 2], paths[axis, right, 2]
    curve = c1 - c0
    if not curve > 0.0:
        return math.inf
    v0, v1 = paths[axis, left, 1] + 2.0 * c0 * at, paths[axis, right, 1] + 2.0 * c1 * until
    gap = paths[axis, right, 0] + (paths[axis, right, 1] + c1 * until) * until
    gap -= paths[axis, left, 0] + (paths[axis, left, 1] + c0 * at) * at
    slope = v1 - v0
    if slope * slope != 4.0 * curve * gap:
        return math.inf
    time = since - slope / (2.0 * curve)
    return time if time > now else math.inf


@forceinline
def _slot_time(motion: MovingEnds, axis: Integer, left: Integer, right: Integer, now: float) -> float:
    """Return when two neighbours pass each other, or touch.

    Closed boxes may meet at a touch, and not those of the neighbours alone: all end points at the same coordinate do.
    Of the neighbours between two end points that touch, at least two pass or touch at the same time.
    """
    time = failure_time(motion, axis, left, right, now)
    if motion.curved and motion.paired and motion.closed and time == math.inf:
        time = graze_time(motion.paths, axis, left, right, now)
    return time


@forceinline
def following(order: I32, axis: Integer, slot: Integer) -> Integer:
    """Return the next slot that has an end point; the number of slots if there is none."""
    after = slot + 1
    while after < order.shape[1] and order[axis, after] == EMPTY:
        after += 1
    return after


@forceinline
def preceding(order: I32, axis: Integer, slot: Integer) -> Integer:
    """Return the slot before this one that has an end point; -1 if there is none."""
    before = slot - 1
    while before >= 0 and order[axis, before] == EMPTY:
        before -= 1
    return before


@forceinline
def position(paths: Paths, axis: Integer, end: Integer, now: float) -> float:
    """Return the position of an end point."""
    step = now - paths[axis, end, 3]
    place: float = paths[axis, end, 0] + (paths[axis, end, 1] + paths[axis, end, 2] * step) * step
    return place


@helper
def certify(motion: MovingEnds, axis: Integer, slot: Integer, now: float) -> int:
    """Schedule the certificate of a slot that has an end point, for its present two neighbours; of slot -1, nothing.

    Return 1 if it ever fails, else 0.
    """
    order = motion.order
    count = order.shape[1]
    if slot < 0:
        return 0
    after = following(order, axis, slot)
    time = math.inf
    if after < count:
        time = _slot_time(motion, axis, order[axis, slot], order[axis, after], now)
    reschedule(motion.queue, axis * count + slot, time)
    return 1 if time < math.inf else 0


@helper
def certify_around(motion: MovingEnds, axis: Integer, end: Integer, now: float) -> None:
    """Schedule the certificates on both sides of an end point."""
    slot = np.int64(motion.rank[axis, end])
    certify(motion, axis, preceding(motion.order, axis, slot), now)
    certify(motion, axis, slot, now)


@helper
def wall_time(paths: Paths, axis: Integer, row: Integer, walls: F64, now: float) -> float:
    """Return when a body meets the wall ahead of it; at least ``now``, infinity if never. ``walls`` is (2, axes)."""
    p, v, c, since = paths[axis, 2 * row, 0], paths[axis, 2 * row, 1], paths[axis, 2 * row, 2], paths[axis, 2 * row, 3]
    upper = paths[axis, 2 * row + 1, 0]
    first = descent(p - walls[0, axis], v, c, now - since)
    second = descent(walls[1, axis] - upper, -v, -c, now - since)
    time = since + min(first, second)
    return time if time > now else now


@helper
def certify_all(motion: MovingEnds, now: float) -> None:
    """Schedule every slot and, if there are walls, every body."""
    order, due = motion.order, motion.queue.due
    axes, count = order.shape
    bodies = motion.rank.shape[1] // 2
    for axis in range(axes):
        for slot in range(count):
            time = math.inf
            after = following(order, axis, slot)
            if order[axis, slot] != EMPTY and after < count:
                left, right = np.int64(order[axis, slot]), np.int64(order[axis, after])
                time = _slot_time(motion, axis, left, right, now)
            due[axis * count + slot] = time
    if motion.walls.size > 0:
        for axis in range(axes):
            for row in range(bodies):
                due[axes * count + axis * bodies + row] = wall_time(motion.paths, axis, row, motion.walls, now)
    build(motion.queue)


@helper
def certify_ends(ends: I64, motion: MovingEnds, now: float) -> None:
    """Reschedule the certificates of end points that have new paths on all axes."""
    axes, bodies = motion.order.shape[0], motion.rank.shape[1] // 2
    for k in range(ends.size):
        for axis in range(axes):
            certify_around(motion, axis, ends[k], now)
            if motion.walls.size > 0:
                row = ends[k] >> 1
                wall = motion.order.size + axis * bodies + row
                reschedule(motion.queue, wall, wall_time(motion.paths, axis, row, motion.walls, now))

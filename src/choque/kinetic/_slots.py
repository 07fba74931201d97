"""Slots that may be empty, so that a body that comes or goes moves few end points: a packed-memory array for each axis.

A slot without an end point holds `EMPTY`, and its certificate never fails. End points exchange their slots, so events
leave the empty ones where they are. An end point is inserted into an empty slot beside its neighbour; where there is
none, the end points of the smallest window with enough room are spread evenly over it and take their failure times
along. Windows are aligned and of 32·2^k slots; large ones may be filled less than small ones. A window that removals
have left nearly empty is spread with its surroundings, so that the next end point is never far away.

Guarantees: O(log² n) slots moved by an insertion or removal, amortised, and O(log n) comparisons to find a place; the
same order as that of a list built again.

After Itai, Konheim and Rodeh, "A sparse table implementation of priority queues", 1981, and Bender, Demaine and
Farach-Colton, "Cache-oblivious B-trees", 2000.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from choque._core.kernel import helper
from choque._core.types import F64, I32, I64, Bools, Integer
from choque.kinetic.certificates import EMPTY, MovingEnds, Paths, certify, position, preceding, wall_time
from choque.kinetic.heap import reschedule

LEAF = 32  # the size of the smallest window [slots]
FULL = 0.85  # the largest share of the slots that may be filled; of a smallest window all may
ROWS, ENDS, MOVED = 0, 1, 2  # places in ``size``: rows in use, end points of each axis, slots looked at or moved so far


class Stock(NamedTuple):
    """The bodies that are there, and scratch for a window."""

    size: I64  # see `ROWS` and the other places
    alive: Bools  # (bodies,) whether the row is that of a living body
    ends: I32  # (slots,) scratch
    times: F64  # (slots,) scratch


@helper
def insert_bodies(arriving: Paths, turns: I32, motion: MovingEnds, stock: Stock, now: float) -> None:
    """Insert bodies in the next free rows. There must be rows, and slots, see `FULL`.

    ``arriving`` is (axes, ends, 4); ``turns`` (axes, ends) are its ends in the order of their insertion: those that go
    before all ends at their position from right to left, those that go behind from left to right.
    """
    axes, count = turns.shape
    first = stock.size[ROWS]
    for axis in range(axes):
        for end in range(count):
            for column in range(4):
                motion.paths[axis, 2 * first + end, column] = arriving[axis, end, column]
        for turn in range(count):
            _insert(np.int64(2 * first + turns[axis, turn]), axis, motion, stock, now)
        if motion.walls.size > 0:
            for row in range(first, first + count // 2):
                time = wall_time(motion.paths, axis, row, motion.walls, now)
                reschedule(motion.queue, motion.order.size + axis * (motion.rank.shape[1] // 2) + row, time)
        stock.size[ENDS] += count if axis == 0 else 0
    for row in range(first, first + count // 2):
        stock.alive[row] = True
    stock.size[ROWS] += count // 2


@helper
def remove_bodies(rows: I64, motion: MovingEnds, stock: Stock, now: float) -> None:
    """Remove the bodies in these rows, which are not used again; the paths there never meet a wall."""
    order, paths = motion.order, motion.paths
    axes, count = order.shape
    for k in range(rows.size):
        row = rows[k]
        for axis in range(axes):
            for end in range(2 * row, 2 * row + 2):
                slot = np.int64(motion.rank[axis, end])
                order[axis, slot] = EMPTY
                reschedule(motion.queue, axis * count + slot, math.inf)
                certify(motion, axis, preceding(order, axis, slot), now)
                _close_hole(axis, slot, motion, stock)
                paths[axis, end, 1] = paths[axis, end, 2] = 0.0
            if motion.walls.size > 0:
                motion.pressed[axis, row] = 0.0
                reschedule(motion.queue, order.size + axis * (motion.rank.shape[1] // 2) + row, math.inf)
        stock.alive[row] = False
    stock.size[ENDS] -= 2 * rows.size


@helper
def _insert(end: Integer, axis: Integer, motion: MovingEnds, stock: Stock, now: float) -> None:
    """Insert an end point before all ends at its position, or behind them, as the topology requires."""
    order, size = motion.order, stock.size
    count = order.shape[1]
    place = motion.paths[axis, end, 0]
    goes_before = (end & 1 == 0) == motion.closed
    low, high, right = np.int64(0), np.int64(count), np.int64(count)
    while low < high:
        middle = (low + high) // 2
        slot = middle
        while slot < high and order[axis, slot] == EMPTY:
            slot += 1
            size[MOVED] += 1
        if slot == high:
            high = middle
            continue
        other = position(motion.paths, axis, np.int64(order[axis, slot]), now)
        size[MOVED] += 1
        if other > place or (other == place and goes_before):
            high, right = middle, slot
        else:
            low = slot + 1
    left = preceding(order, axis, right)
    slot = (left + right) // 2
    if right - left > 1:
        order[axis, slot] = end
        motion.rank[axis, end] = slot
    else:
        _make_room(end, axis, left, motion, stock)
        slot = np.int64(motion.rank[axis, end])
    certify(motion, axis, slot, now)
    certify(motion, axis, preceding(order, axis, slot), now)


@helper
def _make_room(end: Integer, axis: Integer, left: Integer, motion: MovingEnds, stock: Stock) -> None:
    """Insert an end point behind slot ``left``, -1 for the first place, and spread a window around it."""
    count = motion.order.shape[1]
    anchor = max(left, 0)
    levels = max(math.log2(count / LEAF), 1.0)
    width, level = np.int64(LEAF), 0
    while True:
        first = anchor // width * width
        last = min(first + width, count)
        filled = _gather(axis, first, last, motion, stock)
        if filled < (last - first) * (1.0 - (1.0 - FULL) * level / levels) or last - first == count:
            break
        width, level = 2 * width, level + 1
    ends, times = stock.ends, stock.times
    place = filled
    while place > 0 and (left < 0 or ends[place - 1] != motion.order[axis, left]):
        ends[place], times[place] = ends[place - 1], times[place - 1]
        place -= 1
    ends[place], times[place] = end, math.inf
    _spread(axis, first, last, filled + 1, motion, stock)


@helper
def _close_hole(axis: Integer, slot: Integer, motion: MovingEnds, stock: Stock) -> None:
    """Spread the smallest window around an empty slot that is not too empty, unless that is the smallest of all."""
    count = motion.order.shape[1]
    levels = max(math.log2(count / LEAF), 1.0)
    width, level = np.int64(LEAF), 0
    while True:
        first = slot // width * width
        last = min(first + width, count)
        filled = _gather(axis, first, last, motion, stock)
        if 8 * filled >= (last - first) * (1.0 + level / levels) or last - first == count:
            break
        width, level = 2 * width, level + 1
    if level > 0:
        _spread(axis, first, last, filled, motion, stock)


@helper
def _gather(axis: Integer, first: Integer, last: Integer, motion: MovingEnds, stock: Stock) -> Integer:
    """Copy the end points of a window, and their failure times, to the scratch of ``stock``. Return how many."""
    order, queue = motion.order, motion.queue
    filled = np.int64(0)
    for slot in range(first, last):
        if order[axis, slot] != EMPTY:
            stock.ends[filled] = order[axis, slot]
            stock.times[filled] = queue.due[queue.place[axis * order.shape[1] + slot]]
            filled += 1
    stock.size[MOVED] += last - first
    return filled


@helper
def _spread(axis: Integer, first: Integer, last: Integer, filled: Integer, motion: MovingEnds, stock: Stock) -> None:
    """Put ``filled`` end points of the scratch evenly into a window."""
    order = motion.order
    count = order.shape[1]
    taken = np.int64(0)
    for slot in range(first, last):
        end, time = np.int64(EMPTY), math.inf
        if taken < filled and slot == first + taken * (last - first) // filled:
            end, time = np.int64(stock.ends[taken]), stock.times[taken]
            motion.rank[axis, end] = slot
            taken += 1
        order[axis, slot] = end
        reschedule(motion.queue, axis * count + slot, time)
    stock.size[MOVED] += last - first

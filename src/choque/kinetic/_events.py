"""The loop of a kinetic structure: take the first instant, exchange what must be, say what began and ended.

All that happens at one time is one instant. While it is open, certificates that fail at its time are taken one after
the other, also those that arise on the way, until the order just after it is reached; a meeting of many end points so
becomes the exchange of every inverted pair, each once. When it closes, the pairs of bodies whose ends were exchanged
are judged by what they were before and are after: the rank test of all axes. Closed boxes that overlap at the instant
alone began and ended at once.

`advance` is resumable: whenever a buffer is full it returns with the instant still open and goes on from there.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from choque._types import Index
from choque.kernel import inlined, kernel
from choque.kinetic._certificates import Paths, certify, certify_pasted, failure_time, wall_time
from choque.kinetic._heap import Numbers, Times, reschedule

REACHED, INSTANT_FULL, EVENTS_FULL, STOPPED = 0, 1, 2, 3
"""What `advance` returns."""

TO_THE_END, EACH_INSTANT, EACH_NEWS, EACH_MULTIPLE = 0, 1, 2, 3
"""Where `advance` stops: at the end; after each instant; after each in which a pair began or ended or a body bounced;
after each with a multiple meeting."""

OPEN, ROWS, EVENT_ROWS, INSTANTS, EXCHANGES, MIXED, SIMPLE, MULTIPLE, BOUNCES, SCHEDULED, TOTALS = range(11)
"""Places in ``totals``."""


@kernel
def advance(
    until: float,
    mode: Index,
    closed: bool,
    paired: bool,
    curved: bool,
    tolerance: float,
    paths: Paths,
    order: Numbers,
    rank: Numbers,
    due: Times,
    heap: Numbers,
    place: Numbers,
    walls: Times,
    clock: Times,
    totals: NDArray[np.int64],
    instant: NDArray[np.int64],
    picks: NDArray[np.int64],
    times: Times,
    kinds: NDArray[np.uint8],
    pairs: Numbers,
) -> int:
    """Handle all that fails up to ``until``.

    Parameters
    ----------
    clock
        (now, the instant that is open).
    instant
        (k, 4) what happened at the latest instant: certificate, left end, right end before the exchange, packed pair or
        −1. A certificate −1 − c means that the two of c touched without passing; one beyond the slots is that of a
        wall, its ends those of the body.
    times, kinds, pairs
        Where pairs of bodies that began (1) and ended (0) are written.
    """
    count = order.shape[1]
    slots = order.shape[0] * count
    while True:
        time = due[0]
        if totals[OPEN] == 1:
            if time <= min(clock[1] + tolerance, until):
                if totals[ROWS] == instant.shape[0]:
                    return INSTANT_FULL
                clock[0] = time
                if heap[0] < slots:
                    _exchange(closed, paired, curved, paths, order, rank, due, heap, place, time, totals, instant)
                else:
                    _bounce(closed, paired, curved, paths, order, rank, due, heap, place, walls, time, totals, instant)
                totals[ROWS] += 1
                continue
            if totals[EVENT_ROWS] + 2 * totals[ROWS] > times.size:
                return EVENTS_FULL
            reported, multiple = totals[EVENT_ROWS], totals[MULTIPLE]
            bounced = _close(slots, count, closed, rank, clock[1], totals, instant, picks, times, kinds, pairs)
            totals[OPEN] = 0
            if (
                mode == EACH_INSTANT
                or (mode == EACH_NEWS and (bounced or totals[EVENT_ROWS] > reported))
                or (mode == EACH_MULTIPLE and totals[MULTIPLE] > multiple)
            ):
                return STOPPED
            continue
        if not (time <= until and time < math.inf):
            clock[0] = until
            return REACHED
        totals[OPEN], totals[ROWS] = 1, 0
        clock[0] = clock[1] = time


@inlined
def _exchange(
    closed: bool,
    paired: bool,
    curved: bool,
    paths: Paths,
    order: Numbers,
    rank: Numbers,
    due: Times,
    heap: Numbers,
    place: Numbers,
    now: float,
    totals: NDArray[np.int64],
    instant: NDArray[np.int64],
) -> None:
    """Exchange the two neighbours whose certificate fails first and schedule the three slots they now touch."""
    count = order.shape[1]
    certificate = np.int64(heap[0])
    axis = np.int64(certificate >= count) + np.int64(certificate >= 2 * count)
    slot = certificate - axis * count
    left, right = np.int64(order[axis, slot]), np.int64(order[axis, slot + 1])
    a, b = left >> 1, right >> 1
    mixed = paired and (left ^ right) & 1 == 1 and a != b
    row = totals[ROWS]
    instant[row, 0], instant[row, 1], instant[row, 2] = certificate, left, right
    instant[row, 3] = (min(a, b) << 32) | max(a, b) if mixed else -1
    again = math.inf
    if curved:
        time = failure_time(paths, axis, left, right, now, closed, paired)
        if time > now:
            instant[row, 0] = -1 - certificate  # they only touch
            reschedule(due, heap, place, certificate, time)
            return
        again = failure_time(paths, axis, right, left, now, closed, paired)
    order[axis, slot], order[axis, slot + 1] = right, left
    rank[axis, right], rank[axis, left] = slot, slot + 1
    reschedule(due, heap, place, certificate, again)
    scheduled = certify_pasted(paths, order, due, heap, place, axis, slot - 1, now, closed, paired, curved)
    scheduled += certify_pasted(paths, order, due, heap, place, axis, slot + 1, now, closed, paired, curved)
    totals[SCHEDULED] += scheduled + (again < math.inf)
    totals[EXCHANGES] += 1
    totals[MIXED] += mixed


@kernel
def _bounce(
    closed: bool,
    paired: bool,
    curved: bool,
    paths: Paths,
    order: Numbers,
    rank: Numbers,
    due: Times,
    heap: Numbers,
    place: Numbers,
    walls: Times,
    now: float,
    totals: NDArray[np.int64],
    instant: NDArray[np.int64],
) -> None:
    """Turn the body that reaches a wall first back from it and schedule all that this changes."""
    axes, count = order.shape
    certificate = np.int64(heap[0])
    axis = (certificate - axes * count) // (count // 2)
    row = (certificate - axes * count) % (count // 2)
    line = totals[ROWS]
    instant[line, 0], instant[line, 1], instant[line, 2], instant[line, 3] = certificate, 2 * row, 2 * row + 1, -1
    totals[BOUNCES] += 1
    for end in range(2 * row, 2 * row + 2):
        step = now - paths[axis, end, 3]
        paths[axis, end, 0] += (paths[axis, end, 1] + paths[axis, end, 2] * step) * step
        paths[axis, end, 1] = -(paths[axis, end, 1] + 2.0 * paths[axis, end, 2] * step)
        paths[axis, end, 3] = now
    time = wall_time(paths, axis, row, walls, now)
    if time <= now:
        # It is pushed into the wall and cannot leave it: it rests there.
        for end in range(2 * row, 2 * row + 2):
            paths[axis, end, 1] = paths[axis, end, 2] = 0.0
        time = math.inf
    reschedule(due, heap, place, certificate, time)
    for end in range(2 * row, 2 * row + 2):
        slot = np.int64(rank[axis, end])
        for near in range(slot - 1, slot + 1):
            certify(paths, order, due, heap, place, axis, near, now, closed, paired, curved)


@kernel
def _close(
    slots: int,
    count: Index,
    closed: bool,
    rank: Numbers,
    time: float,
    totals: NDArray[np.int64],
    instant: NDArray[np.int64],
    picks: NDArray[np.int64],
    times: Times,
    kinds: NDArray[np.uint8],
    pairs: Numbers,
) -> bool:
    """Judge an instant: count its meetings, write the pairs that began and ended; whether a body bounced."""
    rows = totals[ROWS]
    if rows == 1 and 0 <= instant[0, 0] < slots:
        totals[INSTANTS] += 1
        totals[SIMPLE] += 1
        pair = instant[0, 3]
        if pair >= 0:
            a, b = pair >> 32, pair & 0xFFFFFFFF
            own = instant[0, 0] // count
            upper, lower = (instant[0, 1], instant[0, 2]) if instant[0, 1] & 1 == 1 else (instant[0, 2], instant[0, 1])
            for axis in range(rank.shape[0]):
                if axis == own:
                    # The ends that stayed must be in order, too: half-open boxes of no size are not, by themselves.
                    if rank[axis, upper - 1] > rank[axis, lower + 1]:
                        return False
                elif not _overlap(rank, axis, a, b):
                    return False
            _write(time, instant[0, 1] & 1, a, b, totals, times, kinds, pairs)
        return False
    bounced = _count_meetings(slots, count, totals, instant, picks)
    chosen = np.int64(0)
    for row in range(rows):
        if instant[row, 3] >= 0:
            picks[chosen] = row
            chosen += 1
    _sort(picks, chosen, instant, np.int64(3))
    first = np.int64(0)
    while first < chosen:
        last = first + 1
        while last < chosen and instant[picks[last], 3] == instant[picks[first], 3]:
            last += 1
        _report(first, last, instant, picks, count, closed, rank, time, totals, times, kinds, pairs)
        first = last
    return bounced


@kernel
def _count_meetings(
    slots: Index, count: Index, totals: NDArray[np.int64], instant: NDArray[np.int64], picks: NDArray[np.int64]
) -> bool:
    """Join the exchanges of an instant that share an end point into meetings and count them; whether a body bounced."""
    rows = totals[ROWS]
    bounced = False
    # Typed numbers throughout: a kernel would be compiled once more for each literal that it is called with.
    chosen = np.int64(0)
    for row in range(rows):
        if instant[row, 0] >= slots:
            bounced = True
        elif instant[row, 0] >= 0:
            picks[chosen] = row
            chosen += 1
    _sort(picks, chosen, instant, np.int64(0))
    first = np.int64(0)
    axis = -1
    while first < chosen:
        last = first
        while last + 1 < chosen and instant[picks[last + 1], 0] - instant[picks[last], 0] <= 1:
            last += 1
        begin = instant[picks[first], 0]
        if begin // count != axis:
            axis = begin // count
            totals[INSTANTS] += 1
        if begin == instant[picks[last], 0]:
            totals[SIMPLE] += 1
        else:
            totals[MULTIPLE] += 1
        first = last + 1
    return bounced


@kernel
def _report(
    first: Index,
    last: Index,
    instant: NDArray[np.int64],
    picks: NDArray[np.int64],
    count: Index,
    closed: bool,
    rank: Numbers,
    time: float,
    totals: NDArray[np.int64],
    times: Times,
    kinds: NDArray[np.uint8],
    pairs: Numbers,
) -> None:
    """Say what happened to the one pair of bodies that the exchanges ``picks[first:last]`` are about."""
    pair = instant[picks[first], 3]
    a, b = pair >> 32, pair & 0xFFFFFFFF
    before = after = at = True
    for axis in range(rank.shape[0]):
        now = _overlap(rank, axis, a, b)
        was_a, was_b = rank[axis, 2 * a] < rank[axis, 2 * b + 1], rank[axis, 2 * b] < rank[axis, 2 * a + 1]
        met = False
        for k in range(last - 1, first - 1, -1):
            row = picks[k]
            certificate = instant[row, 0]
            if (certificate if certificate >= 0 else -1 - certificate) // count != axis:
                continue
            met = True
            if certificate >= 0:
                # Two statements make an overlap: a's lower end before b's upper end, and the reverse. Back through the
                # exchanges, each tells what the statement about its two ends was before.
                left, right = instant[row, 1], instant[row, 2]
                if (left if left & 1 == 0 else right) >> 1 == a:
                    was_a = left & 1 == 0
                else:
                    was_b = left & 1 == 0
        before = before and was_a and was_b
        after = after and now
        at = at and (now or met)
    if before == after and (before or not closed or not at):
        return
    if not before:
        _write(time, np.int64(1), a, b, totals, times, kinds, pairs)
    if not after:
        _write(time, np.int64(0), a, b, totals, times, kinds, pairs)


@kernel
def _overlap(rank: Numbers, axis: Index, a: Index, b: Index) -> bool:
    return bool(rank[axis, 2 * a] < rank[axis, 2 * b + 1] and rank[axis, 2 * b] < rank[axis, 2 * a + 1])


@kernel
def _write(
    time: float,
    kind: Index,
    a: Index,
    b: Index,
    totals: NDArray[np.int64],
    times: Times,
    kinds: NDArray[np.uint8],
    pairs: Numbers,
) -> None:
    place = totals[EVENT_ROWS]
    times[place], kinds[place] = time, kind
    pairs[place, 0], pairs[place, 1] = a, b
    totals[EVENT_ROWS] += 1


@kernel
def _sort(picks: NDArray[np.int64], count: Index, instant: NDArray[np.int64], column: Index) -> None:
    """Sort row numbers by a column, equal ones by themselves (Shell, "A high-speed sorting procedure", 1959)."""
    step = 1
    while step < count // 3:
        step = 3 * step + 1
    while step > 0:
        for k in range(step, count):
            row = picks[k]
            value = instant[row, column]
            j = k
            while j >= step:
                other = picks[j - step]
                if not (value < instant[other, column] or (value == instant[other, column] and row < other)):
                    break
                picks[j] = other
                j -= step
            picks[j] = row
        step //= 3

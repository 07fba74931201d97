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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, inline
from choque._core.types import Index
from choque.kinetic._certificates import Motion, certify_around, certify_pasted, failure_time, wall_time
from choque.kinetic._heap import Numbers, Queue, Times, reschedule

REACHED, INSTANT_FULL, EVENTS_FULL, STOPPED = 0, 1, 2, 3
"""What `advance` returns."""

TO_THE_END, EACH_INSTANT, EACH_NEWS, EACH_MULTIPLE = 0, 1, 2, 3
"""Where `advance` stops: at the end; after each instant; after each in which a pair began or ended or a body bounced;
after each with a multiple meeting."""

OPEN, ROWS, EVENT_ROWS, INSTANTS, EXCHANGES, MIXED, SIMPLE, MULTIPLE, BOUNCES, SCHEDULED, TOTALS = range(11)
"""Places in ``totals``."""


class Journal(NamedTuple):
    """What time it is, what has been counted, and what has happened at the latest instant."""

    clock: Times
    """(now, the instant that is open)."""
    totals: NDArray[np.int64]
    instant: NDArray[np.int64]
    """(k, 4) certificate, left end, right end before the exchange, packed pair or −1. A certificate −1 − c means that
    the two of c touched without passing; one beyond the slots is that of a wall, its ends those of the body."""
    picks: NDArray[np.int64]
    """(k,) working space: rows of ``instant``."""


class Events(NamedTuple):
    """Where pairs of bodies that began (1) and ended (0) are written."""

    times: Times
    kinds: NDArray[np.uint8]
    pairs: Numbers


@helper
def advance(until: float, mode: Index, tolerance: float, motion: Motion, journal: Journal, events: Events) -> int:
    """Handle all that fails up to ``until``."""
    clock, totals = journal.clock, journal.totals
    due, heap = motion.queue.due, motion.queue.heap
    slots = motion.order.size
    while True:
        time = due[0]
        if totals[OPEN] == 1:
            if time <= min(clock[1] + tolerance, until):
                if totals[ROWS] == journal.instant.shape[0]:
                    return INSTANT_FULL
                clock[0] = time
                if heap[0] < slots:
                    _exchange(motion, journal, time)
                else:
                    _bounce(motion, journal, time)
                totals[ROWS] += 1
                continue
            if totals[EVENT_ROWS] + 2 * totals[ROWS] > events.times.size:
                return EVENTS_FULL
            reported, multiple = totals[EVENT_ROWS], totals[MULTIPLE]
            bounced = _close(motion, journal, events)
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


@helper
def advance_plain(
    until: float,
    mode: Index,
    tolerance: float,
    motion: tuple[Any, ...],
    journal: tuple[Any, ...],
    events: tuple[Any, ...],
) -> int:
    """`advance` for callers outside of kernels: the fields of its state as plain tuples, the queue's among them.

    Of a named tuple Numba asks every field for its type at every call, which takes longer than an `advance` in which
    nothing happens.
    """
    paths, order, rank, walls, queue, closed, paired, curved = motion
    due, heap, place = queue
    clock, totals, instant, picks = journal
    times, kinds, pairs = events
    return advance(
        until,
        mode,
        tolerance,
        Motion(paths, order, rank, walls, Queue(due, heap, place), closed, paired, curved),
        Journal(clock, totals, instant, picks),
        Events(times, kinds, pairs),
    )


@inline
def _exchange(motion: Motion, journal: Journal, now: float) -> None:
    """Exchange the two neighbours whose certificate fails first and schedule the three slots they now touch."""
    order, rank, queue = motion.order, motion.rank, motion.queue
    totals, instant = journal.totals, journal.instant
    count = order.shape[1]
    certificate = np.int64(queue.heap[0])
    axis = np.int64(certificate >= count) + np.int64(certificate >= 2 * count)
    slot = certificate - axis * count
    left, right = np.int64(order[axis, slot]), np.int64(order[axis, slot + 1])
    a, b = left >> 1, right >> 1
    mixed = motion.paired and (left ^ right) & 1 == 1 and a != b
    row = totals[ROWS]
    instant[row, 0], instant[row, 1], instant[row, 2] = certificate, left, right
    instant[row, 3] = (min(a, b) << 32) | max(a, b) if mixed else -1
    again = math.inf
    if motion.curved:
        time = failure_time(motion, axis, left, right, now)
        if time > now:
            instant[row, 0] = -1 - certificate  # they only touch
            reschedule(queue, certificate, time)
            return
        again = failure_time(motion, axis, right, left, now)
    order[axis, slot], order[axis, slot + 1] = right, left
    rank[axis, right], rank[axis, left] = slot, slot + 1
    reschedule(queue, certificate, again)
    scheduled = certify_pasted(motion, axis, slot - 1, now)
    scheduled += certify_pasted(motion, axis, slot + 1, now)
    totals[SCHEDULED] += scheduled + (again < math.inf)
    totals[EXCHANGES] += 1
    totals[MIXED] += mixed


@helper
def _bounce(motion: Motion, journal: Journal, now: float) -> None:
    """Turn the body that reaches a wall first back from it and schedule all that this changes."""
    paths, totals, instant = motion.paths, journal.totals, journal.instant
    axes, count = motion.order.shape
    certificate = np.int64(motion.queue.heap[0])
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
    time = wall_time(paths, axis, row, motion.walls, now)
    if time <= now:
        # It is pushed into the wall and cannot leave it: it rests there.
        for end in range(2 * row, 2 * row + 2):
            paths[axis, end, 1] = paths[axis, end, 2] = 0.0
        time = math.inf
    reschedule(motion.queue, certificate, time)
    for end in range(2 * row, 2 * row + 2):
        certify_around(motion, axis, end, now)


@helper
def _close(motion: Motion, journal: Journal, events: Events) -> bool:
    """Judge an instant: count its meetings, write the pairs that began and ended; whether a body bounced."""
    rank, totals, instant, picks = motion.rank, journal.totals, journal.instant, journal.picks
    count, slots = motion.order.shape[1], motion.order.size
    time = journal.clock[1]
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
            _write(time, instant[0, 1] & 1, a, b, totals, events)
        return False
    bounced = _count_meetings(slots, count, journal)
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
        _report(first, last, motion, journal, events)
        first = last
    return bounced


@helper
def _count_meetings(slots: Index, count: Index, journal: Journal) -> bool:
    """Join the exchanges of an instant that share an end point into meetings and count them; whether a body bounced."""
    totals, instant, picks = journal.totals, journal.instant, journal.picks
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


@helper
def _report(first: Index, last: Index, motion: Motion, journal: Journal, events: Events) -> None:
    """Say what happened to the one pair of bodies that the exchanges ``picks[first:last]`` are about."""
    rank, instant, picks = motion.rank, journal.instant, journal.picks
    count, time = rank.shape[1], journal.clock[1]
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
    if before == after and (before or not motion.closed or not at):
        return
    if not before:
        _write(time, np.int64(1), a, b, journal.totals, events)
    if not after:
        _write(time, np.int64(0), a, b, journal.totals, events)


@helper
def _overlap(rank: Numbers, axis: Index, a: Index, b: Index) -> bool:
    return bool(rank[axis, 2 * a] < rank[axis, 2 * b + 1] and rank[axis, 2 * b] < rank[axis, 2 * a + 1])


@helper
def _write(time: float, kind: Index, a: Index, b: Index, totals: NDArray[np.int64], events: Events) -> None:
    place = totals[EVENT_ROWS]
    events.times[place], events.kinds[place] = time, kind
    events.pairs[place, 0], events.pairs[place, 1] = a, b
    totals[EVENT_ROWS] += 1


@helper
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

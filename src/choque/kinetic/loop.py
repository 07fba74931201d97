"""The event loop of a kinetic structure: take the next instant, exchange end points, report pairs.

Everything that happens at one time is one instant. While it is open, certificates that fail at its time are handled one
after the other, including those that are scheduled on the way, until the order just after the instant is reached. A
meeting of many end points so becomes the exchange of every inverted pair, each once. When the instant closes, each pair
of bodies whose ends were exchanged is judged by the rank test on all axes before and after. Closed boxes that overlap
only at the instant began and ended at once.

`advance` is resumable: when a buffer is full it returns with the instant still open, and continues with the next call.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from choque._core.kernel import forceinline, helper
from choque._core.types import F64, I32, I64, U8, Integer
from choque.kinetic import certificates
from choque.kinetic.certificates import MovingEnds
from choque.kinetic.heap import Queue, reschedule

REACHED, INSTANT_FULL, EVENTS_FULL, STOPPED = range(4)  # what `advance` returns

TO_THE_END, EACH_INSTANT, EACH_EVENT, EACH_MULTIPLE = 0, 1, 2, 3
"""Where `advance` stops: at the end; after each instant; after each instant at which a pair began or ended or a body
bounced; after each instant with a multiple meeting."""

OPEN, ROWS, EVENT_ROWS, INSTANTS, EXCHANGES, MIXED, SIMPLE, MULTIPLE, BOUNCES, SCHEDULED, TOTALS = range(11)
"""Places in ``totals``."""

NEAR = 2.0**-40  # more than the relative error of a position
ROUNDING = 2.0**-52  # the relative spacing of floating-point numbers


CERTIFICATE, LEFT, RIGHT, PAIR = range(4)
"""Columns of ``Journal.instant``: a certificate, its two end points before their exchange, the pair of their bodies.

A certificate beyond the slots is that of a wall, with both ends of a body. A negative one, ~c, means that the two ends
of c touched without passing.
"""

NO_PAIR = -1  # in the column `PAIR`: ends of one body, two lower or two upper ends, or a wall


class Journal(NamedTuple):
    """The time, the totals, and what happened at the latest instant."""

    clock: F64  # (present time, time of the open instant)
    totals: I64  # see `OPEN` and the other places
    instant: I64  # (k, 4): see `CERTIFICATE`
    picks: I64  # (k,) scratch: rows of ``instant``


class EventBuffer(NamedTuple):
    """Output of `advance`: pairs of bodies that began (1) and ended (0)."""

    times: F64
    kinds: U8
    pairs: I32


@helper
def advance(
    until: float, mode: Integer, tolerance: float, motion: MovingEnds, journal: Journal, events: EventBuffer
) -> int:
    """Handle every certificate that fails up to ``until``, or up to where ``mode`` stops."""
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
            touched = totals[ROWS]
            if motion.curved and motion.closed and motion.paired and not _add_touches(motion, journal):
                totals[ROWS] = touched
                return INSTANT_FULL
            if totals[EVENT_ROWS] + 2 * totals[ROWS] > events.times.size:
                totals[ROWS] = touched
                return EVENTS_FULL
            reported, multiple = totals[EVENT_ROWS], totals[MULTIPLE]
            bounced = _close(motion, journal, events)
            totals[OPEN] = 0
            if (
                mode == EACH_INSTANT
                or (mode == EACH_EVENT and (bounced or totals[EVENT_ROWS] > reported))
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
    mode: Integer,
    tolerance: float,
    motion: tuple[Any, ...],
    journal: tuple[Any, ...],
    events: tuple[Any, ...],
) -> int:
    """Call `advance` from Python, with the fields of its state and of the queue as plain tuples.

    Numba looks up the type of every field of a named tuple at every call, which takes longer than an `advance` in which
    nothing happens.
    """
    paths, order, rank, walls, pressed, queue, closed, paired, curved = motion
    due, heap, place = queue
    clock, totals, instant, picks = journal
    times, kinds, pairs = events
    return advance(
        until,
        mode,
        tolerance,
        MovingEnds(paths, order, rank, walls, pressed, Queue(due, heap, place), closed, paired, curved),
        Journal(clock, totals, instant, picks),
        EventBuffer(times, kinds, pairs),
    )


@forceinline
def _exchange(motion: MovingEnds, journal: Journal, now: float) -> None:
    """Exchange the two neighbours whose certificate fails first and schedule the three slots they now touch."""
    order, rank, queue = motion.order, motion.rank, motion.queue
    totals, instant = journal.totals, journal.instant
    count = order.shape[1]
    certificate = np.int64(queue.heap[0])
    axis = np.int64(certificate >= count) + np.int64(certificate >= 2 * count)
    slot = certificate - axis * count
    after = certificates.following(order, axis, slot)
    left, right = np.int64(order[axis, slot]), np.int64(order[axis, after])
    a, b = left >> 1, right >> 1
    mixed = motion.paired and (left ^ right) & 1 == 1 and a != b
    row = totals[ROWS]
    instant[row, CERTIFICATE], instant[row, LEFT], instant[row, RIGHT] = certificate, left, right
    instant[row, PAIR] = (min(a, b) << 32) | max(a, b) if mixed else NO_PAIR
    again = math.inf
    if motion.curved:
        time = certificates.failure_time(motion, axis, left, right, now)
        if time > now:
            instant[row, CERTIFICATE] = ~certificate
            reschedule(queue, certificate, time)
            return
        again = certificates.failure_time(motion, axis, right, left, now)
    order[axis, slot], order[axis, after] = right, left
    rank[axis, right], rank[axis, left] = slot, after
    reschedule(queue, certificate, again)
    scheduled = certificates.certify(motion, axis, certificates.preceding(order, axis, slot), now)
    scheduled += certificates.certify(motion, axis, after, now)
    totals[SCHEDULED] += scheduled + (again < math.inf)
    totals[EXCHANGES] += 1
    totals[MIXED] += mixed


@helper
def _bounce(motion: MovingEnds, journal: Journal, now: float) -> None:
    """Reflect the body that reaches a wall first and schedule every certificate that this changes."""
    paths, walls, totals, instant = motion.paths, motion.walls, journal.totals, journal.instant
    slots, bodies = motion.order.size, motion.rank.shape[1] // 2
    certificate = np.int64(motion.queue.heap[0])
    axis, row = (certificate - slots) // bodies, (certificate - slots) % bodies
    line = totals[ROWS]
    instant[line, CERTIFICATE], instant[line, PAIR] = certificate, NO_PAIR
    instant[line, LEFT], instant[line, RIGHT] = 2 * row, 2 * row + 1
    totals[BOUNCES] += 1
    for end in range(2 * row, 2 * row + 2):
        step = now - paths[axis, end, 3]
        paths[axis, end, 0] += (paths[axis, end, 1] + paths[axis, end, 2] * step) * step
        paths[axis, end, 1] = -(paths[axis, end, 1] + 2.0 * paths[axis, end, 2] * step)
        paths[axis, end, 3] = now
    time = certificates.wall_time(paths, axis, row, walls, now)
    if time <= now or _is_pressed(paths, axis, row):
        # It rests there until it gets another velocity.
        motion.pressed[axis, row] = paths[axis, 2 * row, 2]
        below, above = paths[axis, 2 * row, 0] - walls[0, axis], walls[1, axis] - paths[axis, 2 * row + 1, 0]
        for end in range(2 * row, 2 * row + 2):
            paths[axis, end, 0] += above if abs(above) < abs(below) else -below
            paths[axis, end, 1] = paths[axis, end, 2] = 0.0
        time = math.inf
    reschedule(motion.queue, certificate, time)
    for end in range(2 * row, 2 * row + 2):
        certificates.certify_around(motion, axis, end, now)


@helper
def _is_pressed(paths: certificates.Paths, axis: Integer, row: Integer) -> bool:
    """Return whether a body that was reflected just now cannot leave the wall by more than the rounding of its place.

    Without this limit, a body that rounding lifts by a hair would bounce more often than any run could follow.
    """
    velocity, curve = paths[axis, 2 * row, 1], paths[axis, 2 * row, 2]
    below, above = abs(paths[axis, 2 * row, 0]), abs(paths[axis, 2 * row + 1, 0])
    spacing = ROUNDING * (max(below, above) if max(below, above) < math.inf else min(below, above))
    return bool(velocity * curve <= 0.0 and velocity * velocity <= 4.0 * abs(curve) * spacing)


@helper
def _add_touches(motion: MovingEnds, journal: Journal) -> bool:
    """Write a row for each upper and lower end that touch at the open instant without passing. Return False if full.

    All end points at the coordinate of a meeting are compared: those between two that touch may pass both of them, or
    stay at one of them, so that the two are not neighbours. O(k²) for k end points at one coordinate.
    """
    order, rank, paths, totals = motion.order, motion.rank, motion.paths, journal.totals
    count, slots = order.shape[1], order.size
    first, last, axis = np.int64(0), np.int64(-1), np.int64(-1)
    for row in range(totals[ROWS]):
        certificate = journal.instant[row, CERTIFICATE]
        certificate = certificate if certificate >= 0 else ~certificate
        if certificate >= slots:
            continue
        end = journal.instant[row, LEFT]
        slot = np.int64(rank[certificate // count, end])
        if certificate // count == axis and first <= slot <= last:
            continue  # the exchanges of one meeting follow each other
        axis, first, last = certificate // count, slot, slot
        while True:
            before = certificates.preceding(order, axis, first)
            if before < 0 or not _are_near(paths, axis, end, np.int64(order[axis, before]), journal.clock[1]):
                break
            first = before
        while True:
            after = certificates.following(order, axis, last)
            if after == count or not _are_near(paths, axis, end, np.int64(order[axis, after]), journal.clock[1]):
                break
            last = after
        for place in range(first, last):
            upper = np.int64(order[axis, place])
            for other in range(place + 1, last + 1):
                lower = np.int64(order[axis, other])
                if upper == certificates.EMPTY or upper & 1 == 0 or lower & 1 == 1 or upper >> 1 == lower >> 1:
                    continue  # an empty slot has all bits set, as an upper end has its last
                if (
                    not journal.clock[1]
                    <= certificates.graze_time(paths, axis, upper, lower, -math.inf)
                    <= journal.clock[0]
                ):
                    continue
                line = totals[ROWS]
                if line == journal.instant.shape[0]:
                    return False
                a, b = min(upper >> 1, lower >> 1), max(upper >> 1, lower >> 1)
                journal.instant[line, CERTIFICATE] = ~(axis * count + place)
                journal.instant[line, PAIR] = (a << 32) | b
                journal.instant[line, LEFT], journal.instant[line, RIGHT] = upper, lower
                totals[ROWS] += 1
    return True


@helper
def _are_near(paths: certificates.Paths, axis: Integer, one: Integer, other: Integer, time: float) -> bool:
    """Return whether two end points are at the same coordinate at a time, but for rounding."""
    steps = time - paths[axis, one, 3], time - paths[axis, other, 3]
    moved = paths[axis, one, 1] * steps[0], paths[axis, other, 1] * steps[1]
    curved = paths[axis, one, 2] * steps[0] * steps[0], paths[axis, other, 2] * steps[1] * steps[1]
    near, far = paths[axis, one, 0] + moved[0] + curved[0], paths[axis, other, 0] + moved[1] + curved[1]
    sizes = abs(paths[axis, one, 0]) + abs(paths[axis, other, 0]) + abs(moved[0]) + abs(moved[1])
    return bool(abs(near - far) <= NEAR * (sizes + abs(curved[0]) + abs(curved[1])))


@helper
def _close(motion: MovingEnds, journal: Journal, events: EventBuffer) -> bool:
    """Close an instant: count its meetings and write the pairs that began and ended. Return whether a body bounced."""
    rank, totals, instant, picks = motion.rank, journal.totals, journal.instant, journal.picks
    count, slots = motion.order.shape[1], motion.order.size
    time = journal.clock[1]
    rows = totals[ROWS]
    if rows == 1 and 0 <= instant[0, CERTIFICATE] < slots:
        totals[INSTANTS] += 1
        totals[SIMPLE] += 1
        pair = instant[0, PAIR]
        if pair != NO_PAIR:
            a, b = pair >> 32, pair & 0xFFFFFFFF
            own, left, right = instant[0, CERTIFICATE] // count, instant[0, LEFT], instant[0, RIGHT]
            upper, lower = (left, right) if left & 1 == 1 else (right, left)
            for axis in range(rank.shape[0]):
                if axis == own:
                    # The other two ends must be in order, too: those of half-open boxes of size zero may not be.
                    if rank[axis, upper - 1] > rank[axis, lower + 1]:
                        return False
                elif not _overlap(rank, axis, a, b):
                    return False
            write_event(time, left & 1, a, b, totals, events)
        return False
    bounced = _count_meetings(motion.order, journal)
    chosen = np.int64(0)
    for row in range(rows):
        if instant[row, PAIR] != NO_PAIR:
            picks[chosen] = row
            chosen += 1
    _sort(picks, chosen, instant, np.int64(PAIR))
    first = np.int64(0)
    while first < chosen:
        last = first + 1
        while last < chosen and instant[picks[last], PAIR] == instant[picks[first], PAIR]:
            last += 1
        _report(first, last, motion, journal, events)
        first = last
    return bounced


@helper
def _count_meetings(order: I32, journal: Journal) -> bool:
    """Count the meetings, which are the exchanges that share end points. Return whether a body bounced."""
    totals, instant, picks = journal.totals, journal.instant, journal.picks
    slots, count = order.size, order.shape[1]
    rows = totals[ROWS]
    bounced = False
    # Typed numbers: a kernel is compiled once more for each literal that it is called with.
    chosen = np.int64(0)
    for row in range(rows):
        if instant[row, CERTIFICATE] >= slots:
            bounced = True
        elif instant[row, CERTIFICATE] >= 0:
            picks[chosen] = row
            chosen += 1
    _sort(picks, chosen, instant, np.int64(CERTIFICATE))
    first = np.int64(0)
    axis = -1
    while first < chosen:
        last = first
        while last + 1 < chosen:
            axis_at, slot = instant[picks[last], CERTIFICATE] // count, instant[picks[last], CERTIFICATE] % count
            if instant[picks[last + 1], CERTIFICATE] > axis_at * count + certificates.following(order, axis_at, slot):
                break
            last += 1
        begin = instant[picks[first], CERTIFICATE]
        if begin // count != axis:
            axis = begin // count
            totals[INSTANTS] += 1
        if begin == instant[picks[last], CERTIFICATE]:
            totals[SIMPLE] += 1
        else:
            totals[MULTIPLE] += 1
        first = last + 1
    return bounced


@helper
def _report(first: Integer, last: Integer, motion: MovingEnds, journal: Journal, events: EventBuffer) -> None:
    """Report the pair of bodies that the exchanges ``picks[first:last]`` belong to, if it began or ended."""
    rank, instant, picks = motion.rank, journal.instant, journal.picks
    count, time = motion.order.shape[1], journal.clock[1]
    pair = instant[picks[first], PAIR]
    a, b = pair >> 32, pair & 0xFFFFFFFF
    before = after = at = True
    for axis in range(rank.shape[0]):
        now = _overlap(rank, axis, a, b)
        was_a, was_b = rank[axis, 2 * a] < rank[axis, 2 * b + 1], rank[axis, 2 * b] < rank[axis, 2 * a + 1]
        met = False
        for k in range(last - 1, first - 1, -1):
            row = picks[k]
            certificate = instant[row, CERTIFICATE]
            if (certificate if certificate >= 0 else ~certificate) // count != axis:
                continue
            met = True
            if certificate >= 0:
                # Bodies overlap if a's lower end is before b's upper end, and the reverse. Going back through the
                # exchanges, each restores the order of its two ends.
                left, right = instant[row, LEFT], instant[row, RIGHT]
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
        write_event(time, np.int64(1), a, b, journal.totals, events)
    if not after:
        write_event(time, np.int64(0), a, b, journal.totals, events)


@helper
def _overlap(rank: I32, axis: Integer, a: Integer, b: Integer) -> bool:
    return bool(rank[axis, 2 * a] < rank[axis, 2 * b + 1] and rank[axis, 2 * b] < rank[axis, 2 * a + 1])


@helper
def write_event(time: float, kind: Integer, a: Integer, b: Integer, totals: I64, events: EventBuffer) -> None:
    """Append a pair that began (1) or ended (0)."""
    place = totals[EVENT_ROWS]
    events.times[place], events.kinds[place] = time, kind
    events.pairs[place, 0], events.pairs[place, 1] = a, b
    totals[EVENT_ROWS] += 1


@helper
def _sort(picks: I64, count: Integer, instant: I64, column: Integer) -> None:
    """Sort row numbers by a column, then by number (Shell, "A high-speed sorting procedure", 1959)."""
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

"""Exchanges of neighbouring end points in a sorted list, and what each does to the set of pairs.

An end point is a number: row r's lower end is r, its upper end n + r. They are ordered by value, lower ends before
upper ends where values are equal, so that ``lower_i <= upper_j`` and "i's lower end comes before j's upper end" say
the same. Two boxes overlap when that holds both ways on every axis; so a pair can begin or end only where a lower end
of one body and an upper end of another are exchanged. Each such exchange is judged by the boxes as they were and as
they are, never by the state in between: what is logged is the net change, perhaps more than once, in any order in which
things are exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.overlap import boxes_meet
from choque._core.pair_keys import ordered_key
from choque._core.sort import first_from
from choque._core.types import U32, Integer, Keys, Rows

EndPoints: TypeAlias = U32  # end points in order, or where each of them is
_FIRST_LOG = 1 << 12
Logs: TypeAlias = tuple[list[Keys], int, int]  # logged pairs, exchanges and tests


def run_logged(exchange: Callable[..., tuple[int, int, int, int]], last: int, *arguments: object) -> Logs:
    """Run a kernel of this file up to ``last``, with a fresh and larger log whenever one is full."""
    logs: list[Keys] = []
    size = _FIRST_LOG
    position = exchanges = tests = 0
    while position < last:
        log: Keys = np.empty(size, np.uint64)
        position, logged, exchanged, tested = exchange(position, last, log, *arguments)
        logs.append(log[:logged])
        exchanges += exchanged
        tests += tested
        size *= 2
    return logs, exchanges, tests


@kernel
def _entry(a: Integer, b: Integer, joined: bool) -> Any:
    pair = ordered_key(a, b)
    return pair if joined else pair | np.uint64(1 << 63)


@helper
def _met(place: int, other: Integer, records: Any, previous: Any, rows: Rows) -> Any:
    """Return whether ``rows[place]`` and ``other`` overlapped when ``rows`` had their ``previous`` records."""
    found = first_from(rows, other)
    if found < rows.size and rows[found] == other:
        return boxes_meet(previous, place, previous, found)
    return boxes_meet(previous, place, records, other)


@helper
def sort_end_points(
    first: int, last: int, log: Keys, values: Any, ends: EndPoints, records: Any, previous: Any, judging: bool
) -> tuple[int, int, int, int]:
    """Insertion sort of one axis from position ``first`` on, all bodies having had their ``previous`` records.

    Without ``judging`` nothing is tested and nothing logged. Returns ``last``, or the position to continue from because
    the log is full (all before it are in order), and the numbers of log entries written, exchanges, and those judged.
    """
    count = records.shape[0]
    logged = 0
    exchanges = 0
    tests = 0
    for k in range(first, last):
        value, end = values[k], np.int64(ends[k])
        is_lower = end < count
        j = k
        while j > 0:
            other = np.int64(ends[j - 1])
            if not (value < values[j - 1] or (is_lower and value == values[j - 1] and other >= count)):
                break
            if judging and is_lower != (other < count):
                a = end if is_lower else end - count
                b = other - count if is_lower else other
                if a != b:
                    tests += 1
                    if is_lower:
                        changed = boxes_meet(records, a, records, b) and not boxes_meet(previous, a, previous, b)
                    else:
                        changed = boxes_meet(previous, a, previous, b) and not boxes_meet(records, a, records, b)
                    if changed:
                        if logged == log.size:
                            values[j], ends[j] = value, end
                            return j, logged, exchanges + k - j, tests
                        log[logged] = _entry(a, b, is_lower)
                        logged += 1
            values[j], ends[j] = values[j - 1], other
            j -= 1
        values[j], ends[j] = value, end
        exchanges += k - j
    return last, logged, exchanges, tests


@kernel
def gather_values(values: Any, ends: EndPoints, records: Any, first_axis: int) -> None:
    """Write the present value of each end point, in the order of ``ends`` (axes, 2n), from ``first_axis`` on."""
    count = records.shape[0]
    for axis in range(values.shape[0]):
        for k in range(values.shape[1]):
            end = np.int64(ends[axis, k])
            side: Integer = 3 if end >= count else 0
            values[axis, k] = records[end - count if end >= count else end, first_axis + axis + side]


@kernel
def sort_axes(
    first: int, last: int, log: Keys, values: Any, ends: EndPoints, records: Any, previous: Any, judging: bool
) -> tuple[int, int, int, int]:
    """Run `sort_end_points` on each axis in turn; a position counts through all of ``values`` (axes, 2n)."""
    size = values.shape[1]
    logged: Integer = 0
    exchanges = 0
    tests = 0
    position = first
    while position < last:
        axis = position // size
        reached, more, exchanged, tested = sort_end_points(
            position - axis * size, size, log[logged:], values[axis], ends[axis], records, previous, judging
        )
        position = axis * size + reached
        logged += more
        exchanges += exchanged
        tests += tested
        if reached < size:
            break
    return position, logged, exchanges, tests


@kernel
def move_end_points(
    first: int, last: int, log: Keys, values: Any, ends: EndPoints, records: Any, previous: Any, rows: Rows
) -> tuple[int, int, int, int]:
    """Give the bodies ``rows[first:last]``, which had their ``previous`` records, their new places on all axes.

    End points move one after the other, and the lists are in order all the time: those who have yet to move stand at
    their old values. Returns what `sort_end_points` does; a position is that of a body in ``rows``.
    """
    count = records.shape[0]
    logged = 0
    exchanges = 0
    tests = 0
    for k in range(first, last):
        row = rows[k]
        for axis in range(values.shape[0]):
            line, order = values[axis], ends[axis]
            for side in range(2):
                is_lower = side == 0
                end = row + side * count
                value, old = records[row, axis + 3 * side], previous[k, axis + 3 * side]
                place = _find(end, old, line, order) if value != old else -1
                if place < 0:
                    continue  # it stays, or it has moved already and the log was full after it
                step = 1 if value > old else -1
                joined = is_lower == (step < 0)
                target = place
                reached = logged
                while 0 <= target + step < order.size:
                    other, passed = np.int64(order[target + step]), line[target + step]
                    # At equal values lower ends come first: they pass upper ones going left, as those do going right.
                    tie = joined and is_lower != (other < count)
                    if not (value > passed if step > 0 else value < passed) and not (value == passed and tie):
                        break
                    target += step
                    body = other if other < count else other - count
                    if is_lower == (other < count) or body == row:
                        continue
                    tests += 1
                    if joined:
                        changed = boxes_meet(records, row, records, body) and not _met(k, body, records, previous, rows)
                    else:
                        changed = _met(k, body, records, previous, rows) and not boxes_meet(records, row, records, body)
                    if changed:
                        if reached == log.size:
                            return k, logged, exchanges, tests
                        log[reached] = _entry(row, body, joined)
                        reached += 1
                logged = reached
                exchanges += abs(target - place)
                for i in range(place, target, step):
                    line[i], order[i] = line[i + step], order[i + step]
                line[target], order[target] = value, end
    return last, logged, exchanges, tests


@kernel
def _find(end: int, value: float, line: Any, order: EndPoints) -> int:
    """Return the place of the end point ``end`` of ``value``, or −1 if it is not there."""
    place = first_from(line, value)
    while place < order.size and line[place] == value:
        if order[place] == end:
            return place
        place += 1
    return -1

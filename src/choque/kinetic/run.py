"""The run of a kinetic structure: its lists are advanced by kernels, through buffers that grow, and by sorting.

A call that is interrupted leaves the lists at the time that they have reached, after a whole instant; the next one
returns what was found up to there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.pair_keys import pack_pairs
from choque._core.types import I64, Pairs
from choque.kinetic import loop
from choque.kinetic._crowds import Crowd, count_crowd, order_before, report_crowd, sort_due
from choque.kinetic.lists import Lists, laid_out
from choque.kinetic.results import NO_EVENTS, Events

_FIRST_EVENTS = 1 << 8  # size of the first buffer of events
_MAX_ROWS = 1 << 10
"""Exchanges of one instant that are kept between calls; an instant with more is finished by sorting if possible."""


@dataclass
class _Output:
    """The events of one call: those found, and the buffer into which a kernel writes."""

    chunks: list[Events]
    buffer: loop.EventBuffer
    name: Callable[[Pairs], Pairs] | None

    def gather(self, totals: I64) -> None:
        """Take the events that a kernel has written to the buffer, unless they were taken already."""
        written = min(int(totals[loop.EVENT_ROWS]), len(self.buffer.times))
        if written and not (self.chunks and self.chunks[-1].times.base is self.buffer.times):
            times, kinds, pairs = self.buffer
            self.add(Events(times[:written], kinds[:written].view(np.bool_), pairs[:written]))

    def add(self, events: Events) -> None:
        """Take events, with ids for rows."""
        pairs = events.pairs if self.name is None else self.name(events.pairs)
        self.chunks.append(Events(events.times, events.began, pairs))

    def joined(self) -> Events:
        """Return all events in order."""
        if len(self.chunks) < 2:
            return self.chunks[0] if self.chunks else NO_EVENTS
        return Events(
            np.concatenate([chunk.times for chunk in self.chunks]),
            np.concatenate([chunk.began for chunk in self.chunks]),
            np.concatenate([chunk.pairs for chunk in self.chunks]),
        )


def run(
    lists: Lists, until: float, mode: int = loop.TO_THE_END, name: Callable[[Pairs], Pairs] | None = None
) -> tuple[Events, int]:
    """Advance to ``until``, or to where ``mode`` stops. Return the events and the status of the kernel.

    ``name`` turns the rows of pairs into ids. If the call is interrupted, the lists stay at the time that they have
    reached, after a whole instant, and the next call returns the events up to there first.
    """
    output = _Output(lists.undelivered, event_buffer(0), name)
    try:
        lists.crowd = None
        if len(lists.instant) > _MAX_ROWS:
            lists.resize_instant(_MAX_ROWS)
        status = _run(lists, until, mode, output)
        found = output.joined()
        if output.chunks:
            lists.undelivered = []
        return found, status
    except BaseException:
        output.gather(lists.totals)
        if lists.totals[loop.OPEN]:
            _run(lists, max(lists.now, min(lists.clock[1] + lists.tolerance, until)), loop.EACH_INSTANT, output)
        lists.undelivered = output.chunks
        raise


def _run(lists: Lists, until: float, mode: int, output: _Output) -> int:
    size = _FIRST_EVENTS
    while True:
        lists.totals[loop.EVENT_ROWS] = 0
        output.buffer = event_buffer(size)
        status = _advance(lists, until, mode, output.buffer)
        output.gather(lists.totals)
        if status == loop.INSTANT_FULL:
            if not lists.is_dense:
                lists.close_gaps()
            status = _sort_crowd(lists, mode, output)
            if status == loop.STOPPED:
                return status
        elif status == loop.EVENTS_FULL:
            size = max(2 * size, 4 * int(lists.totals[loop.ROWS]))
        else:
            return status


def _advance(lists: Lists, until: float, mode: int, events: loop.EventBuffer) -> int:
    queue = tuple(lists.queue)
    while True:
        arrays = lists.paths, lists.order, lists.rank, lists.walls, lists.pressed, queue
        motion = (*arrays, lists.closed, lists.paired, lists.curved)
        journal = (lists.clock, lists.totals, lists.instant, lists.picks)
        status = loop.advance_plain(until, mode, lists.tolerance, motion, journal, tuple(events))
        if status != loop.INSTANT_FULL or (len(lists.instant) >= _MAX_ROWS and _can_sort(lists)):
            return status
        lists.grow_instant()


def _can_sort(lists: Lists) -> bool:
    """Return whether the open instant can be finished by sorting: relative motions are linear, no body bounces."""
    if lists.curved or lists.tolerance or not lists.totals[loop.OPEN]:
        return False
    walls = lists.failures[lists.order.size :] if lists.walls.size else np.empty(0)
    bounced = lists.instant[: lists.totals[loop.ROWS], loop.CERTIFICATE] >= lists.order.size
    return not (bounced.any() or (walls <= lists.clock[1]).any())


def _sort_crowd(lists: Lists, mode: int, output: _Output) -> int:
    """Finish the open instant by sorting; add its events to ``output``. Return the status of the kernel."""
    arrays: tuple[NDArray[Any], ...] = (lists.order, lists.rank, *lists.queue, lists.totals)
    before = [array.copy() for array in arrays]
    found = len(output.chunks)
    try:
        return _sort_open_instant(lists, mode, output)
    except BaseException:
        for array, values in zip(arrays, before, strict=True):
            array[...] = values
        del output.chunks[found:]
        output.buffer = event_buffer(0)
        lists.crowd = None
        raise


def _sort_open_instant(lists: Lists, mode: int, output: _Output) -> int:
    totals, time = lists.totals, float(lists.clock[1])
    rows = lists.instant[: totals[loop.ROWS]]
    old_order = order_before(lists.order, rows)
    totals[loop.EXCHANGES] -= len(rows)  # all are counted below
    totals[loop.MIXED] -= np.count_nonzero(rows[:, loop.PAIR] != loop.NO_PAIR)
    multiple = int(totals[loop.MULTIPLE])
    sort_due(lists.motion, totals, time, np.empty(lists.order.shape[1], np.int32))
    crowd = Crowd(old_order, laid_out(old_order, old_order.shape[1], lists.rank.shape[1])[1], lists.order, lists.rank)
    count_crowd(crowd, lists.paired, totals)
    totals[loop.OPEN] = totals[loop.ROWS] = totals[loop.EVENT_ROWS] = 0
    if lists.paired:
        report_crowd(crowd, lists.closed, time, totals, event_buffer(0))
    events = event_buffer(int(totals[loop.EVENT_ROWS]))
    totals[loop.EVENT_ROWS] = 0
    if len(events.times):
        report_crowd(crowd, lists.closed, time, totals, events)
        totals[loop.EVENT_ROWS] = 0  # they are not in the buffer of the call
        sorting = np.argsort(pack_pairs(events.pairs), kind="stable")
        output.add(Events(events.times, events.kinds.view(np.bool_)[sorting], events.pairs[sorting]))
    lists.crowd = crowd, int(totals[loop.INSTANTS])
    stops = (
        mode == loop.EACH_INSTANT
        or (mode == loop.EACH_EVENT and len(events.times) > 0)
        or (mode == loop.EACH_MULTIPLE and totals[loop.MULTIPLE] > multiple)
    )
    return loop.STOPPED if stops else loop.REACHED


def event_buffer(size: int) -> loop.EventBuffer:
    """Return an empty buffer for ``size`` events."""
    return loop.EventBuffer(np.empty(size), np.empty(size, np.uint8), np.empty((size, 2), np.int32))

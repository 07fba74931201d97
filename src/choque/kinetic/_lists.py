"""Sorted lists of moving end points, one for each axis, with one queue: the state of every kinetic structure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.kinetic import _events
from choque.kinetic._certificates import Motion, Paths, certify_all, certify_ends
from choque.kinetic._heap import Queue

_FIRST_EVENTS = 1 << 8
_FIRST_ROWS = 1 << 6


@dataclass(frozen=True)
class News:
    """What began and ended, in the order of time; within one instant by pair.

    It can be taken apart: ``times, kinds, pairs = news``.
    """

    times: NDArray[np.float64]
    """(k,) when."""
    began: NDArray[np.bool_]
    """(k,) True for a pair that began, False for one that ended."""
    pairs: NDArray[np.int32]
    """(k, 2) who, smaller number first."""

    @property
    def kinds(self) -> NDArray[np.str_]:
        """(k,) "began" or "ended"."""
        return np.where(self.began, "began", "ended")

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return iter((self.times, self.kinds, self.pairs))


NO_NEWS = News(np.empty(0), np.empty(0, np.bool_), np.empty((0, 2), np.int32))


class Lists:
    """The order of moving end points on every axis, kept through certificates.

    Parameters
    ----------
    paths
        (axes, ends, 4) position, velocity, half the acceleration and the time since which they hold.
    closed, paired
        The topology; whether the ends come in twos, as the lower and upper ends of bodies.
    now
        The time to begin at.
    tolerance
        Failures that come at most so long after the first of an instant belong to it.
    order
        (axes, ends) the order that they have, if it is known.

    Notes
    -----
    Guarantees: each slot has one certificate, which is always the one of its present neighbours; 56 bytes an end point.
    An exchange costs O(log n).
    """

    def __init__(
        self,
        paths: Paths,
        *,
        closed: bool,
        paired: bool,
        now: float,
        tolerance: float = 0.0,
        order: NDArray[np.int32] | None = None,
    ) -> None:
        self.closed, self.paired, self.tolerance = closed, paired, tolerance
        self.totals: NDArray[np.int64] = np.zeros(_events.TOTALS, np.int64)
        self.clock = np.array([now, now])
        self.walls: NDArray[np.float64] = np.empty((0, 0))
        self.instant: NDArray[np.int64] = np.empty((_FIRST_ROWS, 4), np.int64)
        self.picks: NDArray[np.int64] = np.empty(_FIRST_ROWS, np.int64)
        self.take(paths, initial_order(paths, closed, now) if order is None else order)

    def take(self, paths: Paths, order: NDArray[np.int32]) -> None:
        """Go on with other end points, in the ``order`` (axes, ends) that they have now."""
        self.paths, self.order = paths, np.ascontiguousarray(order)
        self.rank = np.empty_like(self.order)
        places = np.arange(order.shape[1], dtype=np.int32)
        for axis, line in enumerate(self.order):
            self.rank[axis, line] = places
        self.schedule_all()

    def schedule_all(self) -> None:
        """Make every certificate anew."""
        self.curved = bool(self.paths[:, :, 2].any())
        certificates = max(self.order.size + (self.order.size // 2 if self.walls.size else 0), 1)
        heap, place = np.empty(certificates, np.int32), np.empty(certificates, np.int32)
        self.queue = Queue(np.full(certificates, np.inf), heap, place)
        self.totals[_events.SCHEDULED] += certify_all(self.motion, self.now)

    def schedule(self, ends: NDArray[np.int64]) -> None:
        """Make the certificates of these end points anew: they have new paths, and the places they had."""
        self.curved = self.curved or bool(self.paths[:, ends, 2].any())
        self.totals[_events.SCHEDULED] += certify_ends(ends, self.motion, self.now)

    @property
    def motion(self) -> Motion:
        """All that a kernel needs to know about the end points."""
        return Motion(self.paths, self.order, self.rank, self.walls, self.queue, self.closed, self.paired, self.curved)

    @property
    def journal(self) -> _events.Journal:
        """What a kernel writes down as it goes on."""
        return _events.Journal(self.clock, self.totals, self.instant, self.picks)

    @property
    def failures(self) -> NDArray[np.float64]:
        """The failure times of all certificates, by number: axis × ends + slot, then axis × bodies + row for walls."""
        return self.queue.due[self.queue.place] if self.order.size else self.queue.due

    @property
    def now(self) -> float:
        """The present time."""
        return float(self.clock[0])

    def run(self, until: float, mode: int = _events.TO_THE_END) -> tuple[News, int]:
        """Advance to ``until``, or to where ``mode`` says to stop; what happened, and whether the end was reached."""
        chunks: list[News] = []
        size = _FIRST_EVENTS
        while True:
            events = events_of(size)
            self.totals[_events.EVENT_ROWS] = 0
            status = self._advance(until, mode, events)
            if written := int(self.totals[_events.EVENT_ROWS]):
                times, kinds, pairs = events
                chunks.append(News(times[:written], kinds[:written].view(np.bool_), pairs[:written]))
            if status != _events.EVENTS_FULL:
                break
            size = max(2 * size, 4 * int(self.totals[_events.ROWS]))
        if len(chunks) < 2:
            return chunks[0] if chunks else NO_NEWS, status
        return News(
            np.concatenate([chunk.times for chunk in chunks]),
            np.concatenate([chunk.began for chunk in chunks]),
            np.concatenate([chunk.pairs for chunk in chunks]),
        ), status

    def _advance(self, until: float, mode: int, events: _events.Events) -> int:
        queue = tuple(self.queue)
        while True:
            motion = (self.paths, self.order, self.rank, self.walls, queue, self.closed, self.paired, self.curved)
            journal = (self.clock, self.totals, self.instant, self.picks)
            status = _events.advance_plain(until, mode, self.tolerance, motion, journal, tuple(events))
            if status != _events.INSTANT_FULL:
                return status
            self.grow_instant()

    def grow_instant(self) -> None:
        """Make room for an instant at which more happens than ever before."""
        self.instant = np.concatenate((self.instant, np.empty_like(self.instant)))
        self.picks = np.empty(len(self.instant), np.int64)

    def positions(self, time: float | None = None) -> NDArray[np.float64]:
        """(axes, ends) where the end points are at ``time``, now unless given."""
        return places_at(self.paths, self.now if time is None else time)

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays that are kept."""
        return sum(value.nbytes for value in (*vars(self).values(), *self.queue) if isinstance(value, np.ndarray))


def events_of(size: int) -> _events.Events:
    """Room for so many events."""
    return _events.Events(np.empty(size), np.empty(size, np.uint8), np.empty((size, 2), np.int32))


def places_at(paths: Paths, time: float) -> NDArray[np.float64]:
    """(axes, ends) where the end points are at ``time``."""
    step = time - paths[:, :, 3]
    places: NDArray[np.float64] = paths[:, :, 0] + (paths[:, :, 1] + paths[:, :, 2] * step) * step
    return places


def speeds_at(paths: Paths, time: float) -> NDArray[np.float64]:
    """(axes, ends) how fast the end points move at ``time``."""
    speeds: NDArray[np.float64] = paths[:, :, 1] + 2.0 * paths[:, :, 2] * (time - paths[:, :, 3])
    return speeds


def initial_order(paths: Paths, closed: bool, now: float) -> NDArray[np.int32]:
    """(axes, ends) the order at ``now``: by place, then as the topology says, then by velocity and acceleration."""
    places, speeds = places_at(paths, now), speeds_at(paths, now)
    side = np.arange(paths.shape[1]) & 1
    side = side if closed else 1 - side
    order = [np.lexsort((paths[axis, :, 2], speeds[axis], side, places[axis])) for axis in range(len(paths))]
    return np.array(order, np.int32).reshape(paths.shape[:2])

"""Kinetic sweep-and-prune: which boxes overlap, from when to when, while they move on known paths."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.records import PackedBoxes
from choque._core.types import Pairs
from choque.bounds import Boxes
from choque.broad._registry import find
from choque.errors import InvalidInput
from choque.kinetic import _events
from choque.kinetic._audit import Audit, audit
from choque.kinetic._checks import as_numbers, as_table, as_time, as_tolerance
from choque.kinetic._lists import Lists, News, places_at, speeds_at
from choque.kinetic._meetings import Meeting, meetings_of

_FINDER = "sap-direct"
"""The broad phase that reads the pairs off the ranks of the end points."""


@dataclass(frozen=True, slots=True)
class Event:
    """Two bodies whose boxes begin or cease to overlap."""

    time: float
    kind: Literal["began", "ended"]
    pair: tuple[int, int]


@dataclass(frozen=True)
class Counters:
    """What a kinetic sweep has done so far."""

    events: int
    """Instants per axis at which the order changed; a meeting of many end points is one."""
    exchanges: int
    """Pairs of end points that changed their order."""
    external: int
    """Those among them of a lower and an upper end of two bodies, whose overlap on the axis so changed."""
    simple: int
    """Meetings of two end points."""
    multiple: int
    """Meetings of three or more end points at one coordinate and time."""
    bounces: int
    """Times a body turned back from a wall, each axis for itself."""
    certificates: int
    """Certificates scheduled."""


class Sweep:
    """The overlapping pairs of moving boxes, followed from event to event.

    Parameters
    ----------
    lower, upper
        (n, 2) or (n, 3) the boxes at ``time``; row i gets id i. Infinite extents are legal.
    velocity, acceleration
        (n, d) how each moves, or one row for all.
    closed
        True: touching counts. False: it does not.
    time
        The time at which the boxes are where they are said to be.
    tolerance
        Failures at most this much later than the first of an instant belong to it; with 0 only equal times are one.

    Notes
    -----
    Guarantees: no frame rate and so nothing missed; every event once, ordered by time, then by pair, began before
    ended; failure times in closed form in float64; each pair of end points exchanged exactly as often as the true order
    changes. A touch of one instant began and ended at that instant when closed, and is nothing when half-open. O(log n)
    an exchange, nothing while nothing happens; 57 bytes per end point and axis (228 a body in 2D) whatever the pairs,
    which are found in the ranks of the end points.

    After Coming and Staadt, "Kinetic Sweep and Prune for Multi-body Continuous Motion", 2006, with multiple events as
    in Moraga Aros's master's thesis, Universidad de Chile, 2019.

    Examples
    --------
    >>> sweep = Sweep([[0, 0], [4, 0]], [[1, 1], [5, 1]], velocity=[[1, 0], [0, 0]])
    >>> [(event.time, event.kind, event.pair) for event in sweep.advance(until=10)]
    [(3.0, 'began', (0, 1)), (5.0, 'ended', (0, 1))]
    """

    def __init__(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        velocity: ArrayLike,
        acceleration: ArrayLike | None = None,
        closed: bool = True,
        *,
        time: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        now = as_time(time, "time")
        boxes = Boxes(lower, upper)
        paths = _paths_of(boxes, velocity, acceleration, now)
        self._lists = Lists(paths, closed=bool(closed), paired=True, now=now, tolerance=as_tolerance(tolerance))
        self._ids = np.arange(len(boxes), dtype=np.int32)
        self._next_id = len(boxes)
        self._found: tuple[int, Pairs] | None = None  # the pairs, and the exchanges they are as old as

    def __len__(self) -> int:
        return len(self._ids)

    def __repr__(self) -> str:
        topology = "closed" if self.closed else "half-open"
        return f"<Sweep: {len(self)} bodies in {self.dimension}D, {topology}, at time {self.time:g}>"

    @property
    def closed(self) -> bool:
        """Whether touching counts."""
        return self._lists.closed

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self._lists.order.shape[0])

    @property
    def ids(self) -> NDArray[np.int32]:
        """The ids of the living bodies, ascending."""
        return self._ids.copy()

    @property
    def time(self) -> float:
        """The present time; while `advance` is iterated, that of the event in hand."""
        return self._lists.now

    @property
    def next_time(self) -> float:
        """When the order changes next, or a body meets a wall; infinity if never."""
        return float(self._lists.queue.due[0])

    @property
    def nbytes(self) -> int:
        """The bytes that are kept."""
        return self._lists.nbytes + self._ids.nbytes

    @property
    def counters(self) -> Counters:
        """Totals since the beginning."""
        totals = self._lists.totals
        return Counters(
            events=int(totals[_events.INSTANTS]),
            exchanges=int(totals[_events.EXCHANGES]),
            external=int(totals[_events.MIXED]),
            simple=int(totals[_events.SIMPLE]),
            multiple=int(totals[_events.MULTIPLE]),
            bounces=int(totals[_events.BOUNCES]),
            certificates=int(totals[_events.SCHEDULED]),
        )

    def boxes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """(lower, upper) of the living bodies now, each (n, d), in ascending id."""
        places = self._lists.positions()
        return np.ascontiguousarray(places[:, 0::2].T), np.ascontiguousarray(places[:, 1::2].T)

    def velocity(self) -> NDArray[np.float64]:
        """(n, d) how fast the living bodies move now, in ascending id."""
        return np.ascontiguousarray(speeds_at(self._lists.paths, self.time)[:, 0::2].T)

    def pairs(self) -> Pairs:
        """All overlapping pairs of ids now, (m, 2) int32, sorted; at the time of an event, those just after it."""
        age = int(self._lists.totals[_events.EXCHANGES])
        if self._found is None or self._found[0] != age:
            records = np.zeros((len(self), 6))
            records[:, 0 : self.dimension] = self._lists.rank[:, 0::2].T
            records[:, 3 : 3 + self.dimension] = self._lists.rank[:, 1::2].T
            rows = find(_FINDER)(PackedBoxes(records, self.dimension), threads=1).pairs()
            self._found = age, self._ids[rows]
        return self._found[1].copy()

    def advance(self, until: float) -> Iterator[Event]:
        """Go to ``until``, giving each event at its own time.

        All events of an instant have happened when the first of them is given. Within the loop bodies may be changed,
        added and removed: the future is planned again. A loop that is left early leaves the sweep at the event in hand.
        """
        return self._advance(as_time(until, "until", self.time))

    def _advance(self, until: float) -> Iterator[Event]:
        status = _events.STOPPED
        while status != _events.REACHED:
            news, status = self._lists.run(max(until, self.time), _events.EACH_NEWS)
            yield from _as_events(news, self._ids)

    def advance_meetings(self, until: float, *, multiple: bool = False) -> Iterator[tuple[list[Meeting], list[Event]]]:
        """Go to ``until`` and give the meetings of end points with the events since the last ones.

        One instant at a time, in which the bodies may also only have bounced; with ``multiple`` only the instants that
        have a multiple meeting, at compiled speed in between, and at last the events that remain.
        """
        mode = _events.EACH_MULTIPLE if multiple else _events.EACH_INSTANT
        return self._advance_meetings(as_time(until, "until", self.time), mode)

    def _advance_meetings(self, until: float, mode: int) -> Iterator[tuple[list[Meeting], list[Event]]]:
        status = _events.STOPPED
        while status != _events.REACHED:
            news, status = self._lists.run(max(until, self.time), mode)
            if status == _events.STOPPED or len(news):
                meetings = meetings_of(self._lists) if status == _events.STOPPED else []
                yield meetings, list(_as_events(news, self._ids))

    def advance_arrays(self, until: float) -> News:
        """Go to ``until`` at compiled speed and return times, kinds and pairs of ids of all events as arrays."""
        news, _ = self._lists.run(as_time(until, "until", self.time))
        return News(news.times, news.began, self._ids[news.pairs]) if len(news) else news

    def set_velocity(self, ids: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike | None = None) -> None:
        """Give the bodies ``ids`` another velocity from now on, and acceleration if one is given. O(log n) each."""
        rows = self._rows_of(ids)
        shape = (len(rows), self.dimension)
        speed = as_table(velocity, "velocity", shape)
        curve = None if acceleration is None else as_table(acceleration, "acceleration", shape) / 2.0
        ends = np.concatenate((2 * rows, 2 * rows + 1))
        paths = self._lists.paths
        paths[:, ends, 0] = places_at(paths[:, ends], self.time)
        paths[:, ends, 1] = np.tile(speed.T, 2)
        paths[:, ends, 3] = self.time
        if curve is not None:
            paths[:, ends, 2] = np.tile(curve.T, 2)
        self._lists.schedule(ends)

    def add(
        self, lower: ArrayLike, upper: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike | None = None
    ) -> NDArray[np.int32]:
        """Add bodies that are here now and return their ids, which are never used again. O(n).

        Whom they overlap already is in `pairs` at once and not reported as an event.
        """
        boxes = Boxes(lower, upper)
        if boxes.dimension != self.dimension:
            raise InvalidInput(
                f"The boxes given are {boxes.dimension}D and this sweep is {self.dimension}D; they must be alike."
            )
        arriving = _paths_of(boxes, velocity, acceleration, self.time)
        if self._lists.walls.size:
            _check_inside(boxes.lower, boxes.upper, self._lists.walls)
        merged = self._merged_order(arriving)
        new = np.arange(self._next_id, self._next_id + len(boxes), dtype=np.int32)
        self._next_id += len(boxes)
        self._ids = np.concatenate((self._ids, new))
        self._lists.take(np.concatenate((self._lists.paths, arriving), axis=1), merged)
        self._found = None
        return new

    def remove(self, ids: ArrayLike) -> None:
        """Take the bodies ``ids`` out, and with them their pairs. O(n)."""
        rows = self._rows_of(ids)
        staying = np.ones(len(self), bool)
        staying[rows] = False
        ends = np.repeat(staying, 2)
        numbers = np.cumsum(ends, dtype=np.int32) - np.int32(1)
        order = np.array([numbers[line[ends[line]]] for line in self._lists.order], np.int32)
        self._ids = self._ids[staying]
        self._lists.take(np.ascontiguousarray(self._lists.paths[:, ends]), order.reshape(self.dimension, -1))
        self._found = None

    def bounce(self, lower: ArrayLike, upper: ArrayLike) -> None:
        """Put walls around the bodies, from which they turn back from now on: their velocity on that axis is reversed.

        ``lower`` and ``upper`` are (d,); an infinite one is no wall. A body pressed against a wall by its acceleration
        stays there.
        """
        walls = _as_walls(lower, upper, self.dimension)
        _check_inside(*self.boxes(), walls)
        self._lists.walls = walls
        self._lists.schedule_all()

    def order(self) -> NDArray[np.int32]:
        """(dimension, 2 n) the end points of each axis in their order; 2 i is the lower, 2 i + 1 the upper of row i.

        At the time of an event it is the order just after the exchange.
        """
        return self._lists.order.astype(np.int32)

    def certificates(self) -> dict[tuple[int, int], float]:
        """The failure time of each certificate that fails some day, by (axis, slot)."""
        count = 2 * len(self)
        failures = self._lists.failures[: self.dimension * count]
        return {(int(k) // count, int(k) % count): float(failures[k]) for k in np.flatnonzero(np.isfinite(failures))}

    def heap(self) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
        """The queue as it lies: the failure time of every certificate, none before its parent's, and its number.

        The parent of place k is at (k − 1) // 2, and what fails next stands first. The number of a certificate is
        axis × 2 n + slot; those of walls, if there are any, follow as axis × n + row. A time of infinity is never.
        """
        return self._lists.queue.due.copy(), self._lists.queue.heap.copy()

    def audit(self) -> Audit:
        """The four criteria of kinetic data structures, as numbers, and whether the sweep is sound now. O(n)."""
        return audit(self._lists)

    def copy(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)

    def _rows_of(self, ids: ArrayLike) -> NDArray[np.int64]:
        wanted = as_numbers(ids)
        rows = np.searchsorted(self._ids, wanted)
        alive = self._ids.take(rows, mode="clip") == wanted if len(self) else np.zeros(len(wanted), bool)
        if not alive.all():
            raise InvalidInput(
                f"There is no living body with id {wanted[~alive][0]}; ids come from the start and "
                "from add, and end with remove."
            )
        return rows.astype(np.int64)

    def _merged_order(self, arriving: NDArray[np.float64]) -> NDArray[np.int32]:
        """The order with new end points put in; those here keep theirs, which may be that just after an event."""
        places = self._lists.positions()
        first = self._lists.paths.shape[1]
        side = np.arange(arriving.shape[1]) & 1
        merged = []
        for axis, line in enumerate(self._lists.order):
            new = arriving[axis]
            ranks = np.lexsort((new[:, 2], new[:, 1], side if self.closed else 1 - side, new[:, 0]))
            present = np.maximum.accumulate(places[axis][line]) if len(line) else np.empty(0)
            # Closed: a lower end goes before all at its place, an upper one behind them; half-open: the reverse.
            before = np.searchsorted(present, new[ranks, 0], "left")
            behind = np.searchsorted(present, new[ranks, 0], "right")
            spots = np.where((side[ranks] == 0) == self.closed, before, behind)
            merged.append(np.insert(line, spots, (ranks + first).astype(np.int32)))
        return np.array(merged, np.int32)


def _paths_of(boxes: Boxes, velocity: ArrayLike, acceleration: ArrayLike | None, now: float) -> NDArray[np.float64]:
    """(d, 2n, 4) the paths of both ends of all boxes."""
    shape = boxes.lower.shape
    paths = np.empty((shape[1], 2 * shape[0], 4))
    paths[:, 0::2, 0], paths[:, 1::2, 0] = boxes.lower.T, boxes.upper.T
    paths[:, :, 1] = np.repeat(as_table(velocity, "velocity", shape), 2, axis=0).T
    curve = 0.0 if acceleration is None else as_table(acceleration, "acceleration", shape) / 2.0
    paths[:, :, 2] = np.repeat(np.broadcast_to(curve, shape), 2, axis=0).T
    paths[:, :, 3] = now
    return paths


def _as_walls(lower: ArrayLike, upper: ArrayLike, dimension: int) -> NDArray[np.float64]:
    rows = []
    for name, values in (("lower", lower), ("upper", upper)):
        try:
            given = np.asarray(values)
        except ValueError:  # rows of different lengths
            given = np.empty(0, object)
        if given.dtype.kind not in "iuf" or given.shape != (dimension,) or np.isnan(given.astype(np.float64)).any():
            raise InvalidInput(
                f"{name} of the walls is {values!r}; it must be {dimension} numbers, infinite where there is no wall."
            )
        rows.append(given.astype(np.float64))
    walls = np.array(rows)
    if not (walls[0] < walls[1]).all():
        raise InvalidInput(
            f"The walls {walls[0].tolist()} and {walls[1].tolist()} leave no room; lower must be below upper."
        )
    return walls


def _check_inside(lower: NDArray[np.floating], upper: NDArray[np.floating], walls: NDArray[np.float64]) -> None:
    room = walls[1] - walls[0]
    inside = ((lower >= walls[0]) & (upper <= walls[1])).all(axis=1)
    fits = (upper - lower < room * (1.0 - 1e-9)).all(axis=1) if np.isfinite(room).any() else np.ones(len(lower), bool)
    if not (inside & fits).all():
        row = int(np.flatnonzero(~(inside & fits))[0])
        raise InvalidInput(
            f"The body in row {row}, from {lower[row].tolist()} to {upper[row].tolist()}, must lie within the walls "
            f"{walls[0].tolist()} and {walls[1].tolist()} and be smaller than the room."
        )


def _as_events(news: News, ids: NDArray[np.int32]) -> Iterator[Event]:
    if not len(news):
        return
    named = ids[news.pairs].tolist()
    for time, began, (a, b) in zip(news.times.tolist(), news.began.tolist(), named, strict=True):
        yield Event(time, "began" if began else "ended", (a, b))

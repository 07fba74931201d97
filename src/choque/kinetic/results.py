"""What `advance` returns: events of pairs and meetings of end points, as arrays that iterate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from choque._core.types import F64, I32, I64, Bools


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happens to two bodies: their boxes begin or cease to overlap, or two balls collide."""

    time: float
    kind: Literal["began", "ended", "collided"]
    pair: tuple[int, int]  #: Ids, the smaller one first.


@dataclass(frozen=True)
class Events:
    """Pairs that began or ceased to overlap, in order of time, then of pair; iterates as single `Event` objects."""

    times: F64  #: (k,)
    began: Bools  #: (k,) True for a pair that began, False for one that ended.
    pairs: I32  #: (k, 2) ids, the smaller one first.

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Event]:
        for time, began, (a, b) in zip(self.times.tolist(), self.began.tolist(), self.pairs.tolist(), strict=True):
            yield Event(time, "began" if began else "ended", (a, b))


NO_EVENTS = Events(np.empty(0), np.empty(0, np.bool_), np.empty((0, 2), np.int32))


@dataclass(frozen=True)
class Meeting:
    """Two or more end points at one coordinate of one axis at one time."""

    time: float
    axis: int
    first: int  #: The lowest slot of the axis that they take.
    before: tuple[int, ...]
    """The end points in their order just before; 2·row and 2·row + 1 are the lower and upper end of a body."""
    after: tuple[int, ...]  #: The end points in their order just after.
    exchanges: tuple[tuple[int, int], ...]  #: The pairs exchanged, (left, right) before, in the order of the exchanges.

    @property
    def last(self) -> int:
        """The highest slot of the axis that they take."""
        return self.first + len(self.after) - 1

    @property
    def is_multiple(self) -> bool:
        """Whether three or more end points meet."""
        return len(self.after) > 2


@dataclass(frozen=True)
class Meetings:
    """Meetings in order of time, axis and slot; iterates as single `Meeting` objects.

    The end points of meeting k are ``before[starts[k]:starts[k + 1]]`` and ``after[…]``, its exchanges are
    ``exchanges[exchange_starts[k]:exchange_starts[k + 1]]``.
    """

    times: F64  #: (k,)
    axes: I64  #: (k,)
    first: I64  #: (k,) the lowest slot of each meeting.
    starts: I64  #: (k + 1,)
    before: I64  #: (p,) the end points in their order just before the meeting.
    after: I64  #: (p,) the end points in their order just after the meeting.
    exchange_starts: I64  #: (k + 1,)
    exchanges: I64  #: (x, 2) the end points exchanged, (left, right) before, in the order of the exchanges.

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Meeting]:
        times, axes, first = self.times.tolist(), self.axes.tolist(), self.first.tolist()
        starts, exchange_starts = self.starts.tolist(), self.exchange_starts.tolist()
        before, after = self.before.tolist(), self.after.tolist()
        exchanges = list(map(tuple, self.exchanges.tolist()))
        for k, time in enumerate(times):
            ends, own = slice(*starts[k : k + 2]), slice(*exchange_starts[k : k + 2])
            yield Meeting(time, axes[k], first[k], tuple(before[ends]), tuple(after[ends]), tuple(exchanges[own]))

    @property
    def is_multiple(self) -> Bools:
        """(k,) whether three or more end points meet."""
        return np.diff(self.starts) > 2


def join_exchanges(times: F64, rows: I64, count: int) -> Meetings:
    """Join exchanges at one time whose slots are neighbours into meetings.

    ``times`` (x,) are those of the instants; ``rows`` (x, 3) certificate (axis × ``count`` + slot), left end and right
    end before, in the order of the exchanges; ``count`` the number of end points of each axis.
    """
    certificate, left, right = rows[:, 0], rows[:, 1], rows[:, 2]
    if (np.diff(times) > 0.0).all():  # the usual case: one exchange at a time
        each = np.arange(len(rows) + 1)
        before, after = rows[:, 1:3].ravel(), rows[:, 2:0:-1].ravel()
        return Meetings(times, certificate // count, certificate % count, 2 * each, before, after, each, rows[:, 1:3])
    instant = np.cumsum(np.diff(times, prepend=times[:1]) != 0.0)
    order = np.lexsort((certificate, instant))
    near = (np.diff(instant[order]) == 0) & (np.diff(certificate[order]) <= 1)
    heads = np.flatnonzero(np.concatenate((np.ones(min(len(rows), 1), np.bool_), ~near)))
    number = np.empty(len(rows), np.int64)
    number[order] = np.repeat(np.arange(len(heads)), np.diff(np.append(heads, len(rows))))
    begin = certificate[order][heads]
    end = certificate[order][np.append(heads[1:], len(rows)) - 1] if len(rows) else begin
    starts = np.concatenate(([0], np.cumsum(end - begin + 2)))
    # Both ends of every slot are written by each exchange there; the first one says what was before, the last one
    # what is after.
    place = (starts[number] + certificate - begin[number])[:, None] + np.arange(2)
    before, after = np.empty(starts[-1], np.int64), np.empty(starts[-1], np.int64)
    before[place[::-1].ravel()] = np.stack((left, right), axis=1)[::-1].ravel()
    after[place.ravel()] = np.stack((right, left), axis=1).ravel()
    grouped = np.argsort(number, kind="stable")
    return Meetings(
        times=times[order][heads],
        axes=begin // count,
        first=begin % count,
        starts=starts,
        before=before,
        after=after,
        exchange_starts=np.concatenate(([0], np.cumsum(np.bincount(number, minlength=len(heads))))),
        exchanges=rows[grouped, 1:3],
    )

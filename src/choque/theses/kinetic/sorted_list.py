"""The kinetic sorted list: points that move on a line, kept in order at the cost of the order changes alone."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.kernel import helper
from choque._core.threads import one_thread
from choque.errors import InvalidInput
from choque.kinetic import loop
from choque.kinetic.lists import Lists
from choque.kinetic.loop import advance
from choque.kinetic.paths import as_time
from choque.kinetic.results import Meetings, join_exchanges
from choque.kinetic.run import event_buffer, run
from choque.kinetic.structure import KineticStructure

_FIRST_ROWS = 1 << 8
"""Size of the first log of exchanges, and of the first buffer of events."""

_LOG_FULL = 10
"""What `_advance_logging` returns beside the values of `choque.kinetic.loop.advance`."""

_STOPPED, _ROWS, _EACH_INSTANT = loop.STOPPED, loop.ROWS, loop.EACH_INSTANT


class SortedList(KineticStructure):
    """Points on a line in ascending order, kept by certificates.

    Parameters
    ----------
    position, velocity, acceleration
        (n,) numbers at ``time``; a single number counts for all.
    time
        The present time.
    tolerance
        Failures at most this much later than the first one of an instant belong to it.

    Notes
    -----
    Guarantees: one certificate for each pair of neighbours, never a stale one; failure times in closed form, in
    float64; points that meet at once leave in the order of their velocities, then of their accelerations. O(log n) for
    an exchange, 56 bytes for each point.

    After Basch, Guibas and Hershberger, "Data structures for mobile data", 1999, and Coming and Staadt, "Kinetic Sweep
    and Prune for Multi-body Continuous Motion", 2006.

    Examples
    --------
    >>> points = SortedList([0, 5, 6], velocity=[1, 0, -1])
    >>> [(meeting.time, meeting.after) for meeting in points.advance(10)]
    [(1.0, (2, 1)), (3.0, (2, 0)), (5.0, (1, 0))]
    """

    def __init__(
        self,
        position: ArrayLike,
        velocity: ArrayLike = 0.0,
        *,
        acceleration: ArrayLike = 0.0,
        time: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        now = as_time(time, "time")
        places: ArrayLike = np.asarray(position)
        count = np.size(places)
        paths = np.empty((1, count, 4))
        paths[0, :, 0] = check.table(places, "position", (count,))
        paths[0, :, 1] = check.table(velocity, "velocity", (count,))
        paths[0, :, 2] = check.table(acceleration, "acceleration", (count,)) / 2.0
        paths[0, :, 3] = now
        joining = check.number(tolerance, "tolerance", 0)
        super().__init__(Lists(paths, closed=True, paired=False, now=now, tolerance=joining))
        self._log = _new_log(0, np.zeros(2, np.int64))
        self._undelivered: list[_Chunk] = []  # exchanges that an interrupted call found and could not return

    def __len__(self) -> int:
        return int(self.lists.order.shape[1])

    @property
    def order(self) -> NDArray[np.int32]:
        """(n,) the points in ascending order."""
        return np.array(self.lists.order[0])

    @property
    def position(self) -> NDArray[np.float64]:
        """(n,) the present positions of the points."""
        return self.position_at(self.time)

    @one_thread
    def position_at(self, time: float) -> NDArray[np.float64]:
        """Return the positions (n,) of the points at another ``time`` of their present trajectories."""
        return np.array(self.lists.positions(as_time(time, "time"))[0])

    @one_thread
    def advance(self, until: float, *, stop: Literal["instant"] | None = None, record: bool = True) -> Meetings:
        """Go to ``until`` and return the meetings on the way as arrays, which iterate as `Meeting`.

        With ``stop="instant"`` go only to the next time at which the order changes: call it while
        ``points.next_time <= until`` to look at every order, or to change motions on the way. With ``record=False``
        return the meetings of the latest instant alone, which takes half the time and no memory; `counters` has totals.
        """
        end = as_time(until, "until", self.time)
        if stop is None and check.boolean(record, "record"):
            return self._advance_logging(end)
        if stop is None:
            run(self.lists, end)
            return self.lists.latest_meetings
        check.choice(stop, "stop", ["instant"])
        _, status = run(self.lists, end, loop.EACH_INSTANT)
        if status == loop.REACHED:
            self.lists.totals[loop.ROWS] = 0
        return self.lists.latest_meetings

    def _advance_logging(self, until: float) -> Meetings:
        """Advance to ``until``. Return all meetings on the way; after an interruption, the next call returns them."""
        lists, chunks = self.lists, self._undelivered
        size = event_size = _FIRST_ROWS
        try:
            self._log = _new_log(size, self._log.state)
            status = _LOG_FULL
            while status != loop.REACHED:
                lists.totals[loop.EVENT_ROWS] = 0
                events = event_buffer(event_size)
                status = _advance_logging(until, lists.tolerance, lists.motion, lists.journal, events, self._log)
                if status == loop.INSTANT_FULL:
                    lists.grow_instant()
                elif status == loop.EVENTS_FULL:
                    event_size = 4 * int(lists.totals[loop.ROWS])
                else:
                    self._keep_log(chunks)
                    size = max(2 * size, 2 * int(lists.totals[loop.ROWS]))
                    self._log = _new_log(size if status == _LOG_FULL else 0, self._log.state)
            times, rows = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
            found = join_exchanges(times, rows, lists.order.shape[1])
            self._undelivered = []
            return found
        except BaseException:
            self._keep_log(chunks)
            self._undelivered = chunks
            raise

    def _keep_log(self, chunks: list[_Chunk]) -> None:
        """Append the exchanges that a kernel has written to the log, unless they are there already."""
        times, rows, state = self._log
        written = min(int(state[0]), len(times))
        if not (chunks and chunks[-1][0].base is times):
            chunks.append((times[:written], rows[:written]))

    @one_thread
    def set_motion(self, points: ArrayLike, velocity: ArrayLike, *, acceleration: ArrayLike = 0.0) -> None:
        """Change the velocity and acceleration of ``points`` from now on. O(log n) each."""
        chosen = check.ids(points, "points")
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(self)):
            wrong = chosen[(chosen < 0) | (chosen >= len(self))][0]
            raise InvalidInput(f"There is no point {wrong}; this list has {len(self)} points, from 0 on.")
        speed = check.table(velocity, "velocity", (chosen.size,))
        curve = check.table(acceleration, "acceleration", (chosen.size,)) / 2.0

        def change() -> None:
            path = self.lists.paths[0]
            path[chosen, 0] = self.position[chosen]
            path[chosen, 1], path[chosen, 2], path[chosen, 3] = speed, curve, self.time

        self.lists.replan(chosen, chosen, change)


_Chunk: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int64]]
"""The times and rows of some exchanges."""


class _Log(NamedTuple):
    """Every exchange of a call."""

    times: NDArray[np.float64]
    rows: NDArray[np.int64]
    """(k, 3) certificate, left end and right end before the exchange."""
    state: NDArray[np.int64]
    """How many exchanges are in the log; 1 if those of the latest instant are not in it yet."""


def _new_log(size: int, state: NDArray[np.int64]) -> _Log:
    state[0] = 0
    return _Log(np.empty(size), np.empty((size, 3), np.int64), state)


@helper
def _advance_logging(
    until: float, tolerance: float, motion: Any, journal: loop.Journal, events: loop.EventBuffer, log: _Log
) -> int:
    """Handle every certificate that fails up to ``until`` and log every exchange."""
    totals, instant = journal.totals, journal.instant
    slots = motion.order.size
    while True:
        if log.state[1] == 1:
            if log.state[0] + totals[_ROWS] > log.times.size:
                return _LOG_FULL
            for row in range(totals[_ROWS]):
                if 0 <= instant[row, 0] < slots:
                    place = log.state[0]
                    log.times[place] = journal.clock[1]
                    for column in range(3):
                        log.rows[place, column] = instant[row, column]
                    log.state[0] += 1
            log.state[1] = 0
        status = advance(until, np.int64(_EACH_INSTANT), tolerance, motion, journal, events)
        if status != _STOPPED:
            return status
        log.state[1] = 1

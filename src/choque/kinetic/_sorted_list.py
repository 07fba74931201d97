"""The kinetic sorted list: points that move on a line, kept in order at the cost of the order changes alone."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.threads import one_thread
from choque.errors import InvalidInput
from choque.kinetic import _events
from choque.kinetic._paths import as_time
from choque.kinetic._results import Meetings
from choque.kinetic._structure import KineticStructure
from choque.kinetic.lists import Lists
from choque.kinetic.run import run, run_logging


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

    def __len__(self) -> int:
        return int(self._lists.order.shape[1])

    @property
    def order(self) -> NDArray[np.int32]:
        """(n,) the points in ascending order."""
        return np.array(self._lists.order[0])

    @property
    def position(self) -> NDArray[np.float64]:
        """(n,) the present positions of the points."""
        return self.position_at(self.time)

    @one_thread
    def position_at(self, time: float) -> NDArray[np.float64]:
        """Return the positions (n,) of the points at another ``time`` of their present trajectories."""
        return np.array(self._lists.positions(as_time(time, "time"))[0])

    @one_thread
    def advance(self, until: float, *, stop: Literal["instant"] | None = None, record: bool = True) -> Meetings:
        """Go to ``until`` and return the meetings on the way as arrays, which iterate as `Meeting`.

        With ``stop="instant"`` go only to the next time at which the order changes: call it while
        ``points.next_time <= until`` to look at every order, or to change motions on the way. With ``record=False``
        return the meetings of the latest instant alone, which takes half the time and no memory; `counters` has totals.
        """
        end = as_time(until, "until", self.time)
        if stop is None and check.boolean(record, "record"):
            return run_logging(self._lists, end)
        if stop is None:
            run(self._lists, end)
            return self._lists.latest_meetings
        check.choice(stop, "stop", ["instant"])
        _, status = run(self._lists, end, _events.EACH_INSTANT)
        if status == _events.REACHED:
            self._lists.totals[_events.ROWS] = 0
        return self._lists.latest_meetings

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
            path = self._lists.paths[0]
            path[chosen, 0] = self.position[chosen]
            path[chosen, 1], path[chosen, 2], path[chosen, 3] = speed, curve, self.time

        self._lists.replan(chosen, chosen, change)

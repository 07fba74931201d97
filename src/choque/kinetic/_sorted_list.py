"""The kinetic sorted list: points that move on a line, kept in order at the cost of the order changes alone."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.counters import Counters
from choque._core.threads import Gate, one_thread
from choque.errors import InvalidInput
from choque.kinetic import _events
from choque.kinetic._audit import Audit, audit
from choque.kinetic._lists import Lists
from choque.kinetic._paths import as_time
from choque.kinetic._results import Meeting, Meetings
from choque.kinetic._run import run, run_logging


@dataclass(frozen=True)
class Trajectory:
    """The motion of a point on a line: position + velocity·t + acceleration·t²/2, with t = 0 at the start.

    For single points and for checks: it computes with the numbers it is given, so that constant and linear motions of
    `fractions.Fraction` have exact meetings. Structures hold many motions as arrays.
    """

    position: Any
    velocity: Any = 0
    acceleration: Any = 0

    def at(self, time: Any) -> Any:
        """Return the position at ``time``."""
        return self.position + self.velocity * time + self.acceleration * time * time / 2

    def velocity_at(self, time: Any) -> Any:
        """Return the velocity at ``time``."""
        return self.velocity + self.acceleration * time

    def meetings(self, other: Trajectory) -> tuple[Any, ...]:
        """Return all times, ascending, at which both are at one position; empty if they always are."""
        gap, slope = other.position - self.position, other.velocity - self.velocity
        curve = other.acceleration - self.acceleration
        if curve == 0:
            return () if slope == 0 else (-gap / slope,)
        square = slope * slope - 2 * curve * gap
        if square < 0:
            return ()
        if square == 0:
            return (-slope / curve,)
        # The root of larger size first, the other by Vieta: no difference of nearly equal numbers.
        larger = -(slope + math.copysign(math.sqrt(square), slope))
        first, second = larger / curve, 2 * gap / larger if larger else 0.0
        return (first, second) if first < second else (second, first)

    def failure(self, right: Trajectory, now: Any = 0) -> Any | None:
        """Return when the certificate "``self`` is at most ``right``", true at ``now``, fails; None if never.

        It fails where they meet and ``right`` is the slower one.
        """
        for time in self.meetings(right):
            slope = right.velocity_at(time) - self.velocity_at(time)
            if time >= now and slope < 0:
                return time
        return None


@dataclass(frozen=True)
class Certificate:
    """The statement that two neighbours are in order, and the time at which it ceases to be true."""

    axis: int
    slot: int
    left: int
    """The end point, or point, in ``slot``."""
    right: int
    """The end point, or point, in ``slot + 1``."""
    time: float


def failing_certificates(lists: Lists) -> list[Certificate]:
    """Return all certificates that ever fail, by axis and slot."""
    axes, count = lists.order.shape
    failures = lists.failures[: axes * count]
    found = []
    for number in np.flatnonzero(np.isfinite(failures)).tolist():
        axis, slot = divmod(number, count)
        left, right = lists.order[axis, slot : slot + 2].tolist()
        found.append(Certificate(axis, slot, left, right, float(failures[number])))
    return found


class SortedList:
    """Points on a line in ascending order, kept by certificates.

    Parameters
    ----------
    position, velocity, acceleration
        (n,) numbers at ``time``; a single number counts for all. Or ``position`` is a list of `Trajectory`, whose clock
        starts at 0.
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
        position: ArrayLike | Sequence[Trajectory],
        velocity: ArrayLike = 0.0,
        *,
        acceleration: ArrayLike = 0.0,
        time: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        self._gate = Gate()
        now = as_time(time, "time")
        if isinstance(position, Sequence) and len(position) and isinstance(position[0], Trajectory):
            known = [each for each in position if isinstance(each, Trajectory)]
            if len(known) < len(position):
                raise InvalidInput("position mixes trajectories and numbers; give one or the other.")
            try:
                rows = [(each.at(now), each.velocity_at(now), each.acceleration) for each in known]
                position, velocity, acceleration = np.array(rows, np.float64).T
            except (TypeError, ValueError):
                raise InvalidInput("A trajectory of position is not made of numbers; it must be.") from None
        places: ArrayLike = np.asarray(position)
        count = np.size(places)
        paths = np.empty((1, count, 4))
        paths[0, :, 0] = check.table(places, "position", (count,))
        paths[0, :, 1] = check.table(velocity, "velocity", (count,))
        paths[0, :, 2] = check.table(acceleration, "acceleration", (count,)) / 2.0
        paths[0, :, 3] = now
        joining = check.number(tolerance, "tolerance", 0)
        self._lists = Lists(paths, closed=True, paired=False, now=now, tolerance=joining)

    def __len__(self) -> int:
        return int(self._lists.order.shape[1])

    @property
    def time(self) -> float:
        """The present time."""
        return self._lists.now

    @property
    def next_time(self) -> float:
        """When the order changes next; infinity if never."""
        return self._lists.next_time

    @property
    def order(self) -> NDArray[np.int32]:
        """(n,) the points in ascending order."""
        return np.array(self._lists.order[0])

    @property
    def position(self) -> NDArray[np.float64]:
        """(n,) the present positions of the points."""
        return self.position_at(self.time)

    @property
    def counters(self) -> Counters:
        """Totals so far; a copy. ``events`` are the times at which the order changed."""
        return self._lists.counters

    @one_thread
    def position_at(self, time: float) -> NDArray[np.float64]:
        """Return the positions (n,) of the points at another ``time`` of their present trajectories."""
        return np.array(self._lists.positions(as_time(time, "time"))[0])

    @one_thread
    def certificates(self) -> list[Certificate]:
        """Return all certificates that ever fail, by slot."""
        return failing_certificates(self._lists)

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

    def coinciding(self, meeting: Meeting, *, tolerance: float = 0.0) -> tuple[int, int]:
        """Return the slots (first, last) whose points are at the coordinate of a meeting of the latest instant.

        A second test for multiple meetings, by coordinates instead of certificates. Both agree but for neighbours that
        touch without passing, and for rounding, which ``tolerance`` covers.
        """
        return self._lists.coordinate_run(meeting, check.number(tolerance, "tolerance", 0))

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

    @one_thread
    def audit(self) -> Audit:
        """Return the four criteria of kinetic data structures as numbers, and whether the list is sound. O(n)."""
        return audit(self._lists)

    @one_thread
    def copy(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)

"""The kinetic sorted list: points that move on a line, always in order, at the cost of the order changes alone."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.kinetic import _events
from choque.kinetic._audit import Audit, audit
from choque.kinetic._checks import as_numbers, as_table, as_time, as_tolerance
from choque.kinetic._lists import Lists
from choque.kinetic._meetings import Meeting, meetings_of
from choque.kinetic._trajectories import Trajectory


@dataclass(frozen=True)
class Certificate:
    """The statement that two neighbours are in order, and when it ceases to be true."""

    slot: int
    left: int
    right: int
    time: float


class SortedList:
    """Points on a line in ascending order, kept through certificates.

    Parameters
    ----------
    positions, velocity, acceleration
        (n,) numbers at ``time``; a single number stands for all. Or ``positions`` is a list of `Trajectory`, whose
        clock starts at 0.
    time
        The present time.
    tolerance
        Failures at most this much later than the first of an instant belong to it.

    Notes
    -----
    Guarantees: one certificate for each pair of neighbours, never a stale one; failure times in closed form, in
    float64; points that meet many at once leave in the order of their velocities, then of their accelerations. O(log n)
    an exchange, 56 bytes a point.

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
        positions: ArrayLike | Sequence[Trajectory],
        velocity: ArrayLike = 0.0,
        acceleration: ArrayLike = 0.0,
        *,
        time: float = 0.0,
        tolerance: float = 0.0,
    ) -> None:
        now = as_time(time, "time")
        if isinstance(positions, Sequence) and len(positions) and isinstance(positions[0], Trajectory):
            known = [each for each in positions if isinstance(each, Trajectory)]
            if len(known) < len(positions):
                raise InvalidInput("positions mixes trajectories and numbers; give one or the other.")
            try:
                rows = [(each.at(now), each.velocity_at(now), each.acceleration) for each in known]
                positions, velocity, acceleration = np.array(rows, np.float64).T
            except (TypeError, ValueError):
                raise InvalidInput("A trajectory of positions is not made of numbers; it must be.") from None
        places: ArrayLike = np.asarray(positions)
        count = np.size(places)
        paths = np.empty((1, count, 4))
        paths[0, :, 0] = as_table(places, "positions", (count,))
        paths[0, :, 1] = as_table(velocity, "velocity", (count,))
        paths[0, :, 2] = as_table(acceleration, "acceleration", (count,)) / 2.0
        paths[0, :, 3] = now
        self._lists = Lists(paths, closed=True, paired=False, now=now, tolerance=as_tolerance(tolerance))

    def __len__(self) -> int:
        return int(self._lists.order.shape[1])

    @property
    def time(self) -> float:
        """The present time."""
        return self._lists.now

    @property
    def order(self) -> NDArray[np.int32]:
        """(n,) the points in ascending order."""
        return np.array(self._lists.order[0])

    def positions(self, time: float | None = None) -> NDArray[np.float64]:
        """(n,) where the points are, by number; at another ``time`` on their present trajectories if given."""
        return np.array(self._lists.positions(time)[0])

    @property
    def exchanges(self) -> int:
        """How many pairs have changed their order so far."""
        return int(self._lists.totals[_events.EXCHANGES])

    def certificates(self) -> list[Certificate]:
        """All certificates that fail some day, by slot."""
        order, key = self._lists.order[0], self._lists.failures[: len(self)]
        due = np.flatnonzero(np.isfinite(key))
        return [Certificate(int(k), int(order[k]), int(order[k + 1]), float(key[k])) for k in due]

    def advance(self, until: float) -> Iterator[Meeting]:
        """Go to ``until``, giving each meeting at its time; those of one instant by their place."""
        return self._advance(as_time(until, "until", self.time))

    def _advance(self, until: float) -> Iterator[Meeting]:
        status = _events.STOPPED
        while status != _events.REACHED:
            _, status = self._lists.run(max(until, self.time), _events.EACH_INSTANT)
            if status == _events.STOPPED:
                yield from meetings_of(self._lists)

    def advance_all(self, until: float) -> int:
        """Go to ``until`` at compiled speed and return how many exchanges that took."""
        before = self.exchanges
        self._lists.run(as_time(until, "until", self.time))
        return self.exchanges - before

    def set_motion(self, points: ArrayLike, velocity: ArrayLike, acceleration: ArrayLike = 0.0) -> None:
        """Give some points another velocity and acceleration from now on."""
        chosen = as_numbers(points, "points")
        if chosen.size and not (chosen.min() >= 0 and chosen.max() < len(self)):
            wrong = chosen[(chosen < 0) | (chosen >= len(self))][0]
            raise InvalidInput(f"There is no point {wrong}; this list has {len(self)} points, from 0 on.")
        speed = as_table(velocity, "velocity", (chosen.size,))
        curve = as_table(acceleration, "acceleration", (chosen.size,)) / 2.0
        path = self._lists.paths[0]
        path[chosen, 0] = self.positions()[chosen]
        path[chosen, 1], path[chosen, 2], path[chosen, 3] = speed, curve, self.time
        self._lists.schedule(chosen)

    def audit(self) -> Audit:
        """The four criteria of kinetic data structures, as numbers, and whether the list is sound now."""
        return audit(self._lists)

    def copy(self) -> Self:
        """An independent copy."""
        return copy.deepcopy(self)

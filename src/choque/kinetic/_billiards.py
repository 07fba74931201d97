"""Hard disks and spheres that collide without loss, from collision to collision, on top of the kinetic sweep."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.kinetic import _billiards_kernels as _kernels
from choque.kinetic import _events
from choque.kinetic._checks import as_count, as_table, as_time
from choque.kinetic._lists import events_of
from choque.kinetic._sweep import Sweep

_OVERLAP_MOST = 1e-9
"""How deep balls may overlap at the start, in radii: rounding, not a mistake."""
_WITHOUT_LIMIT = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Collision:
    """Two balls that touch and part."""

    time: float
    pair: tuple[int, int]


class Billiards:
    """Balls in a box of walls, or in the open.

    Parameters
    ----------
    center, velocity
        (n, 2) disks or (n, 3) spheres.
    radius, mass
        (n,) or one number for all.
    lower, upper
        (d,) the walls, from which balls bounce without loss; infinite where there is none, as by default.
    acceleration
        (d,) the same for all, such as gravity.

    Notes
    -----
    Guarantees: no time step; collision times in closed form, in float64; energy is kept to rounding: no drift, a random
    walk of some 1e-16 a collision. O(log n) an exchange of end points, of which there are O(n) a ball and crossing of
    the box.

    Event-driven molecular dynamics goes back to Alder and Wainwright, "Studies in Molecular Dynamics. I. General
    Method", 1959.

    Examples
    --------
    >>> table = Billiards([[0, 0], [3, 0]], [[1, 0], [0, 0]], radius=0.5)
    >>> [(collision.time, collision.pair) for collision in table.collide(until=10)]
    [(2.0, (0, 1))]
    >>> table.velocity().tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """

    def __init__(
        self,
        center: ArrayLike,
        velocity: ArrayLike,
        radius: ArrayLike,
        mass: ArrayLike = 1.0,
        *,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
    ) -> None:
        given = np.asarray(center)
        if given.ndim != 2 or given.shape[1] not in (2, 3):
            raise InvalidInput(f"center has the shape {given.shape}; it must be (n, 2) or (n, 3).")
        places = as_table(given, "center", given.shape)
        self._radius = _positive(radius, "radius", len(places))
        self._mass = _positive(mass, "mass", len(places))
        self._pull = as_table(0.0 if acceleration is None else acceleration, "acceleration", (given.shape[1],))
        reach = self._radius[:, None]
        self._sweep = Sweep(places - reach, places + reach, velocity, self._pull[None])
        touching = self._sweep.pairs()
        _check_apart(places, self._radius, touching)
        if lower is not None or upper is not None:
            open_side = np.full(given.shape[1], np.inf)
            self._sweep.bounce(-open_side if lower is None else lower, open_side if upper is None else upper)
        self._tally = np.array([len(touching), 0, -1], np.int64)
        self._who: NDArray[np.int32] = np.empty((len(touching) + 1024, 2), np.int32)
        self._who[: len(touching)] = touching
        self._when = np.full(len(self._who), np.inf)
        for row, (a, b) in enumerate(touching.tolist()):
            self._when[row] = _kernels.collision_time(a, b, self._radius, self._sweep._lists.paths, 0.0)
        if len(touching) and np.isfinite(self._when.min()):
            self._tally[_kernels.NEXT] = int(np.argmin(self._when))
        self._struck = np.empty(4, np.int64)
        self._event_room = 256

    def __len__(self) -> int:
        return len(self._sweep)

    @property
    def time(self) -> float:
        """The present time."""
        return self._sweep.time

    @property
    def collisions(self) -> int:
        """How many collisions of two balls there were."""
        return int(self._tally[_kernels.COLLISIONS])

    @property
    def bounces(self) -> int:
        """How often a ball has bounced from a wall."""
        return self._sweep.counters.bounces

    @property
    def exchanges(self) -> int:
        """How many end points have changed their order in the sweep beneath."""
        return self._sweep.counters.exchanges

    def center(self) -> NDArray[np.float64]:
        """(n, d) where the balls are now."""
        lower, upper = self._sweep.boxes()
        return (lower + upper) / 2.0

    def velocity(self) -> NDArray[np.float64]:
        """(n, d) how they move now."""
        return self._sweep.velocity()

    def energy(self) -> float:
        """The kinetic energy and, where there is an acceleration, that of position."""
        kinetic = 0.5 * float(np.sum(self._mass * np.sum(self.velocity() ** 2, axis=1)))
        if not self._pull.any():
            return kinetic
        return kinetic - float(np.sum(self._mass * (self.center() @ self._pull)))

    def advance(self, until: float, most: int | None = None) -> int:
        """Go to ``until``, or to the ``most``-th collision from now if that comes first; how many there were."""
        end = as_time(until, "until", self.time)
        if most is not None:
            as_count(most, "most")
        before = self.collisions
        self._play(end, _WITHOUT_LIMIT if most is None else before + most)
        return self.collisions - before

    def collide(self, until: float) -> Iterator[Collision]:
        """Go to ``until`` collision by collision."""
        end = as_time(until, "until", self.time)
        while True:
            before = self.collisions
            self._play(max(end, self.time), before + 1)
            if self.collisions == before:
                return
            yield Collision(self.time, (int(self._struck[0]) // 2, int(self._struck[2]) // 2))

    def _play(self, until: float, most: int) -> None:
        lists = self._sweep._lists
        while True:
            lists.totals[_events.EVENT_ROWS] = 0
            balls = _kernels.Balls(self._radius, self._mass, self._who, self._when, self._tally, self._struck)
            events = events_of(self._event_room)
            status = _kernels.play(until, most, balls, lists.tolerance, lists.motion, lists.journal, events)
            if status == _kernels.DONE:
                return
            if status == _events.INSTANT_FULL:
                lists.grow_instant()
            elif status == _events.EVENTS_FULL:
                self._event_room = 4 * int(lists.totals[_events.ROWS])
            else:
                more = len(self._when) + self._event_room
                self._who = np.concatenate((self._who, np.empty((more, 2), np.int32)))
                self._when = np.concatenate((self._when, np.full(more, np.inf)))


def _positive(values: ArrayLike, name: str, count: int) -> NDArray[np.float64]:
    numbers = as_table(values, name, (count,))
    if not (numbers > 0.0).all():
        row = int(np.flatnonzero(~(numbers > 0.0))[0])
        raise InvalidInput(f"Row {row} of {name} is {numbers[row]}; it must be above 0.")
    return numbers


def _check_apart(centres: NDArray[np.float64], radius: NDArray[np.float64], pairs: NDArray[np.int32]) -> None:
    a, b = pairs[:, 0], pairs[:, 1]
    reach = radius[a] + radius[b]
    deep = np.linalg.norm(centres[a] - centres[b], axis=1) < reach - _OVERLAP_MOST * np.minimum(radius[a], radius[b])
    if deep.any():
        first = pairs[int(np.flatnonzero(deep)[0])].tolist()
        raise InvalidInput(f"The balls {first[0]} and {first[1]} overlap at the start; hard balls may only touch.")

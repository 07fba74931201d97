"""Hard disks and spheres that collide without loss, from collision to collision, on top of the kinetic sweep.

The sweep reports boxes that meet; the balls in them say when they collide. Candidates, the pairs of balls whose boxes
overlap, are few, and what changes them (a box that meets or leaves another, a bounce, a collision) is far rarer than an
exchange of end points. So they are kept in a plain list with the times of their collisions. An indexed heap of these
times was measured: 6 % slower for 49 disks, 5 % faster for 400.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.counters import Counters
from choque._core.kernel import forceinline, helper, inline
from choque._core.threads import Gate, one_thread
from choque._core.types import F64, I32, I64, Integer
from choque.errors import InvalidInput
from choque.kinetic import Sweep, loop
from choque.kinetic.certificates import MovingEnds, Paths, certify_ends
from choque.kinetic.lists import Lists
from choque.kinetic.loop import EventBuffer, Journal, advance
from choque.kinetic.paths import as_time
from choque.kinetic.results import Event
from choque.kinetic.run import event_buffer

_MAX_OVERLAP = 1e-9  # how deep balls may overlap at the start [radii]: rounding, not a mistake
_NO_LIMIT = np.iinfo(np.int64).max
_FIRST_CANDIDATES = 1024
_FIRST_EVENTS = 256
_FIRST_COLLISIONS = 256

_DONE, _CANDIDATES_FULL, _COLLISIONS_FULL, _RESTING = 10, 11, 12, 13
"""What `_play` returns beside the values of `choque.kinetic.loop.advance`."""

_CANDIDATES, _COLLISIONS, _LOGGED, _NEXT = range(4)  # places in ``tally``
_STOPPED, _REACHED, _EACH_EVENT = loop.STOPPED, loop.REACHED, loop.EACH_EVENT
_EVENT_ROWS, _ROWS, _ROUNDING = loop.EVENT_ROWS, loop.ROWS, loop.ROUNDING
_Chunk: TypeAlias = tuple[F64, I32]  # the times and pairs of some collisions


@dataclass(frozen=True)
class Collisions:
    """Collisions of two balls in order of time; iterates as single `Event` objects of the kind "collided"."""

    times: F64
    """(k,)"""
    pairs: I32
    """(k, 2) rows, the smaller one first."""

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[Event]:
        for time, (a, b) in zip(self.times.tolist(), self.pairs.tolist(), strict=True):
            yield Event(time, "collided", (a, b))


class Billiards:
    """Balls between walls, or in open space.

    Parameters
    ----------
    position, velocity
        (n, 2) disks or (n, 3) spheres.
    radius, mass
        (n,) or one number for all.
    lower, upper
        (d,) the walls, from which balls bounce without loss; infinite for no wall, the default.
    acceleration
        (d,) the same for all, such as gravity.

    Notes
    -----
    Guarantees: no time step; collision times in float64, in closed form, or as the first root of a polynomial of degree
    four where one of two balls rests at a wall; energy is kept to rounding: no drift, a random walk of about 1e-16 for
    each collision. A ball that its acceleration presses against a wall rests there until another one hits it; a ball
    that rests on another ball is refused. O(log n) for an exchange of end points, of which there are O(n) for each
    ball and crossing of the box.

    Event-driven molecular dynamics goes back to Alder and Wainwright, "Studies in Molecular Dynamics. I. General
    Method", 1959.

    Examples
    --------
    >>> table = Billiards([[0, 0], [3, 0]], [[1, 0], [0, 0]], radius=0.5)
    >>> [(collision.time, collision.pair) for collision in table.advance(until=10)]
    [(2.0, (0, 1))]
    >>> table.velocity.tolist()
    [[0.0, 0.0], [1.0, 0.0]]
    """

    def __init__(
        self,
        position: ArrayLike,
        velocity: ArrayLike,
        radius: ArrayLike,
        *,
        mass: ArrayLike = 1.0,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        acceleration: ArrayLike | None = None,
    ) -> None:
        given = check.coordinates(position, "position")
        count, dimension = given.shape
        places = check.table(given, "position", given.shape)
        self._radius = check.table(radius, "radius", (count,), above=0)
        self._mass = check.table(mass, "mass", (count,), above=0)
        self._pull = check.table(0.0 if acceleration is None else acceleration, "acceleration", (dimension,))
        reach = self._radius[:, None]
        self._sweep = Sweep(places - reach, places + reach, velocity, acceleration=self._pull[None])
        touching = self._sweep.pairs()
        _check_apart(places, self._radius, touching)
        if lower is not None or upper is not None:
            open_side = np.full(dimension, np.inf)
            self._sweep.bounce(-open_side if lower is None else lower, open_side if upper is None else upper)
        self._lists: Lists = self._sweep.lists
        self._tally = np.array([len(touching), 0, 0, -1], np.int64)
        self._candidates: I32 = np.empty((len(touching) + _FIRST_CANDIDATES, 2), np.int32)
        self._candidates[: len(touching)] = touching
        self._due = np.full(len(self._candidates), np.inf)
        for row, (a, b) in enumerate(touching.tolist()):
            self._due[row] = _collision_time(a, b, self._radius, self._lists.paths, 0.0)
        _choose(self._due, self._tally)
        self._struck = np.empty(4, np.int64)
        self._event_capacity = _FIRST_EVENTS
        self._gate = Gate()
        self._undelivered: list[_Chunk] = []  # collisions that an interrupted call found and could not return

    def __len__(self) -> int:
        return len(self._sweep)

    @property
    def time(self) -> float:
        """The present time."""
        return self._sweep.time

    @property
    def collision_count(self) -> int:
        """How many collisions of two balls happened so far."""
        return int(self._tally[_COLLISIONS])

    @property
    def bounce_count(self) -> int:
        """How many reflections at walls happened so far."""
        return int(self._lists.totals[loop.BOUNCES])

    @property
    def counters(self) -> Counters:
        """The totals of the kinetic sweep below; a copy."""
        return self._sweep.counters

    @property
    def position(self) -> F64:
        """(n, d) the present centers of the balls."""
        lower, upper = self._sweep.boxes()
        return (lower + upper) / 2.0

    @property
    def velocity(self) -> F64:
        """(n, d) the present velocities."""
        return self._sweep.velocity

    def energy(self) -> float:
        """Return the kinetic energy and, with an acceleration, the potential energy."""
        kinetic = 0.5 * float(np.sum(self._mass * np.sum(self.velocity**2, axis=1)))
        if not self._pull.any():
            return kinetic
        return kinetic - float(np.sum(self._mass * (self.position @ self._pull)))

    @one_thread
    def advance(self, until: float, *, limit: int | None = None) -> Collisions:
        """Go to ``until`` and return the collisions on the way as arrays, which iterate as `Event`.

        With ``limit``, stop at that many collisions if they happen before ``until``. If a call fails or is interrupted,
        the balls stay at the time that they have reached, and the next call returns the collisions up to there first.
        """
        end = as_time(until, "until", self.time)
        target = _NO_LIMIT
        if limit is not None:
            target = self.collision_count + check.whole_number(limit, "limit", 0, otherwise="None for no limit")
        lists, chunks = self._lists, self._undelivered
        capacity = _FIRST_COLLISIONS
        log = self._new_log(0)
        try:
            log = self._new_log(capacity)
            status = _COLLISIONS_FULL
            while status != _DONE:
                lists.totals[_EVENT_ROWS] = 0
                balls = Balls(self._radius, self._mass, self._candidates, self._due, self._tally, self._struck, *log)
                events = event_buffer(self._event_capacity)
                status = _play(end, target, balls, lists.tolerance, lists.motion, lists.journal, events)
                if status == loop.INSTANT_FULL:
                    lists.grow_instant()
                elif status == loop.EVENTS_FULL:
                    self._event_capacity = 4 * int(lists.totals[_ROWS])
                elif status == _CANDIDATES_FULL:
                    self._grow_candidates()
                elif status == _RESTING:
                    a, b = self._candidates[self._tally[_NEXT]].tolist()
                    raise InvalidInput(
                        f"The balls {a} and {b} are pressed together at time {self.time:g} without approaching: one "
                        "rests on the other. Balls may rest at walls only; leave a gap between them, or give them a "
                        "velocity."
                    )
                else:
                    self._keep(log, chunks)
                    capacity *= 2
                    log = self._new_log(capacity if status == _COLLISIONS_FULL else 0)
            times, pairs = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
            found = Collisions(times, pairs)
            self._undelivered = []
            return found
        except BaseException:
            self._keep(log, chunks)
            self._undelivered = chunks
            raise

    def _keep(self, log: _Chunk, chunks: list[_Chunk]) -> None:
        """Append the collisions that a kernel has written to ``log``, unless they are there already."""
        written = min(int(self._tally[_LOGGED]), len(log[0]))
        if not (chunks and chunks[-1][0].base is log[0]):
            chunks.append((log[0][:written], log[1][:written]))

    def _new_log(self, capacity: int) -> _Chunk:
        self._tally[_LOGGED] = 0
        return np.empty(capacity), np.empty((capacity, 2), np.int32)

    def _grow_candidates(self) -> None:
        more = len(self._due) + self._event_capacity
        candidates = np.concatenate((self._candidates, np.empty((more, 2), np.int32)))
        self._candidates, self._due = candidates, np.concatenate((self._due, np.full(more, np.inf)))


def _check_apart(centers: F64, radius: F64, pairs: I32) -> None:
    a, b = pairs[:, 0], pairs[:, 1]
    reach = radius[a] + radius[b]
    deep = np.linalg.norm(centers[a] - centers[b], axis=1) < reach - _MAX_OVERLAP * np.minimum(radius[a], radius[b])
    if deep.any():
        first = pairs[int(np.flatnonzero(deep)[0])].tolist()
        raise InvalidInput(
            f"The balls {first[0]} and {first[1]} overlap at the start; they may only touch. Move them apart."
        )


Quartic: TypeAlias = tuple[float, float, float, float, float]  # the coefficients of a polynomial, constant term first


class Balls(NamedTuple):
    """The balls, their candidates for collisions, and the log of collisions."""

    radius: F64
    mass: F64
    candidates: I32  # (capacity, 2) pairs of balls whose boxes overlap
    due: F64  # (capacity,) the collision times of the candidates; infinity for never
    # how many candidates there are, how many collisions happened, how many are in the log, and which candidate collides
    # first (−1: none)
    tally: I64
    struck: I64  # (4,) scratch: the end points of two balls that collide
    times: F64  # (k,) log: the times of collisions
    pairs: I32  # (k, 2) log: the balls that collided


@helper
def _play(
    until: float, limit: int, balls: Balls, tolerance: float, motion: MovingEnds, journal: Journal, events: EventBuffer
) -> int:
    """Advance to ``until``, or until ``limit`` collisions have happened in all."""
    tally, struck = balls.tally, balls.struck
    clock, totals, instant = journal.clock, journal.totals, journal.instant
    slots = motion.order.size
    while tally[_COLLISIONS] < limit:
        if tally[_CANDIDATES] + events.times.size > balls.candidates.shape[0]:
            return _CANDIDATES_FULL
        if tally[_LOGGED] == balls.times.size:
            return _COLLISIONS_FULL
        following = tally[_NEXT]
        due = balls.due[following] if following >= 0 else math.inf
        target = until if due > until else due
        status = advance(target, np.int64(_EACH_EVENT), tolerance, motion, journal, events)
        if status == _STOPPED:
            for row in range(totals[_EVENT_ROWS]):
                a, b = np.int64(events.pairs[row, 0]), np.int64(events.pairs[row, 1])
                if events.kinds[row] == 1:
                    _enter(a, b, balls, motion.paths, clock[0])
                else:
                    _leave(a, b, balls)
            totals[_EVENT_ROWS] = 0
            for row in range(totals[_ROWS]):
                if instant[row, 0] >= slots:
                    _predict(instant[row, 1] >> 1, instant[row, 1] >> 1, balls, motion.paths, clock[0])
            _choose(balls.due, tally)
        elif status != _REACHED:
            return status
        elif due <= until:
            a, b = np.int64(balls.candidates[following, 0]), np.int64(balls.candidates[following, 1])
            if not _collide(a, b, balls, motion, clock[0]):
                return _RESTING
            struck[0], struck[1], struck[2], struck[3] = 2 * a, 2 * a + 1, 2 * b, 2 * b + 1
            certify_ends(struck, motion, clock[0])
            _predict(a, b, balls, motion.paths, clock[0])
            _choose(balls.due, tally)
            place = tally[_LOGGED]
            balls.times[place], balls.pairs[place, 0], balls.pairs[place, 1] = clock[0], a, b
            tally[_LOGGED] += 1
            tally[_COLLISIONS] += 1
        else:
            return _DONE
    return _DONE


@helper
def _collision_time(a: Integer, b: Integer, radius: F64, paths: Paths, now: float) -> float:
    """Return when two balls touch while they approach; at least ``now``, infinity if never."""
    reach = float(radius[a] + radius[b])
    gap = -reach * reach
    closing = speed = bending = turning = curving = 0.0
    for axis in range(paths.shape[0]):
        place = _center(paths, axis, b, now) - _center(paths, axis, a, now)
        rate = _speed(paths, axis, b, now) - _speed(paths, axis, a, now)
        curve = paths[axis, 2 * b, 2] - paths[axis, 2 * a, 2]
        gap += place * place
        closing += place * rate
        speed += rate * rate
        bending += place * curve
        turning += rate * curve
        curving += curve * curve
    if curving > 0.0:  # one of them rests at a wall
        return now + _first_descent((gap, 2.0 * closing, speed + 2.0 * bending, 2.0 * turning, curving))
    if closing >= 0.0:
        return math.inf
    square = closing * closing - speed * gap
    if square < 0.0:
        return math.inf
    wait = float(gap / (math.sqrt(square) - closing))
    return now + max(wait, 0.0)


@helper
def _first_descent(quartic: Quartic) -> float:
    """Return the first s ≥ 0 at which a polynomial passes from positive to negative, or falls while it is negative.

    The polynomial, constant term first, must have a positive leading coefficient. Between the roots of its derivative
    it is monotone, and so is the derivative between the roots of its own: each root is bracketed, then found by
    bisection and Newton's method to the last bits. Return infinity if there is none.
    """
    one, two, three, four = quartic[1], quartic[2], quartic[3], quartic[4]
    slope = (one, 2.0 * two, 3.0 * three, 4.0 * four, 0.0)
    # Beyond this bound (Cauchy's, of the derivative) the polynomial only rises.
    beyond = 1.0 + max(abs(one), abs(2.0 * two), abs(3.0 * three)) / (4.0 * four)
    root = math.sqrt(max(9.0 * three * three - 24.0 * four * two, 0.0))
    start = 0.0
    for stage in range(3):
        bend = beyond if stage == 2 else ((2 * stage - 1) * root - 3.0 * three) / (12.0 * four)
        end = min(max(bend, 0.0), beyond)
        top, bottom = start, end
        falls_first, falls_last = _value(slope, start) < 0.0, _value(slope, end) < 0.0
        if falls_first and not falls_last:
            bottom = _crossing(slope, start, end)
        elif falls_last and not falls_first:
            top = _crossing(slope, start, end)
        if falls_first or falls_last:
            if _value(quartic, top) <= 0.0:
                return top
            if _value(quartic, bottom) <= 0.0:
                return _crossing(quartic, top, bottom)
        start = end
    return math.inf


@helper
def _crossing(quartic: Quartic, low: float, high: float) -> float:
    """Return a root between two places at which a polynomial has different signs."""
    falls = _value(quartic, low) > 0.0 or _value(quartic, high) < 0.0
    place = 0.5 * (low + high)
    for _ in range(200):
        value = _value(quartic, place)
        if value == 0.0 or not low < place < high:
            break
        if (value > 0.0) == falls:
            low = place
        else:
            high = place
        slope = _slope(quartic, place)
        place = place - value / slope if slope != 0.0 else low
        if not low < place < high:
            place = 0.5 * (low + high)
    return place


@inline
def _value(quartic: Quartic, s: float) -> float:
    return quartic[0] + s * (quartic[1] + s * (quartic[2] + s * (quartic[3] + s * quartic[4])))


@inline
def _slope(quartic: Quartic, s: float) -> float:
    return quartic[1] + s * (2.0 * quartic[2] + s * (3.0 * quartic[3] + s * 4.0 * quartic[4]))


@helper
def _collide(a: Integer, b: Integer, balls: Balls, motion: MovingEnds, now: float) -> bool:
    """Exchange momentum along the line of centers, without loss, and start new paths for both.

    Return False, and change nothing, if the balls are pressed together and would part by less than rounding.
    """
    radius, mass, paths = balls.radius, balls.mass, motion.paths
    length = approach = parting = scale = 0.0
    for axis in range(paths.shape[0]):
        across = _center(paths, axis, b, now) - _center(paths, axis, a, now)
        rate = _speed(paths, axis, b, now) - _speed(paths, axis, a, now)
        length += across * across
        approach += across * rate
        parting += rate * rate + 2.0 * across * (paths[axis, 2 * b, 2] - paths[axis, 2 * a, 2])
        scale = max(scale, abs(_center(paths, axis, a, now)), abs(_center(paths, axis, b, now)), abs(across))
    if parting < 0.0 and approach * approach <= -2.0 * parting * math.sqrt(length) * scale * _ROUNDING:
        return False
    impulse = 2.0 * mass[a] * mass[b] / (mass[a] + mass[b]) * approach / length
    for axis in range(paths.shape[0]):
        across = _center(paths, axis, b, now) - _center(paths, axis, a, now)
        for body in (a, b):
            center, speed = _center(paths, axis, body, now), _speed(paths, axis, body, now)
            share = float(impulse / mass[body] * across)
            speed += share if body == a else -share
            for side in range(2):
                paths[axis, 2 * body + side, 0] = center + (2 * side - 1) * radius[body]
                paths[axis, 2 * body + side, 1] = speed
                paths[axis, 2 * body + side, 3] = now
            _release(motion, axis, body)
    return True


@forceinline
def _release(motion: MovingEnds, axis: Integer, row: Integer) -> None:
    """Return its acceleration to a body that rests at a wall; its path must start at the present time."""
    if motion.pressed.size > 0 and motion.pressed[axis, row] != 0.0:
        for end in range(2 * row, 2 * row + 2):
            motion.paths[axis, end, 2] = motion.pressed[axis, row]
        motion.pressed[axis, row] = 0.0


@helper
def _center(paths: Paths, axis: Integer, body: Integer, now: float) -> float:
    step = now - paths[axis, 2 * body, 3]
    middle = 0.5 * (paths[axis, 2 * body, 0] + paths[axis, 2 * body + 1, 0])
    place: float = middle + (paths[axis, 2 * body, 1] + paths[axis, 2 * body, 2] * step) * step
    return place


@helper
def _speed(paths: Paths, axis: Integer, body: Integer, now: float) -> float:
    speed: float = paths[axis, 2 * body, 1] + 2.0 * paths[axis, 2 * body, 2] * (now - paths[axis, 2 * body, 3])
    return speed


@helper
def _enter(a: Integer, b: Integer, balls: Balls, paths: Paths, now: float) -> None:
    """Add a candidate."""
    last = balls.tally[_CANDIDATES]
    balls.candidates[last, 0], balls.candidates[last, 1] = a, b
    balls.due[last] = _collision_time(a, b, balls.radius, paths, now)
    balls.tally[_CANDIDATES] += 1


@helper
def _leave(a: Integer, b: Integer, balls: Balls) -> None:
    """Remove a candidate; the last one takes its row."""
    candidates, due, tally = balls.candidates, balls.due, balls.tally
    last = tally[_CANDIDATES] - 1
    for row in range(last + 1):
        if candidates[row, 0] == a and candidates[row, 1] == b:
            candidates[row, 0], candidates[row, 1] = candidates[last, 0], candidates[last, 1]
            due[row] = due[last]
            tally[_CANDIDATES] = last
            return


@helper
def _predict(a: Integer, b: Integer, balls: Balls, paths: Paths, now: float) -> None:
    """Predict the collisions of all candidates in which ``a`` or ``b`` takes part."""
    candidates = balls.candidates
    for row in range(balls.tally[_CANDIDATES]):
        first, second = np.int64(candidates[row, 0]), np.int64(candidates[row, 1])
        if (first == a) | (second == a) | (first == b) | (second == b):
            balls.due[row] = _collision_time(first, second, balls.radius, paths, now)


@helper
def _choose(due: F64, tally: I64) -> None:
    """Find the candidate that collides first."""
    best = -1
    earliest = math.inf
    for row in range(tally[_CANDIDATES]):
        if due[row] < earliest:
            best, earliest = row, due[row]
    tally[_NEXT] = best

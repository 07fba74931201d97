"""The loop of hard balls: the kinetic sweep tells whose boxes meet, the balls among them tell when they collide.

Candidates, the pairs whose boxes overlap, are few, so they are kept in a plain list with the time of their collision;
what changes them (a box that meets or leaves another, a bounce, a collision) is far rarer than an exchange of end
points.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper
from choque._core.types import Index
from choque.kinetic import _events
from choque.kinetic._certificates import Motion, Paths, certify_ends
from choque.kinetic._events import Events, Journal, advance
from choque.kinetic._heap import Numbers, Times

DONE, CANDIDATES_FULL = 10, 11
"""What `play` returns beside the values of `choque.kinetic._events.advance`."""

CANDIDATES, COLLISIONS, NEXT = range(3)
"""Places in ``tally``."""

_STOPPED, _REACHED, _EACH_NEWS = _events.STOPPED, _events.REACHED, _events.EACH_NEWS
_EVENT_ROWS, _ROWS = _events.EVENT_ROWS, _events.ROWS


class Balls(NamedTuple):
    """What the balls are, and which of them may collide next."""

    radius: Times
    mass: Times
    who: Numbers
    """(capacity, 2) the candidates."""
    when: Times
    """(capacity,) the times at which they collide."""
    tally: NDArray[np.int64]
    """How many candidates there are, how many collisions there were, which candidate is next (−1: none)."""
    struck: NDArray[np.int64]
    """(4,) the end points of the two balls that collided last."""


@helper
def play(
    until: float, most: int, balls: Balls, tolerance: float, motion: Motion, journal: Journal, events: Events
) -> int:
    """Go on to ``until``, or until ``most`` collisions have happened in all."""
    when, tally, struck = balls.when, balls.tally, balls.struck
    clock, totals, instant = journal.clock, journal.totals, journal.instant
    slots = motion.order.size
    while tally[COLLISIONS] < most:
        if tally[CANDIDATES] + events.times.size > when.size:
            return CANDIDATES_FULL
        following = tally[NEXT]
        target = until if following < 0 or when[following] > until else when[following]
        status = advance(target, np.int64(_EACH_NEWS), tolerance, motion, journal, events)
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
                    _predict_again(instant[row, 1] >> 1, instant[row, 1] >> 1, balls, motion.paths, clock[0])
            _choose(when, tally)
        elif status != _REACHED:
            return status
        elif following >= 0 and when[following] <= until:
            a, b = np.int64(balls.who[following, 0]), np.int64(balls.who[following, 1])
            _collide(a, b, balls, motion.paths, clock[0])
            struck[0], struck[1], struck[2], struck[3] = 2 * a, 2 * a + 1, 2 * b, 2 * b + 1
            certify_ends(struck, motion, clock[0])
            _predict_again(a, b, balls, motion.paths, clock[0])
            _choose(when, tally)
            tally[COLLISIONS] += 1
        else:
            return DONE
    return DONE


@helper
def collision_time(a: Index, b: Index, radius: Times, paths: Paths, now: float) -> float:
    """When two balls touch while they approach; at least ``now``, infinity if never."""
    reach = radius[a] + radius[b]
    gap = -reach * reach
    closing = speed = 0.0
    for axis in range(paths.shape[0]):
        place = _centre(paths, axis, b, now) - _centre(paths, axis, a, now)
        rate = _speed(paths, axis, b, now) - _speed(paths, axis, a, now)
        gap += place * place
        closing += place * rate
        speed += rate * rate
    if closing >= 0.0:
        return math.inf
    square = closing * closing - speed * gap
    if square < 0.0:
        return math.inf
    wait = float(gap / (math.sqrt(square) - closing))
    return now + max(wait, 0.0)


@helper
def _collide(a: Index, b: Index, balls: Balls, paths: Paths, now: float) -> None:
    """Exchange momentum along the line of centres, without loss, and begin the paths of both anew."""
    radius, mass = balls.radius, balls.mass
    length = approach = 0.0
    for axis in range(paths.shape[0]):
        across = _centre(paths, axis, b, now) - _centre(paths, axis, a, now)
        length += across * across
        approach += across * (_speed(paths, axis, b, now) - _speed(paths, axis, a, now))
    impulse = 2.0 * mass[a] * mass[b] / (mass[a] + mass[b]) * approach / length
    for axis in range(paths.shape[0]):
        across = _centre(paths, axis, b, now) - _centre(paths, axis, a, now)
        for body in (a, b):
            centre, speed = _centre(paths, axis, body, now), _speed(paths, axis, body, now)
            share = float(impulse / mass[body] * across)
            speed += share if body == a else -share
            for side in range(2):
                paths[axis, 2 * body + side, 0] = centre + (2 * side - 1) * radius[body]
                paths[axis, 2 * body + side, 1] = speed
                paths[axis, 2 * body + side, 3] = now


@helper
def _centre(paths: Paths, axis: Index, body: Index, now: float) -> float:
    step = now - paths[axis, 2 * body, 3]
    middle = 0.5 * (paths[axis, 2 * body, 0] + paths[axis, 2 * body + 1, 0])
    place: float = middle + (paths[axis, 2 * body, 1] + paths[axis, 2 * body, 2] * step) * step
    return place


@helper
def _speed(paths: Paths, axis: Index, body: Index, now: float) -> float:
    speed: float = paths[axis, 2 * body, 1] + 2.0 * paths[axis, 2 * body, 2] * (now - paths[axis, 2 * body, 3])
    return speed


@helper
def _enter(a: Index, b: Index, balls: Balls, paths: Paths, now: float) -> None:
    who, tally = balls.who, balls.tally
    last = tally[CANDIDATES]
    who[last, 0], who[last, 1] = a, b
    balls.when[last] = collision_time(a, b, balls.radius, paths, now)
    tally[CANDIDATES] += 1


@helper
def _leave(a: Index, b: Index, balls: Balls) -> None:
    who, when, tally = balls.who, balls.when, balls.tally
    last = tally[CANDIDATES] - 1
    for row in range(last + 1):
        if who[row, 0] == a and who[row, 1] == b:
            who[row, 0], who[row, 1], when[row] = who[last, 0], who[last, 1], when[last]
            tally[CANDIDATES] = last
            return


@helper
def _predict_again(a: Index, b: Index, balls: Balls, paths: Paths, now: float) -> None:
    """Predict the collisions of the candidates in which ``a`` or ``b`` takes part."""
    who = balls.who
    for row in range(balls.tally[CANDIDATES]):
        first, second = np.int64(who[row, 0]), np.int64(who[row, 1])
        if (first == a) | (second == a) | (first == b) | (second == b):
            balls.when[row] = collision_time(first, second, balls.radius, paths, now)


@helper
def _choose(when: Times, tally: NDArray[np.int64]) -> None:
    """Find the candidate that collides first."""
    best = -1
    earliest = math.inf
    for row in range(tally[CANDIDATES]):
        if when[row] < earliest:
            best, earliest = row, when[row]
    tally[NEXT] = best

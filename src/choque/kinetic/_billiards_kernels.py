"""The loop of hard balls: the kinetic sweep tells whose boxes meet, the balls among them tell when they collide.

Candidates, the pairs whose boxes overlap, are few, so they are kept in a plain list with the time of their collision;
what changes them (a box that meets or leaves another, a bounce, a collision) is far rarer than an exchange of end
points.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from choque._types import Index
from choque.kernel import kernel
from choque.kinetic import _events
from choque.kinetic._certificates import Paths, certify_ends
from choque.kinetic._events import advance
from choque.kinetic._heap import Numbers, Times

DONE, CANDIDATES_FULL = 10, 11
"""What `play` returns beside the values of `choque.kinetic._events.advance`."""

CANDIDATES, COLLISIONS, NEXT = range(3)
"""Places in ``tally``."""

_STOPPED, _REACHED, _EACH_NEWS = _events.STOPPED, _events.REACHED, _events.EACH_NEWS
_EVENT_ROWS, _ROWS = _events.EVENT_ROWS, _events.ROWS


@kernel
def play(
    until: float,
    most: int,
    radius: Times,
    mass: Times,
    who: Numbers,
    when: Times,
    tally: NDArray[np.int64],
    struck: NDArray[np.int64],
    closed: bool,
    paired: bool,
    curved: bool,
    tolerance: float,
    paths: Paths,
    order: Numbers,
    rank: Numbers,
    due: Times,
    heap: Numbers,
    place: Numbers,
    walls: Times,
    clock: Times,
    totals: NDArray[np.int64],
    instant: NDArray[np.int64],
    picks: NDArray[np.int64],
    times: Times,
    kinds: NDArray[np.uint8],
    pairs: Numbers,
) -> int:
    """Go on to ``until``, or until ``most`` collisions have happened in all.

    Parameters
    ----------
    who, when
        (capacity, 2) and (capacity,) the candidates and the times at which they collide.
    tally
        How many candidates there are, how many collisions there were, which candidate is next (−1: none).
    struck
        (4,) working space for the end points of two balls.
    """
    slots = order.shape[0] * order.shape[1]
    while tally[COLLISIONS] < most:
        if tally[CANDIDATES] + times.size > when.size:
            return CANDIDATES_FULL
        following = tally[NEXT]
        target = until if following < 0 or when[following] > until else when[following]
        status = advance(
            target, np.int64(_EACH_NEWS), closed, paired, curved, tolerance, paths, order, rank, due, heap, place,
            walls, clock, totals, instant, picks, times, kinds, pairs,
        )  # fmt: skip
        if status == _STOPPED:
            for row in range(totals[_EVENT_ROWS]):
                if kinds[row] == 1:
                    _enter(np.int64(pairs[row, 0]), np.int64(pairs[row, 1]), radius, who, when, tally, paths, clock[0])
                else:
                    _leave(np.int64(pairs[row, 0]), np.int64(pairs[row, 1]), who, when, tally)
            totals[_EVENT_ROWS] = 0
            for row in range(totals[_ROWS]):
                if instant[row, 0] >= slots:
                    _predict_again(
                        instant[row, 1] >> 1, instant[row, 1] >> 1, radius, who, when, tally, paths, clock[0]
                    )
            _choose(when, tally)
        elif status != _REACHED:
            return status
        elif following >= 0 and when[following] <= until:
            a, b = np.int64(who[following, 0]), np.int64(who[following, 1])
            _collide(a, b, radius, mass, paths, clock[0])
            struck[0], struck[1], struck[2], struck[3] = 2 * a, 2 * a + 1, 2 * b, 2 * b + 1
            certify_ends(struck, paths, order, rank, due, heap, place, walls, clock[0], closed, paired, curved)
            _predict_again(a, b, radius, who, when, tally, paths, clock[0])
            _choose(when, tally)
            tally[COLLISIONS] += 1
        else:
            return DONE
    return DONE


@kernel
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


@kernel
def _collide(a: Index, b: Index, radius: Times, mass: Times, paths: Paths, now: float) -> None:
    """Exchange momentum along the line of centres, without loss, and begin the paths of both anew."""
    axes = paths.shape[0]
    across = np.empty(axes)
    length = 0.0
    approach = 0.0
    for axis in range(axes):
        across[axis] = _centre(paths, axis, b, now) - _centre(paths, axis, a, now)
        length += across[axis] * across[axis]
        approach += across[axis] * (_speed(paths, axis, b, now) - _speed(paths, axis, a, now))
    impulse = 2.0 * mass[a] * mass[b] / (mass[a] + mass[b]) * approach / length
    for axis in range(axes):
        for body in (a, b):
            centre, speed = _centre(paths, axis, body, now), _speed(paths, axis, body, now)
            share = impulse / mass[body] * across[axis]
            speed += share if body == a else -share
            for side in range(2):
                paths[axis, 2 * body + side, 0] = centre + (2 * side - 1) * radius[body]
                paths[axis, 2 * body + side, 1] = speed
                paths[axis, 2 * body + side, 3] = now


@kernel
def _centre(paths: Paths, axis: Index, body: Index, now: float) -> float:
    step = now - paths[axis, 2 * body, 3]
    middle = 0.5 * (paths[axis, 2 * body, 0] + paths[axis, 2 * body + 1, 0])
    place: float = middle + (paths[axis, 2 * body, 1] + paths[axis, 2 * body, 2] * step) * step
    return place


@kernel
def _speed(paths: Paths, axis: Index, body: Index, now: float) -> float:
    speed: float = paths[axis, 2 * body, 1] + 2.0 * paths[axis, 2 * body, 2] * (now - paths[axis, 2 * body, 3])
    return speed


@kernel
def _enter(
    a: Index, b: Index, radius: Times, who: Numbers, when: Times, tally: NDArray[np.int64], paths: Paths, now: float
) -> None:
    last = tally[CANDIDATES]
    who[last, 0], who[last, 1] = a, b
    when[last] = collision_time(a, b, radius, paths, now)
    tally[CANDIDATES] += 1


@kernel
def _leave(a: Index, b: Index, who: Numbers, when: Times, tally: NDArray[np.int64]) -> None:
    last = tally[CANDIDATES] - 1
    for row in range(last + 1):
        if who[row, 0] == a and who[row, 1] == b:
            who[row, 0], who[row, 1], when[row] = who[last, 0], who[last, 1], when[last]
            tally[CANDIDATES] = last
            return


@kernel
def _predict_again(
    a: Index, b: Index, radius: Times, who: Numbers, when: Times, tally: NDArray[np.int64], paths: Paths, now: float
) -> None:
    """Predict the collisions of the candidates in which ``a`` or ``b`` takes part."""
    for row in range(tally[CANDIDATES]):
        first, second = np.int64(who[row, 0]), np.int64(who[row, 1])
        if (first == a) | (second == a) | (first == b) | (second == b):
            when[row] = collision_time(first, second, radius, paths, now)


@kernel
def _choose(when: Times, tally: NDArray[np.int64]) -> None:
    """Find the candidate that collides first."""
    best = -1
    earliest = math.inf
    for row in range(tally[CANDIDATES]):
        if when[row] < earliest:
            best, earliest = row, when[row]
    tally[NEXT] = best

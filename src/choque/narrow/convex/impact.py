"""The time of impact of moving convex bodies, by conservative advancement.

Mirtich, "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996. The distance of two bodies, divided by a
bound on the rate at which it can shrink, is a time within which they cannot touch. The bodies advance by that time, and
the distance is computed again. No step can skip a collision, however thin and fast the bodies are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.kernel import helper, kernel
from choque._core.threads import ranges, resolve_count, run
from choque._core.types import F64, U8, Integer, Pairs, Rows
from choque._core.vector import Vector, add, along, cross, dot, length, point_of, scaled, store, subtract
from choque.narrow.convex.cores import Cores, cores_of_shapes
from choque.narrow.convex.gjk import APART, gjk_pair, new_simplex, start_axis, weights_of, witnesses
from choque.narrow.convex.queries import Convex, as_query
from choque.narrow.shapes import Shapes

STEP_LIMIT = 512  # a few steps are usual; dozens if bodies rotate and slide along each other
PARTED, MET, UNDECIDED = range(3)


@dataclass(frozen=True, eq=False)
class Impact:
    """When and where moving bodies first touch: numbers and (3,) vectors for one pair, arrays for n pairs."""

    hit: Any
    """Whether they come within the tolerance of each other by the end. Also True if 512 steps did not decide; then the
    time is the one reached, which is not after the first touch."""
    time: Any  #: From 0 to 1: the first moment at which they do, and never a later one; 1 if they do not.
    normal: F64
    """Unit vectors from the first body toward the second at that moment; 0 for bodies that overlap from the beginning
    and for those that do not touch."""
    point: F64  #: Midway between the nearest points at that moment; NaN if they do not touch.
    steps: Any  #: Number of distance queries.


def time_of_impact(
    a: Convex,
    b: Convex,
    motion_a: ArrayLike = (0.0, 0.0, 0.0),
    motion_b: ArrayLike = (0.0, 0.0, 0.0),
    *,
    spin_a: ArrayLike = (0.0, 0.0, 0.0),
    spin_b: ArrayLike = (0.0, 0.0, 0.0),
    tolerance: float = 1e-6,
    threads: int | None = None,
) -> Impact:
    """Return when convex bodies that move and rotate at constant rates first touch.

    Guarantees: the time is never after the true first touch, and at it the bodies are at most ``tolerance`` times the
    size of the smaller one apart; no collision is missed, however fast the bodies are.

    Parameters
    ----------
    a, b
        Bodies at the beginning, as for `choque.narrow.gjk`: one, or n, or one against n.
    motion_a, motion_b
        Their translation until the end, (3,) or (n, 3).
    spin_a, spin_b
        Their rotation until the end: rotation vectors, radians about the axes of the world through the position of a
        posed hull, or through the mean of given vertices. (3,) or (n, 3).
    tolerance
        The distance at which bodies touch, as a fraction of the smaller one's extent.
    threads
        Number of threads, None for all.

    Examples
    --------
    >>> cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    >>> bullet = time_of_impact(cube * 0.01, cube * [0.001, 10, 10] + [5, -5, -5], [100, 0, 0])
    >>> bullet.hit, round(bullet.time, 5)
    (True, 0.0499)
    """
    tolerance = check.number(tolerance, "tolerance", 1e-12, below=1)
    query = as_query(a, b, None, threads)
    _center(query.cores)
    count = len(query.rows)
    given = {"motion_a": motion_a, "motion_b": motion_b, "spin_a": spin_a, "spin_b": spin_b}
    motion = np.stack([check.table(value, name, (count, 3)) for name, value in given.items()], axis=1)
    found = _impacts(query.cores, query.rows, motion, float(tolerance), query.thread_count)
    if query.is_single:
        return Impact(bool(found.hit[0]), float(found.time[0]), found.normal[0], found.point[0], int(found.steps[0]))
    return found


def impacts_of_shapes(
    shapes: Shapes,
    pairs: Pairs,
    motion: F64,
    *,
    triangles: F64 | None = None,
    tolerance: float = 1e-6,
    threads: int | None = None,
) -> Impact:
    """Return when pairs (k, 2) of shapes, planes and meshes excepted, first touch, as `time_of_impact` does.

    ``motion`` (k, 4, 3) holds the translation of both until the end, then their rotation vectors about their positions.
    Rows after those of the shapes are ``triangles`` (t, 3, 3), corners in the world, whose positions are their centres.
    """
    thread_count = resolve_count(threads, len(pairs))
    cores, rows = cores_of_shapes(shapes, pairs, thread_count, triangles)
    return _impacts(cores, rows, motion, tolerance, thread_count)


def _impacts(cores: Cores, rows: Pairs, motion: F64, tolerance: float, thread_count: int) -> Impact:
    count = len(rows)
    found = _Impacts(
        np.empty(count, np.uint8),
        np.empty(count),
        np.zeros((count, 3)),
        np.full((count, 3), np.nan),
        np.empty(count, np.int64),
    )
    shares = ranges(count, thread_count)
    run(lambda part: _advance(cores, rows, motion, tolerance, found, *shares[part]), len(shares))
    outcome, time, normal, point, steps = found
    return Impact(outcome != PARTED, time, normal, point, steps)


def _center(cores: Cores) -> None:
    """Move the position of bodies given by vertices to their mean, in place; posed hulls have theirs already."""
    for body in np.flatnonzero(cores.spans[:, 2] < 0).tolist():
        first, last = cores.spans[body, :2].tolist()
        mean = cores.points[first:last].mean(axis=0)
        cores.points[first:last] -= mean
        cores.place[body, :3] += mean


class _Impacts(NamedTuple):
    """The results for n pairs: PARTED, MET or UNDECIDED, then the arrays of `Impact`."""

    outcome: U8
    time: F64
    normal: F64
    point: F64
    steps: Rows


@kernel
def _advance(
    cores: Cores, rows: Pairs, motion: F64, tolerance: float, found: _Impacts, first: Integer, last: Integer
) -> None:
    """Advance pairs first … last − 1 until they touch, separate for good, or the time is over."""
    outcome, time, normal, point, steps = found
    simplex = new_simplex()
    largest = 0
    for body in range(len(cores.spans)):
        largest = max(largest, cores.spans[body, 1] - cores.spans[body, 0])
    moving = Cores(np.empty((2 * largest, 3)), np.empty((2, 3), np.int64), np.empty((2, 4)), cores.graph)
    for pair in range(first, last):
        one, other = rows[pair, 0], rows[pair, 1]
        extent, other_extent = _extent(cores, one), _extent(cores, other)
        smaller = min(extent, other_extent) if min(extent, other_extent) > 0 else max(extent, other_extent)
        near = tolerance * smaller if smaller > 0 else tolerance
        reach = cores.place[one, 3] + cores.place[other, 3]
        move, other_move = point_of(motion[pair], 0), point_of(motion[pair], 1)
        spin, other_spin = point_of(motion[pair], 2), point_of(motion[pair], 3)
        now = 0.0
        outcome[pair] = UNDECIDED
        for step in range(STEP_LIMIT):
            steps[pair] = step + 1
            _pose(cores, one, move, spin, now, moving, 0, 0)
            _pose(cores, other, other_move, other_spin, now, moving, 1, largest)
            verdict, _, nearest, count = gjk_pair(moving, 0, 1, start_axis(moving.place, 0, 1), math.inf, simplex)
            apart = length(nearest) if verdict == APART else 0.0
            toward = scaled(nearest, -1.0 / apart) if apart > 0 else (0.0, 0.0, 0.0)
            gap = apart - reach
            if gap <= near:
                outcome[pair] = MET
                a, b = witnesses(moving, 0, 1, simplex, weights_of(simplex, min(count, 3), nearest))
                store(normal, pair, toward)
                a, b = along(a, toward, moving.place[0, 3]), along(b, toward, -moving.place[1, 3])
                store(point, pair, scaled(add(a, b), 0.5))
                break
            approach = dot(toward, subtract(move, other_move))
            approach += length(cross(toward, spin)) * extent + length(cross(toward, other_spin)) * other_extent
            if not (approach > 0 and now + (gap - near / 2) / approach < 1.0):
                outcome[pair] = PARTED
                now = 1.0
                break
            now += (gap - near / 2) / approach
        time[pair] = now


@helper
def _extent(cores: Cores, body: Integer) -> float:
    """Return the distance of the farthest point of a body from its position."""
    farthest = 0.0
    for row in range(cores.spans[body, 0], cores.spans[body, 1]):
        farthest = max(farthest, length(point_of(cores.points, row)))
    return float(farthest + cores.place[body, 3])


@helper
def _pose(
    cores: Cores, body: Integer, move: Vector, spin: Vector, now: float, moving: Cores, place: Integer, at: Integer
) -> None:
    """Write ``body`` in its pose at the time ``now`` as body ``place`` of ``moving``."""
    first, last = cores.spans[body, 0], cores.spans[body, 1]
    moving.spans[place, 0], moving.spans[place, 1] = at, at + last - first
    moving.spans[place, 2] = cores.spans[body, 2]
    store(moving.place, place, along(point_of(cores.place, body), move, now))
    moving.place[place, 3] = cores.place[body, 3]
    size = length(spin)
    axis = scaled(spin, 1.0 / size) if size > 0 else (1.0, 0.0, 0.0)
    sine, cosine = math.sin(size * now), math.cos(size * now)
    for row in range(first, last):
        corner = point_of(cores.points, row)
        if size > 0:
            level = dot(axis, corner) * (1.0 - cosine)
            corner = add(along(scaled(corner, cosine), axis, level), scaled(cross(axis, corner), sine))
        store(moving.points, at + row - first, corner)

"""The kernels of shape matching: particles are pushed out of each other, then moved back into rigid shapes.

Müller, Heidelberger, Teschner, Gross, "Meshless deformations based on shape matching", 2005, with the goal positions
taken at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, kernel
from choque._core.types import Floats, Integer, Pairs, Rows
from choque._core.vector import Vector, add, dot, point_of, scaled, store, subtract
from choque.dynamics.particle_overlap import HELD, Memory, Overlap, find_overlap, recheck
from choque.dynamics.polar import rotation_in
from choque.narrow.convex.cores import Cores, support
from choque.narrow.convex.epa import Polytope
from choque.narrow.convex.gjk import new_simplex, start_axis

TESTS, COLLISIONS, MATCHES, SKIPPED, FRESH = range(5)
"""Counters: exact tests, resolved collisions, matched shapes, shapes without a rotation, and tests by GJK."""


class Candidates(NamedTuple):
    """The pairs that may collide, and the bodies that cannot move."""

    rows: Pairs
    """(m, 2) bodies."""
    ground: NDArray[np.uint8]
    """(m,) 1 or 2 where that column is a plane, else 0."""
    up: Floats
    """(n, 3) the normal of each body that is a plane."""
    fixed: NDArray[np.bool_]
    """(n,) bodies that do not move."""
    axis: NDArray[np.float64]
    """(m, 3) the axis that separated each pair before, which is updated; 0 where none is known."""


class Matching(NamedTuple):
    """The rigid shapes that particles are matched to."""

    rest: NDArray[np.float64]
    """(P, 3) the particles at rest, relative to their mean."""
    mean: NDArray[np.float64]
    """(n, 3) the mean of the particles of each body."""
    turn: NDArray[np.float64]
    """(n, 3, 3) the rotation of each body since the start."""
    state: NDArray[np.uint8]
    """(n,) 0 where a shape was not matched, 1 where it was, 2 where no rotation was found."""
    version: Rows
    """(n,) how often each shape has moved."""

    @classmethod
    def at_rest(cls, cores: Cores) -> Self:
        """Return the shapes of bodies in their present poses."""
        count = len(cores.spans)
        made = cls(
            np.empty_like(cores.points),
            np.zeros((count, 3)),
            np.zeros((count, 3, 3)),
            np.zeros(count, np.uint8),
            np.zeros(count, np.int64),
        )
        rest_shapes(cores, made.rest, made.mean)
        return made


@kernel
def rest_shapes(cores: Cores, rest: NDArray[np.float64], mean: NDArray[np.float64]) -> None:
    """Write the ``mean`` (n, 3) of each body's particles, and the particles around it, ``rest`` (P, 3)."""
    for body in range(len(cores.spans)):
        first, last = cores.spans[body, 0], cores.spans[body, 1]
        if first == last:
            continue  # a plane
        center = _mean(cores.points, first, last)
        store(mean, body, center)
        for row in range(first, last):
            store(rest, row, subtract(point_of(cores.points, row), center))


@kernel
def relax(
    iterations: Integer, cores: Cores, candidates: Candidates, matching: Matching, polytope: Polytope, counts: Rows
) -> None:
    """Visit all pairs ``iterations`` times: where two bodies collide, separate their particles and match their shapes.

    A pair of which neither body has moved since its last visit would have the same result, and is skipped.
    """
    points, spans, place, graph = cores
    rows, ground, up, fixed, axis = candidates
    version = matching.version
    simplex = new_simplex()
    work, moment = np.empty((5, 3, 3)), np.empty((3, 3))
    seen = np.full((len(rows), 2), -1, np.int64)
    memory = Memory(axis, np.zeros((len(rows), HELD), np.int64), np.zeros(len(rows)))
    for _ in range(iterations):
        is_quiet = True
        for pair in range(len(rows)):
            one, other = rows[pair, 0], rows[pair, 1]
            if seen[pair, 0] == version[one] and seen[pair, 1] == version[other]:
                continue
            seen[pair, 0], seen[pair, 1] = version[one], version[other]
            is_quiet = False
            counts[TESTS] += 1
            if ground[pair]:
                body, plane = (one, other) if ground[pair] == 2 else (other, one)
                normal = point_of(up, plane)
                level = dot(normal, start_axis(place, plane, body))
                if fixed[body] or not _lift(points, spans, graph, body, normal, level):
                    continue
                counts[COLLISIONS] += 1
                match_shape(cores, body, matching, work, moment, counts)
                continue
            is_known, overlap = recheck(cores, one, other, memory, pair)
            if not is_known:
                counts[FRESH] += 1
                overlap = find_overlap(cores, one, other, memory, pair, simplex, polytope)
            if not overlap.exists:
                continue
            counts[COLLISIONS] += 1
            _part(points, spans, place, one, other, overlap, fixed)
            if not fixed[one]:
                match_shape(cores, one, matching, work, moment, counts)
            if not fixed[other]:
                match_shape(cores, other, matching, work, moment, counts)
        if is_quiet:
            break


@helper
def _part(
    points: Floats,
    spans: Rows,
    place: Floats,
    one: Integer,
    other: Integer,
    overlap: Overlap,
    fixed: NDArray[np.bool_],
) -> None:
    """Move the particles of each body that lie beyond the deepest point of the other back to its level."""
    normal = overlap.normal
    offset = dot(normal, start_axis(place, one, other))
    high = dot(normal, point_of(points, overlap.deepest))
    low = dot(normal, point_of(points, overlap.other_deepest))
    if not fixed[one]:
        _press(points, spans[one, 0], spans[one, 1], normal, low - offset)
    if not fixed[other]:
        _press(points, spans[other, 0], spans[other, 1], scaled(normal, -1.0), -(high + offset))


@helper
def _lift(points: Floats, spans: Rows, graph: Rows, body: Integer, up: Vector, level: float) -> bool:
    """Move the particles of a body that lie below a plane up to it; return whether any lies below or on it."""
    first, last = spans[body, 0], spans[body, 1]
    down = (-up[0], -up[1], -up[2])
    lowest = support(points, spans, graph, body, down, first)
    if not dot(point_of(points, lowest), up) <= level:
        return False
    _press(points, first, last, down, -level)
    return True


@helper
def _press(points: Floats, first: Integer, last: Integer, normal: Vector, level: float) -> None:
    """Move the points that reach beyond ``level`` along ``normal`` back to it."""
    for row in range(first, last):
        beyond = points[row, 0] * normal[0] + points[row, 1] * normal[1] + points[row, 2] * normal[2] - level
        if beyond > 0:
            points[row, 0] -= beyond * normal[0]
            points[row, 1] -= beyond * normal[1]
            points[row, 2] -= beyond * normal[2]


@helper
def _mean(points: Floats, first: Integer, last: Integer) -> Vector:
    """Return the mean of the rows first … last − 1."""
    x = y = z = 0.0
    for row in range(first, last):
        x += points[row, 0]
        y += points[row, 1]
        z += points[row, 2]
    share = 1.0 / (last - first)
    return x * share, y * share, z * share


@helper
def match_shape(
    cores: Cores,
    body: Integer,
    matching: Matching,
    work: NDArray[np.float64],
    moment: NDArray[np.float64],
    counts: Rows,
) -> None:
    """Move the particles of a body to the rest shape that fits them best; leave them if no rotation can be found.

    ``work`` (5, 3, 3) and ``moment`` (3, 3) are scratch arrays.
    """
    points, spans = cores.points, cores.spans
    rest, mean, turn, state, version = matching
    first, last = spans[body, 0], spans[body, 1]
    center = _mean(points, first, last)
    xx = xy = xz = yx = yy = yz = zx = zy = zz = 0.0
    for row in range(first, last):
        x, y, z = points[row, 0], points[row, 1], points[row, 2]
        u, v, w = rest[row, 0], rest[row, 1], rest[row, 2]
        xx, xy, xz = xx + x * u, xy + x * v, xz + x * w
        yx, yy, yz = yx + y * u, yy + y * v, yz + y * w
        zx, zy, zz = zx + z * u, zy + z * v, zz + z * w
    moment[0, 0], moment[0, 1], moment[0, 2] = xx, xy, xz
    moment[1, 0], moment[1, 1], moment[1, 2] = yx, yy, yz
    moment[2, 0], moment[2, 1], moment[2, 2] = zx, zy, zz
    version[body] += 1
    store(mean, body, center)
    rotation = turn[body]
    if not rotation_in(moment, work, rotation):
        state[body] = 2
        counts[SKIPPED] += 1
        return
    state[body] = 1
    counts[MATCHES] += 1
    xx, xy, xz = rotation[0, 0], rotation[0, 1], rotation[0, 2]
    yx, yy, yz = rotation[1, 0], rotation[1, 1], rotation[1, 2]
    zx, zy, zz = rotation[2, 0], rotation[2, 1], rotation[2, 2]
    for row in range(first, last):
        x, y, z = rest[row, 0], rest[row, 1], rest[row, 2]
        points[row, 0] = xx * x + xy * y + xz * z + center[0]
        points[row, 1] = yx * x + yy * y + yz * z + center[1]
        points[row, 2] = zx * x + zy * y + zz * z + center[2]


@kernel
def commit(cores: Cores, bodies: Rows, start: Floats, matching: Matching, position: Floats, rotation: Floats) -> None:
    """Write the pose of each matched shape to its body: position and rotation, or position alone.

    ``start`` (n, 3) are the means of the particles before. The position moves with the particles and, where their mean
    is not the centre of the body, rotates around it.
    """
    _, mean, turn, state, _ = matching
    turned = np.empty((3, 3))
    for body in range(len(bodies)):
        if state[body] == 0:
            continue
        row = bodies[body]
        before, after = point_of(start, body), point_of(mean, body)
        arm = scaled(before, -1.0)
        if state[body] == 1:
            arm = _turned(turn[body], arm)
            for column in range(3):
                axis = rotation[row, 0, column], rotation[row, 1, column], rotation[row, 2, column]
                x, y, z = _turned(turn[body], axis)
                turned[0, column], turned[1, column], turned[2, column] = x, y, z
            _orthonormalise(turned)
            for line in range(3):
                for column in range(3):
                    rotation[row, line, column] = turned[line, column]
        place = add(point_of(cores.place, body), add(after, arm))
        position[row, 0], position[row, 1], position[row, 2] = place


@helper
def _turned(rotation: Floats, vector: Vector) -> Vector:
    x, y, z = vector
    return (
        rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z,
        rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z,
        rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z,
    )


@helper
def _orthonormalise(matrix: Floats) -> None:
    """Make the rows of a matrix that is nearly a rotation orthonormal, so that errors do not accumulate over frames."""
    first = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    second = matrix[1, 0], matrix[1, 1], matrix[1, 2]
    first = scaled(first, 1.0 / math.sqrt(dot(first, first)))
    second = subtract(second, scaled(first, dot(first, second)))
    second = scaled(second, 1.0 / math.sqrt(dot(second, second)))
    store(matrix, 0, first)
    store(matrix, 1, second)
    matrix[2, 0] = first[1] * second[2] - first[2] * second[1]
    matrix[2, 1] = first[2] * second[0] - first[0] * second[2]
    matrix[2, 2] = first[0] * second[1] - first[1] * second[0]


@kernel
def verlet(
    position: Floats, velocity: Floats, acceleration: Floats, static: NDArray[np.bool_], dt: float, damping: float
) -> None:
    """Velocity Verlet with damping: x += v dt + ½ a dt², v = (v + a dt) damping; static bodies keep their velocity."""
    for row in range(len(position)):
        for axis in range(3):
            if static[row]:
                position[row, axis] += velocity[row, axis] * dt
            else:
                position[row, axis] += (velocity[row, axis] + 0.5 * acceleration[row, axis] * dt) * dt
                velocity[row, axis] = (velocity[row, axis] + acceleration[row, axis] * dt) * damping

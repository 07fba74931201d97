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
from choque._core.vector import Vector, add, cross, dot, point_of, scaled, store, subtract, unit
from choque.narrow.convex.cores import Cores, support
from choque.narrow.convex.epa import SOLVED, Polytope, epa_pair
from choque.narrow.convex.gjk import APART, BEYOND, INSIDE, Simplex, gjk_pair, new_simplex, start_axis
from choque.theses.kdop.polar import rotation_in

HELD = 15
"""Integers kept for a pair: whether the rest is valid; four pairs of a tetrahedron; three pairs of a face."""

LEVEL = 1e-9
"""A corner that lies beyond a face by at most this share of its distance from the origin lies on it."""

DEEPER = 1.5
"""A kept face is rejected when it is deeper than this multiple of the depth that EPA found."""


class Memory(NamedTuple):
    """What is kept about m pairs of bodies."""

    axis: Floats
    """(m, 3) the axis that separated each pair, from the second body to the first."""
    held: Rows
    """(m, HELD) the particles of the tetrahedron and the face."""
    depth: NDArray[np.float64]
    """(m,) the depth that EPA found."""


class Overlap(NamedTuple):
    """How two bodies overlap, if they do."""

    exists: bool
    normal: Vector
    """From the first to the second."""
    deepest: int
    """The particle of the first that reaches farthest along the normal."""
    other_deepest: int
    """The particle of the second that reaches farthest the other way."""


@helper
def recheck(cores: Cores, one: Integer, other: Integer, memory: Memory, pair: Integer) -> tuple[bool, Overlap]:
    """Return whether the memory of a pair still decides, and the overlap."""
    points, spans, place, graph = cores
    axis, held, held_depth = memory
    offset = start_axis(place, one, other)
    if held[pair, 0]:
        corner = _corner(points, offset, held, pair, 4)
        edge = subtract(_corner(points, offset, held, pair, 5), corner)
        normal = unit(cross(edge, subtract(_corner(points, offset, held, pair, 6), corner)))
        a, b, reach = _farthest(points, spans, graph, one, other, offset, normal)
        depth = dot(reach, normal)
        slack = LEVEL * max(abs(reach[0]), abs(reach[1]), abs(reach[2]))
        if depth < -slack:
            store(axis, pair, scaled(normal, -1.0))
            return True, Overlap(False, normal, a, b)
        is_face = bool(depth - dot(corner, normal) <= slack and depth <= DEEPER * held_depth[pair])
        return is_face and _holds_origin(points, offset, held, pair), Overlap(True, normal, a, b)
    toward = scaled(point_of(axis, pair), -1.0)
    a, b, reach = _farthest(points, spans, graph, one, other, offset, toward)
    depth = dot(reach, toward)
    is_apart = depth < 0 and depth * depth > LEVEL * LEVEL * dot(reach, reach) * dot(toward, toward)
    return is_apart, Overlap(False, toward, a, b)


@helper
def find_overlap(
    cores: Cores, one: Integer, other: Integer, memory: Memory, pair: Integer, simplex: Simplex, polytope: Polytope
) -> Overlap:
    """Return the overlap of two bodies by GJK, started along the remembered axis, and EPA; keep their results.

    A separating axis goes to ``memory.axis``. A pair for which EPA does not converge counts as not overlapping.
    """
    axis, held, held_depth = memory
    points, spans, place, graph = cores
    offset = start_axis(place, one, other)
    start = point_of(axis, pair)
    if not dot(start, start) > 0:
        start = offset
    held[pair, 0] = 0
    verdict, _, found, count = gjk_pair(cores, one, other, start, 0.0, simplex)
    if verdict in (BEYOND, APART):
        store(axis, pair, found)
        return Overlap(False, found, spans[one, 0], spans[other, 0])
    _hold(held, pair, simplex.rows, 0, 4)
    outcome, _, normal, depth = epa_pair(cores, one, other, simplex, count, polytope)
    _hold(held, pair, simplex.rows, 4, 3)
    held[pair, 0] = verdict == INSIDE and outcome == SOLVED
    held_depth[pair] = depth
    store(axis, pair, scaled(normal, -1.0))
    a, b, _ = _farthest(points, spans, graph, one, other, offset, normal)
    return Overlap(outcome == SOLVED and depth > 0, normal, a, b)


@helper
def _hold(held: Rows, pair: Integer, rows: Rows, place: Integer, count: Integer) -> None:
    """Keep the ``rows`` of ``count`` corners of a simplex from the corner ``place`` on."""
    for corner in range(count):
        held[pair, 2 * (place + corner) + 1] = rows[corner, 0]
        held[pair, 2 * (place + corner) + 2] = rows[corner, 1]


@helper
def _corner(points: Floats, offset: Vector, held: Rows, pair: Integer, place: Integer) -> Vector:
    """Return the kept corner ``place`` of the difference, where its particles are now."""
    a = point_of(points, held[pair, 2 * place + 1])
    b = point_of(points, held[pair, 2 * place + 2])
    return add(subtract(a, b), offset)


@helper
def _farthest(
    points: Floats, spans: Rows, graph: Rows, one: Integer, other: Integer, offset: Vector, normal: Vector
) -> tuple[int, int, Vector]:
    """Return the particles whose difference lies farthest along ``normal``, and that difference."""
    a = support(points, spans, graph, one, normal, spans[one, 0])
    b = support(points, spans, graph, other, scaled(normal, -1.0), spans[other, 0])
    return a, b, add(subtract(point_of(points, a), point_of(points, b)), offset)


@helper
def _holds_origin(points: Floats, offset: Vector, held: Rows, pair: Integer) -> bool:
    """Return whether the kept tetrahedron still contains the origin."""
    a, b = _corner(points, offset, held, pair, 0), _corner(points, offset, held, pair, 1)
    c, d = _corner(points, offset, held, pair, 2), _corner(points, offset, held, pair, 3)
    bc, cd = cross(b, c), cross(c, d)
    first, second = dot(bc, d), -dot(a, cd)
    third, fourth = dot(cross(a, b), d), -dot(a, bc)
    return (first > 0 and second > 0 and third > 0 and fourth > 0) or (
        first < 0 and second < 0 and third < 0 and fourth < 0
    )


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
    points: Floats, spans: Rows, place: Floats, one: Integer, other: Integer, overlap: Overlap, fixed: NDArray[np.bool_]
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

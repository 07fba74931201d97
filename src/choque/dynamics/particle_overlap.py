"""Whether two clouds of particles overlap, tested repeatedly while they are moved apart.

The first test is by GJK and EPA. Their results are kept as pairs of particles: the tetrahedron that contains the origin
and the face that gives the direction of separation. As long as the same four pairs contain the origin, the bodies
overlap; as long as the same three are still a face of the difference, and not much deeper, its normal is the direction
of separation. Both are checked each time, by one support particle of each body; if either fails, GJK and EPA run again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper
from choque._core.types import Floats, Integer, Rows
from choque._core.vector import Vector, add, cross, dot, point_of, scaled, store, subtract, unit
from choque.narrow.convex.cores import Cores, support
from choque.narrow.convex.epa import SOLVED, Polytope, epa_pair
from choque.narrow.convex.gjk import APART, BEYOND, INSIDE, Simplex, gjk_pair, start_axis

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
    """Whether the kept tetrahedron still contains the origin."""
    a, b = _corner(points, offset, held, pair, 0), _corner(points, offset, held, pair, 1)
    c, d = _corner(points, offset, held, pair, 2), _corner(points, offset, held, pair, 3)
    bc, cd = cross(b, c), cross(c, d)
    first, second = dot(bc, d), -dot(a, cd)
    third, fourth = dot(cross(a, b), d), -dot(a, bc)
    return (first > 0 and second > 0 and third > 0 and fourth > 0) or (
        first < 0 and second < 0 and third < 0 and fourth < 0
    )

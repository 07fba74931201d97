"""Whether two clouds of particles overlap, asked again and again while they are moved apart.

The first time GJK and EPA answer. What they found is held: the tetrahedron that proved the overlap and the face that is
the way out, both as pairs of particles. As long as the same four pairs still hold the origin, the bodies overlap; as
long as the same three are still a face of the difference, and no deeper one, they are the way out. Both are proved
anew each time, by one point of either body, and where either fails GJK and EPA are asked again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._types import Floats, Index, Rows
from choque.kernel import kernel
from choque.narrow._convex_vectors import Vector, add, cross, dot, point_of, scaled, store, subtract, unit
from choque.narrow._epa import SOLVED, Polytope, epa_pair
from choque.narrow._gjk import APART, BEYOND, INSIDE, Simplex, gjk_pair, start_axis
from choque.narrow._support import Cores, support

HELD = 15
"""Whole numbers held of a pair: whether anything is; four pairs of a tetrahedron; three pairs of a face."""

LEVEL = 1e-9
"""A corner that lies beyond a face by at most this share of its distance from the origin lies on it."""


class Overlap(NamedTuple):
    """How two bodies overlap, if they do."""

    exists: bool
    normal: Vector
    """From the first to the second."""
    deepest: int
    """The particle of the first that reaches farthest along the normal."""
    other_deepest: int
    """The particle of the second that reaches farthest the other way."""
    is_fresh: bool
    """Whether GJK was asked."""


@kernel
def find_overlap(
    cores: Cores,
    one: Index,
    other: Index,
    axis: Floats,
    held: Rows,
    held_depth: NDArray[np.float64],
    pair: Index,
    simplex: Simplex,
    polytope: Polytope,
) -> Overlap:
    """The overlap of two bodies; what proves them apart goes to ``axis``, from the second to the first.

    A pair for which EPA comes to no end counts as not overlapping, this time.
    """
    if held[pair, 0]:
        corner = _corner(cores, one, other, held, pair, 4)
        edge = subtract(_corner(cores, one, other, held, pair, 5), corner)
        normal = unit(cross(edge, subtract(_corner(cores, one, other, held, pair, 6), corner)))
        a, b, reach = _farthest(cores, one, other, normal)
        depth = dot(reach, normal)
        slack = LEVEL * max(abs(reach[0]), abs(reach[1]), abs(reach[2]))
        if depth < -slack:
            store(axis, pair, scaled(normal, -1.0))
            return Overlap(False, normal, a, b, False)
        is_face = depth - dot(corner, normal) <= slack and depth <= held_depth[pair]
        if is_face and _holds_origin(cores, one, other, held, pair):
            held_depth[pair] = depth
            return Overlap(True, normal, a, b, False)
    return _ask(cores, one, other, axis, held, held_depth, pair, simplex, polytope)


@kernel
def _ask(
    cores: Cores,
    one: Index,
    other: Index,
    axis: Floats,
    held: Rows,
    held_depth: NDArray[np.float64],
    pair: Index,
    simplex: Simplex,
    polytope: Polytope,
) -> Overlap:
    """The overlap by GJK, started along the remembered axis, and EPA; what they found is held."""
    start = point_of(axis, pair)
    if not dot(start, start) > 0:
        start = start_axis(cores, one, other)
    held[pair, 0] = 0
    verdict, _, found, count = gjk_pair(cores, one, other, start, 0.0, simplex)
    if verdict == BEYOND or verdict == APART:
        store(axis, pair, found)
        return Overlap(False, found, cores.spans[one, 0], cores.spans[other, 0], True)
    _hold(held, pair, simplex, 0, 4)
    outcome, _, normal, depth = epa_pair(cores, one, other, simplex, count, polytope)
    _hold(held, pair, simplex, 4, 3)
    held[pair, 0] = verdict == INSIDE and outcome == SOLVED
    held_depth[pair] = depth
    store(axis, pair, scaled(normal, -1.0))
    a, b, _ = _farthest(cores, one, other, normal)
    return Overlap(outcome == SOLVED and depth > 0, normal, a, b, True)


@kernel
def _hold(held: Rows, pair: Index, simplex: Simplex, place: Index, count: Index) -> None:
    """Note ``count`` corners of the simplex from the held corner ``place`` on."""
    for corner in range(count):
        held[pair, 2 * (place + corner) + 1] = simplex.rows[corner, 0]
        held[pair, 2 * (place + corner) + 2] = simplex.rows[corner, 1]


@kernel
def _corner(cores: Cores, one: Index, other: Index, held: Rows, pair: Index, place: Index) -> Vector:
    """The held corner ``place`` of the difference, where its particles are now."""
    a = point_of(cores.points, held[pair, 2 * place + 1])
    b = point_of(cores.points, held[pair, 2 * place + 2])
    return add(subtract(a, b), start_axis(cores, one, other))


@kernel
def _farthest(cores: Cores, one: Index, other: Index, normal: Vector) -> tuple[int, int, Vector]:
    """The particles whose difference lies farthest along ``normal``, and that difference."""
    a = support(cores, one, normal, cores.spans[one, 0])
    b = support(cores, other, scaled(normal, -1.0), cores.spans[other, 0])
    corner = add(subtract(point_of(cores.points, a), point_of(cores.points, b)), start_axis(cores, one, other))
    return a, b, corner


@kernel
def _holds_origin(cores: Cores, one: Index, other: Index, held: Rows, pair: Index) -> bool:
    """Whether the held tetrahedron still has the origin inside."""
    a, b = _corner(cores, one, other, held, pair, 0), _corner(cores, one, other, held, pair, 1)
    c, d = _corner(cores, one, other, held, pair, 2), _corner(cores, one, other, held, pair, 3)
    bc, cd = cross(b, c), cross(c, d)
    first, second = dot(bc, d), -dot(a, cd)
    third, fourth = dot(cross(a, b), d), -dot(a, bc)
    return (first > 0 and second > 0 and third > 0 and fourth > 0) or (
        first < 0 and second < 0 and third < 0 and fourth < 0
    )

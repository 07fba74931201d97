"""The distance between two convex bodies, by the algorithm of Gilbert, Johnson and Keerthi (GJK).

"A fast procedure for computing the distance between complex objects in three-dimensional space", 1988. The difference
A − B = {a − b} is convex, and the bodies intersect exactly if it contains the origin. Simplices with corners on its
surface approach the origin until one contains it, or until a corner shows that no point of A − B is nearer.

Bodies that touch intersect, with distance 0. Distances below `TOUCHING` times the size of A − B count as touching, as
rounding errors are of that order; for integer coordinates below 10⁵ no positive distance is that small.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.types import F64, Floats, Integer, Rows
from choque._core.vector import Vector, add, along, cross, dot, point_of, scaled, store, subtract
from choque.narrow.convex.cores import Cores, support

BEYOND, APART, MEETING, INSIDE = range(4)
"""Verdicts: a gap wider than the limit; a gap whose width is known; a simplex of fewer than four corners contains the
origin; a tetrahedron contains it."""

TOUCHING = 1e-13  # a distance below this fraction of that of the farthest corner of the simplex counts as 0
CONVERGED = 1e-13  # stop when the squared distance can decrease by at most this fraction
ITERATION_LIMIT = 256  # never reached by bodies of a few thousand vertices; it bounds the work if coordinates are NaN
FLAT = 1e-26  # a tetrahedron is flat if its squared volume is below this fraction of the product of three squared edges

Nearest: TypeAlias = tuple[Vector, int]
"""The nearest point, and the corners that span the feature it lies on, as bits: a = 1, b = 2, c = 4, d = 8."""


class Simplex(NamedTuple):
    """The simplex that a query ends with."""

    corners: F64  # (4, 3) points of the difference of the bodies
    rows: Rows  # (4, 2) the rows of the points of both bodies whose difference each corner is


@kernel
def new_simplex() -> Simplex:
    """Return a simplex, all zeros."""
    return Simplex(np.zeros((4, 3)), np.zeros((4, 2), np.int64))


@helper
def gjk_pair(
    cores: Cores, one: Integer, other: Integer, axis: Vector, gap: float, simplex: Simplex
) -> tuple[int, int, Vector, int]:
    """Return the verdict on two cores, the iterations, the axis from ``other`` to ``one``, and the number of corners.

    The search starts along ``axis`` and stops at the first axis that separates the cores by more than ``gap``, which
    is the axis returned. With an infinite gap the length of the axis is the exact distance.
    """
    points, spans, place, graph = cores
    corners, rows = simplex
    offset = start_axis(place, one, other)
    nearest, size = axis, dot(axis, axis)
    if not size > 0:
        nearest, size = (1.0, 0.0, 0.0), 1.0
    a = b = c = d = (0.0, 0.0, 0.0)
    a_one, a_other = spans[one, 0], spans[other, 0]
    b_one = c_one = d_one = b_other = c_other = d_other = a_one
    count = 0
    reach = 0.0
    verdict = MEETING
    iterations = 0
    while iterations < ITERATION_LIMIT:
        iterations += 1
        a_one = support(points, spans, graph, one, (-nearest[0], -nearest[1], -nearest[2]), a_one)
        a_other = support(points, spans, graph, other, nearest, a_other)
        a = add(subtract(point_of(points, a_one), point_of(points, a_other)), offset)
        reach = max(reach, dot(a, a))
        progress = dot(nearest, a)
        proof = progress * progress if progress > 0 else 0.0
        is_clear = proof > TOUCHING * TOUCHING * reach * size
        if proof > gap * gap * size and is_clear:
            verdict = BEYOND
            break
        if count > 0 and (
            size - progress <= CONVERGED * size
            or (a_one == b_one and a_other == b_other)
            or (count > 1 and a_one == c_one and a_other == c_other)
            or (count > 2 and a_one == d_one and a_other == d_other)
        ):
            verdict = APART if is_clear else MEETING
            break
        if count == 0:
            point, part = a, 1
        elif count == 1:
            point, part = nearest_on_segment(a, b)
        elif count == 2:
            point, part = nearest_on_triangle(a, b, c)
        else:
            point, part = nearest_on_tetrahedron(a, b, c, d)
            if part == 15:
                store(corners, 3, a)
                rows[3, 0], rows[3, 1] = a_one, a_other
                count = 4
                verdict = INSIDE
                break
        shrunk = dot(point, point)
        if count > 0 and not shrunk < size:
            verdict = APART if is_clear else MEETING
            break
        nearest, size = point, shrunk
        # Keep the corners of the part, the newest first: b, c and d are what the next step finds.
        if not part & 4:
            c, c_one, c_other = d, d_one, d_other
        if not part & 2:
            b, b_one, b_other = c, c_one, c_other
            c, c_one, c_other = d, d_one, d_other
        if part & 1:
            d, d_one, d_other = c, c_one, c_other
            c, c_one, c_other = b, b_one, b_other
            b, b_one, b_other = a, a_one, a_other
        count = (part & 1) + (part >> 1 & 1) + (part >> 2 & 1) + (part >> 3 & 1)
        if size <= TOUCHING * TOUCHING * reach:
            break
    store(corners, 0, b)
    store(corners, 1, c)
    store(corners, 2, d)
    rows[0, 0], rows[0, 1] = b_one, b_other
    rows[1, 0], rows[1, 1] = c_one, c_other
    rows[2, 0], rows[2, 1] = d_one, d_other
    return verdict, iterations, nearest, count


@helper
def weights_of(simplex: Simplex, count: Integer, point: Vector) -> Vector:
    """Return the barycentric coordinates of ``point``, which lies on the hull of up to three corners."""
    if count == 1:
        return 1.0, 0.0, 0.0
    corners = simplex.corners
    a, b = point_of(corners, 0), point_of(corners, 1)
    ab = subtract(b, a)
    ap = subtract(point, a)
    if count == 2:
        size = dot(ab, ab)
        share = min(max(dot(ap, ab) / size, 0.0), 1.0) if size > 0 else 0.0
        return 1.0 - share, share, 0.0
    ac = subtract(point_of(corners, 2), a)
    normal = cross(ab, ac)
    size = dot(normal, normal)
    if not size > 0:
        return 1.0, 0.0, 0.0
    second = min(max(dot(cross(ap, ac), normal) / size, 0.0), 1.0)
    third = min(max(dot(cross(ab, ap), normal) / size, 0.0), 1.0 - second)
    return 1.0 - second - third, second, third


@helper
def witnesses(cores: Cores, one: Integer, other: Integer, simplex: Simplex, weights: Vector) -> tuple[Vector, Vector]:
    """Return the points of the two cores, in world coordinates, at these barycentric ``weights`` of three corners."""
    points, _, place, _ = cores
    rows = simplex.rows
    first, second = point_of(place, one), point_of(place, other)
    for corner in range(3):
        if weights[corner] > 0:
            first = add(first, scaled(point_of(points, rows[corner, 0]), weights[corner]))
            second = add(second, scaled(point_of(points, rows[corner, 1]), weights[corner]))
    return first, second


@helper
def start_axis(place: Floats, one: Integer, other: Integer) -> Vector:
    """Return the first axis of a query without a remembered one: from the position of ``other`` to that of ``one``."""
    return subtract(point_of(place, one), point_of(place, other))


@helper
def common_point(cores: Cores, one: Integer, other: Integer, simplex: Simplex) -> Vector:
    """Return a point that lies in both cores, from a tetrahedron around the origin."""
    a, b = point_of(simplex.corners, 0), point_of(simplex.corners, 1)
    c, d = point_of(simplex.corners, 2), point_of(simplex.corners, 3)
    volume = dot(cross(subtract(b, a), subtract(c, a)), subtract(d, a))
    first = dot(cross(b, c), d) / volume
    second = -dot(cross(a, c), d) / volume
    third = dot(cross(a, b), d) / volume
    point, _ = witnesses(cores, one, other, simplex, (first, second, third))
    return along(point, point_of(cores.points, simplex.rows[3, 0]), 1.0 - first - second - third)


# The point of a simplex nearest to the origin


@helper
def nearest_on_segment(a: Vector, b: Vector) -> Nearest:
    """Return the point of the segment a b nearest to the origin.

    An inner point is computed as (e × a) × e / e², which is perpendicular to the edge e up to its own rounding. The
    error of a + t e would be relative to a, too large if the bodies almost touch.
    """
    edge = subtract(b, a)
    reach = -dot(a, edge)
    if not reach > 0:
        return a, 1
    size = dot(edge, edge)
    if reach >= size:
        return b, 2
    return scaled(cross(cross(edge, a), edge), 1.0 / size), 3


@helper
def nearest_on_triangle(a: Vector, b: Vector, c: Vector) -> Nearest:
    """Return the point of a triangle nearest to the origin: inside it, or on an edge that faces the origin."""
    ab, ac = subtract(b, a), subtract(c, a)
    normal = cross(ab, ac)
    beyond_ab = dot(a, cross(ab, normal)) <= 0
    beyond_ac = dot(a, cross(normal, ac)) <= 0
    beyond_bc = dot(b, cross(subtract(c, b), normal)) <= 0
    if not (beyond_ab or beyond_ac or beyond_bc):
        return scaled(normal, dot(normal, a) / dot(normal, normal)), 7
    best, corners, least = a, 1, -1.0
    if beyond_ab:
        best, corners = nearest_on_segment(a, b)
        least = dot(best, best)
    if beyond_ac:
        point, part = nearest_on_segment(a, c)
        size = dot(point, point)
        if least < 0 or size < least:
            best, corners, least = point, (part & 1) + 2 * (part & 2), size
    if beyond_bc:
        point, part = nearest_on_segment(b, c)
        size = dot(point, point)
        if least < 0 or size < least:
            best, corners, least = point, 2 * part, size
    return best, corners


@helper
def nearest_on_tetrahedron(a: Vector, b: Vector, c: Vector, d: Vector) -> Nearest:
    """Return the point nearest to the origin of a tetrahedron whose newest corner is a; all bits if it contains it.

    For a flat tetrahedron it is the nearest point of the faces, which drops a corner.
    """
    ab, ac, ad = subtract(b, a), subtract(c, a), subtract(d, a)
    abc, acd, adb = cross(ab, ac), cross(ac, ad), cross(ad, ab)
    volume = dot(abc, ad)
    is_flat = volume * volume <= FLAT * dot(ab, ab) * dot(ac, ac) * dot(ad, ad)
    best, corners, least = (0.0, 0.0, 0.0), 15, -1.0
    if is_flat or dot(abc, a) * volume > 0:
        best, corners = nearest_on_triangle(a, b, c)
        least = dot(best, best)
    if is_flat or dot(acd, a) * volume > 0:
        point, part = nearest_on_triangle(a, c, d)
        size = dot(point, point)
        if least < 0 or size < least:
            best, corners, least = point, (part & 1) + 2 * (part & 6), size
    if is_flat or dot(adb, a) * volume > 0:
        point, part = nearest_on_triangle(a, d, b)
        size = dot(point, point)
        if least < 0 or size < least:
            best, corners, least = point, (part & 1) + 4 * (part & 2) + (part & 4) // 2, size
    return best, corners

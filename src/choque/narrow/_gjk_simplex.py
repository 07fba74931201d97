"""The point of a simplex nearest to the origin.

Of a tetrahedron only the faces around its newest corner are looked at: a step of GJK adds a corner beyond the nearest
point of the simplex it had, so the origin cannot lie behind the old face. Where roundings break that rule, the step
makes no progress, which GJK notices.
"""

from __future__ import annotations

from typing import TypeAlias

from choque._core.kernel import helper
from choque._core.vector import Vector, cross, dot, scaled, subtract

FLAT = 1e-26
"""A tetrahedron whose squared volume is below this share of its squared edges is a triangle with a corner too many."""

Nearest: TypeAlias = tuple[Vector, int]
"""The nearest point, and as bits which of the corners a = 1, b = 2, c = 4, d = 8 span the part it lies on."""


@helper
def nearest_on_segment(a: Vector, b: Vector) -> Nearest:
    """On any segment.

    Its inner point is written as (e × a) × e / e², which is square to the edge e whatever is rounded: a + t e would err
    by roundings of a, too much where the bodies almost touch.
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
    """On any triangle: in its inside, or on one of the edges that the origin lies beyond."""
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
    """On the tetrahedron whose newest corner is a; all four corners when the origin lies in it.

    A flat tetrahedron has no inside: its faces answer, which drops the corner too many.
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

"""How two triangles meet, exactly by the floats given: apart, touching, crossing or overlapping in one plane.

The *interior* of a triangle is the triangle without its edges; one whose corners lie on a line has none. Two triangles
that share a point of both interiors are `CROSSING`, or `COPLANAR` if they lie in one plane; those that share other
points only are `TOUCHING`. All decisions are signs of `plane_side` and `line_side`, which do not round.

The sides of the corners, then two further signs, decide for triangles in different planes (Guigue & Devillers, "Fast
and robust triangle-triangle overlap test using orientation predicates", 2003). Triangles in one plane are separated by
the line of an edge, or not at all.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from choque._core.kernel import helper
from choque._core.predicates import line_side, plane_side, quick_plane_side
from choque._core.vector import Vector, cross, dot, subtract

APART, TOUCHING, CROSSING, COPLANAR = 0, 1, 2, 3
KINDS = ("apart", "touching", "crossing", "coplanar")  # the names of the kinds, by their numbers
Triangle: TypeAlias = tuple[Vector, Vector, Vector]
Signs: TypeAlias = tuple[int, int, int]
Flat: TypeAlias = tuple[float, float]


@helper
def triangles_kind(one: Triangle, two: Triangle) -> int:
    """Return how two triangles meet: `APART`, `TOUCHING`, `CROSSING` or `COPLANAR`. Exact."""
    sides = _sides(two, one)
    if _is_one_side(sides):
        return APART
    others = _sides(one, two)
    if _is_one_side(others):
        return APART
    if _is_flat(sides) or _is_flat(others):
        return _flat_kind(one, two)
    p, q, r, u, v, w = arranged(one, two, sides, others)
    # The planes meet in a line, on which each triangle covers an interval. Compare the ends that lie toward each other.
    first = plane_side(p, q, u, v)
    if first > 0:
        return APART
    second = plane_side(p, r, u, w)
    if second < 0:
        return APART
    is_through = _is_both_sides(sides) and _is_both_sides(others)
    return CROSSING if is_through and first < 0 and second > 0 else TOUCHING


@helper
def is_surely_apart(one: Triangle, two: Triangle) -> bool:
    """Return True for most pairs of triangles that are apart, and False for others: float64 alone decides."""
    a, b, c = two
    first, second = quick_plane_side(a, b, c, one[0]), quick_plane_side(a, b, c, one[1])
    if first * second == 1 and first == quick_plane_side(a, b, c, one[2]):
        return True
    a, b, c = one
    first, second = quick_plane_side(a, b, c, two[0]), quick_plane_side(a, b, c, two[1])
    return first * second == 1 and first == quick_plane_side(a, b, c, two[2])


@helper
def shared_corners(one: Triangle, two: Triangle) -> tuple[int, int, int]:
    """Return how many corners lie at the same places; of one, its numbers, of two, the numbers of the others."""
    count, i, j = 0, 3, 3
    last, other_last = 0, 0
    for m in range(3):
        for n in range(3):
            if one[m][0] == two[n][0] and one[m][1] == two[n][1] and one[m][2] == two[n][2]:
                count += 1
                last, other_last = m, n
                i, j = i - m, j - n
                break
    return (count, last, other_last) if count == 1 else (count, i % 3, j % 3)  # i and j mean nothing for points


@helper
def are_surely_apart_neighbors(one: Triangle, two: Triangle) -> bool:
    """Return True for most pairs of one mesh that share nothing but corners, and False for others."""
    count, i, j = shared_corners(one, two)
    if count == 0:
        return is_surely_apart(one, two)
    if count == 2:
        side = quick_plane_side(one[0], one[1], one[2], two[j])
        return side * side == 1
    if count == 1:
        d, e = two[(j + 1) % 3], two[(j + 2) % 3]
        if quick_plane_side(one[0], one[1], one[2], d) * quick_plane_side(one[0], one[1], one[2], e) == 1:
            return True
        d, e = one[(i + 1) % 3], one[(i + 2) % 3]
        return quick_plane_side(two[0], two[1], two[2], d) * quick_plane_side(two[0], two[1], two[2], e) == 1
    return False


@helper
def neighbors_kind(one: Triangle, two: Triangle) -> int:
    """Return how two triangles of one mesh meet outside the corners that they share; `APART` if nowhere else. Exact.

    Corners at the same place are shared. A pair that shares an edge meets elsewhere only if one is folded onto the
    other. A pair that shares a corner meets elsewhere exactly if the edge opposite to the corner in one triangle meets
    the other triangle: a segment of common points that begins in the corner ends on one of these edges.
    """
    count, i, j = shared_corners(one, two)
    if count == 0:
        return triangles_kind(one, two)
    if count == 2:
        own = one[i]
        a, b = one[(i + 1) % 3], one[(i + 2) % 3]
        other = two[j]
        if plane_side(own, a, b, other) != 0:
            return APART
        return COPLANAR if _flat_edge_side(a, b, own) == _flat_edge_side(a, b, other) else APART
    if count == 1:
        a, b, c = one[i], one[(i + 1) % 3], one[(i + 2) % 3]
        d, e = two[(j + 1) % 3], two[(j + 2) % 3]
        first, second = plane_side(a, b, c, d), plane_side(a, b, c, e)
        if first * second > 0:
            return APART
        third, fourth = plane_side(a, d, e, b), plane_side(a, d, e, c)
        if third * fourth > 0:
            return APART
        if first == 0 and second == 0:
            kind = _flat_kind(one, two)
            if kind != TOUCHING:
                return kind
        if not (segment_meets(d, e, one) or segment_meets(b, c, two)):
            return APART
        return CROSSING if first * second < 0 and third * fourth < 0 else TOUCHING
    return COPLANAR


@helper
def intersection_of(one: Triangle, two: Triangle) -> tuple[Vector, Vector]:
    """Return the ends of the segment that two triangles in different planes share; NaN if they do not have one.

    Which corners and edges end it is decided exactly; the coordinates are rounded, those of corners are exact.
    """
    nowhere = (np.nan, np.nan, np.nan)
    sides, others = _sides(two, one), _sides(one, two)
    if _is_one_side(sides) or _is_one_side(others) or _is_flat(sides) or _is_flat(others):
        return nowhere, nowhere
    p, q, r, u, v, w = arranged(one, two, sides, others)
    if plane_side(p, q, u, v) > 0 or plane_side(p, r, u, w) < 0:
        return nowhere, nowhere
    # Along the line: one covers from p r to p q, two covers from u v to u w.
    start = _meeting_point(p, r, two) if plane_side(p, r, u, v) <= 0 else _meeting_point(u, v, one)
    end = _meeting_point(p, q, two) if plane_side(p, q, u, w) >= 0 else _meeting_point(u, w, one)
    return start, end


@helper
def segment_meets(a: Vector, b: Vector, triangle: Triangle) -> bool:
    """Return whether the segment from a to b and a triangle with an interior share a point. Exact."""
    p, q, r = triangle
    first, second = plane_side(p, q, r, a), plane_side(p, q, r, b)
    if first * second > 0:
        return False
    if first == 0 and second == 0:
        return _flat_meet((a, b, b), triangle, normal_axis(p, q, r))
    one, two, three = plane_side(a, b, p, q), plane_side(a, b, q, r), plane_side(a, b, r, p)
    return (one >= 0 and two >= 0 and three >= 0) or (one <= 0 and two <= 0 and three <= 0)


@helper
def normal_axis(a: Vector, b: Vector, c: Vector) -> int:
    """Return an axis along which a triangle is seen with an area, the best one if possible; 3 if it has no interior."""
    normal = cross(subtract(b, a), subtract(c, a))
    axis = 0
    if abs(normal[1]) > abs(normal[0]):
        axis = 1
    if abs(normal[2]) > abs(normal[axis]):
        axis = 2
    for _ in range(3):
        if line_side(seen(a, axis), seen(b, axis), seen(c, axis)) != 0:
            return axis
        axis = (axis + 1) % 3
    return 3


@helper
def seen(point: Vector, axis: int) -> Flat:
    """Return a point as it is seen along an axis."""
    if axis == 0:
        return point[1], point[2]
    return (point[2], point[0]) if axis == 1 else (point[0], point[1])


# Sides


@helper
def _sides(plane: Triangle, corners: Triangle) -> Signs:
    a, b, c = plane
    return plane_side(a, b, c, corners[0]), plane_side(a, b, c, corners[1]), plane_side(a, b, c, corners[2])


@helper
def _is_one_side(s: Signs) -> bool:
    return (s[0] > 0 and s[1] > 0 and s[2] > 0) or (s[0] < 0 and s[1] < 0 and s[2] < 0)


@helper
def _is_both_sides(s: Signs) -> bool:
    return (s[0] > 0 or s[1] > 0 or s[2] > 0) and (s[0] < 0 or s[1] < 0 or s[2] < 0)


@helper
def _is_flat(s: Signs) -> bool:
    return s[0] == 0 and s[1] == 0 and s[2] == 0


@helper
def _apex(s: Signs) -> tuple[int, bool]:
    """Return the corner that is alone on its side of a plane, and whether that side is the front.

    The two edges at it meet the plane. Corners in the plane count for whichever side leaves one alone.
    """
    front = (s[0] > 0) + (s[1] > 0) + (s[2] > 0)
    behind = (s[0] < 0) + (s[1] < 0) + (s[2] < 0)
    if front == 1:
        sign, is_front = 1, True
    elif behind == 1:
        sign, is_front = -1, False
    else:
        sign, is_front = 0, behind == 2
    if s[0] == sign:
        return 0, is_front
    return (1 if s[1] == sign else 2), is_front


@helper
def arranged(
    one: Triangle, two: Triangle, sides: Signs, others: Signs
) -> tuple[Vector, Vector, Vector, Vector, Vector, Vector]:
    """Return the corners of both triangles, each apex first and in front of the other plane; orders may be swapped."""
    i, is_front = _apex(sides)
    j, is_other_front = _apex(others)
    p, q, r = one[i], one[(i + 1) % 3], one[(i + 2) % 3]
    u, v, w = two[j], two[(j + 1) % 3], two[(j + 2) % 3]
    if not is_front:
        v, w = w, v
    if not is_other_front:
        q, r = r, q
    return p, q, r, u, v, w


@helper
def _meeting_point(a: Vector, b: Vector, plane: Triangle) -> Vector:
    """Return where the segment from a to b meets a plane, rounded."""
    origin = plane[0]
    normal = cross(subtract(plane[1], origin), subtract(plane[2], origin))
    start, end = dot(normal, subtract(a, origin)), dot(normal, subtract(b, origin))
    share = start / (start - end) if start != end else 0.0
    share = min(max(share, 0.0), 1.0)
    if share == 1.0:
        return b
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2])


# Triangles in one plane, and triangles without interior


@helper
def _flat_kind(one: Triangle, two: Triangle) -> int:
    axis, other_axis = normal_axis(one[0], one[1], one[2]), normal_axis(two[0], two[1], two[2])
    if axis < 3 and other_axis < 3:
        if not _flat_meet(one, two, axis):
            return APART
        return COPLANAR if _flat_overlap(one, two, axis) else TOUCHING
    # What has no interior is the longest of its edges, or a point.
    if axis < 3:
        a, b = _ends(two)
        return TOUCHING if segment_meets(a, b, one) else APART
    a, b = _ends(one)
    if other_axis < 3:
        return TOUCHING if segment_meets(a, b, two) else APART
    c, d = _ends(two)
    return TOUCHING if _segments_meet(a, b, c, d) else APART


@helper
def _ends(line: Triangle) -> tuple[Vector, Vector]:
    """Return the outermost two of three points on a line."""
    a, b, c = line
    for axis in range(3):
        low, high = min(a[axis], b[axis], c[axis]), max(a[axis], b[axis], c[axis])
        if low < high:
            first = a if a[axis] == low else (b if b[axis] == low else c)
            last = a if a[axis] == high else (b if b[axis] == high else c)
            return first, last
    return a, a


@helper
def _segments_meet(a: Vector, b: Vector, c: Vector, d: Vector) -> bool:
    if plane_side(a, b, c, d) != 0:
        return False
    for p, q, r in ((a, b, c), (a, b, d), (c, d, a), (c, d, b)):
        axis = normal_axis(p, q, r)
        if axis < 3:
            return _flat_meet((a, b, b), (c, d, d), axis)
    for axis in range(3):  # all on one line
        if max(a[axis], b[axis]) < min(c[axis], d[axis]) or max(c[axis], d[axis]) < min(a[axis], b[axis]):
            return False
    return True


@helper
def _flat_meet(one: Triangle, two: Triangle, axis: int) -> bool:
    """Return whether two triangles or segments in one plane share a point: no line of an edge separates them."""
    return not (_is_separated(one, two, axis, 1) or _is_separated(two, one, axis, 1))


@helper
def _flat_overlap(one: Triangle, two: Triangle, axis: int) -> bool:
    """Return whether the interiors of two triangles in one plane share a point."""
    return not (_is_separated(one, two, axis, 0) or _is_separated(two, one, axis, 0))


@helper
def _is_separated(one: Triangle, two: Triangle, axis: int, least: int) -> bool:
    """Return whether the line of an edge of ``one`` has all of ``two`` on the far side; by 1 or, with 0, on it too."""
    for k in range(3):
        a, b, c = seen(one[k], axis), seen(one[(k + 1) % 3], axis), seen(one[(k + 2) % 3], axis)
        if a == b:
            continue
        own = line_side(a, b, c)
        first, second = line_side(a, b, seen(two[0], axis)), line_side(a, b, seen(two[1], axis))
        third = line_side(a, b, seen(two[2], axis))
        if own <= 0 and first >= least and second >= least and third >= least:
            return True
        if own >= 0 and first <= -least and second <= -least and third <= -least:
            return True
    return False


@helper
def _flat_edge_side(a: Vector, b: Vector, point: Vector) -> int:
    """Return a number that is equal for points on one side of the line a b, and different for points on the other.

    For points of one plane through the line; 0 on the line.
    """
    for axis in range(3):
        side = line_side(seen(a, axis), seen(b, axis), seen(point, axis))
        if side != 0:
            return side * (axis + 1)
    return 0

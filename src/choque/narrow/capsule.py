"""Contact rules of capsules with capsules, tiles and planes."""

from __future__ import annotations

import math
from typing import TypeAlias

from choque._core.kernel import helper, inline
from choque._core.vector import Vector, along, cross, dot, scaled
from choque.narrow.pair import NEAR, Manifold, Pose, apart, clamp, offset, to_world, touching


@inline
def capsule_capsule(a: Pose, b: Pose) -> Manifold:
    """Two capsules touch where their axes, two segments, are closer than the sum of their radii.

    See `closest_on_axis` for the distance. Parallel capsules touch in the middle of the segment they share. Axes that
    intersect (`NEAR`) are separated along their common perpendicular, to the side on which the second capsule is; if
    they are parallel as well, along the local x axis of the first. The depth is then what separates the capsules along
    that direction.
    """
    radius = a.size[0]
    reach = radius + b.size[0]
    half_a, half_b = 0.5 * a.size[1], 0.5 * b.size[1]
    between = offset(a, b)
    square, outer = dot(between, between), reach + half_a + half_b
    if not square < outer * outer:
        return apart()
    axis_a, axis_b = a.z_axis, b.z_axis
    cosine, along_a, along_b = dot(axis_a, axis_b), dot(between, axis_a), dot(between, axis_b)
    scale = half_a + half_b + math.sqrt(square)
    place_a, shared = closest_on_axis(half_a, half_b, along_a, along_b, cosine, a.flat * scale)
    place_b = clamp(place_a * cosine - along_b, half_b)
    gap = along(along(between, axis_b, place_b), axis_a, -place_a)
    square = dot(gap, gap)
    if not square < reach * reach:
        return apart()
    distance = math.sqrt(square)
    if distance > NEAR * scale:
        direction = scaled(gap, 1.0 / distance)
        lean = dot(axis_a, direction)
    else:
        direction = _perpendicular(axis_a, axis_b, a.x_axis)
        if dot(gap, direction) < 0.0:
            direction = scaled(direction, -1.0)
        lean = dot(axis_a, direction)
        distance = dot(between, direction) - half_a * abs(lean) - half_b * abs(dot(axis_b, direction))
        place_a = half_a if lean > 0.0 else -half_a
    overlap = reach - distance
    if not overlap > 0.0:
        return apart()
    return touching(a, scaled(axis_a, shared), direction, radius + (place_a - shared) * lean, overlap)


@inline
def capsule_tile(a: Pose, b: Pose) -> Manifold:
    """A capsule touches a tile where its axis, a segment, is closer to the rectangle than its radius.

    See `closest_to_rectangle` for the distance and `way_out` for axes that pierce the rectangle. A capsule that lies
    flat on a tile touches it in the middle of the segment they share.
    """
    radius, half = a.size[0], 0.5 * a.size[1]
    length, width = 0.5 * b.size[0], 0.5 * b.size[1]
    between, axis = offset(b, a), a.z_axis
    height, rise = dot(between, b.y_axis), dot(axis, b.y_axis)
    if not abs(height) - half * abs(rise) < radius:
        return apart()
    middle = (dot(between, b.x_axis), height, dot(between, b.z_axis))
    course = (dot(axis, b.x_axis), rise, dot(axis, b.z_axis))
    scale = half + length + width + math.sqrt(dot(between, between))
    place, shared = closest_to_rectangle(middle, course, half, length, width, a.flat * scale)
    x, y, z = along(middle, course, place)
    gap = (clamp(x, length) - x, -y, clamp(z, width) - z)
    square = dot(gap, gap)
    if not square < radius * radius:
        return apart()
    distance = math.sqrt(square)
    if distance > NEAR * scale:
        local = scaled(gap, 1.0 / distance)
    else:
        local, distance, shared = way_out(middle, course, half, length, width, shared, a.flat * scale)
        place = half if dot(course, local) > 0.0 else -half
    overlap = radius - distance
    if not overlap > 0.0:
        return apart()
    surface = radius + (place - shared) * dot(course, local)
    return touching(a, scaled(axis, shared), to_world(b, local), surface, overlap)


@inline
def capsule_plane(a: Pose, b: Pose) -> Manifold:
    """A capsule touches the half-space below a plane where its lower end is lower than its radius, at any depth.

    The contact is under the lower end, or under the middle when both ends are equally low (`Pose.flat`).
    """
    radius, half = a.size[0], 0.5 * a.size[1]
    up, axis = b.y_axis, a.z_axis
    rise = dot(axis, up)
    lower = half * abs(rise)
    overlap = radius + lower + dot(offset(a, b), up)
    if not overlap > 0.0:
        return apart()
    place = 0.0
    if abs(rise) > a.flat:
        place = -half if rise > 0.0 else half
    return touching(a, scaled(axis, place), (-up[0], -up[1], -up[2]), radius + lower + place * rise, overlap)


# Distances of segments


Interval: TypeAlias = tuple[float, float, float, float, float, float]
"""An interval of places along a segment that contains the minimum of a convex function.

Its left end and the slope there, its right end and the slope there, and from where to where the function is flat. Half
the slope of a squared distance rises linearly between a few known places. The sign of the slope at each of them tells
on which side the minimum lies; in the interval that remains the slope is linear.
"""


@helper
def whole(half: float, left_slope: float, right_slope: float, tolerance: float) -> Interval:
    """Return the interval from −``half`` to ``half``."""
    flat_from, flat_to = math.inf, -math.inf
    if abs(left_slope) <= tolerance:
        flat_from, flat_to = -half, -half
    if abs(right_slope) <= tolerance:
        flat_from, flat_to = min(flat_from, half), half
    return -half, left_slope, half, right_slope, flat_from, flat_to


@helper
def narrowed(interval: Interval, place: float, slope: float, tolerance: float) -> Interval:
    """Narrow the interval by the slope at a ``place`` of the segment."""
    left, left_slope, right, right_slope, flat_from, flat_to = interval
    if slope < 0.0 and place > left:
        left, left_slope = place, slope
    elif slope >= 0.0 and place < right:
        right, right_slope = place, slope
    if abs(slope) <= tolerance:
        flat_from, flat_to = min(flat_from, place), max(flat_to, place)
    return left, left_slope, right, right_slope, flat_from, flat_to


@helper
def lowest(interval: Interval) -> tuple[float, float]:
    """Return where the function is least, and the middle of where it is flat; the same place if it is not flat."""
    left, left_slope, right, right_slope, flat_from, flat_to = interval
    if left_slope >= 0.0:
        place = left
    elif right_slope <= 0.0:
        place = right
    else:
        place = left - left_slope * (right - left) / (right_slope - left_slope)
    return place, 0.5 * (flat_from + flat_to) if flat_from < flat_to else place


@helper
def _perpendicular(axis_a: Vector, axis_b: Vector, otherwise: Vector) -> Vector:
    """Return the unit vector perpendicular to both axes, or ``otherwise`` if they are parallel."""
    across = cross(axis_a, axis_b)
    sine = math.sqrt(dot(across, across))
    return scaled(across, 1.0 / sine) if sine > NEAR else otherwise


@helper
def closest_on_axis(
    half_a: float, half_b: float, along_a: float, along_b: float, cosine: float, tolerance: float
) -> tuple[float, float]:
    """Return where on its axis, from the middle, the first of two segments is closest to the second and touches it.

    Both are given by half their lengths, by the offset of the second's middle from the first's along each direction,
    and by the cosine between the directions. The squared distance from a place s of the first segment to the second one
    is convex in s. Half its slope, s − ``along_a`` − t(s)·``cosine`` with t(s) the projection clamped to the second
    segment, rises linearly in at most three pieces. So two corners and two ends decide in which piece it is zero.
    Parallel, crossing, collinear and zero-length segments need no special cases. Where the slope is at most
    ``tolerance`` over an interval, the segments touch in its middle.
    """
    interval = whole(
        half_a,
        -half_a - along_a - clamp(-half_a * cosine - along_b, half_b) * cosine,
        half_a - along_a - clamp(half_a * cosine - along_b, half_b) * cosine,
        tolerance,
    )
    if cosine != 0.0:
        for end in (-half_b, half_b):
            place = (end + along_b) / cosine
            if -half_a < place < half_a:
                interval = narrowed(interval, place, place - along_a - end * cosine, tolerance)
    return lowest(interval)


@helper
def closest_to_rectangle(
    middle: Vector, course: Vector, half: float, length: float, width: float, tolerance: float
) -> tuple[float, float]:
    """Return where a segment is closest to the rectangle |x| ≤ ``length``, y = 0, |z| ≤ ``width``, and touches it.

    The segment is given by its ``middle``, the unit vector ``course`` and ``half`` its length; places on it are
    measured from the middle. The squared distance from the rectangle is convex along it, and half its slope rises
    linearly between the places where the segment passes x = ±``length`` and z = ±``width``. The sign of the slope at
    these four places and the two ends tells on which side the minimum lies; in the interval that remains the slope is
    linear. Parallel, piercing and zero-length segments need no special cases. Where the slope is at most ``tolerance``
    over an interval, the two touch in its middle.
    """
    interval = whole(
        half, _slope(-half, middle, course, length, width), _slope(half, middle, course, length, width), tolerance
    )
    for side in range(4):
        if side < 2:
            way, speed = (length if side == 0 else -length) - middle[0], course[0]
        else:
            way, speed = (width if side == 2 else -width) - middle[2], course[2]
        if speed == 0.0:
            continue
        place = way / speed
        if -half < place < half:
            interval = narrowed(interval, place, _slope(place, middle, course, length, width), tolerance)
    return lowest(interval)


@helper
def _slope(place: float, middle: Vector, course: Vector, length: float, width: float) -> float:
    """Return half the slope of the squared distance from the rectangle, at a place of the segment."""
    x, y, z = along(middle, course, place)
    return (x - clamp(x, length)) * course[0] + y * course[1] + (z - clamp(z, width)) * course[2]


@helper
def way_out(
    middle: Vector, course: Vector, half: float, length: float, width: float, place: float, tolerance: float
) -> tuple[Vector, float, float]:
    """Return the shortest separation of a segment from a rectangle that it pierces: normal, signed distance, place.

    The offsets at which the two intersect form a parallelepiped, spanned by the sides and the segment. Its faces are
    normal to the tile, or to one pair of sides and the segment. The nearest face is the shortest way out, and a radius
    around the segment moves all faces outward alike. So moving the tile along the normal by radius − distance separates
    the bodies, and no shorter move does. Of equal ways the tile's normal comes first; a middle on the tile itself
    counts as above. The place is where the axis reaches deepest along the normal; where all of it does, beside the edge
    it leaves by.
    """
    x, y, z = middle
    run, rise, drift = course
    sign = 1.0 if y < 0.0 else -1.0
    normal = (0.0, sign, 0.0)
    distance = abs(y) - half * abs(rise)
    if half * abs(rise) > tolerance:
        place = half if sign * rise > 0.0 else -half
    gap, up, out, beside = _past_edge(y, z, rise, drift, width)
    if gap > distance:
        normal, distance, place = (0.0, up, out), gap, beside
    gap, up, out, beside = _past_edge(y, x, rise, run, length)
    if gap > distance:
        normal, distance, place = (out, up, 0.0), gap, beside
    return normal, distance, clamp(place, half)


@helper
def _past_edge(y: float, out: float, rise: float, drift: float, limit: float) -> tuple[float, float, float, float]:
    """Return the separation past one of two parallel edges at ±``limit``: signed distance, normal (2), place.

    In the plane across the edges, the segment is on the line from (``y``, ``out``) along (``rise``, ``drift``); its
    perpendicular separates it from the nearer edge. A segment parallel to the edges has no such separation.
    """
    steep = math.sqrt(rise * rise + drift * drift)
    if not steep > NEAR:
        return -math.inf, 0.0, 0.0, 0.0
    normal_y, normal_out = -drift / steep, rise / steep
    across = y * normal_y + out * normal_out
    if across >= 0.0:
        normal_y, normal_out, across = -normal_y, -normal_out, -across
    edge = -limit if normal_out > 0.0 else limit
    place = ((edge - out) * drift - y * rise) / (steep * steep)
    return -across - limit * abs(normal_out), normal_y, normal_out, place

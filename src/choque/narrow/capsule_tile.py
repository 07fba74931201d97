"""Capsule against tile."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Index, Pairs
from choque._core.vector import Vector, along, dot, scaled
from choque.narrow._closeness import FLAT, FLAT_SINGLE, NEAR
from choque.narrow._convex_slope import lowest, narrowed, whole
from choque.narrow._poses import axis_of, held, offset, to_world, write_contact


@kernel
def capsule_tile(
    rows: Pairs,
    position: Floats,
    rotation: Floats,
    size: Floats,
    hit: NDArray[np.uint8],
    point: Floats,
    normal: Floats,
    depth: Floats,
    first: Index,
    last: Index,
) -> None:
    """A capsule touches a tile where its axis, a segment, is closer to the rectangle than its radius.

    See `closest_place` for the distance and `parting` for axes that pierce the rectangle. A capsule that lies flat on a
    tile touches it in the middle of the stretch they share.
    """
    flat = FLAT_SINGLE if position.itemsize == 4 else FLAT
    for pair in range(first, last):
        a, b = rows[pair, 0], rows[pair, 1]
        radius, half = np.float64(size[a, 0]), 0.5 * np.float64(size[a, 1])
        length, width = 0.5 * np.float64(size[b, 0]), 0.5 * np.float64(size[b, 1])
        between, axis = offset(position, b, a), axis_of(rotation, a, 2)
        x_axis, y_axis, z_axis = axis_of(rotation, b, 0), axis_of(rotation, b, 1), axis_of(rotation, b, 2)
        height, rise = dot(between, y_axis), dot(axis, y_axis)
        hit[pair] = 0
        if not abs(height) - half * abs(rise) < radius:
            continue
        middle = (dot(between, x_axis), height, dot(between, z_axis))
        course = (dot(axis, x_axis), rise, dot(axis, z_axis))
        scale = half + length + width + math.sqrt(dot(between, between))
        place, shared = closest_place(middle, course, half, length, width, flat * scale)
        x, y, z = along(middle, course, place)
        gap = (held(x, length) - x, -y, held(z, width) - z)
        square = dot(gap, gap)
        if not square < radius * radius:
            continue
        distance = math.sqrt(square)
        if distance > NEAR * scale:
            local = scaled(gap, 1.0 / distance)
        else:
            local, distance, shared = parting(middle, course, half, length, width, shared, flat * scale)
            place = half if dot(course, local) > 0.0 else -half
        overlap = radius - distance
        if overlap > 0.0:
            direction = to_world(rotation, b, local)
            on_axis, surface = scaled(axis, shared), radius + (place - shared) * dot(course, local)
            write_contact(position, a, on_axis, direction, surface, overlap, pair, hit, point, normal, depth)


@kernel
def closest_place(
    middle: Vector, course: Vector, half: float, length: float, width: float, tolerance: float
) -> tuple[float, float]:
    """Where a segment is closest to the rectangle |x| ≤ ``length``, y = 0, |z| ≤ ``width``, and where they touch.

    The segment is given by its ``middle``, the unit vector ``course`` and ``half`` its length, and places on it are
    counted from the middle. The squared distance from the rectangle is convex along it, and half its slope rises
    linearly between the places where the segment passes x = ±``length`` and z = ±``width``. Each of those four and the
    two ends tells by the sign of the slope on which side of it the minimum lies; between what remains the slope is
    linear. Parallel, piercing and zero-length segments are no special cases. Where the slope is at most ``tolerance``
    over a stretch, the two touch in its middle.
    """
    stretch = whole(
        half,
        _slope(-half, middle, course, length, width),
        _slope(half, middle, course, length, width),
        tolerance,
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
            stretch = narrowed(stretch, place, _slope(place, middle, course, length, width), tolerance)
    return lowest(stretch)


@kernel
def _slope(place: float, middle: Vector, course: Vector, length: float, width: float) -> float:
    """Half the slope of the squared distance from the rectangle, at a place of the segment."""
    x, y, z = along(middle, course, place)
    return (x - held(x, length)) * course[0] + y * course[1] + (z - held(z, width)) * course[2]


@kernel
def parting(
    middle: Vector, course: Vector, half: float, length: float, width: float, place: float, tolerance: float
) -> tuple[Vector, float, float]:
    """The shortest way to part a segment from a rectangle that it pierces: normal, signed distance, place.

    The offsets at which the two meet form a parallelepiped, spanned by the sides and the segment. Its faces are normal
    to the tile, or to one pair of sides and the segment: the nearest of them is the way out, and a radius around the
    segment moves all of them outward alike. So moving the tile along the normal by radius − distance parts the bodies,
    and no shorter move does. Of equal ways the tile's normal comes first; a middle on the tile itself counts as above.
    The place is where the axis reaches deepest along the normal; where all of it does, beside the edge it leaves by.
    """
    x, y, z = middle
    run, rise, drift = course
    sign = 1.0 if y < 0.0 else -1.0
    normal = (0.0, sign, 0.0)
    distance = abs(y) - half * abs(rise)
    if half * abs(rise) > tolerance:
        place = half if sign * rise > 0.0 else -half
    apart, up, out, beside = _past_edge(y, z, rise, drift, width)
    if apart > distance:
        normal, distance, place = (0.0, up, out), apart, beside
    apart, up, out, beside = _past_edge(y, x, rise, run, length)
    if apart > distance:
        normal, distance, place = (out, up, 0.0), apart, beside
    return normal, distance, held(place, half)


@kernel
def _past_edge(y: float, out: float, rise: float, drift: float, limit: float) -> tuple[float, float, float, float]:
    """The way past one of two parallel edges at ±``limit``, seen along them: signed distance, normal (2), place.

    The line from (``y``, ``out``) along (``rise``, ``drift``) is a segment seen that way; its perpendicular parts it
    from the nearer edge. A segment along the edges has no such way.
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

"""Capsule against capsule."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Index, Pairs
from choque._core.vector import Vector, along, cross, dot, scaled
from choque.narrow._closeness import FLAT, FLAT_SINGLE, NEAR
from choque.narrow._convex_slope import lowest, narrowed, whole
from choque.narrow._poses import axis_of, held, offset, write_contact


@kernel
def capsule_capsule(
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
    """Capsules are in contact where their axes, two segments, are closer than the sum of their radii.

    See `closest_place` for the distance. Parallel capsules touch in the middle of the stretch they share. Axes that
    meet (`NEAR`) part along their common perpendicular, to the side on which the second capsule is; if they are
    parallel as well, along the local x of the first. The depth is then what parts the capsules along that direction.
    """
    flat = FLAT_SINGLE if position.itemsize == 4 else FLAT
    for pair in range(first, last):
        a, b = rows[pair, 0], rows[pair, 1]
        radius = np.float64(size[a, 0])
        reach = radius + np.float64(size[b, 0])
        half_a, half_b = 0.5 * np.float64(size[a, 1]), 0.5 * np.float64(size[b, 1])
        between = offset(position, a, b)
        square, outer = dot(between, between), reach + half_a + half_b
        hit[pair] = 0
        if not square < outer * outer:
            continue
        axis_a, axis_b = axis_of(rotation, a, 2), axis_of(rotation, b, 2)
        cosine, along_a, along_b = dot(axis_a, axis_b), dot(between, axis_a), dot(between, axis_b)
        scale = half_a + half_b + math.sqrt(square)
        place_a, shared = closest_place(half_a, half_b, along_a, along_b, cosine, flat * scale)
        place_b = held(place_a * cosine - along_b, half_b)
        gap = along(along(between, axis_b, place_b), axis_a, -place_a)
        square = dot(gap, gap)
        if not square < reach * reach:
            continue
        distance = math.sqrt(square)
        if distance > NEAR * scale:
            direction = scaled(gap, 1.0 / distance)
            lean = dot(axis_a, direction)
        else:
            direction = _perpendicular(axis_a, axis_b, axis_of(rotation, a, 0))
            if dot(gap, direction) < 0.0:
                direction = scaled(direction, -1.0)
            lean = dot(axis_a, direction)
            distance = dot(between, direction) - half_a * abs(lean) - half_b * abs(dot(axis_b, direction))
            place_a = half_a if lean > 0.0 else -half_a
        overlap = reach - distance
        if overlap > 0.0:
            on_axis, surface = scaled(axis_a, shared), radius + (place_a - shared) * lean
            write_contact(position, a, on_axis, direction, surface, overlap, pair, hit, point, normal, depth)


@kernel
def _perpendicular(axis_a: Vector, axis_b: Vector, otherwise: Vector) -> Vector:
    """Of unit length and perpendicular to both axes; ``otherwise`` if they are parallel."""
    across = cross(axis_a, axis_b)
    sine = math.sqrt(dot(across, across))
    return scaled(across, 1.0 / sine) if sine > NEAR else otherwise


@kernel
def closest_place(
    half_a: float, half_b: float, along_a: float, along_b: float, cosine: float, tolerance: float
) -> tuple[float, float]:
    """Where on its axis, from the middle, the first of two segments is closest to the second, and where they touch.

    Both are given by half their lengths, by the offset of the second's middle from the first's along either direction,
    and by the cosine between the directions. The squared distance from a place s of the first segment to the second one
    is convex in s, and half its slope, s − ``along_a`` − t(s)·``cosine`` with t(s) the projection held between the ends
    of the second, rises linearly in at most three pieces. So two corners and two ends decide between which of them it
    is zero, and there it is linear. Parallel, crossing, collinear and zero-length segments are no special cases.
    Where the slope is at most ``tolerance`` over a stretch, segments touch in its middle.
    """
    stretch = whole(
        half_a,
        -half_a - along_a - held(-half_a * cosine - along_b, half_b) * cosine,
        half_a - along_a - held(half_a * cosine - along_b, half_b) * cosine,
        tolerance,
    )
    if cosine != 0.0:
        for end in (-half_b, half_b):
            place = (end + along_b) / cosine
            if -half_a < place < half_a:
                stretch = narrowed(stretch, place, place - along_a - end * cosine, tolerance)
    return lowest(stretch)

"""Manifolds of spheres with spheres, capsules, tiles and boxes, and of two capsules: closest points in closed form."""

from __future__ import annotations

import math
from typing import Any

from choque._core.kernel import helper, kernel
from choque._core.types import Integer, Rows
from choque._core.vector import Vector, add, along, dot, scaled, subtract
from choque.narrow.capsule import closest_on_axis
from choque.narrow.manifolds.solids import BOX, PosedSolids, Scratch, axis_of, center, put_point, toward, within
from choque.narrow.pair import ContactArrays, clamp
from choque.narrow.shapes import CAPSULE, PLANE, SPHERE, TILE

ALIGNED = 0.996  # cosine of the angle below which two capsules touch along a stretch, in two points: 5 degrees


@kernel
def round_manifolds(
    first: int, last: int, rows: Rows, solids: PosedSolids, found: ContactArrays, _scratch: Scratch
) -> None:
    """Write the manifolds of the pairs ``rows[first:last]``, of which one at least is a sphere or both are capsules.

    Where solids are apart, ``separations[pair, 0]`` is their distance, and there is no point.
    """
    kind, _, pose, size, near = solids
    pairs, normal, _, separations, _, point_count = found
    for place in range(first, last):
        pair = rows[place]
        a, b = pairs[pair, 0], pairs[pair, 1]
        if kind[a] == CAPSULE and kind[b] == CAPSULE:
            _capsules(a, b, pair, solids, found)
            continue
        sign = 1.0
        if kind[a] != SPHERE:
            a, b, sign = b, a, -1.0
        away, gap = sphere_gap(kind, pose, size, a, b)
        separations[pair, 0] = gap
        point_count[pair] = 0
        if gap < near[a] + near[b]:
            point_count[pair] = 1
            for axis in range(3):
                normal[pair, axis] = sign * away[axis]
            reach = size[a, 0] if sign > 0 else size[a, 0] + gap
            put_point(found, pair, 0, along(center(pose, a), away, reach), gap, 0)


@helper
def sphere_gap(kind: Any, pose: Any, size: Any, a: Integer, b: Integer) -> tuple[Vector, float]:
    """Return the unit vector from sphere ``a`` to solid ``b``, and their signed distance.

    ``b`` is a sphere, capsule, plane, tile or box. Where centres coincide, the second solid is above.
    """
    between = subtract(center(pose, b), center(pose, a))
    if kind[b] == PLANE:
        down = scaled(axis_of(pose, b, 1), -1.0)
        return down, dot(between, down) - size[a, 0]
    if kind[b] == SPHERE or kind[b] == CAPSULE:
        if kind[b] == CAPSULE:
            axis = axis_of(pose, b, 2)
            between = along(between, axis, clamp(-dot(between, axis), 0.5 * size[b, 1]))
        distance = math.sqrt(dot(between, between))
        away = scaled(between, 1.0 / distance) if distance > 0 else (0.0, 1.0, 0.0)
        return away, distance - size[a, 0] - size[b, 0]
    local = within(pose, b, between)  # from the centre of the sphere to that of the solid
    if kind[b] == TILE:
        half = (0.5 * size[b, 0], 0.0, 0.5 * size[b, 1])
    else:
        half = (size[b, 0], size[b, 1], size[b, 2])
    x, y, z = (
        local[0] - clamp(local[0], half[0]),
        local[1] - clamp(local[1], half[1]),
        local[2] - clamp(local[2], half[2]),
    )
    distance = math.sqrt(x * x + y * y + z * z)
    if distance > 0:
        return toward(pose, b, (x / distance, y / distance, z / distance)), distance - size[a, 0]
    if kind[b] != BOX:
        return toward(pose, b, (0.0, -1.0, 0.0)), -size[a, 0]
    out_x, out_y, out_z = half[0] - abs(local[0]), half[1] - abs(local[1]), half[2] - abs(local[2])
    if out_x <= out_y and out_x <= out_z:
        return toward(pose, b, (math.copysign(1.0, local[0]), 0.0, 0.0)), -out_x - size[a, 0]
    if out_y <= out_z:
        return toward(pose, b, (0.0, math.copysign(1.0, local[1]), 0.0)), -out_y - size[a, 0]
    return toward(pose, b, (0.0, 0.0, math.copysign(1.0, local[2]))), -out_z - size[a, 0]


@helper
def _capsules(a: Integer, b: Integer, pair: Integer, solids: PosedSolids, found: ContactArrays) -> None:
    """Write one point for capsules that cross, two for those that lie along each other."""
    _, _, pose, size, near = solids
    margin = near[a] + near[b]
    between = subtract(center(pose, b), center(pose, a))
    axis_a, axis_b = axis_of(pose, a, 2), axis_of(pose, b, 2)
    half_a, half_b = 0.5 * size[a, 1], 0.5 * size[b, 1]
    cosine, along_a, along_b = dot(axis_a, axis_b), dot(between, axis_a), dot(between, axis_b)
    place_a, _ = closest_on_axis(half_a, half_b, along_a, along_b, cosine, 0.0)
    place_b = clamp(place_a * cosine - along_b, half_b)
    gap = along(along(between, axis_b, place_b), axis_a, -place_a)
    distance = math.sqrt(dot(gap, gap))
    reach = size[a, 0] + size[b, 0]
    found.separations[pair, 0] = distance - reach
    found.point_count[pair] = 0
    if distance - reach >= margin:
        return
    away = scaled(gap, 1.0 / distance) if distance > 1e-9 * reach else axis_of(pose, a, 0)
    for axis in range(3):
        found.normal[pair, axis] = away[axis]
    count = 0
    if abs(cosine) > ALIGNED:
        # Both ends of the stretch of axis A that lies beside axis B, each with the distance there.
        low, high = along_a - half_b * abs(cosine), along_a + half_b * abs(cosine)
        low, high = max(low, -half_a), min(high, half_a)
        if high - low > 0.1 * size[a, 0]:
            for end in range(2):
                place = low if end == 0 else high
                other = clamp((place - along_a) / cosine, half_b)
                way = dot(along(along(between, axis_b, other), axis_a, -place), away) - reach
                if way < margin:
                    point = add(center(pose, a), along(scaled(axis_a, place), away, size[a, 0]))
                    put_point(found, pair, count, point, way, 1 + end)
                    count += 1
    if count == 0:
        point = add(center(pose, a), along(scaled(axis_a, place_a), away, size[a, 0]))
        put_point(found, pair, 0, point, distance - reach, 0)
        count = 1
    found.point_count[pair] = count

"""Contact rules of the Fingsics engine for spheres with spheres, capsules and tiles."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from choque._core.kernel import inline, kernel
from choque.narrow.pair import Manifold, Pose
from choque.theses.fingsics.order import text_key
from choque.theses.fingsics.vectors import (
    HALF,
    ONE,
    ZERO,
    Touch,
    Vector,
    apart,
    cross,
    dot,
    length,
    length_squared,
    minus,
    opposite,
    over,
    plus,
    single,
    square,
    times,
    to_manifold,
    unit,
)

Capsule: TypeAlias = tuple[Vector, Vector, Any, Any]
"""Centre, direction of the axis, radius, length of the cylinder."""

Tile: TypeAlias = tuple[Vector, Vector, Vector, Vector, Any, Any]
"""Centre, normal, direction of its length, direction of its width, length, width."""

ONE_AND_A_HALF = np.float32(1.5)


@kernel
def capsule_of(pose: Pose) -> Capsule:
    """Return the capsule in its pose."""
    return single(pose.position), single(pose.z_axis), np.float32(pose.size[0]), np.float32(pose.size[1])


@kernel
def tile_of(pose: Pose) -> Tile:
    """Return the tile in its pose."""
    x_axis, y_axis, z_axis = single(pose.x_axis), single(pose.y_axis), single(pose.z_axis)
    return single(pose.position), y_axis, x_axis, z_axis, np.float32(pose.size[0]), np.float32(pose.size[1])


@inline
def sphere_sphere(a: Pose, b: Pose) -> Manifold:
    """Return the contact of two spheres; the sphere whose number comes first as text is the first."""
    sign = ONE
    if text_key(b.row) < text_key(a.row):
        a, b, sign = b, a, -ONE
    touch = touch_spheres(single(a.position), np.float32(a.size[0]), single(b.position), np.float32(b.size[0]))
    return to_manifold(touch, sign)


@inline
def sphere_capsule(a: Pose, b: Pose) -> Manifold:
    """Return the contact of a sphere and a capsule."""
    return to_manifold(touch_sphere_capsule(single(a.position), np.float32(a.size[0]), capsule_of(b)), ONE)


@inline
def sphere_tile(a: Pose, b: Pose) -> Manifold:
    """Return the contact of a sphere and a tile."""
    return to_manifold(touch_sphere_tile(single(a.position), np.float32(a.size[0]), tile_of(b)), -ONE)


@kernel
def touch_spheres(center: Vector, radius: Any, other_center: Vector, other_radius: Any) -> Touch:
    """Strictly nearer than the sum of the radii; the point divides the centres' segment by the *other* radius."""
    toward = minus(other_center, center)
    distance = length(toward)
    reach = radius + other_radius
    if not distance < reach:
        return apart()
    point = plus(center, times(toward, other_radius / reach))
    normal = over(toward, distance) if distance > 0 else unit(toward)
    return True, point, normal, reach - distance


@kernel
def capsule_end(capsule: Capsule, side: Any) -> Vector:
    """Return the centre of the hemisphere at the end ``side``, +1 or −1."""
    center, direction, _, cylinder = capsule
    return plus(center, times(times(times(direction, cylinder), HALF), side))


@kernel
def touch_sphere_cylinder(center: Vector, radius: Any, capsule: Capsule) -> Touch:
    """Test the cylinder alone, if the sphere's centre projects inside it; the point is on the far side of the axis."""
    capsule_center, direction, capsule_radius, cylinder = capsule
    along = times(direction, dot(minus(center, capsule_center), direction) / dot(direction, direction))
    if not length_squared(along) < square(cylinder * HALF):
        return apart()
    projection = plus(capsule_center, along)
    outward = minus(center, projection)
    distance = length(outward)
    reach = radius + capsule_radius
    if not distance < reach:
        return apart()
    normal = unit(opposite(outward))
    return True, plus(projection, times(normal, capsule_radius)), normal, reach - distance


@kernel
def touch_sphere_capsule(center: Vector, radius: Any, capsule: Capsule) -> Touch:
    """Test the cylinder, the end at + and the end at −, in this order; the first that touches counts."""
    touch = touch_sphere_cylinder(center, radius, capsule)
    if not touch[0]:
        touch = touch_spheres(center, radius, capsule_end(capsule, ONE), capsule[2])
    if not touch[0]:
        touch = touch_spheres(center, radius, capsule_end(capsule, -ONE), capsule[2])
    return touch


@kernel
def edge_center(center: Vector, direction: Vector, extent: Any, side: Any) -> Vector:
    """Return the middle of the tile's edge that lies at the end ``side``, +1 or −1, of ``direction``."""
    return plus(center, times(times(times(direction, extent), HALF), side))


@kernel
def corner(tile: Tile, length_side: Any, width_side: Any) -> Vector:
    """Return the corner at the ends ``length_side`` and ``width_side``, +1 or −1 each."""
    return edge_center(edge_center(tile[0], tile[2], tile[4], length_side), tile[3], tile[5], width_side)


@kernel
def _touch_edge(center: Vector, radius: Any, middle: Vector, direction: Vector, extent: Any) -> Touch:
    """Sphere against an edge, if the sphere's centre projects inside it."""
    distance = length(cross(minus(middle, center), direction))
    if not distance < radius:
        return apart()
    projection = plus(middle, times(direction, dot(minus(center, middle), direction)))
    if not length_squared(minus(projection, middle)) < square(extent * HALF):
        return apart()
    return True, projection, unit(minus(center, projection)), radius - distance


@kernel
def touch_sphere_tile(center: Vector, radius: Any, tile: Tile) -> Touch:
    """Nine regions around the tile; the normal points from the tile to the sphere.

    The region is looked up, and the point of a contact with the face is put, half the depth off the plane, on the
    sphere's side.
    """
    middle, up, along, aside, extent, width = tile
    offset = minus(center, middle)
    height = dot(up, offset)
    distance = abs(height)
    if not distance < radius:
        return apart()
    normal = up if height > ZERO else opposite(up)
    foot = minus(center, times(normal, distance * ONE_AND_A_HALF - radius * HALF))
    within_width = length(cross(minus(middle, foot), along)) < width * HALF
    within_length = length(cross(minus(middle, foot), aside)) < extent * HALF
    if within_width and within_length:
        return True, foot, normal, radius - distance
    length_position = dot(offset, along)
    width_position = dot(offset, aside)
    if within_length:
        side = -ONE if width_position < ZERO else ONE
        return _touch_edge(center, radius, edge_center(middle, aside, width, side), along, extent)
    if within_width:
        side = -ONE if length_position < ZERO else ONE
        return _touch_edge(center, radius, edge_center(middle, along, extent, side), aside, width)
    tip = corner(tile, ONE if length_position > ZERO else -ONE, ONE if width_position > ZERO else -ONE)
    outward = minus(center, tip)
    gap = length(outward)
    if not gap < radius:
        return apart()
    return True, tip, over(outward, gap) if gap > ZERO else normal, radius - gap

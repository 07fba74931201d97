"""Contact rules of spheres with spheres, capsules, tiles and planes."""

from __future__ import annotations

import math

from choque._core.kernel import inline
from choque._core.vector import along, dot, scaled
from choque.narrow.pair import NEAR, Manifold, Pose, apart, clamp, offset, to_world, touching


@inline
def sphere_sphere(a: Pose, b: Pose) -> Manifold:
    """Two spheres touch where their centres are closer than the sum of their radii.

    Concentric spheres are separated along the y axis of the world: the second one moves up.
    """
    radius = a.size[0]
    reach = radius + b.size[0]
    gap = offset(a, b)
    square = dot(gap, gap)
    if not square < reach * reach:
        return apart()
    distance = math.sqrt(square)
    overlap = reach - distance
    if not overlap > 0.0:
        return apart()
    direction = scaled(gap, 1.0 / distance) if distance > 0.0 else (0.0, 1.0, 0.0)
    return touching(a, (0.0, 0.0, 0.0), direction, radius, overlap)


@inline
def sphere_capsule(a: Pose, b: Pose) -> Manifold:
    """A sphere touches a capsule where its centre is closer to the axis than the sum of the radii.

    The closest point of the axis is the projection of the centre, clamped to the segment. Where the centre lies on the
    axis (`NEAR`), the bodies are separated along the local x axis of the capsule, to the side on which the capsule is,
    or along +x if it is on neither.
    """
    radius, half = a.size[0], 0.5 * b.size[1]
    reach = radius + b.size[0]
    offset_ab = offset(a, b)
    axis = b.z_axis
    gap = along(offset_ab, axis, clamp(-dot(offset_ab, axis), half))
    square = dot(gap, gap)
    if not square < reach * reach:
        return apart()
    distance = math.sqrt(square)
    if distance > NEAR * (half + math.sqrt(dot(offset_ab, offset_ab))):
        direction = scaled(gap, 1.0 / distance)
    else:
        direction = b.x_axis
        distance = dot(gap, direction)
        if distance < 0.0:
            direction, distance = scaled(direction, -1.0), -distance
    overlap = reach - distance
    return touching(a, (0.0, 0.0, 0.0), direction, radius, overlap) if overlap > 0.0 else apart()


@inline
def sphere_tile(a: Pose, b: Pose) -> Manifold:
    """A sphere touches a tile where its centre is closer to the rectangle than its radius.

    In the frame of the tile the closest point is the centre, clamped to the sides on x and z and projected to y = 0.
    This covers all nine regions, the interior, four edges and four corners, from both faces. A sphere whose centre lies
    on the rectangle itself counts as above it, on the side of the tile's normal.
    """
    radius = a.size[0]
    down = offset(a, b)
    y = dot(down, b.y_axis)
    if not abs(y) < radius:
        return apart()
    x, z = dot(down, b.x_axis), dot(down, b.z_axis)
    x -= clamp(x, 0.5 * b.size[0])
    z -= clamp(z, 0.5 * b.size[1])
    square = x * x + y * y + z * z
    if not square < radius * radius:
        return apart()
    distance = math.sqrt(square)
    overlap = radius - distance
    if not overlap > 0.0:
        return apart()
    local = (x / distance, y / distance, z / distance) if distance > 0.0 else (0.0, -1.0, 0.0)
    return touching(a, (0.0, 0.0, 0.0), to_world(b, local), radius, overlap)


@inline
def sphere_plane(a: Pose, b: Pose) -> Manifold:
    """A sphere touches the half-space below a plane where its centre is lower than its radius, at any depth."""
    radius, up = a.size[0], b.y_axis
    overlap = radius + dot(offset(a, b), up)
    if not overlap > 0.0:
        return apart()
    return touching(a, (0.0, 0.0, 0.0), (-up[0], -up[1], -up[2]), radius, overlap)

"""Sphere against capsule by the rules of the original."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Index
from choque.theses.fingsics.sphere_sphere import touch_spheres
from choque.theses.fingsics.vectors import (
    HALF,
    ONE,
    Touch,
    Vector,
    apart,
    axis,
    dot,
    length,
    length_squared,
    minus,
    opposite,
    plus,
    square,
    times,
    unit,
    vector,
    write_touch,
)

Capsule: TypeAlias = tuple[Vector, Vector, Any, Any]
"""Centre, direction of the axis, radius, length of the cylinder."""


@kernel
def read_capsule(position: Any, rotation: Any, size: Any, row: Index) -> Capsule:
    """The capsule in row ``row`` of the bodies."""
    return vector(position, row), axis(rotation, row, 2), np.float32(size[row, 0]), np.float32(size[row, 1])


@kernel
def capsule_end(capsule: Capsule, side: Any) -> Vector:
    """The centre of the hemisphere at the end ``side``, +1 or −1."""
    center, direction, _, cylinder = capsule
    return plus(center, times(times(times(direction, cylinder), HALF), side))


@kernel
def touch_sphere_cylinder(center: Vector, radius: Any, capsule: Capsule) -> Touch:
    """The cylinder alone, if the sphere's centre projects inside it; the point lies on the far side of the axis."""
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
    """The cylinder, the end at +, the end at −: the first that touches."""
    touch = touch_sphere_cylinder(center, radius, capsule)
    if not touch[0]:
        touch = touch_spheres(center, radius, capsule_end(capsule, ONE), capsule[2])
    if not touch[0]:
        touch = touch_spheres(center, radius, capsule_end(capsule, -ONE), capsule[2])
    return touch


@kernel
def sphere_capsule(
    rows: Any,
    position: Any,
    rotation: Any,
    size: Any,
    hit: Any,
    point: Any,
    normal: Any,
    depth: Any,
    first: Index,
    last: Index,
) -> None:
    """Contacts of the pairs ``first`` to ``last − 1``."""
    for row in range(first, last):
        a, b = np.int64(rows[row, 0]), np.int64(rows[row, 1])
        capsule = read_capsule(position, rotation, size, b)
        touch = touch_sphere_capsule(vector(position, a), np.float32(size[a, 0]), capsule)
        write_touch(row, touch, ONE, hit, point, normal, depth)

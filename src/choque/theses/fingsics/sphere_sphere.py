"""Sphere against sphere by the rules of the original."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Index
from choque.theses.fingsics.order import text_key
from choque.theses.fingsics.vectors import (
    ONE,
    Touch,
    Vector,
    apart,
    length,
    minus,
    over,
    plus,
    times,
    unit,
    vector,
    write_touch,
)


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
def sphere_sphere(
    rows: Any,
    position: Any,
    rotation: Any,  # noqa: ARG001
    size: Any,
    hit: Any,
    point: Any,
    normal: Any,
    depth: Any,
    first: Index,
    last: Index,
) -> None:
    """Contacts of the pairs ``first`` to ``last - 1``; the sphere whose number reads first is the first."""
    for row in range(first, last):
        a, b = np.int64(rows[row, 0]), np.int64(rows[row, 1])
        sign = ONE
        if text_key(b) < text_key(a):
            a, b, sign = b, a, -ONE
        touch = touch_spheres(vector(position, a), np.float32(size[a, 0]), vector(position, b), np.float32(size[b, 0]))
        write_touch(row, touch, sign, hit, point, normal, depth)

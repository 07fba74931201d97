"""Sphere against capsule."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Index, Pairs
from choque._core.vector import along, dot, scaled
from choque.narrow._closeness import NEAR
from choque.narrow._poses import axis_of, held, offset, write_contact


@kernel
def sphere_capsule(
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
    """A sphere touches a capsule where its centre is closer to the axis than the sum of the radii.

    The closest point of the axis is the projection of the centre, held between the two ends. Where the centre lies on
    the axis (`NEAR`), the bodies part along the capsule's local x, to the side on which the capsule is; it goes along
    +x when it is on neither.
    """
    for pair in range(first, last):
        a, b = rows[pair, 0], rows[pair, 1]
        radius, half = np.float64(size[a, 0]), 0.5 * np.float64(size[b, 1])
        reach = radius + np.float64(size[b, 0])
        offset_ab = offset(position, a, b)
        axis = axis_of(rotation, b, 2)
        gap = along(offset_ab, axis, held(-dot(offset_ab, axis), half))
        square = dot(gap, gap)
        hit[pair] = 0
        if not square < reach * reach:
            continue
        distance = math.sqrt(square)
        if distance > NEAR * (half + math.sqrt(dot(offset_ab, offset_ab))):
            direction = scaled(gap, 1.0 / distance)
        else:
            direction = axis_of(rotation, b, 0)
            distance = dot(gap, direction)
            if distance < 0.0:
                direction, distance = scaled(direction, -1.0), -distance
        overlap = reach - distance
        if overlap > 0.0:
            write_contact(position, a, (0.0, 0.0, 0.0), direction, radius, overlap, pair, hit, point, normal, depth)

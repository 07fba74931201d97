"""Sphere against sphere."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Index, Pairs
from choque._core.vector import dot, scaled
from choque.narrow._poses import offset, write_contact


@kernel
def sphere_sphere(
    rows: Pairs,
    position: Floats,
    rotation: Floats,  # noqa: ARG001
    size: Floats,
    hit: NDArray[np.uint8],
    point: Floats,
    normal: Floats,
    depth: Floats,
    first: Index,
    last: Index,
) -> None:
    """Spheres are in contact where their centres are closer than the sum of their radii.

    Concentric spheres part along the world's y: the second one goes up.
    """
    for pair in range(first, last):
        a, b = rows[pair, 0], rows[pair, 1]
        radius = np.float64(size[a, 0])
        reach = radius + np.float64(size[b, 0])
        gap = offset(position, a, b)
        square = dot(gap, gap)
        hit[pair] = 0
        if not square < reach * reach:
            continue
        distance = math.sqrt(square)
        overlap = reach - distance
        if not overlap > 0.0:
            continue
        direction = scaled(gap, 1.0 / distance) if distance > 0.0 else (0.0, 1.0, 0.0)
        write_contact(position, a, (0.0, 0.0, 0.0), direction, radius, overlap, pair, hit, point, normal, depth)

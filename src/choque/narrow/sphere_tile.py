"""Sphere against tile."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Index, Pairs
from choque._core.vector import dot
from choque.narrow._poses import axis_of, held, offset, to_world, write_contact


@kernel
def sphere_tile(
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
    """A sphere touches a tile where its centre is closer to the rectangle than its radius.

    In the frame of the tile the closest point is the centre, held between the sides on x and z and put on y = 0: that
    is all nine regions, the interior, four edges and four corners, from both faces at once. A sphere whose centre lies
    on the rectangle itself counts as above it, on the side of the tile's normal.
    """
    for pair in range(first, last):
        a, b = rows[pair, 0], rows[pair, 1]
        radius = np.float64(size[a, 0])
        down = offset(position, a, b)
        y = dot(down, axis_of(rotation, b, 1))
        hit[pair] = 0
        if not abs(y) < radius:
            continue
        x, z = dot(down, axis_of(rotation, b, 0)), dot(down, axis_of(rotation, b, 2))
        x -= held(x, 0.5 * np.float64(size[b, 0]))
        z -= held(z, 0.5 * np.float64(size[b, 1]))
        square = x * x + y * y + z * z
        if not square < radius * radius:
            continue
        distance = math.sqrt(square)
        overlap = radius - distance
        if not overlap > 0.0:
            continue
        local = (x / distance, y / distance, z / distance) if distance > 0.0 else (0.0, -1.0, 0.0)
        direction = to_world(rotation, b, local)
        write_contact(position, a, (0.0, 0.0, 0.0), direction, radius, overlap, pair, hit, point, normal, depth)

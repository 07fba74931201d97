"""Sphere against the ground."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Index, Pairs
from choque._core.vector import dot
from choque.narrow._poses import axis_of, offset, write_contact


@kernel
def sphere_plane(
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
    """A sphere touches the half-space below a plane where its centre is lower than its radius, however deep."""
    for pair in range(first, last):
        a, b = rows[pair, 0], rows[pair, 1]
        radius = np.float64(size[a, 0])
        up = axis_of(rotation, b, 1)
        overlap = radius + dot(offset(position, a, b), up)
        hit[pair] = 0
        if overlap > 0.0:
            down = (-up[0], -up[1], -up[2])
            write_contact(position, a, (0.0, 0.0, 0.0), down, radius, overlap, pair, hit, point, normal, depth)

"""Capsule against the ground."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Floats, Index, Pairs
from choque._core.vector import dot, scaled
from choque.narrow._closeness import FLAT, FLAT_SINGLE
from choque.narrow._poses import axis_of, offset, write_contact


@kernel
def capsule_plane(
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
    """A capsule touches the half-space below a plane where its lower end is lower than its radius, however deep.

    The contact is under the lower end; under the middle when both ends are equally low (`FLAT`).
    """
    flat = FLAT_SINGLE if position.itemsize == 4 else FLAT
    for pair in range(first, last):
        a, b = rows[pair, 0], rows[pair, 1]
        radius, half = np.float64(size[a, 0]), 0.5 * np.float64(size[a, 1])
        up, axis = axis_of(rotation, b, 1), axis_of(rotation, a, 2)
        rise = dot(axis, up)
        lower = half * abs(rise)
        overlap = radius + lower + dot(offset(position, a, b), up)
        hit[pair] = 0
        if overlap > 0.0:
            place = 0.0
            if abs(rise) > flat:
                place = -half if rise > 0.0 else half
            on_axis, surface = scaled(axis, place), radius + lower + place * rise
            down = (-up[0], -up[1], -up[2])
            write_contact(position, a, on_axis, down, surface, overlap, pair, hit, point, normal, depth)

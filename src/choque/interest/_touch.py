"""When a body touches an area."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline, kernel

ROUNDING = 2.0**-49
"""More than all relative errors together of the two numbers that `touches` compares."""

TINY = 1e-300
"""More than what squares of lengths near 0 lose."""


@inline
def touches(dx: Any, dy: Any, dz: Any, reach: Any, is_box: bool) -> Any:
    """Whether an offset is within ``reach``, closed, by its length or by its greatest component, compared squared.

    A relative 2⁻⁴⁹ allows for rounding, so that no touch is missed. Only where lengths are below 1e-150 or above
    1e150 may more than the touching be found.
    """
    a, b, c = dx * dx, dy * dy, dz * dz
    squared = max(a, b, c) if is_box else a + b + c
    return squared <= reach * reach * (1 + ROUNDING) + TINY


@kernel
def half_edge(coordinate: float, radius: float) -> float:
    """Half an edge of a box that holds all of a sphere, and more than `touches` and rounding can add to it."""
    return radius * (1 + 2.0**-40) + 2.0**-50 * abs(coordinate) + 1e-140


@kernel
def pack_bodies(first: int, last: int, spheres: NDArray[np.float64], records: NDArray[np.float64]) -> None:
    """The records (n, 6) of boxes around ``spheres`` (n, 4); a point is a box of no size."""
    for i in range(first, last):
        for axis in range(3):
            center = spheres[i, axis]
            half = half_edge(center, spheres[i, 3]) if spheres[i, 3] > 0 else 0.0
            records[i, axis] = center - half
            records[i, axis + 3] = center + half

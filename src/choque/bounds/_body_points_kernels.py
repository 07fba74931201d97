"""The kernels that bound bodies by the points that they carry."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline, kernel
from choque._core.rounding import SMALLEST, add_up, length_up, multiply_up
from choque._core.types import Floats, Index, Rows

PLACING = 2.0**-46
"""More than all relative errors of scaling, turning, projecting and shifting a point, of its size and its place's."""

STORING = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 0.0}
"""More than the relative error of storing a float64 in each type."""

TINY = 2.0**-149
"""The least number above zero of float32, which is more than storing what is next to zero loses."""


@inline
def along_axes(turn: Any, scale: Any, x: float, y: float, z: float) -> Any:
    """S Rᵀ d for d = (x, y, z): its product with a point of a body says how far that point reaches along d."""
    u = scale[0] * (x * turn[0, 0] + y * turn[1, 0] + z * turn[2, 0])
    v = scale[1] * (x * turn[0, 1] + y * turn[1, 1] + z * turn[2, 1])
    w = scale[2] * (x * turn[0, 2] + y * turn[1, 2] + z * turn[2, 2])
    return u, v, w


@inline
def store_slab(lower: Any, upper: Any, body: Index, slab: Index, low: float, high: float, storing: float) -> None:
    """Write an interval so that the float type of the arrays, whose relative error is ``storing``, narrows nothing."""
    lower[body, slab] = low - storing * abs(low) - TINY
    upper[body, slab] = high + storing * abs(high) + TINY


@kernel
def fit_vertices(
    first: int,
    last: int,
    points: NDArray[np.float64],
    starts: Rows,
    directions: NDArray[np.float64],
    groups: Rows,
    position: Floats,
    rotation: Floats,
    scale: NDArray[np.float64],
    storing: float,
    lower: Floats,
    upper: Floats,
) -> None:
    """The extents of the bodies first … last − 1 along ``directions`` (k/2, 3), rounded outward."""
    most = 0
    for group in range(len(starts) - 1):
        most = max(most, starts[group + 1] - starts[group])
    turned = np.empty((most, 3))
    for body in range(first, last):
        turn = rotation[body]
        a, b, c = turn[0, 0] * scale[body, 0], turn[0, 1] * scale[body, 1], turn[0, 2] * scale[body, 2]
        d, e, f = turn[1, 0] * scale[body, 0], turn[1, 1] * scale[body, 1], turn[1, 2] * scale[body, 2]
        g, h, i = turn[2, 0] * scale[body, 0], turn[2, 1] * scale[body, 1], turn[2, 2] * scale[body, 2]
        carried = points[starts[groups[body]] : starts[groups[body] + 1]]
        size = 0.0
        for point in range(len(carried)):
            u, v, w = carried[point, 0], carried[point, 1], carried[point, 2]
            x, y, z = a * u + b * v + c * w, d * u + e * v + f * w, g * u + h * v + i * w
            turned[point, 0], turned[point, 1], turned[point, 2] = x, y, z
            size = max(size, abs(u) + abs(v) + abs(w))
        stretch = abs(a) + abs(b) + abs(c) + abs(d) + abs(e) + abs(f) + abs(g) + abs(h) + abs(i)
        x, y, z = np.float64(position[body, 0]), np.float64(position[body, 1]), np.float64(position[body, 2])
        slack = PLACING * (size * stretch + abs(x) + abs(y) + abs(z)) + SMALLEST
        for slab in range(len(directions)):
            p, q, r = directions[slab, 0], directions[slab, 1], directions[slab, 2]
            low, high = np.inf, -np.inf
            for point in range(len(carried)):
                reach = p * turned[point, 0] + q * turned[point, 1] + r * turned[point, 2]
                low = reach if reach < low else low  # unlike min, a choice is one instruction
                high = reach if reach > high else high
            middle = p * x + q * y + r * z
            store_slab(lower, upper, body, slab, middle + low - slack, middle + high + slack, storing)


@kernel
def farthest_points(
    points: NDArray[np.float64],
    starts: Rows,
    groups: Rows,
    position: Floats,  # noqa: ARG001
    rotation: Floats,
    scale: NDArray[np.float64],
    radius: NDArray[np.float64],
) -> None:
    """How far the farthest point of each body is from its position, rounded up."""
    offset = np.empty(3)
    columns = np.empty(3)
    for body in range(len(radius)):
        for axis in range(3):
            columns[axis] = 0.0
            for other in range(3):
                columns[axis] += abs(rotation[body, axis, other] * scale[body, other])
        farthest = 0.0
        size = 0.0
        for point in range(starts[groups[body]], starts[groups[body] + 1]):
            for axis in range(3):
                offset[axis] = 0.0
                for other in range(3):
                    offset[axis] += rotation[body, axis, other] * (scale[body, other] * points[point, other])
                size = max(size, abs(points[point, axis]))
            farthest = max(farthest, length_up(offset))
        radius[body] = add_up(farthest, PLACING * size * (columns[0] + columns[1] + columns[2]) + SMALLEST)


@kernel
def place_boxes(
    local_lower: Floats,
    local_upper: Floats,
    groups: Rows,
    position: Floats,
    rotation: Floats,
    scale: NDArray[np.float64],
    center: Floats,
    half: NDArray[np.float64],
    axes: Floats,
) -> None:
    """The box (lower, upper) of each body's group, scaled along body axes, turned and shifted; rounded outward."""
    middle = np.empty(3)
    for body in range(len(half)):
        size = longest = 0.0
        for axis in range(3):
            low = local_lower[groups[body], axis] * scale[body, axis]
            high = local_upper[groups[body], axis] * scale[body, axis]
            middle[axis] = 0.5 * low + 0.5 * high
            half[body, axis] = abs(0.5 * high - 0.5 * low)
            longest = max(longest, half[body, axis])
            size += abs(low) + abs(high)
        lost = 0.0
        for axis in range(3):
            exact = np.float64(position[body, axis])
            size += abs(exact)
            for other in range(3):
                axes[body, other, axis] = rotation[body, axis, other]
                exact += rotation[body, axis, other] * middle[other]
            center[body, axis] = exact
            lost += abs(exact - np.float64(center[body, axis]))
        for axis in range(3):
            # Axes are orthonormal within a tolerance only; twice what was lost does for all of them.
            half[body, axis] = add_up(half[body, axis], multiply_up(2.0, lost + PLACING * size + SMALLEST))

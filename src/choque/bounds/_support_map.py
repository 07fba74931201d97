"""Kernels that bound bodies by the points that they carry, and support maps, which answer faster than the points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline, kernel
from choque._core.rounding import SMALLEST, add_up, length_up, multiply_up
from choque._core.types import Floats, Integer, Rows
from choque.bounds._bounds import Slabs
from choque.errors import InvalidInput

PLACING = 2.0**-46
"""More than the error of scaling, turning, projecting and shifting a point, relative to its size and position."""

STORING = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 0.0}
"""More than the relative error of storing a float64 in each type."""

TINY = 2.0**-149
"""The smallest positive float32: more than the error of storing a number next to zero."""

RESOLUTION = 16
"""Default number of cells along the edge of a map's cube: 14 kB a group; k-DOPs about 0.3 % wider than the smallest."""

MAX_RESOLUTION = 256


class Poses(NamedTuple):
    """The bodies to bound.

    Attributes
    ----------
    groups
        (n,) the group of points that each body carries.
    position, rotation
        (n, 3) and (n, 3, 3).
    scale
        (n, 3) float64.
    """

    groups: Any
    position: Any
    rotation: Any
    scale: Any


@inline
def _along_axes(turn: Any, scale: Any, x: float, y: float, z: float) -> Any:
    """Return S Rᵀ d for d = (x, y, z): its dot product with a point of a body is the reach of that point along d."""
    u = scale[0] * (x * turn[0, 0] + y * turn[1, 0] + z * turn[2, 0])
    v = scale[1] * (x * turn[0, 1] + y * turn[1, 1] + z * turn[2, 1])
    w = scale[2] * (x * turn[0, 2] + y * turn[1, 2] + z * turn[2, 2])
    return u, v, w


@inline
def _store_slab(slabs: Slabs, body: Integer, slab: Integer, low: float, high: float, storing: float) -> None:
    """Write an interval, widened by the relative error ``storing`` of the float type of the arrays."""
    slabs.lower[body, slab] = low - storing * abs(low) - TINY
    slabs.upper[body, slab] = high + storing * abs(high) + TINY


@kernel
def fit_vertices(
    first: int,
    last: int,
    points: tuple[NDArray[np.float64], Rows],
    directions: NDArray[np.float64],
    poses: Poses,
    storing: float,
    slabs: Slabs,
) -> None:
    """Write the extents of bodies first … last − 1 along ``directions`` (k/2, 3), rounded outward.

    ``points`` are (p, 3), and (groups + 1,) where each group starts.
    """
    vertices, starts = points
    groups, position, rotation, scale = poses.groups, poses.position, poses.rotation, poses.scale
    largest = 0
    for group in range(len(starts) - 1):
        largest = max(largest, starts[group + 1] - starts[group])
    turned = np.empty((largest, 3))
    for body in range(first, last):
        turn = rotation[body]
        a, b, c = turn[0, 0] * scale[body, 0], turn[0, 1] * scale[body, 1], turn[0, 2] * scale[body, 2]
        d, e, f = turn[1, 0] * scale[body, 0], turn[1, 1] * scale[body, 1], turn[1, 2] * scale[body, 2]
        g, h, i = turn[2, 0] * scale[body, 0], turn[2, 1] * scale[body, 1], turn[2, 2] * scale[body, 2]
        carried = vertices[starts[groups[body]] : starts[groups[body] + 1]]
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
            _store_slab(slabs, body, slab, middle + low - slack, middle + high + slack, storing)


@kernel
def farthest_points(points: NDArray[np.float64], starts: Rows, poses: Poses, radius: NDArray[np.float64]) -> None:
    """Write the distance of the farthest point of each body from its position, rounded up."""
    groups, rotation, scale = poses.groups, poses.rotation, poses.scale
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
def place_boxes(local: Slabs, poses: Poses, center: Floats, half: NDArray[np.float64], axes: Floats) -> None:
    """Write the ``local`` box of each body's group, scaled along body axes, turned and shifted; rounded outward."""
    groups, position, rotation, scale = poses.groups, poses.position, poses.rotation, poses.scale
    middle = np.empty(3)
    for body in range(len(half)):
        size = longest = 0.0
        for axis in range(3):
            low = local.lower[groups[body], axis] * scale[body, axis]
            high = local.upper[groups[body], axis] * scale[body, axis]
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
            # Axes are orthonormal within a tolerance only: add the error twice.
            half[body, axis] = add_up(half[body, axis], multiply_up(2.0, lost + PLACING * size + SMALLEST))


@dataclass(frozen=True)
class SupportMap:
    """The reach of groups of points along the directions to the lattice points of a cube's surface.

    Attributes
    ----------
    values
        (groups, 6, r + 1, r + 1): the faces +x, −x, +y, −y, +z, −z; on each, the two axes that follow cyclically.
    sizes
        (groups,) the maximum of ``|x| + |y| + |z|`` of a point, which scales the rounding error.

    Notes
    -----
    The reach h(u) of points along u, the maximum of u·v, is convex and grows in proportion to u. A direction, scaled
    to the cube's surface, is a convex combination (the bilinear weights) of the four corners of the cell that it meets,
    so the same combination of their reaches is never less than its own: a bound from the map *contains* the points.
    Where one point is the farthest for all four corners, which is nearly everywhere, the bound is exact.
    """

    values: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, points: NDArray[np.float64], starts: Rows, resolution: int = RESOLUTION) -> SupportMap:
        """Return the maps of groups of ``points`` (p, 3). O(points · r²) time, 48 (r + 1)² bytes a group."""
        if (
            isinstance(resolution, bool)
            or not isinstance(resolution, int)
            or not 2 <= resolution <= MAX_RESOLUTION
            or resolution & (resolution - 1)
        ):
            raise InvalidInput(
                f"resolution is {resolution!r}; it must be a power of two from 2 to {MAX_RESOLUTION}, "
                "whose lattice is exact in floating point."
            )
        steps = np.linspace(-1.0, 1.0, resolution + 1)
        corners = np.empty((6, resolution + 1, resolution + 1, 3))
        for axis in range(3):
            for side in range(2):
                face = corners[2 * axis + side]
                face[..., axis] = 1.0 - 2.0 * side
                face[..., (axis + 1) % 3] = steps[:, None]
                face[..., (axis + 2) % 3] = steps[None, :]
        values = np.empty((len(starts) - 1, *corners.shape[:3]))
        sizes = np.maximum.reduceat(np.abs(points).sum(axis=1), starts[:-1])
        for group in range(len(values)):
            carried = points[starts[group] : starts[group + 1]]
            values[group] = (corners @ carried.T).max(axis=-1)
        return cls(values, sizes)


@kernel
def turn_map(
    first: int,
    last: int,
    maps: tuple[NDArray[np.float64], NDArray[np.float64]],
    directions: NDArray[np.float64],
    poses: Poses,
    storing: float,
    slabs: Slabs,
) -> None:
    """Write slabs around bodies first … last − 1: the reach of R S P along d is the reach of P along S Rᵀ d.

    ``maps`` are the values and the sizes of a `SupportMap`.
    """
    values, sizes = maps
    groups, position, rotation, scale = poses.groups, poses.position, poses.rotation, poses.scale
    for body in range(first, last):
        turn, table = rotation[body], values[groups[body]]
        size = 0.0
        for axis in range(3):
            for other in range(3):
                size += abs(turn[axis, other] * scale[body, other])
        size *= sizes[groups[body]]
        x, y, z = np.float64(position[body, 0]), np.float64(position[body, 1]), np.float64(position[body, 2])
        slack = PLACING * (size + abs(x) + abs(y) + abs(z)) + SMALLEST
        for slab in range(slabs.lower.shape[1]):
            p, q, r = directions[slab, 0], directions[slab, 1], directions[slab, 2]
            u, v, w = _along_axes(turn, scale[body], p, q, r)
            middle = p * x + q * y + r * z
            behind, ahead = _reaches(table, u, v, w)
            _store_slab(slabs, body, slab, middle - behind - slack, middle + ahead + slack, storing)


@kernel
def _reaches(table: NDArray[np.float64], u: float, v: float, w: float) -> tuple[float, float]:
    """Return upper bounds of the reach of one ``table`` along (−u, −v, −w) and along (u, v, w)."""
    axis, major, second, third = 0, u, v, w
    if abs(v) > abs(major):
        axis, major, second, third = 1, v, w, u
    if abs(w) > abs(major):
        axis, major, second, third = 2, w, u, v
    length = abs(major)
    if length == 0:
        return 0.0, 0.0
    cells = table.shape[1] - 1
    side = 0 if major > 0 else 1
    along = (second / length + 1.0) * 0.5 * cells
    across = (third / length + 1.0) * 0.5 * cells
    behind = length * _interpolated(table[2 * axis + 1 - side], cells - along, cells - across, cells)
    ahead = length * _interpolated(table[2 * axis + side], along, across, cells)
    return behind, ahead


@kernel
def _interpolated(face: NDArray[np.float64], along: float, across: float, cells: Integer) -> float:
    """Return the bilinear mean of the four corners of the cell at (along, across)."""
    i = min(max(np.int64(along), 0), cells - 1)
    j = min(max(np.int64(across), 0), cells - 1)
    s, t = along - i, across - j
    near = face[i, j] + (face[i, j + 1] - face[i, j]) * t
    far = face[i + 1, j] + (face[i + 1, j + 1] - face[i + 1, j]) * t
    mean: float = near + (far - near) * s
    return mean

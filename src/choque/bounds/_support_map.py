"""Support maps: how far groups of points reach along any direction, looked up instead of searched for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.rounding import SMALLEST
from choque._core.types import Floats, Index, Rows
from choque.bounds._body_points_kernels import PLACING, along_axes, store_slab
from choque.errors import InvalidInput

RESOLUTION = 16
"""Cells along the edge of the cube: 14 kB a group, and k-DOPs of some 0.3 % more width than the smallest."""

RESOLUTION_MOST = 256


@dataclass(frozen=True)
class SupportMap:
    """The reach of groups of points along the directions to the lattice points of a cube's surface.

    Attributes
    ----------
    values
        (groups, 6, r + 1, r + 1): the faces +x, −x, +y, −y, +z, −z; on each, the two axes that follow cyclically.
    sizes
        (groups,) the greatest ``|x| + |y| + |z|`` of a point: what rounding is measured by.

    Notes
    -----
    The reach h(u) of points along u, the greatest u·v, is convex and grows in proportion to u. A direction, scaled to
    the cube's surface, is a convex combination (the bilinear weights) of the four corners of the cell that it meets,
    so the same combination of their reaches is never less than its own: what is read from the map *contains* the
    points. Where one point is the farthest for all four corners, which is nearly everywhere, it is exact.
    """

    values: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @classmethod
    def of(cls, points: NDArray[np.float64], starts: Rows, resolution: int = RESOLUTION) -> SupportMap:
        """The maps of groups of ``points`` (p, 3). O(points · r²) time, 48 (r + 1)² bytes a group."""
        if (
            isinstance(resolution, bool)
            or not isinstance(resolution, int)
            or not 2 <= resolution <= RESOLUTION_MOST
            or resolution & (resolution - 1)
        ):
            raise InvalidInput(
                f"resolution is {resolution!r}; it must be a power of two from 2 to {RESOLUTION_MOST}, "
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
    values: NDArray[np.float64],
    sizes: NDArray[np.float64],
    directions: NDArray[np.float64],
    groups: Rows,
    position: Floats,
    rotation: Floats,
    scale: NDArray[np.float64],
    storing: float,
    lower: Floats,
    upper: Floats,
) -> None:
    """Slabs around the bodies first … last − 1: the reach of R S P along d is the reach of P along S Rᵀ d."""
    for body in range(first, last):
        turn, table = rotation[body], values[groups[body]]
        size = 0.0
        for axis in range(3):
            for other in range(3):
                size += abs(turn[axis, other] * scale[body, other])
        size *= sizes[groups[body]]
        x, y, z = np.float64(position[body, 0]), np.float64(position[body, 1]), np.float64(position[body, 2])
        slack = PLACING * (size + abs(x) + abs(y) + abs(z)) + SMALLEST
        for slab in range(lower.shape[1]):
            p, q, r = directions[slab, 0], directions[slab, 1], directions[slab, 2]
            u, v, w = along_axes(turn, scale[body], p, q, r)
            middle = p * x + q * y + r * z
            behind, ahead = _reaches(table, u, v, w)
            store_slab(lower, upper, body, slab, middle - behind - slack, middle + ahead + slack, storing)


@kernel
def _reaches(table: NDArray[np.float64], u: float, v: float, w: float) -> tuple[float, float]:
    """How far the points of one ``table`` reach at most along (−u, −v, −w) and along (u, v, w)."""
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
def _interpolated(face: NDArray[np.float64], along: float, across: float, cells: Index) -> float:
    """The bilinear mean of the four corners of the cell at (along, across)."""
    i = min(max(np.int64(along), 0), cells - 1)
    j = min(max(np.int64(across), 0), cells - 1)
    s, t = along - i, across - j
    near = face[i, j] + (face[i, j + 1] - face[i, j]) * t
    far = face[i + 1, j] + (face[i + 1, j + 1] - face[i + 1, j]) * t
    mean: float = near + (far - near) * s
    return mean

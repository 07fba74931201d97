"""Where bodies spread most: the principal axis of their centres, and the direction of a k-DOP nearest to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.jacobi import jacobi
from choque._core.kernel import kernel
from choque._core.types import Floats, Index

SAMPLE_MOST = 1024
"""So many bodies speak for all of them where it is only asked whether to look again."""

PRINCIPAL_MOST = 1 << 14
"""So many bodies, evenly taken from all, give the principal axis: within a small fraction of a degree."""

SPREAD_LEAST = 0.5
"""The axis is chosen anew as soon as the variance along it is less than this share of the largest there is."""


def principal_direction(records: Floats, dimension: int, centred: bool) -> NDArray[np.float64] | None:
    """The unit vector (3,) along which the centres of ``records`` (n, 6) spread most, by principal components.

    None where that says nothing: no centre is finite, all are at one point, or the numbers are too large to square.
    Without ``centred`` the second moments are taken about the origin, not about the mean.
    """
    matrix = np.zeros((3, 3))
    _second_moments(records, max(1, len(records) // PRINCIPAL_MOST), centred, matrix)
    matrix[dimension:] = matrix[:, dimension:] = 0.0
    values, vectors = np.empty(3), np.empty((3, 3))
    if not np.isfinite(matrix).all() or not jacobi(matrix, values, vectors):
        return None
    widest = int(np.argmax(values))
    return vectors[widest] if values[widest] > 0 else None


def nearest_direction(vector: NDArray[np.float64], directions: NDArray[np.int64]) -> int:
    """Which of ``directions`` (m, d) is the nearest to ``vector``, its sign aside; the first of equals."""
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    along = np.abs(units @ vector[: directions.shape[1]])
    return int(np.argmax(along > along.max() - 1e-9))


def spread_share(records: Floats, slab: int, directions: NDArray[np.int64]) -> float:
    """The variance of the centres along ``directions[slab]`` as a share of the largest one, from a sample."""
    units = np.zeros((len(directions), 3))
    units[:, : directions.shape[1]] = directions / np.linalg.norm(directions, axis=1)[:, None]
    variances = np.empty(len(units))
    _sample_variances(records, units, max(1, len(records) // SAMPLE_MOST), variances)
    largest = float(variances.max())
    return float(variances[slab]) / largest if 0 < largest < np.inf else 1.0


@kernel
def _second_moments(records: Any, step: Index, centred: bool, matrix: NDArray[np.float64]) -> None:
    """Write the mean products of the coordinates of every ``step``-th finite centre to the upper half of ``matrix``."""
    mean, centre = np.zeros(3), np.empty(3)
    for turn in range(2):  # the mean first: subtracting it afterwards would lose what is far from the origin
        count = 0
        for row in range(0, records.shape[0], step):
            finite = True
            for axis in range(3):
                centre[axis] = 0.5 * np.float64(records[row, axis]) + 0.5 * np.float64(records[row, axis + 3])
                finite &= abs(centre[axis]) < np.inf
            if not finite:
                continue
            count += 1
            for axis in range(3):
                if turn == 0:
                    mean[axis] += centre[axis]
                else:
                    for other in range(axis, 3):
                        matrix[axis, other] += (centre[axis] - mean[axis]) * (centre[other] - mean[other])
        for axis in range(3):
            if turn == 0:
                mean[axis] = mean[axis] / count if centred and count > 0 else 0.0
            else:
                for other in range(axis, 3):
                    matrix[axis, other] /= max(count, 1)


@kernel
def _sample_variances(records: Any, units: NDArray[np.float64], step: Index, variances: NDArray[np.float64]) -> None:
    """The variance of every ``step``-th finite centre along each of ``units`` (m, 3)."""
    for slab in range(len(units)):
        p, q, r = units[slab, 0], units[slab, 1], units[slab, 2]
        count = 0
        origin = total = square = 0.0
        for row in range(0, records.shape[0], step):
            x = 0.5 * np.float64(records[row, 0]) + 0.5 * np.float64(records[row, 3])
            y = 0.5 * np.float64(records[row, 1]) + 0.5 * np.float64(records[row, 4])
            z = 0.5 * np.float64(records[row, 2]) + 0.5 * np.float64(records[row, 5])
            along = p * x + q * y + r * z
            if abs(along) < np.inf:
                if count == 0:
                    origin = along
                count += 1
                total += along - origin
                square += (along - origin) * (along - origin)
        variances[slab] = (square - total * total / count) / count if count > 0 else 0.0

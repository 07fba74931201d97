"""Rotations of drawn bodies as quaternions, as both renderers want them."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel

Quaternions: TypeAlias = NDArray[np.float32]
"""(n, 4), w first."""


def quaternions(rotation: NDArray[np.floating[Any]]) -> Quaternions:
    """Convert rotation matrices (n, 3, 3) to unit quaternions (n, 4), w first; matrices may have drifted.

    Each is computed from its largest component, so that no digits are lost. Compiled, because every frame of many
    bodies needs it.
    """
    matrices = np.ascontiguousarray(rotation, np.float32)
    found: Quaternions = np.empty((len(matrices), 4), np.float32)
    _fill(matrices, found)
    return found


def matrix_of(turn: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Convert a quaternion (4,), w first, of any length, to a rotation matrix (3, 3)."""
    w, x, y, z = (np.asarray(turn, np.float64) / np.linalg.norm(turn)).tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def angle_and_axis(rotation: NDArray[np.floating[Any]]) -> tuple[float, NDArray[np.float64]]:
    """Return the angle [radians, 0 to π] and the unit axis of a rotation (3, 3); the axis of the identity is 0."""
    w, *axis = quaternions(np.asarray(rotation)[np.newaxis])[0].astype(np.float64)
    vector = np.array(axis) * (1.0 if w >= 0 else -1.0)
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        return 0.0, np.zeros(3)
    return 2.0 * float(np.arctan2(length, abs(w))), vector / length


@kernel
def _fill(rotation: NDArray[np.float32], turn: Quaternions) -> None:
    for row in range(rotation.shape[0]):
        m = rotation[row]
        xx, yy, zz = np.float64(m[0, 0]), np.float64(m[1, 1]), np.float64(m[2, 2])
        x, y, z = m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]
        xy, xz, yz = m[0, 1] + m[1, 0], m[0, 2] + m[2, 0], m[1, 2] + m[2, 1]
        ww, xs, ys, zs = 1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz
        if ww >= xs and ww >= ys and ww >= zs:
            a, b, c, d = ww, np.float64(x), np.float64(y), np.float64(z)
        elif xs >= ys and xs >= zs:
            a, b, c, d = np.float64(x), xs, np.float64(xy), np.float64(xz)
        elif ys >= zs:
            a, b, c, d = np.float64(y), np.float64(xy), ys, np.float64(yz)
        else:
            a, b, c, d = np.float64(z), np.float64(xz), np.float64(yz), zs
        length = np.sqrt(a * a + b * b + c * c + d * d)
        scale = 1.0 / length if length > 0.0 else 0.0
        turn[row, 0], turn[row, 1], turn[row, 2], turn[row, 3] = a * scale, b * scale, c * scale, d * scale

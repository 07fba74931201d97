"""Turns as quaternions, which is how instances are told how they stand."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Turn: TypeAlias = NDArray[np.float32]
"""(n, 4), w first."""


def quaternions(rotation: NDArray[np.floating[Any]]) -> Turn:
    """Rotation matrices (n, 3, 3) as quaternions (n, 4), w first; those that have drifted are made round again.

    Each is computed from its largest part, so that no digits are lost.
    """
    m = rotation.astype(np.float64)
    xx, yy, zz = m[:, 0, 0], m[:, 1, 1], m[:, 2, 2]
    squares = np.stack((1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz), axis=1)
    x, y, z = m[:, 2, 1] - m[:, 1, 2], m[:, 0, 2] - m[:, 2, 0], m[:, 1, 0] - m[:, 0, 1]
    xy, xz, yz = m[:, 0, 1] + m[:, 1, 0], m[:, 0, 2] + m[:, 2, 0], m[:, 1, 2] + m[:, 2, 1]
    table = np.stack(
        (
            np.stack((squares[:, 0], x, y, z), axis=1),
            np.stack((x, squares[:, 1], xy, xz), axis=1),
            np.stack((y, xy, squares[:, 2], yz), axis=1),
            np.stack((z, xz, yz, squares[:, 3]), axis=1),
        ),
        axis=1,
    )
    found = table[np.arange(len(m)), squares.argmax(axis=1)]
    length = np.linalg.norm(found, axis=1, keepdims=True)
    turns: Turn = (found / np.where(length > 0, length, 1.0)).astype(np.float32)
    return turns


def turned_after(left: Turn, right: Turn) -> Turn:
    """The turn (n, 4) that makes ``right`` first and ``left`` afterwards."""
    a, b, c, d = left.T
    w, x, y, z = right
    parts = (
        a * w - b * x - c * y - d * z,
        a * x + b * w + c * z - d * y,
        a * y - b * z + c * w + d * x,
        a * z + b * y - c * x + d * w,
    )
    return np.stack(parts, axis=1).astype(np.float32)

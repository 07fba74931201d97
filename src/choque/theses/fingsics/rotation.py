"""Rotations in single precision, as the engine turns angles into matrices: Rz·Ry·Rx.

Sine and cosine are those of the platform's C library for float32, as in the compiled engine. They differ from rounded
double ones in one case of a hundred, which is enough to change the course of a crowded scene.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.kernel import kernel
from choque._core.types import Integer


@kernel
def euler(x: Any, y: Any, z: Any, matrix: Any) -> None:
    """Write Rz(z)·Ry(y)·Rx(x), angles in radians, to ``matrix`` (3, 3)."""
    cx, sx = np.cos(x), np.sin(x)
    cy, sy = np.cos(y), np.sin(y)
    cz, sz = np.cos(z), np.sin(z)
    matrix[0, 0], matrix[0, 1], matrix[0, 2] = cz * cy, cz * sy * sx - sz * cx, sz * sx + cz * sy * cx
    matrix[1, 0], matrix[1, 1], matrix[1, 2] = sz * cy, cz * cx + sz * sy * sx, sz * sy * cx - cz * sx
    matrix[2, 0], matrix[2, 1], matrix[2, 2] = -sy, cy * sx, cy * cx


@kernel
def turn(rotation: Any, row: Integer, by: Any, result: Any) -> None:
    """Put ``by``·``rotation[row]`` in the place of ``rotation[row]``; ``result`` (3, 3) is room to work in."""
    for i in range(3):
        for j in range(3):
            result[i, j] = (
                by[i, 0] * np.float32(rotation[row, 0, j])
                + by[i, 1] * np.float32(rotation[row, 1, j])
                + by[i, 2] * np.float32(rotation[row, 2, j])
            )
    for i in range(3):
        for j in range(3):
            rotation[row, i, j] = result[i, j]


def radians(degrees: ArrayLike) -> NDArray[np.float32]:
    """Degrees as radians, rounded where the engine rounds."""
    return np.asarray(degrees, np.float32) * np.float32(np.pi) / np.float32(180.0)


def rotations(degrees: ArrayLike) -> NDArray[np.float32]:
    """(n, 3, 3) the orientations of ``degrees`` (n, 3) about x, y and z, rounded where the engine rounds.

    A quarter turn is not exact: its cosine is that of the float next to π/2.
    """
    angles = radians(degrees)
    matrices = np.empty((len(angles), 3, 3), np.float32)
    _fill(angles, matrices)
    return matrices


@kernel
def _fill(angles: NDArray[np.float32], matrices: NDArray[np.float32]) -> None:
    for row in range(angles.shape[0]):
        euler(angles[row, 0], angles[row, 1], angles[row, 2], matrices[row])

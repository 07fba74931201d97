"""Rotation matrices of angles in degrees, as scene files give them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats


def rotations(angles: Floats) -> NDArray[np.float64]:
    """Return the matrices (n, 3, 3) of ``angles`` (n, 3) about x, y and z [degree]; ``matrix @ local = world``.

    The rotation is about x first, then y, then z, each axis that of the world: Rz·Ry·Rx. Quarter turns are exact, so a
    wall that is upright in the file is upright to the last bit.
    """
    (cx, sx), (cy, sy), (cz, sz) = (_cosine_and_sine(angles[:, axis]) for axis in range(3))
    rows = (
        (cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx),
        (sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx),
        (-sy, cy * sx, cy * cx),
    )
    # Adding zero removes the negative zeros of quarter turns.
    matrices = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2) + 0.0
    return np.ascontiguousarray(matrices, dtype=np.float64)


def _cosine_and_sine(degrees: Floats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return cosine and sine, computed relative to the nearest quarter turn, so that quarter turns are exact."""
    quarters = np.rint(degrees / 90.0)
    rest = np.radians(degrees - 90.0 * quarters)
    cosine, sine = np.cos(rest), np.sin(rest)
    quarter = np.mod(quarters, 4.0)
    return (
        np.choose(quarter.astype(np.int64), [cosine, -sine, -cosine, sine]),
        np.choose(quarter.astype(np.int64), [sine, cosine, -sine, -cosine]),
    )

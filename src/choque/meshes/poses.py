"""Poses: rotations and translations, checked, as kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.kernel import forceinline
from choque._core.vector import Vector
from choque.errors import InvalidInput

RIGID_TOLERANCE = 1e-4
"""Largest accepted error of the dot products of the axes of a rotation."""


class Poses(NamedTuple):
    """Poses as arrays: rotations (k, 3, 3) and translations (k, 3)."""

    rotation: NDArray[np.float64]
    translation: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.rotation)


def as_poses(given: Any, name: str = "poses") -> Poses:
    """Return rigid poses from matrices (k, 4, 4) or (4, 4), or from a pair of rotations and translations.

    None is the identity. Scale, shear, mirrors and projections are refused by name.
    """
    if given is None:
        return Poses(np.eye(3)[None], np.zeros((1, 3)))
    if isinstance(given, Poses):
        return given
    if isinstance(given, tuple) and len(given) == 2:
        rotation = check.floats(given[0], f"The rotation of {name}").astype(np.float64)
        translation = check.floats(given[1], f"The translation of {name}").astype(np.float64)
        rotation = rotation[None] if rotation.ndim == 2 else rotation
        translation = translation[None] if translation.ndim == 1 else translation
        if rotation.ndim != 3 or rotation.shape[1:] != (3, 3) or translation.ndim != 2 or translation.shape[1] != 3:
            raise InvalidInput(
                f"{name} has rotations of shape {rotation.shape} and translations of shape {translation.shape}; "
                "they must be (k, 3, 3) and (k, 3)."
            )
        count = max(len(rotation), len(translation))
        if {len(rotation), len(translation)} - {1, count}:
            raise InvalidInput(
                f"{name} has {len(rotation)} rotations and {len(translation)} translations; give one for each pose."
            )
        rotation = np.array(np.broadcast_to(rotation, (count, 3, 3)))
        translation = np.array(np.broadcast_to(translation, (count, 3)))
    else:
        matrix = check.floats(given, name).astype(np.float64)
        matrix = matrix[None] if matrix.ndim == 2 else matrix
        if matrix.ndim != 3 or matrix.shape[1:] != (4, 4):
            raise InvalidInput(
                f"{name} has the shape {matrix.shape}; it must be (k, 4, 4), or a pair of rotations (k, 3, 3) and "
                "translations (k, 3)."
            )
        wrong = np.flatnonzero((matrix[:, 3] != [0, 0, 0, 1]).any(axis=1))
        if len(wrong):
            raise InvalidInput(
                f"Pose {wrong[0]} of {name} has the last row {matrix[wrong[0], 3].tolist()}; that of a rigid motion is "
                "0, 0, 0, 1. Transpose the matrices if they are meant for row vectors."
            )
        rotation, translation = matrix[:, :3, :3].copy(), matrix[:, :3, 3].copy()
    check.finite(rotation, f"the rotations of {name}")
    check.finite(translation, f"the translations of {name}")
    _check_rigid(rotation, name)
    return Poses(rotation, translation)


def _check_rigid(rotation: NDArray[np.float64], name: str) -> None:
    x, y, z = np.ascontiguousarray(rotation.transpose(2, 1, 0))  # the axes, a column a pose: faster than products
    squares = np.stack([(axis * axis).sum(axis=0) for axis in (x, y, z)])
    products = np.stack([(one * two).sum(axis=0) for one, two in ((x, y), (y, z), (z, x))])
    error = np.maximum(np.abs(squares - 1), np.abs(products)).max(axis=0)
    wrong = np.flatnonzero(~(error <= RIGID_TOLERANCE))
    if len(wrong):
        row = int(wrong[0])
        scale = np.sqrt(squares[:, row])
        is_sheared = np.abs(products[:, row]).max() > RIGID_TOLERANCE * scale.max() ** 2
        what = "shears" if is_sheared else f"scales by {', '.join(f'{s:.6g}' for s in scale)} along the axes"
        raise InvalidInput(
            f"Pose {row} of {name} is not rigid: it {what}. Apply it to the vertices of the mesh, and give a rotation."
        )
    volume = sum(x[k] * (y[k - 2] * z[k - 1] - y[k - 1] * z[k - 2]) for k in range(3))
    mirrored = np.flatnonzero(volume < 0)
    if len(mirrored):
        raise InvalidInput(f"Pose {int(mirrored[0])} of {name} mirrors; mirror the vertices of the mesh instead.")


@forceinline
def placed(rotation: NDArray[np.float64], translation: NDArray[np.float64], row: Any, point: Vector) -> Vector:
    """Return a point in pose ``row``, rounded; exact for the identity, and for whole numbers in turns by 90 degrees."""
    x, y, z = point
    return (
        rotation[row, 0, 0] * x + rotation[row, 0, 1] * y + rotation[row, 0, 2] * z + translation[row, 0],
        rotation[row, 1, 0] * x + rotation[row, 1, 1] * y + rotation[row, 1, 2] * z + translation[row, 1],
        rotation[row, 2, 0] * x + rotation[row, 2, 1] * y + rotation[row, 2, 2] * z + translation[row, 2],
    )

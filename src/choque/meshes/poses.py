"""Poses: rotations and translations, checked, as kernels take them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from choque._core import check
from choque._core.kernel import forceinline, kernel
from choque._core.types import F64
from choque._core.vector import Vector
from choque.errors import InvalidInput

RIGID_TOLERANCE = 1e-4  # largest accepted error of the dot products of the axes of a rotation


class RigidPoses(NamedTuple):
    """Poses as arrays: rotations (k, 3, 3) and translations (k, 3)."""

    rotation: F64
    translation: F64

    def __len__(self) -> int:
        return len(self.rotation)


def as_poses(given: Any, name: str = "poses") -> RigidPoses:
    """Return rigid poses from matrices (k, 4, 4) or (4, 4), or from a pair of rotations and translations.

    None is the identity. Scale, shear, mirrors and projections are refused by name.
    """
    if given is None:
        return RigidPoses(np.eye(3)[None], np.zeros((1, 3)))
    if isinstance(given, RigidPoses):
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
        rotation, translation = (
            np.ascontiguousarray(part) if len(part) == count else np.repeat(part, count, axis=0)
            for part in (rotation, translation)
        )
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
    if not _are_rigid(rotation, translation):
        check.finite(rotation, f"the rotations of {name}")
        check.finite(translation, f"the translations of {name}")
        _refuse(rotation, name)
    return RigidPoses(rotation, translation)


def one_pose(given: Any) -> RigidPoses:
    """Return the one rigid pose in what was given as ``pose``."""
    pose = as_poses(given, "pose")
    if len(pose) != 1:
        raise InvalidInput(f"pose has {len(pose)} poses; give one, or call a function that takes many.")
    return pose


@kernel
def _are_rigid(rotation: F64, translation: F64) -> bool:
    """Return whether all rotations are orthonormal up to the tolerance and mirror nothing, and all numbers finite."""
    for row in range(rotation.shape[0]):
        volume = 0.0
        for i in range(3):
            j, m = (i + 1) % 3, (i + 2) % 3
            volume += rotation[row, 0, i] * (
                rotation[row, 1, j] * rotation[row, 2, m] - rotation[row, 1, m] * rotation[row, 2, j]
            )
            for k in range(3):
                share = 0.0
                for axis in range(3):
                    share += rotation[row, axis, i] * rotation[row, axis, k]
                if not abs(share - (1.0 if i == k else 0.0)) <= RIGID_TOLERANCE:  # also for NaN
                    return False
            if not np.isfinite(translation[row, i]):
                return False
        if volume < 0.0:
            return False
    return True


def _refuse(rotation: F64, name: str) -> None:
    """Raise for the first rotation that scales, shears or mirrors."""
    products = np.einsum("kai,kaj->kij", rotation, rotation)
    wrong = np.flatnonzero(~(np.abs(products - np.eye(3)).max(axis=(1, 2)) <= RIGID_TOLERANCE))
    if len(wrong):
        row = int(wrong[0])
        squares = np.diag(products[row])
        is_sheared = np.abs(products[row] - np.diag(squares)).max() > RIGID_TOLERANCE * squares.max()
        scale = ", ".join(f"{side:.6g}" for side in np.sqrt(squares))
        what = "shears" if is_sheared else f"scales by {scale} along the axes"
        raise InvalidInput(
            f"Pose {row} of {name} is not rigid: it {what}. Apply it to the vertices of the mesh, and give a rotation."
        )
    row = int(np.argmax(np.linalg.det(rotation) < 0))
    raise InvalidInput(f"Pose {row} of {name} mirrors; mirror the vertices of the mesh instead.")


@forceinline
def placed(rotation: F64, translation: F64, row: Any, point: Vector) -> Vector:
    """Return a point in pose ``row``, rounded; exact for the identity, and for whole numbers in turns by 90 degrees."""
    x, y, z = point
    return (
        rotation[row, 0, 0] * x + rotation[row, 0, 1] * y + rotation[row, 0, 2] * z + translation[row, 0],
        rotation[row, 1, 0] * x + rotation[row, 1, 1] * y + rotation[row, 1, 2] * z + translation[row, 1],
        rotation[row, 2, 0] * x + rotation[row, 2, 1] * y + rotation[row, 2, 2] * z + translation[row, 2],
    )

"""Rotation and resampling by the centres of the new voxels, for what the lattice cannot do exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.volumes._lattice import Lattice, check_cells
from choque.volumes._model import ExtremeVertices

_SLAB = 1 << 20
"""Centres that are looked up at once."""


def rotation_matrix(rotation: ArrayLike) -> NDArray[np.float64]:
    """Return a rotation matrix (3, 3), from a matrix or from a vector along the axis, as long as the angle [rad]."""
    try:
        given = np.asarray(rotation, np.float64)
    except (TypeError, ValueError):
        given = np.empty(0)
    if given.shape == (3,) and np.isfinite(given).all():
        angle = float(np.linalg.norm(given))
        if angle == 0.0:
            return np.eye(3)
        x, y, z = given / angle
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        return np.asarray(np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * (cross @ cross))
    if given.shape != (3, 3) or not np.allclose(given @ given.T, np.eye(3), atol=1e-6) or np.linalg.det(given) < 0:
        raise InvalidInput(
            f"rotation is {rotation!r}; it must be a rotation matrix (3, 3), or a vector (3,) along the axis, as "
            "long as the angle in radians."
        )
    return given


def resample(
    model: ExtremeVertices,
    lattice: Lattice,
    target: Lattice,
    to_source: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> ExtremeVertices:
    """Return the voxels of ``target`` between two world points whose centres, mapped ``to_source``, are in the model.

    One look-up for every voxel of the new box; the memory is a mask of the old box and one of the new box.
    """
    if model.is_empty:
        return model
    lowest, highest = np.floor(target.to_lattice(lower)), np.ceil(target.to_lattice(upper))
    check_cells((highest - lowest).tolist(), "The box of the new voxels")
    first = lowest.astype(np.int64)
    source, corner = model.mask(), np.array(model.bounds[0])
    shape = tuple(int(size) for size in highest - lowest)
    mask = np.zeros(shape, np.bool_)
    plane = np.stack(np.meshgrid(np.arange(shape[1]), np.arange(shape[2]), indexing="ij"), axis=-1).reshape(-1, 2)
    depth = max(1, _SLAB // max(1, len(plane)))
    for start in range(0, shape[0], depth):
        stop = min(start + depth, shape[0])
        cells = np.empty((stop - start, len(plane), 3))
        cells[:, :, 0] = np.arange(start, stop)[:, None]
        cells[:, :, 1:] = plane
        centres = target.to_world(cells.reshape(-1, 3) + first + 0.5)
        at = np.floor(lattice.to_lattice(to_source(centres))).astype(np.int64) - corner
        inside = ((at >= 0) & (at < source.shape)).all(axis=1)
        full = np.zeros(len(at), np.bool_)
        full[inside] = source[tuple(at[inside].T)]
        mask[start:stop] = full.reshape(stop - start, *shape[1:])
    return ExtremeVertices.from_mask(mask, offset=tuple(first.tolist()))

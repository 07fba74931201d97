"""Rotation and resampling for what the lattice cannot do exactly: by centres of the new voxels, or conservative."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choque._core.kernel import kernel
from choque._core.types import F64, I32, U8, Bools
from choque.errors import InvalidInput
from choque.volumes._lattice import TOLERANCE, Lattice, check_cells
from choque.volumes._model import ExtremeVertices

_ROUNDING = 1e-9  # upper bound for the rounding error of a turned position [voxels]


def rotation_matrix(rotation: ArrayLike) -> F64:
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


class TurnAbout(NamedTuple):
    """A rotation about a point [world]: x becomes ``matrix @ (x - pivot) + pivot``."""

    matrix: F64
    pivot: F64


def resample(
    model: ExtremeVertices, lattice: Lattice, target: Lattice, motion: TurnAbout, *, conservative: bool = False
) -> ExtremeVertices:
    """Return a model of ``lattice`` after a motion, in voxels of ``target``.

    A voxel is full if its centre is in the moved model; with ``conservative`` if the box around it, in the axes of the
    model, shares space with the model. One look-up for every voxel of the new box; the memory is a mask of the old box
    (conservatively four bytes a voxel) and one of the new box.
    """
    if model.is_empty:
        return model
    corners = lattice.to_world(np.stack(np.meshgrid(*np.array(model.bounds).T, indexing="ij"), axis=-1).reshape(-1, 3))
    moved = (corners - motion.pivot) @ motion.matrix.T + motion.pivot
    lowest = np.floor(target.to_lattice(moved.min(axis=0)))
    highest = np.ceil(target.to_lattice(moved.max(axis=0)))
    check_cells((highest - lowest).tolist(), "The box of the new voxels")
    first = lowest.astype(np.int64)
    is_still = np.array_equal(motion.matrix, np.eye(3))
    source, mask = model.mask(), np.zeros(tuple(int(size) for size in highest - lowest), np.uint8)
    # From the number of a new voxel to the place of its centre among the old ones: an affine map.
    back = motion.matrix.T * np.array(target.spacing) / np.array(lattice.spacing)[:, None]
    middle = (target.to_world(first + 0.5) - motion.pivot) @ motion.matrix + motion.pivot
    start = lattice.to_lattice(middle) - np.array(model.bounds[0])
    if conservative:
        # Voxels that line up within the tolerance of lattices, or after quarter turns, fill no neighbours.
        reach = np.abs(back).sum(axis=1) / 2
        reach -= (TOLERANCE if is_still else _ROUNDING) * np.minimum(1.0, 2 * reach)
        _fill_touched(_summed(source), start, back, reach, mask)
    else:
        _fill_centres(source, start, back, mask)
    if not mask.any():
        raise InvalidInput(
            f"No centre of a new voxel of {target.spacing} lies in the volume, whose voxels are of {lattice.spacing}; "
            "use smaller voxels, or conservative=True for every voxel that shares space with it."
        )
    return ExtremeVertices.from_mask(mask.view(np.bool_), offset=tuple(first.tolist()))


def _summed(mask: Bools) -> I32:
    """Return the number of full voxels before each corner of the lattice; differences of it are all that counts."""
    total = np.zeros(tuple(size + 1 for size in mask.shape), np.int32)
    inner = total[1:, 1:, 1:]
    inner[...] = mask
    for axis in range(3):
        np.cumsum(inner, axis=axis, out=inner)  # may wrap around: the difference over a few voxels is right
    return total


@kernel
def _fill_centres(source: Bools, start: F64, back: F64, mask: U8) -> None:
    """Set the cells whose centres, ``start + back @ cell`` among the old voxels, are in a full one."""
    at = np.empty(3, np.int64)
    for row in range(mask.shape[0]):
        for column in range(mask.shape[1]):
            for cell in range(mask.shape[2]):
                inside = True
                for axis in range(3):
                    place = start[axis] + back[axis, 0] * row + back[axis, 1] * column + back[axis, 2] * cell
                    at[axis] = int(np.floor(place))
                    inside = inside and 0 <= at[axis] < source.shape[axis]
                if inside and source[at[0], at[1], at[2]]:
                    mask[row, column, cell] = 1


@kernel
def _fill_touched(summed: I32, start: F64, back: F64, reach: F64, mask: U8) -> None:
    """Set the cells with a full old voxel within ``reach`` of their centres along each axis."""
    low, high = np.empty(3, np.int64), np.empty(3, np.int64)
    for row in range(mask.shape[0]):
        for column in range(mask.shape[1]):
            for cell in range(mask.shape[2]):
                for axis in range(3):
                    place = start[axis] + back[axis, 0] * row + back[axis, 1] * column + back[axis, 2] * cell
                    size = summed.shape[axis] - 1
                    low[axis] = min(max(int(np.floor(place - reach[axis])), 0), size)
                    high[axis] = min(max(int(np.ceil(place + reach[axis])), 0), size)
                count = np.int64(0)
                for corner in range(8):
                    x = high[0] if corner & 1 else low[0]
                    y = high[1] if corner & 2 else low[1]
                    z = high[2] if corner & 4 else low[2]
                    bits = (corner & 1) + (corner >> 1 & 1) + (corner >> 2)
                    count += np.int64(summed[x, y, z]) * (1 if bits & 1 else -1)
                if count & 0xFFFFFFFF:
                    mask[row, column, cell] = 1

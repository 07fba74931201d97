"""Which way the axes of a scan point: the one place where axis order and orientation are dealt with.

Every format says how a voxel's row, column and slice become a position: by an affine to a patient's frame, or by the
mere order of the axes. Out of here comes one thing only: values with axes x, y, z that ascend in the world.

A frame is named by where its axes point: L or R, P or A, S or I. DICOM and NRRD mostly use LPS, NIfTI uses RAS.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput, UnknownName

FRAMES = ("LPS", "RAS")
AXES = ("xyz", "zyx")

_OBLIQUE = 1e-3
"""The sine of the angle from which axes count as oblique: headers are rounded, and scanners tilt by degrees."""


class Scan(NamedTuple):
    """Values (nx, ny, nz) on voxels of ``spacing`` whose first has its centre at ``centre`` [world units]."""

    values: NDArray[Any]
    spacing: tuple[float, float, float]
    centre: tuple[float, float, float]

    def corner(self, spacing: tuple[float, float, float] | None = None) -> tuple[float, float, float]:
        """The lower corner of the first voxel, half a voxel before its centre."""
        x, y, z = (middle - size / 2 for middle, size in zip(self.centre, spacing or self.spacing, strict=True))
        return (x, y, z)


def oriented(values: NDArray[Any], affine: NDArray[np.float64], frame: str, world: str, what: str) -> Scan:
    """Turn values (i, j, k) by whole axes so that they ascend along x, y, z of ``world``.

    ``affine`` (4, 4) takes the index (i, j, k) to the centre of that voxel in ``frame``. Nothing is interpolated, so
    oblique axes are refused; ``what`` names the scan in the message.
    """
    if world not in FRAMES:
        raise UnknownName("world frame", world, FRAMES)
    if affine.shape != (4, 4) or not np.isfinite(affine).all():
        raise InvalidInput(f"{what} has no usable position: its affine is not made of finite numbers.")
    signs = [1.0 if there == here else -1.0 for there, here in zip(frame, world, strict=True)]
    matrix = np.diag([*signs, 1.0]) @ affine
    size = np.linalg.norm(matrix[:3, :3], axis=0)
    if size.min() <= 0:
        raise InvalidInput(f"{what} has voxels of size {size.tolist()}; every edge must be longer than 0.")
    turn = matrix[:3, :3] / size
    source = np.abs(turn).argmax(axis=1)
    aligned = np.zeros((3, 3))
    aligned[np.arange(3), source] = np.sign(turn[np.arange(3), source])
    if len(set(source.tolist())) < 3 or np.abs(turn - aligned).max() > _OBLIQUE:
        angle = float(np.degrees(np.arcsin(min(1.0, np.abs(turn - aligned).max()))))
        raise InvalidInput(
            f"{what} is oblique: its axes are turned by about {angle:.1f}° against the axes of the patient. "
            "Resample it to straight axes first, for example in the program that it comes from."
        )
    centre = matrix[:3, 3].copy()
    turned = values.transpose(source.tolist())
    for axis in range(3):
        if aligned[axis, source[axis]] < 0:
            turned = np.flip(turned, axis)
            centre[axis] -= size[source[axis]] * (turned.shape[axis] - 1)
    return Scan(turned, _triple(size[source]), _triple(centre))


def from_axes(
    values: NDArray[Any],
    axes: str,
    spacing: tuple[float, float, float],
    centre: tuple[float, float, float] | None = None,
) -> Scan:
    """A scan from an array whose axes are known by order only, ``xyz`` or ``zyx``; the spacing is along x, y, z."""
    if axes not in AXES:
        raise UnknownName("order of axes", axes, AXES)
    if values.ndim != 3:
        raise InvalidInput(f"The image has {values.ndim} axes and shape {values.shape}; a scan has three.")
    first = tuple(size / 2 for size in spacing) if centre is None else centre
    return Scan(values if axes == "xyz" else values.transpose(), spacing, _triple(np.array(first)))


def to_affine(
    spacing: tuple[float, float, float], centre: tuple[float, float, float], world: str, frame: str
) -> NDArray[Any]:
    """The affine (4, 4) from indices of an x, y, z array in ``world`` to positions in ``frame``."""
    signs = [1.0 if there == here else -1.0 for there, here in zip(frame, world, strict=True)]
    affine = np.eye(4)
    affine[:3, :3] = np.diag(np.array(signs) * spacing)
    affine[:3, 3] = np.array(signs) * centre
    return affine


def _triple(values: NDArray[np.float64]) -> tuple[float, float, float]:
    return (float(values[0]), float(values[1]), float(values[2]))

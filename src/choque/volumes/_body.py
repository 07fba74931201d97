"""A volume with a position and a rotation."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import F64
from choque.volumes._volume import Volume, lattice_of
from choque.volumes.turning import rotation_matrix


class Body:
    """A volume with a position and a rotation about its own pivot.

    Moving rounds to whole voxels and costs nothing. Turning resamples the volume that the body was made from, so
    errors never accumulate; quarter turns about the axes are exact if the voxels are cubes. Other rotations take every
    voxel that may share space with the turned volume, so that no collision is missed. `turn_count` and `turn_seconds`
    measure the cost of turning.

    Parameters
    ----------
    volume
        The body at position (0, 0, 0), not turned.
    pivot
        The fixed point of rotations [world]; default: the lattice point in the middle of its box.
    conservative
        False: rotations take the voxels whose centres are in the turned volume, which can lose thin parts.
    """

    def __init__(self, volume: Volume, *, pivot: ArrayLike | None = None, conservative: bool = True) -> None:
        lattice_of(volume)
        self._unturned = volume
        self._turned = volume
        self.conservative = conservative
        self.pivot: F64 = volume._pivot(pivot)
        self.rotation: F64 = np.eye(3)
        self.position: F64 = np.zeros(3)
        self.turn_count = 0
        self.turn_seconds = 0.0

    @property
    def volume(self) -> Volume:
        """The volume where the body is now."""
        return self._turned.translated(self.snapped_position)

    @property
    def snapped_position(self) -> F64:
        """`position` rounded to whole voxels [world]: the actual position of the volume."""
        spacing = np.array(self._unturned.spacing)
        return np.asarray(np.rint(self.position / spacing) * spacing)

    def move_to(self, position: ArrayLike) -> None:
        """Move the body to a position, relative to where it was made [world]."""
        self.position = np.array(check.triple(position, "position"))

    def turn_to(self, rotation: ArrayLike) -> None:
        """Turn the body to a rotation, relative to the volume it was made from.

        ``rotation`` is a matrix (3, 3), or a vector (3,) along the axis, as long as the angle [rad].
        """
        matrix = rotation_matrix(rotation)
        if np.array_equal(matrix, self.rotation):
            return
        start = perf_counter()
        self._turned = self._unturned.rotated(matrix, about=self.pivot, conservative=self.conservative)
        self.turn_seconds += perf_counter() - start
        self.turn_count += 1
        self.rotation = matrix

    def collides(self, other: Body | Volume, *, closed: bool = False) -> bool:
        """Return whether the body, where it is now, collides with another; the algorithm of `Volume.collides`."""
        return self.volume.collides(other.volume if isinstance(other, Body) else other, closed=closed)

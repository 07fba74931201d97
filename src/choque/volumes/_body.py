"""A volume as a body that moves and turns, and what turning costs."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.volumes._lattice import triple
from choque.volumes._turning import rotation_matrix
from choque.volumes._volume import Volume, lattice_of


class Body:
    """A volume with a position and a rotation about its own pivot.

    Moving snaps to whole voxels and costs nothing. Turning voxelises the original anew, so errors never add up;
    rotations by quarter turns about the axes are exact when the voxels are cubes. `turn_count` and `turn_seconds` say
    what turning has cost.

    Parameters
    ----------
    volume
        The body at position (0, 0, 0), not turned.
    pivot
        The point that turning leaves in place [world]; default: the lattice point in the middle of its box.
    """

    def __init__(self, volume: Volume, *, pivot: ArrayLike | None = None) -> None:
        lattice_of(volume)
        self._original = volume
        self._turned = volume
        self.pivot: NDArray[np.float64] = volume._pivot(pivot)
        self.rotation: NDArray[np.float64] = np.eye(3)
        self.position: NDArray[np.float64] = np.zeros(3)
        self.turn_count = 0
        self.turn_seconds = 0.0

    @property
    def volume(self) -> Volume:
        """The volume where the body is now."""
        return self._turned.translated(self.snapped_position)

    @property
    def snapped_position(self) -> NDArray[np.float64]:
        """The whole number of voxels next to `position` [world]: where the volume really is."""
        spacing = np.array(self._original.spacing)
        return np.asarray(np.rint(self.position / spacing) * spacing)

    def move_to(self, position: ArrayLike) -> None:
        """Go to a position, counted from where the body was made [world]."""
        self.position = np.array(triple(position, "position"))

    def turn_to(self, rotation: ArrayLike) -> None:
        """Take a rotation, counted from the original; a matrix (3, 3) or an axis times an angle [radians]."""
        matrix = rotation_matrix(rotation)
        if np.array_equal(matrix, self.rotation):
            return
        start = perf_counter()
        self._turned = self._original.rotated(matrix, about=self.pivot)
        self.turn_seconds += perf_counter() - start
        self.turn_count += 1
        self.rotation = matrix

    def collides(self, other: Body | Volume, *, contact: str = "open") -> bool:
        """Whether the body where it is now collides with another."""
        return self.volume.collides(other.volume if isinstance(other, Body) else other, contact=contact)

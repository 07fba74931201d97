"""Volumes that move: a body with a position and a rotation, and the collisions among many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import F64, I32, Pairs
from choque.bounds import Boxes
from choque.broad import create
from choque.errors import InvalidInput
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


class Scene:
    """Volumes on one lattice, and the pairs of them that collide: a broad phase over their boxes, then exact tests.

    Parameters
    ----------
    volumes
        The bodies; the first gets id 0. All must have voxels of one size that line up.
    broad
        Method of the broad phase, one of `choque.broad.names`.
    closed
        Whether touching volumes collide; otherwise interiors must meet.
    options
        Further options of the broad phase: ``groups``, ``masks``, ``static``, ``threads``.

    Notes
    -----
    Guarantee: the pairs are those of `Volume.collides` for every pair, for every broad phase. A volume that moves costs
    the update of its box; its sections stay cached.
    """

    def __init__(self, volumes: Iterable[Volume], *, broad: str = "auto", closed: bool = False, **options: Any) -> None:
        self.closed = check.boolean(closed, "closed")
        given = _listed(volumes)
        if not given:
            raise InvalidInput("The list of volumes is empty; give at least one volume, which determines the voxels.")
        self._lattice = given[0].lattice
        self._volumes = dict(enumerate(given))
        self.broad = create(broad, self._boxes(given), closed=self.closed, **options)

    def __len__(self) -> int:
        return len(self._volumes)

    def __getitem__(self, number: int) -> Volume:
        self._require(number)
        return self._volumes[number]

    @property
    def ids(self) -> I32:
        """Ids of the volumes, ascending."""
        return self.broad.ids

    def candidates(self) -> Pairs:
        """Return the pairs whose boxes meet: (m, 2) ids, sorted."""
        return self.broad.pairs()

    def pairs(self) -> Pairs:
        """Return the pairs that collide: (m, 2) ids, smaller first, sorted."""
        found = [
            (one, two)
            for one, two in self.candidates().tolist()
            if self._volumes[one].collides(self._volumes[two], closed=self.closed)
        ]
        return np.array(found, np.int32).reshape(-1, 2)

    def add(self, volumes: Iterable[Volume]) -> I32:
        """Add volumes and return their ids."""
        given = _listed(volumes)
        ids = self.broad.add(self._boxes(given))
        self._volumes.update(zip(ids.tolist(), given, strict=True))
        return ids

    def remove(self, ids: int | Iterable[int]) -> None:
        """Remove volumes."""
        self.broad.remove(list(ids) if isinstance(ids, Iterable) else ids)
        self._volumes = {number: self._volumes[number] for number in self.ids.tolist()}

    def move(self, number: int, volume: Volume) -> None:
        """Replace the volume of a body: by itself translated or turned, or by any other volume."""
        self._require(number)
        lattice_of(volume)
        self.broad.move(np.array([number], np.int32), self._boxes([volume]))
        self._volumes[number] = volume

    def translate(self, number: int, shift: ArrayLike) -> None:
        """Move a body by a whole number of voxels [world units]."""
        self.move(number, self[number].translated(shift))

    def _boxes(self, volumes: Sequence[Volume]) -> Boxes:
        """Return boxes in whole voxels of the common lattice, so that the broad phase is exact for touching volumes."""
        corners = np.empty((2, len(volumes), 3))
        for row, volume in enumerate(volumes):
            shift = self._lattice.shift_to(volume.lattice)
            corners[:, row] = np.array(volume.model.bounds) + shift
        return Boxes(corners[0], corners[1])

    def _require(self, number: int) -> None:
        if not isinstance(number, Integral) or number not in self._volumes:
            raise InvalidInput(f"There is no volume with id {number}; see the property ids.")


def _listed(volumes: Iterable[Volume]) -> list[Volume]:
    if isinstance(volumes, Volume) or not isinstance(volumes, Iterable):
        raise InvalidInput(f"A scene takes a list of volumes, not one {type(volumes).__name__}.")
    given = list(volumes)
    for volume in given:
        lattice_of(volume)
    return given

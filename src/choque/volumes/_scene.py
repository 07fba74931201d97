"""Collisions among many volumes: a broad phase over their boxes, then the exact test for its pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import I32, Pairs
from choque.bounds import Boxes
from choque.broad import create
from choque.errors import InvalidInput
from choque.volumes._volume import Volume, lattice_of
from choque.volumes.collision import search


class Scene:
    """Volumes on one lattice, and the pairs of them that collide.

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
        found = [pair for pair in self.candidates().tolist() if self._collide(*pair)]
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

    def _collide(self, one: int, two: int) -> bool:
        first, second = self._volumes[one], self._volumes[two]
        shift = first.lattice.shift_to(second.lattice)
        return search(first.model, second.model, shift, closed=self.closed).overlap is not None

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

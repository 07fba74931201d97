"""Many volumes at once: a broad phase over their boxes, then the exact question for the pairs that are left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque import broad
from choque._core.types import Pairs
from choque.bounds import Boxes
from choque.errors import InvalidInput
from choque.volumes._collision import CONTACTS, search
from choque.volumes._volume import Volume, lattice_of


class Scene:
    """Volumes on one lattice, and which of them collide.

    Parameters
    ----------
    volumes
        The bodies; the first gets id 0. All must have voxels of one size that line up.
    method
        The broad phase, by any of the names in `choque.broad.names`.
    contact
        ``open``: interiors must meet. ``closed``: touching is enough.
    options
        More for the broad phase: ``groups``, ``masks``, ``static``, ``threads``.

    Notes
    -----
    Guarantees: the pairs are those of asking every pair, for every method; a volume that moves costs its new box, and
    its sections are kept.
    """

    def __init__(
        self, volumes: Iterable[Volume], *, method: str = "auto", contact: str = "open", **options: Any
    ) -> None:
        if contact not in CONTACTS:
            raise InvalidInput(f"The contact is {contact!r}; it must be 'open' or 'closed'.")
        given = _listed(volumes)
        if not given:
            raise InvalidInput("A scene starts with at least one volume: it says what the voxels are.")
        self.contact = contact
        self._lattice = given[0].lattice
        self._volumes = dict(enumerate(given))
        self.broad = broad.create(method, self._boxes(given), closed=contact == "closed", **options)

    def __len__(self) -> int:
        return len(self._volumes)

    def __getitem__(self, number: int) -> Volume:
        self._require(number)
        return self._volumes[number]

    @property
    def ids(self) -> NDArray[np.int32]:
        """The ids of the volumes, ascending."""
        return self.broad.ids

    def candidates(self) -> Pairs:
        """The pairs whose boxes meet: (m, 2) ids, sorted."""
        return self.broad.pairs()

    def pairs(self) -> Pairs:
        """The pairs that collide: (m, 2) ids, smaller first, sorted."""
        found = [pair for pair in self.candidates().tolist() if self._collide(*pair)]
        return np.array(found, np.int32).reshape(-1, 2)

    def add(self, volumes: Iterable[Volume]) -> NDArray[np.int32]:
        """Add volumes; their new ids."""
        given = _listed(volumes)
        ids = self.broad.add(self._boxes(given))
        self._volumes.update(zip(ids.tolist(), given, strict=True))
        return ids

    def remove(self, ids: int | Iterable[int]) -> None:
        """Take volumes out."""
        self.broad.remove(list(ids) if isinstance(ids, Iterable) else ids)
        self._volumes = {number: self._volumes[number] for number in self.ids.tolist()}

    def move(self, number: int, volume: Volume) -> None:
        """Give a body another volume: itself translated, turned, or anything else."""
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
        return search(first.model, second.model, shift, self.contact).overlap is not None

    def _boxes(self, volumes: Sequence[Volume]) -> Boxes:
        """Boxes in whole voxels of the common lattice, so that the broad phase sees touching exactly."""
        corners = np.empty((2, len(volumes), 3))
        for row, volume in enumerate(volumes):
            shift = self._lattice.shift_to(volume.lattice)
            corners[:, row] = np.array(volume.model.bounds) + shift
        return Boxes(corners[0], corners[1])

    def _require(self, number: int) -> None:
        if not isinstance(number, Integral) or number not in self._volumes:
            raise InvalidInput(f"There is no volume with id {number}; ids come from the scene and from add.")


def _listed(volumes: Iterable[Volume]) -> list[Volume]:
    if isinstance(volumes, Volume) or not isinstance(volumes, Iterable):
        raise InvalidInput(f"A scene takes a list of volumes, not one {type(volumes).__name__}.")
    given = list(volumes)
    for volume in given:
        lattice_of(volume)
    return given

"""Many volumes at once: a broad phase over their boxes, then the exact question for the pairs that are left."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque import broad
from choque._types import Pairs
from choque.bounds import Boxes
from choque.errors import InvalidInput
from choque.volumes._collision import CONTACTS, search
from choque.volumes._volume import Volume


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
        self, volumes: Sequence[Volume], *, method: str = "auto", contact: str = "open", **options: Any
    ) -> None:
        if contact not in CONTACTS:
            raise InvalidInput(f"The contact is {contact!r}; it must be 'open' or 'closed'.")
        if not volumes:
            raise InvalidInput("A scene starts with at least one volume: it says what the voxels are.")
        self.contact = contact
        self._lattice = volumes[0].lattice
        self._volumes = dict(enumerate(volumes))
        self.broad = broad.create(method, self._boxes(volumes), closed=contact == "closed", **options)

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

    def add(self, volumes: Sequence[Volume]) -> NDArray[np.int32]:
        """Add volumes; their new ids."""
        ids = self.broad.add(self._boxes(volumes))
        self._volumes.update(zip(ids.tolist(), volumes, strict=True))
        return ids

    def remove(self, ids: Iterable[int]) -> None:
        """Take volumes out."""
        leaving = [int(number) for number in ids]
        self.broad.remove(np.array(leaving, np.int32))
        for number in leaving:
            del self._volumes[number]

    def move(self, number: int, volume: Volume) -> None:
        """Give a body another volume: itself translated, turned, or anything else."""
        self._require(number)
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
        if number not in self._volumes:
            raise InvalidInput(f"There is no volume with id {number}; ids come from the scene and from add.")

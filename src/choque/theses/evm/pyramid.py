"""A volume at falling resolutions, so that most questions about a large one end at a coarse one.

A coarse voxel is full when any of the eight below it is, so each level contains the one below it: what does not collide
coarsely does not collide at all, and only level 0 can say that it does.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.volumes._collision import search
from choque.volumes._lattice import Lattice, whole_number
from choque.volumes._model import ExtremeVertices
from choque.volumes._overlap import Shift
from choque.volumes._volume import Volume, lattice_of


class Pyramid:
    """A volume and coarser ones around it; level k has voxels of 2ᵏ edges.

    Parameters
    ----------
    volume
        The volume, which is level 0.
    level_count
        How many levels to make; by default until the coarsest has at most 8 voxels along its longest side.
    """

    def __init__(self, volume: Volume, level_count: int | None = None) -> None:
        lattice_of(volume)
        self.volume = volume
        self._anchor = volume.model.offset
        count = None if level_count is None else whole_number(level_count, "number of levels", 1)
        self._levels = _coarser_levels(volume.model, count)

    @property
    def level_count(self) -> int:
        """How many levels there are, the finest included."""
        return len(self._levels)

    def level(self, number: int) -> Volume:
        """The volume of a level, where the finest lies now."""
        if not 0 <= whole_number(number, "level") < self.level_count:
            raise InvalidInput(f"There is no level {number}; levels are 0 to {self.level_count - 1}.")
        moved = np.subtract(self.volume.model.offset, self._anchor) * self.volume.spacing
        spacing = np.array(self.volume.spacing) * 2**number
        return Volume(self._levels[number], Lattice.make(spacing, np.array(self.volume.lattice.origin) + moved))

    def translated(self, shift: ArrayLike) -> Pyramid:
        """Moved by a whole number of voxels; all levels are shared."""
        moved = Pyramid.__new__(Pyramid)
        moved.volume = self.volume.translated(shift)
        moved._anchor, moved._levels = self._anchor, self._levels
        return moved

    def collides(self, other: Pyramid, *, contact: str = "open") -> bool:
        """Whether the two volumes collide: the answer of `Volume.collides`."""
        return self.first_clear_level(other, contact=contact) is None

    def first_clear_level(self, other: Pyramid, *, contact: str = "open") -> int | None:
        """The coarsest level at which the two are seen not to collide; None when they do."""
        if not isinstance(other, Pyramid):
            raise InvalidInput(f"A pyramid meets another one, not a {type(other).__name__}; give Pyramid(volume).")
        shift = np.array(self.volume.lattice.shift_to(other.volume.lattice))
        shift += np.subtract(other.volume.model.offset, other._anchor)
        shift -= np.subtract(self.volume.model.offset, self._anchor)
        for number in reversed(range(min(self.level_count, other.level_count))):
            steps, rest = np.divmod(shift, 2**number)
            # Coarse voxels of two volumes need not line up; touching ones may then hold fine ones that overlap.
            coarse = contact if not rest.any() else "closed"
            if search(self._levels[number], other._levels[number], _as_shift(steps), coarse).overlap is None:
                return number
        return None

    @cached_property
    def byte_count(self) -> int:
        """What the vertices of all levels hold [bytes]."""
        return sum(level.byte_count for level in self._levels)


def _as_shift(steps: NDArray[np.int64]) -> Shift:
    return (int(steps[0]), int(steps[1]), int(steps[2]))


def _coarser_levels(model: ExtremeVertices, level_count: int | None) -> list[ExtremeVertices]:
    levels = [model]
    lower = np.array(model.bounds[0])
    mask = model.mask()
    while (level_count is None and max(mask.shape, default=0) > 8) or (
        level_count is not None and len(levels) < level_count
    ):
        before = lower % 2
        after = (before + mask.shape) % 2
        mask = np.pad(mask, list(zip(before, after, strict=True)))
        lower = lower // 2
        for axis in range(3):
            even, odd = (np.take(mask, range(start, mask.shape[axis], 2), axis) for start in (0, 1))
            mask = even | odd
        levels.append(ExtremeVertices.from_mask(mask, offset=tuple(lower.tolist())))
    return levels

"""A volume at several resolutions, so that most queries of a large one end at a coarse level.

A coarse voxel is full if any of the eight below it is, so each level contains the one below it: two pyramids that are
apart at one level are apart, and only level 0 shows that they collide.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.errors import InvalidInput
from choque.theses.evm.baselines import Shift
from choque.volumes import ExtremeVertices, Lattice, Volume
from choque.volumes.collision import search


class Pyramid:
    """A volume and coarser ones around it; level k has voxels of 2ᵏ edges.

    Parameters
    ----------
    volume
        The volume, which is level 0.
    level_count
        Number of levels; default: until the coarsest has at most 8 voxels along its longest side.
    """

    def __init__(self, volume: Volume, *, level_count: int | None = None) -> None:
        if not isinstance(volume, Volume):
            raise InvalidInput(f"A pyramid is made of a volume, not of {type(volume).__name__}; give a Volume.")
        self.volume = volume
        self._anchor = volume.model.offset
        count = None if level_count is None else check.whole_number(level_count, "level_count", 1)
        self._levels = _coarser_levels(volume.model, count)

    @property
    def level_count(self) -> int:
        """Number of levels, the finest included."""
        return len(self._levels)

    def level(self, number: int) -> Volume:
        """Return the volume of a level, moved as the finest is."""
        check.whole_number(number, "number", 0, self.level_count - 1)
        moved = np.subtract(self.volume.model.offset, self._anchor) * self.volume.spacing
        spacing = np.array(self.volume.spacing) * 2**number
        return Volume(self._levels[number], Lattice.make(spacing, np.array(self.volume.lattice.origin) + moved))

    def translated(self, shift: ArrayLike) -> Pyramid:
        """Return the pyramid moved by a whole number of voxels; all levels are shared."""
        moved = Pyramid.__new__(Pyramid)
        moved.volume = self.volume.translated(shift)
        moved._anchor, moved._levels = self._anchor, self._levels
        return moved

    def collides(self, other: Pyramid, *, closed: bool = False) -> bool:
        """Return whether the two volumes collide: the answer of `Volume.collides`, from coarse to fine."""
        return self.first_clear_level(other, closed=closed) is None

    def first_clear_level(self, other: Pyramid, *, closed: bool = False) -> int | None:
        """Return the coarsest level at which the two are apart; None if they collide."""
        if not isinstance(other, Pyramid):
            raise InvalidInput(f"A pyramid meets another one, not a {type(other).__name__}; give Pyramid(volume).")
        shift = np.array(self.volume.lattice.shift_to(other.volume.lattice))
        shift += np.subtract(other.volume.model.offset, other._anchor)
        shift -= np.subtract(self.volume.model.offset, self._anchor)
        for number in reversed(range(min(self.level_count, other.level_count))):
            steps, rest = np.divmod(shift, 2**number)
            # Coarse voxels of two volumes need not line up; coarse voxels that touch may then contain an overlap.
            coarse = closed or bool(rest.any())
            if search(self._levels[number], other._levels[number], _as_shift(steps), closed=coarse).overlap is None:
                return number
        return None

    @cached_property
    def byte_count(self) -> int:
        """Size of the vertices of all levels [bytes]."""
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

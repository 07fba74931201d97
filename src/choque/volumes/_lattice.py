"""The lattice of voxels in the world: the size of a voxel and the corner where voxel 0 starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import F64
from choque.errors import InvalidInput
from choque.files.scans import Triple

TOLERANCE = 1e-3
"""Largest difference from a whole number of voxels that is ignored [voxels]: headers in float32 need it."""

SPACING_TOLERANCE = 1e-6  # largest relative difference of two spacings that is ignored

MAX_DISTANCE = 1 << 53
"""Largest distance from the origin of a lattice [voxels]: up to it, floats distinguish one voxel from the next."""

MAX_CELLS = 1 << 34  # largest number of voxels in a mask


@dataclass(frozen=True)
class Lattice:
    """Voxel (i, j, k) spans ``origin + (i, j, k) * spacing`` to one spacing further, in world units."""

    spacing: Triple = (1.0, 1.0, 1.0)
    origin: Triple = (0.0, 0.0, 0.0)

    @classmethod
    def make(cls, spacing: ArrayLike, origin: ArrayLike) -> Lattice:
        """Return a lattice after checking both arguments; ``spacing`` is three numbers, or one for all axes."""
        size = check.triple(spacing, "spacing", single=True)
        if min(size) <= 0:
            raise InvalidInput(f"spacing is {size}; the edges of a voxel must be longer than 0.")
        return cls(size, check.triple(origin, "origin"))

    def steps(self, shift: ArrayLike) -> tuple[int, int, int]:
        """Return a world translation as whole numbers of voxels along x, y, z; a fraction of a voxel is refused."""
        given = check.triple(shift, "shift")
        wanted = [step / size for step, size in zip(given, self.spacing, strict=True)]
        if not max(map(abs, wanted)) <= MAX_DISTANCE:
            raise InvalidInput(f"The translation {given} is farther than 2⁵³ voxels of {self.spacing}; stay within.")
        whole = [round(steps) for steps in wanted]
        if any(abs(steps - count) > TOLERANCE for steps, count in zip(wanted, whole, strict=True)):
            nearest = tuple(round(count * size, 9) for count, size in zip(whole, self.spacing, strict=True))
            raise InvalidInput(
                f"The translation {given} is not a whole number of voxels "
                f"of {self.spacing}; the nearest that is: {nearest}. For finer steps resample both "
                "volumes at a smaller spacing."
            )
        return (whole[0], whole[1], whole[2])

    def shift_to(self, other: Lattice) -> tuple[int, int, int]:
        """Return the position of voxel 0 of ``other`` on this lattice; voxels must have one size and line up."""
        if self is other or self == other:
            return (0, 0, 0)
        if any(abs(one - two) > SPACING_TOLERANCE * one for one, two in zip(self.spacing, other.spacing, strict=True)):
            raise InvalidInput(
                f"One volume has voxels of {self.spacing} and the other of {other.spacing}; they must be of one "
                "size. Resample one with other.resampled(like=volume), or give like=volume when you voxelise a mesh."
            )
        steps = []
        for size, one, two in zip(self.spacing, self.origin, other.origin, strict=True):
            wanted = (two - one) / size
            if not abs(wanted) <= MAX_DISTANCE:
                raise InvalidInput(
                    f"The origins {self.origin} and {other.origin} of the two volumes lie {abs(wanted):.3g} voxels "
                    "apart; a lattice reaches to 2⁵³."
                )
            whole = round(wanted)
            if abs(wanted - whole) > TOLERANCE:
                raise InvalidInput(
                    f"The voxels of the two volumes do not line up: the origins {self.origin} and {other.origin} "
                    f"differ by {wanted:.6g} voxels. Make them line up with other.resampled(like=volume)."
                )
            steps.append(whole)
        return (steps[0], steps[1], steps[2])

    def to_world(self, points: ArrayLike) -> F64:
        """Return the world positions of lattice points (…, 3)."""
        return np.asarray(points, np.float64) * self.spacing + self.origin

    def to_lattice(self, points: ArrayLike) -> F64:
        """Return the lattice positions of world points (…, 3)."""
        return (np.asarray(points, np.float64) - self.origin) / self.spacing


def check_cells(shape: Sequence[float], what: str) -> None:
    """Raise `InvalidInput` for a box of voxels that is too large for a mask."""
    if not prod(map(float, shape)) <= MAX_CELLS:
        sizes = " × ".join(f"{size:,.0f}" if size < MAX_DISTANCE else f"{size:.3g}" for size in shape)
        raise InvalidInput(f"{what} has {sizes} voxels, more than 2³⁴; use fewer or larger voxels.")

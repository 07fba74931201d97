"""Where the lattice lies in the world: the size of a voxel and the corner that voxel 0 starts at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, prod
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput

Triple = tuple[float, float, float]

_TOLERANCE = 1e-6
"""What counts as a whole number of voxels: far below a voxel, far above the rounding of stored headers."""


FARTHEST = 1 << 53
"""How many voxels from its origin a lattice reaches: so far floats still tell one from the next."""

_MOST_CELLS = 1 << 34


@dataclass(frozen=True)
class Lattice:
    """Voxel (i, j, k) spans ``origin + (i, j, k) * spacing`` to one spacing further, in world units."""

    spacing: Triple = (1.0, 1.0, 1.0)
    origin: Triple = (0.0, 0.0, 0.0)

    @classmethod
    def make(cls, spacing: ArrayLike, origin: ArrayLike) -> Lattice:
        """A lattice from anything that looks like one or three numbers; checked."""
        size = triple(spacing, "spacing", single=True)
        if min(size) <= 0:
            raise InvalidInput(f"The spacing is {size}; the edges of a voxel must be longer than 0.")
        return cls(size, triple(origin, "origin"))

    def steps(self, shift: ArrayLike) -> tuple[int, int, int]:
        """A world translation as a number of voxels along x, y, z; refused unless it is whole."""
        given = triple(shift, "translation")
        wanted = [step / size for step, size in zip(given, self.spacing, strict=True)]
        if not max(map(abs, wanted)) <= FARTHEST:
            raise InvalidInput(f"The translation {given} is farther than 2⁵³ voxels of {self.spacing}; stay within.")
        whole = [round(steps) for steps in wanted]
        if any(
            abs(steps - count) > _TOLERANCE * max(1, abs(count)) for steps, count in zip(wanted, whole, strict=True)
        ):
            nearest = tuple(round(count * size, 9) for count, size in zip(whole, self.spacing, strict=True))
            raise InvalidInput(
                f"The translation {given} is not a whole number of voxels "
                f"of {self.spacing}; the nearest that is: {nearest}. For finer steps resample both "
                "volumes at a smaller spacing."
            )
        return (whole[0], whole[1], whole[2])

    def shift_to(self, other: Lattice) -> tuple[int, int, int]:
        """Where voxel 0 of ``other`` lies on this lattice; refused unless both lattices are the same but for that."""
        if self is other or self == other:
            return (0, 0, 0)
        if any(abs(one - two) > _TOLERANCE * one for one, two in zip(self.spacing, other.spacing, strict=True)):
            raise InvalidInput(
                f"One volume has voxels of {self.spacing} and the other of {other.spacing}; they must be alike. "
                "Make them so with other.resampled(like=volume), or give like=volume when you voxelise a mesh."
            )
        steps = []
        for size, one, two in zip(self.spacing, self.origin, other.origin, strict=True):
            wanted = (two - one) / size
            if not abs(wanted) <= FARTHEST:
                raise InvalidInput(
                    f"The origins {self.origin} and {other.origin} of the two volumes lie {abs(wanted):.3g} voxels "
                    "apart; a lattice reaches to 2⁵³."
                )
            whole = round(wanted)
            if abs(wanted - whole) > _TOLERANCE * max(1, abs(whole)):
                raise InvalidInput(
                    f"The voxels of the two volumes do not line up: the origins {self.origin} and {other.origin} "
                    f"differ by {wanted:.6g} voxels. Make them line up with other.resampled(like=volume)."
                )
            steps.append(whole)
        return (steps[0], steps[1], steps[2])

    def to_world(self, points: ArrayLike) -> NDArray[np.float64]:
        """World positions of lattice points (…, 3)."""
        return np.asarray(points, np.float64) * self.spacing + self.origin

    def to_lattice(self, points: ArrayLike) -> NDArray[np.float64]:
        """Lattice positions of world points (…, 3)."""
        return (np.asarray(points, np.float64) - self.origin) / self.spacing


def check_cells(shape: Sequence[float], what: str) -> None:
    """Refuse a box of voxels that no machine holds a byte each for."""
    if not prod(map(float, shape)) <= _MOST_CELLS:
        sizes = " × ".join(f"{size:,.0f}" if size < FARTHEST else f"{size:.3g}" for size in shape)
        raise InvalidInput(f"{what} has {sizes} voxels, more than fits; use fewer or larger voxels.")


def whole_number(value: Any, name: str, least: int | None = None) -> int:
    """A whole number, of ``least`` or more where that is said."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or value != value // 1 or (least is not None and value < least):
        limit = "" if least is None else f" of at least {least}"
        raise InvalidInput(f"The {name} is {value!r}; it must be a whole number{limit}.")
    return int(value)


def triple(values: ArrayLike | Sequence[float], name: str, *, single: bool = False) -> Triple:
    """Three finite floats, or one for all three when ``single`` is allowed."""
    if isinstance(values, tuple) and len(values) == 3 and all(type(value) is float for value in values):
        x, y, z = values  # the usual case, without the detour through an array
        if isfinite(x) and isfinite(y) and isfinite(z):
            return (x, y, z)
    try:
        given = np.asarray(values, np.float64)
    except (TypeError, ValueError):
        given = np.empty((0, 0))
    if single and given.ndim == 0:
        given = np.repeat(given, 3)
    if given.shape != (3,) or not np.isfinite(given).all():
        raise InvalidInput(f"The {name} is {values!r}; give three finite numbers, for x, y and z.")
    return (float(given[0]), float(given[1]), float(given[2]))

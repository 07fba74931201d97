"""The three directions that a sweep with k-DOPs looks at first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Frame:
    """The three directions of a sweep: the one that is swept, and the two most upright to it and to each other.

    Attributes
    ----------
    slabs
        (3,) their places among the directions of the bounds; −1 stands for the axis that the plane lacks.
    """

    slabs: tuple[int, int, int]

    @classmethod
    def along(cls, slab: int, directions: NDArray[np.int64]) -> Frame:
        """The frame swept along ``directions[slab]``."""
        units = directions / np.linalg.norm(directions, axis=1)[:, None]
        leaning = np.abs(units @ units[slab])
        second = int(np.argmin(leaning))
        if directions.shape[1] == 2:
            return cls((slab, second, -1))
        return cls((slab, second, int(np.argmin(np.maximum(leaning, np.abs(units @ units[second]))))))

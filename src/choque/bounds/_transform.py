"""A point through a rigid transform, and how far the stored result may be from the true one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.rounding import add_down, add_up, dot_down, dot_up, outer_distance
from choque._core.types import Floats


@kernel
def move_point(point: Floats, turn: NDArray[np.float64], shift: NDArray[np.float64], moved: Floats) -> float:
    """Write ``turn`` · ``point`` + ``shift`` to ``moved`` and return an upper bound of the error's length.

    The error is 0 wherever the result is exact, as for integers moved by integers.
    """
    error = 0.0
    for axis in range(len(point)):
        low = add_down(dot_down(turn[axis], point), shift[axis])
        high = add_up(dot_up(turn[axis], point), shift[axis])
        moved[axis] = low
        stored = np.float64(moved[axis])
        error = add_up(error, max(outer_distance(high, stored), outer_distance(stored, low)))
    return error


@kernel
def stretch_up(turn: NDArray[np.float64]) -> float:
    """An upper bound of how much ``turn`` lengthens a vector; 1 where it swaps and flips axes only."""
    largest = 0.0
    for row in range(len(turn)):
        total = 0.0
        for other in range(len(turn)):
            total = add_up(total, max(dot_up(turn[row], turn[other]), -dot_down(turn[row], turn[other])))
        largest = max(largest, total)
    return largest if largest == 1 else np.nextafter(np.sqrt(largest), np.inf)

"""Axis-aligned boxes."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.kernel import kernel
from choque._core.rounding import add_down, add_up, multiply_down, multiply_up, narrow_down, narrow_up
from choque._core.types import Floats
from choque.bounds._bounds import Bounds
from choque.bounds._slabs import overlap_slabs, swept_slabs
from choque.errors import InvalidInput


class Boxes(Bounds):
    """Axis-aligned boxes: all points between ``lower`` and ``upper``, both (n, 2) or (n, 3).

    Closed boxes overlap when ``lower_i <= upper_j`` and the reverse on every axis; half-open ones with
    ``<``. The test only compares, so it is exact. Boxes of no size and of infinite extent are legal; NaN
    and ``lower > upper`` are not.
    """

    lower: Floats
    upper: Floats

    _fields = ("lower", "upper")
    _overlap_kernel = staticmethod(overlap_slabs)

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        low, high = check.widest(check.coordinates(lower, "lower"), check.coordinates(upper, "upper"))
        check_boxes(low, high)
        self._hold(low, high)

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None) -> Self:
        """The smallest boxes around groups of points: exact.

        Parameters
        ----------
        points
            Finite numbers (n, p, d), or (total, d) with ``starts``.
        starts
            The row where each ragged group starts, and the number of points at the end: (n + 1,).
        """
        flat, rows = check.groups(points, starts)
        if len(rows) == 1:
            return cls.unchecked(flat, flat.copy())
        return cls.unchecked(np.minimum.reduceat(flat, rows[:-1]), np.maximum.reduceat(flat, rows[:-1]))

    def boxes(self) -> Boxes:
        """The boxes themselves."""
        return self

    def _moved(self, rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> Self:
        lower = np.empty(self.lower.shape)
        upper = np.empty(self.lower.shape)
        _move_boxes(self.lower, self.upper, rotation, translation, lower, upper)
        return self.unchecked(narrow_down(lower, self.dtype), narrow_up(upper, self.dtype))

    def _swept(self, way: NDArray[np.float64]) -> Self:
        return self.unchecked(*swept_slabs(self.lower, self.upper, way))


@kernel
def _move_boxes(
    lower: Floats,
    upper: Floats,
    rotation: NDArray[np.float64],
    translation: NDArray[np.float64],
    moved_lower: NDArray[np.float64],
    moved_upper: NDArray[np.float64],
) -> None:
    """The box around each turned box, in interval arithmetic (Arvo, Graphics Gems, 1990)."""
    for row in range(lower.shape[0]):
        turn = rotation[row if rotation.shape[0] > 1 else 0]
        shift = translation[row if translation.shape[0] > 1 else 0]
        for axis in range(lower.shape[1]):
            low = high = 0.0
            for other in range(lower.shape[1]):
                factor = turn[axis, other]
                near, far = np.float64(lower[row, other]), np.float64(upper[row, other])
                if factor < 0:
                    near, far = far, near
                low = add_down(low, multiply_down(factor, near))
                high = add_up(high, multiply_up(factor, far))
            moved_lower[row, axis] = add_down(low, shift[axis])
            moved_upper[row, axis] = add_up(high, shift[axis])


def check_boxes(lower: Floats, upper: Floats) -> None:
    """Raise `InvalidInput` unless both have one shape and ``lower <= upper`` everywhere, which NaN never is."""
    check.shape(upper, "upper", lower.shape, "lower")
    if _are_ordered(lower.reshape(-1), upper.reshape(-1)):
        return
    row, column = (int(index) for index in np.argwhere(~(lower <= upper))[0])
    low, high = lower[row, column], upper[row, column]
    problem = "is not a number" if np.isnan(low) or np.isnan(high) else "has lower > upper"
    raise InvalidInput(f"Row {row} {problem}: lower is {low!s} and upper is {high!s} in column {column}.")


@kernel
def _are_ordered(lower: Floats, upper: Floats) -> bool:
    """Tell whether ``lower <= upper`` throughout two flat arrays; counting vectorises, leaving early does not."""
    good = 0
    for low, high in zip(lower, upper):  # noqa: B905
        good += low <= high
    return good == len(lower)

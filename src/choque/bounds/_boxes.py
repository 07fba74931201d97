"""Axis-aligned boxes, and what they share with k-DOPs: intervals along fixed directions."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.kernel import kernel
from choque._core.rounding import add_down, add_up, multiply_down, multiply_up, narrow_down, narrow_up
from choque._core.types import Floats
from choque.bounds._bounds import Bounds
from choque.errors import InvalidInput


class Slabs(NamedTuple):
    """The ends of intervals along m directions, each (n, m)."""

    lower: Any
    upper: Any


@kernel
def overlap_slabs(
    first: int,
    last: int,
    pairs: NDArray[np.int32],
    one: Slabs,
    other: Slabs,
    closed: bool,
    result: NDArray[np.bool_],
) -> None:
    """Test whether the intervals of ``pairs[first:last]`` overlap along every direction; exact, as it only compares.

    O(1) memory and at most m interval tests for a pair; the first direction that separates ends the test.
    """
    lower_a, upper_a, lower_b, upper_b = one.lower, one.upper, other.lower, other.upper
    for index in range(first, last):
        a, b = pairs[index, 0], pairs[index, 1]
        meet = True
        for axis in range(lower_a.shape[1]):
            if closed:
                meet = lower_a[a, axis] <= upper_b[b, axis] and lower_b[b, axis] <= upper_a[a, axis]
            else:
                meet = lower_a[a, axis] < upper_b[b, axis] and lower_b[b, axis] < upper_a[a, axis]
            if not meet:
                break
        result[index] = meet


class SlabBounds(Bounds):
    """Volumes made of the intervals from ``lower`` to ``upper``, both (n, m), along m directions."""

    lower: Floats
    upper: Floats

    _fields = ("lower", "upper")
    _overlap_kernel = staticmethod(overlap_slabs)

    def _operands(self) -> Slabs:
        return Slabs(self.lower, self.upper)


class Boxes(SlabBounds):
    """Axis-aligned boxes: all points between ``lower`` and ``upper``, both (n, 2) or (n, 3).

    Closed boxes overlap when ``lower_i <= upper_j`` and the reverse on every axis; half-open ones with
    ``<``. The test only compares, so it is exact. Boxes of no size and of infinite extent are legal; NaN
    and ``lower > upper`` are not.
    """

    def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None:
        low, high = check.widest(check.coordinates(lower, "lower"), check.coordinates(upper, "upper"))
        check_boxes(low, high)
        self._hold(low, high)

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None) -> Self:
        """Return the smallest boxes around groups of points: exact.

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
        """Return the boxes themselves."""
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
    """Write the box around each turned box, in interval arithmetic (Arvo, Graphics Gems, 1990)."""
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


def swept_slabs(lower: Floats, upper: Floats, way: NDArray[np.float64]) -> tuple[Floats, Floats]:
    """Stretch intervals (n, m) along ``way`` (n, m): each contains itself at the start and at the end.

    Sums are rounded outward by at most one step, and only where they are not exact.
    """
    low = np.minimum(lower, _sum(lower, way, -np.inf))
    high = np.maximum(upper, _sum(upper, way, np.inf))
    return narrow_down(low, lower.dtype), narrow_up(high, upper.dtype)


def _sum(ends: Floats, way: NDArray[np.float64], outward: float) -> NDArray[np.float64]:
    """Return ``ends`` + ``way`` in float64, one step towards ``outward`` where rounding went the other way."""
    wide = ends.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        total = wide + way
        # Knuth's TwoSum: the exact error of the addition; 0 for an infinite end.
        part = total - wide
        lost = (wide - (total - part)) + (way - part)
        total = np.where(lost * np.sign(outward) > 0, np.nextafter(total, outward), total)
    # A sum that overflows on the inner side becomes the largest float.
    largest = np.finfo(np.float64).max
    inner = np.isinf(total) & np.isfinite(wide) & (np.sign(total) != np.sign(outward))
    return np.where(inner, np.copysign(largest, total), total)

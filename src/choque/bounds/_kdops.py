"""k-DOPs: convex volumes between k half-spaces of fixed directions."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.rounding import narrow_down, narrow_up
from choque._core.types import Floats
from choque.bounds._bounds import Bounds
from choque.bounds._boxes import Boxes, check_boxes
from choque.bounds._directions import DEFAULT_K, dimension_of, directions, slot_table
from choque.bounds._kdops_kernels import box_slabs, fit_slabs, move_slabs
from choque.bounds._slabs import overlap_slabs, swept_slabs
from choque.errors import InvalidInput

PROJECTING = 2.0**-50
"""More than the relative error of adding three numbers."""


class KDops(Bounds):
    """Discrete oriented polytopes: all x with ``lower <= D x <= upper``, where D is `directions` of ``k``.

    ``lower`` and ``upper`` are (n, k/2). Two k-DOPs overlap when their intervals do along every direction,
    closed with ``<=`` and half-open with ``<`` (Klosowski, Held, Mitchell, Sowizral, Zikan, 1998). The test
    only compares. It may call two disjoint k-DOPs overlapping, because it leaves out their edge directions,
    but never the reverse.

    What is fitted or moved is rounded outward and only where a sum was not exact: bodies that touch have
    k-DOPs that overlap, and integer coordinates below 2⁵¹ stay exact. The pairs of a 26-DOP fit are pairs
    of the 18-DOP and of the 14-DOP fit to the same points, and those are pairs of the boxes.
    """

    lower: Floats
    upper: Floats

    _fields = ("lower", "upper")
    _overlap_kernel = staticmethod(overlap_slabs)

    def __init__(self, k: int, lower: ArrayLike, upper: ArrayLike) -> None:
        count = len(directions(k))
        low, high = check.widest(check.floats(lower, "lower"), check.floats(upper, "upper"))
        if low.ndim != 2 or low.shape[1] != count:
            raise InvalidInput(f"lower has the shape {low.shape}; for a {k}-DOP it must be (n, {count}).")
        check_boxes(low, high)
        self._hold(low, high)

    @property
    def k(self) -> int:
        """The number of half-spaces, twice the number of slabs."""
        return 2 * int(self.lower.shape[1])

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return dimension_of(self.k)

    def _title(self) -> str:
        return f"{self.k}-DOPs"

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None, *, k: int | None = None) -> Self:
        """The smallest k-DOPs around groups of points: exact up to the rounding of sums, which goes outward.

        Parameters
        ----------
        points
            Finite numbers (n, p, d), or (total, d) with ``starts``.
        starts
            The row where each ragged group starts, and the number of points at the end: (n + 1,).
        k
            4 or 8 in the plane (8 when None); 6, 14, 18 or 26 in space (18 when None).
        """
        flat, rows = check.groups(points, starts)
        along = _directions_in(flat.shape[1], k)
        shape = (len(rows) - 1, len(along))
        lower, upper = np.empty(shape), np.empty(shape)
        fit_slabs(flat, rows, along, lower, upper)
        return cls.unchecked(narrow_down(lower, flat.dtype), narrow_up(upper, flat.dtype))

    @classmethod
    def from_boxes(cls, boxes: Boxes, k: int | None = None) -> Self:
        """The smallest k-DOPs around ``boxes``; they overlap exactly where the boxes do."""
        along = _directions_in(boxes.dimension, k)
        shape = (len(boxes), len(along))
        lower, upper = np.empty(shape), np.empty(shape)
        box_slabs(boxes.lower, boxes.upper, along, lower, upper)
        return cls.unchecked(narrow_down(lower, boxes.dtype), narrow_up(upper, boxes.dtype))

    def boxes(self) -> Boxes:
        """The boxes of the leading slabs."""
        size = self.dimension
        return Boxes.unchecked(self.lower[:, :size].copy(), self.upper[:, :size].copy())

    def _moved(self, rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> Self:
        along = directions(self.k).astype(np.float64)
        lower, upper = np.empty(self.lower.shape), np.empty(self.lower.shape)
        move_slabs(self.lower, self.upper, along, slot_table(self.k), rotation, translation, lower, upper)
        return self.unchecked(narrow_down(lower, self.dtype), narrow_up(upper, self.dtype))

    def _swept(self, way: NDArray[np.float64]) -> Self:
        along = directions(self.k)
        # What projecting the way may have lost is put back on both sides of it; whole numbers lose nothing.
        shift = way @ along.T
        lost = np.where(np.rint(way) == way, 0.0, PROJECTING * np.abs(way)) @ np.abs(along).T
        low = swept_slabs(self.lower, self.upper, shift - lost)
        high = swept_slabs(self.lower, self.upper, shift + lost)
        return self.unchecked(np.minimum(low[0], high[0]), np.maximum(low[1], high[1]))


def _directions_in(dimension: int, k: int | None) -> NDArray[np.float64]:
    chosen = DEFAULT_K[dimension] if k is None else k
    along = directions(chosen)
    if along.shape[1] != dimension:
        raise InvalidInput(f"A {chosen}-DOP lives in {along.shape[1]}D; what it was asked to bound is in {dimension}D.")
    return along.astype(np.float64)

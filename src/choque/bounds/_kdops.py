"""k-DOPs: convex volumes between k half-spaces of fixed directions.

The directions are whole numbers and are not normalised: a slab along (1, 1, 0) bounds x + y. Integer coordinates
therefore stay exact, and a slab costs additions only. Faces come first, so that the leading slabs of every k-DOP are
its axis-aligned box; then edges, then corners, so that the slabs of an 18-DOP are the leading ones of a 26-DOP.

| k | dimension | directions |
| --- | --- | --- |
| 4 | 2 | the 2 axes: the box |
| 8 | 2 | axes and the 2 diagonals |
| 6 | 3 | the 3 axes: the box |
| 14 | 3 | axes and the 4 corners |
| 18 | 3 | axes and the 6 edges |
| 26 | 3 | axes, edges and corners |
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.kernel import kernel
from choque._core.rounding import SMALLEST, add_down, add_up, dot_down, dot_up
from choque._core.types import F64, I64, Floats, Rows
from choque.bounds._bounds import Boxes, SlabBounds, check_boxes, move_boxes, swept_slabs
from choque.errors import InvalidInput

_FACES_2D = ((1, 0), (0, 1))
_CORNERS_2D = ((1, 1), (1, -1))
_FACES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
_EDGES = ((1, 1, 0), (1, -1, 0), (1, 0, 1), (1, 0, -1), (0, 1, 1), (0, 1, -1))
_CORNERS = ((1, 1, 1), (1, 1, -1), (1, -1, 1), (1, -1, -1))

_TABLES: dict[int, tuple[tuple[int, ...], ...]] = {
    4: _FACES_2D,
    8: _FACES_2D + _CORNERS_2D,
    6: _FACES,
    14: _FACES + _CORNERS,
    18: _FACES + _EDGES,
    26: _FACES + _EDGES + _CORNERS,
}

SUM_ROUNDING = 2.0**-50  # more than the relative error of adding three numbers

TURN_ROUNDING = 2.0**-46
"""More than the relative error of turning a direction, splitting it into others and adding their slabs."""

STRIDES = (9, 3, 1)
HOME = 13  # a direction (x, y, z) of {−1, 0, 1}³ has the index 13 + 9 x + 3 y + z in `_slot_table`


def directions(k: int) -> I64:
    """Return the k/2 directions of a k-DOP, (k/2, d): k is 4 or 8 in the plane and 6, 14, 18 or 26 in space.

    >>> directions(8).tolist()
    [[1, 0], [0, 1], [1, 1], [1, -1]]
    """
    if isinstance(k, bool) or k not in _TABLES:
        raise InvalidInput(f"k is {k!r}; it must be 4 or 8 in 2D, or 6, 14, 18 or 26 in 3D.")
    return np.array(_TABLES[k], dtype=np.int64)


def _slot_table(k: int) -> I64:
    """Return the slab of each direction (x, y, z) of {−1, 0, 1}³, (27,).

    The index is 13 + 9 x + 3 y + z. The entry is slab + 1, negative if the slab runs the other way, and 0 if there is
    none.
    """
    table = np.zeros(27, dtype=np.int64)
    for slab, direction in enumerate(_TABLES[k], start=1):
        x, y, z = (*direction, 0)[:3]
        table[HOME + 9 * x + 3 * y + z] = slab
        table[HOME - 9 * x - 3 * y - z] = -slab
    return table


class KDops(SlabBounds):
    """Discrete oriented polytopes: all x with ``lower <= D x <= upper``, where D is `directions` of ``k``.

    ``lower`` and ``upper`` are (n, k/2). Two k-DOPs overlap when their intervals do along every direction, closed with
    ``<=`` and half-open with ``<`` (Klosowski, Held, Mitchell, Sowizral, Zikan, 1998). The test only compares. It may
    call two disjoint k-DOPs overlapping, because it leaves out their edge directions, but never the reverse.

    What is fitted or moved is rounded outward and only where a sum was not exact: bodies that touch have
    k-DOPs that overlap, and integer coordinates below 2⁵¹ stay exact. The pairs of a 26-DOP fit are pairs
    of the 18-DOP and of the 14-DOP fit to the same points, and those are pairs of the boxes.
    """

    DEFAULT_K: ClassVar[Mapping[int, int]] = {2: 8, 3: 18}  #: Default k in each dimension.

    def __init__(self, k: int, lower: ArrayLike, upper: ArrayLike) -> None:
        count = len(directions(k))
        low, high = check.widest(check.floats(lower, "lower"), check.floats(upper, "upper"))
        if low.ndim != 2 or low.shape[1] != count:
            raise InvalidInput(f"lower has the shape {low.shape}; for a {k}-DOP it must be (n, {count}).")
        check_boxes(low, high)
        self._hold(low, high)

    @property
    def k(self) -> int:
        """Number of half-spaces, twice the number of slabs."""
        return 2 * int(self.lower.shape[1])

    @property
    def dimension(self) -> int:
        """Dimension of space: 2 or 3."""
        return len(_TABLES[self.k][0])

    def _title(self) -> str:
        return f"{self.k}-DOPs"

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None, *, k: int | None = None) -> Self:
        """Return the smallest k-DOPs around groups of points: exact up to the rounding of sums, which goes outward.

        ``points`` and ``starts`` as for `Boxes.fit`; ``k`` is 4 or 8 in the plane (8 when None), 6, 14, 18 or 26 in
        space (18 when None).
        """
        flat, rows = check.groups(points, starts)
        along = _directions_in(flat.shape[1], k)
        return cls.written((len(rows) - 1, len(along)), flat.dtype, _fit_slabs, flat, rows, along)

    @classmethod
    def from_boxes(cls, boxes: Boxes, *, k: int | None = None) -> Self:
        """Return the smallest k-DOPs around ``boxes``; they overlap exactly where the boxes do."""
        along = _directions_in(boxes.dimension, k)
        shape, still = (len(boxes), len(along)), np.zeros((1, len(along)))
        return cls.written(shape, boxes.dtype, move_boxes, boxes.lower, boxes.upper, along[np.newaxis], still)

    def boxes(self) -> Boxes:
        """Return the boxes of the leading slabs."""
        size = self.dimension
        return Boxes.unchecked(self.lower[:, :size].copy(), self.upper[:, :size].copy())

    def _moved(self, rotation: F64, translation: F64) -> Self:
        along = directions(self.k).astype(np.float64)
        given = self.lower, self.upper, along, _slot_table(self.k), rotation, translation
        return self.written(self.lower.shape, self.dtype, _move_slabs, *given)

    @np.errstate(over="ignore")  # a shift too long for a float64 makes a slab infinite
    def _swept(self, way: F64) -> Self:
        along = directions(self.k)
        # The rounding error of the projection is added on both sides; whole numbers have none.
        shift = way @ along.T
        lost = np.where(np.rint(way) == way, 0.0, SUM_ROUNDING * np.abs(way)) @ np.abs(along).T
        low = swept_slabs(self.lower, self.upper, shift - lost)
        high = swept_slabs(self.lower, self.upper, shift + lost)
        return self.unchecked(np.minimum(low[0], high[0]), np.maximum(low[1], high[1]))


def _directions_in(dimension: int, k: int | None) -> F64:
    chosen = KDops.DEFAULT_K[dimension] if k is None else k
    along = directions(chosen)
    if along.shape[1] != dimension:
        raise InvalidInput(
            f"k is {chosen}, which is for {along.shape[1]}D; the points or boxes are in {dimension}D. Choose another k."
        )
    return along.astype(np.float64)


@kernel
def _fit_slabs(flat: Floats, starts: Rows, directions: F64, lower: F64, upper: F64) -> None:
    """Write the extent of each group of points along each direction, rounded outward.

    Only a point that may set a new extreme, by its plainly rounded projection, is projected with directed rounding.
    """
    for row in range(len(lower)):
        for slab in range(len(directions)):
            along = directions[slab]
            low, high = np.inf, -np.inf
            for point in range(starts[row], starts[row + 1]):
                plain = size = 0.0
                for axis in range(len(along)):
                    term = along[axis] * flat[point, axis]
                    plain += term
                    size += abs(term)
                slack = SUM_ROUNDING * size
                if not plain - slack >= low:
                    low = min(low, dot_down(along, flat[point]))
                if not plain + slack <= high:
                    high = max(high, dot_up(along, flat[point]))
            lower[row, slab] = low
            upper[row, slab] = high


@kernel
def _move_slabs(
    lower: Floats,
    upper: Floats,
    directions: F64,
    slots: Rows,
    rotation: F64,
    translation: F64,
    moved_lower: F64,
    moved_upper: F64,
) -> None:
    """Write slabs around each moved k-DOP: the reach of R P along d is the reach of P along Rᵀ d."""
    dimension = directions.shape[1]
    vector = np.zeros(3)
    weights = np.zeros(8)
    for row in range(len(lower)):
        turn = rotation[row if len(rotation) > 1 else 0]
        shift = translation[row if len(translation) > 1 else 0]
        rounding = 0.0 if _only_swaps(turn) else TURN_ROUNDING
        for slab in range(len(directions)):
            along = directions[slab]
            for axis in range(dimension):
                vector[axis] = 0.0
                for other in range(dimension):
                    vector[axis] += turn[other, axis] * along[other]
            high = _reach_up(vector, weights, slots, lower[row], upper[row], rounding)
            vector *= -1
            low = -_reach_up(vector, weights, slots, lower[row], upper[row], rounding)
            moved_lower[row, slab] = add_down(low, dot_down(along, shift))
            moved_upper[row, slab] = add_up(high, dot_up(along, shift))


@kernel
def _only_swaps(turn: F64) -> bool:
    """Return whether a rotation only swaps and flips axes, which is exact."""
    for row in turn:
        for entry in row:
            if entry != 0 and abs(entry) != 1:
                return False
    return True


@kernel
def _reach_up(vector: F64, weights: F64, slots: Rows, lower: Floats, upper: Floats, rounding: float) -> float:
    """Return an upper bound of how far one k-DOP reaches along any ``vector`` (3,).

    The vector is written as a sum of directions of the k-DOP with non-negative ``weights`` (scratch, (8,)), from the
    cone that it lies in; the same sum of their reaches bounds its reach, because reach is subadditive. Bit i of an
    index into ``weights`` says that the i-th largest component takes part: 1 is a face, 3 an edge, 7 a corner.
    """
    first, second, third = 0, 1, 2
    if abs(vector[second]) > abs(vector[first]):
        first, second = second, first
    if abs(vector[third]) > abs(vector[second]):
        second, third = third, second
    if abs(vector[second]) > abs(vector[first]):
        first, second = second, first
    large, middle, small = abs(vector[first]), abs(vector[second]), abs(vector[third])

    weights[:] = 0
    has_edges, has_corners = slots[HOME + 9 + 3] != 0, slots[HOME + 9 + 3 + 1] != 0
    if has_edges and has_corners:
        weights[7], weights[3], weights[1] = small, middle - small, large - middle
    elif has_corners:
        weights[7], weights[2], weights[1] = small, middle - small, large - small
    elif has_edges and large >= middle + small:
        weights[5], weights[3], weights[1] = small, middle, large - middle - small
    elif has_edges:
        weights[3], weights[5] = (large + middle - small) / 2, (large + small - middle) / 2
        weights[6] = (middle + small - large) / 2
    else:
        weights[4], weights[2], weights[1] = small, middle, large

    total = size = 0.0
    for subset in range(1, 8):
        if weights[subset] > 0:
            place = HOME
            for rank, axis in enumerate((first, second, third)):
                if subset >> rank & 1:
                    place += STRIDES[axis] if vector[axis] > 0 else -STRIDES[axis]
            slot = slots[place]
            term = weights[subset] * (upper[slot - 1] if slot > 0 else -lower[-slot - 1])
            total += term
            size += abs(term)
    if rounding == 0:
        return total
    for axis in range(3 if slots[HOME + 1] != 0 else 2):
        size += max(abs(lower[axis]), abs(upper[axis]))
    return add_up(total, rounding * size + SMALLEST) if size > 0 else total

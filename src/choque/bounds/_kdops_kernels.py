"""The kernels that fit k-DOPs to points and boxes, and that turn them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.rounding import SMALLEST, add_down, add_up, dot_down, dot_up, multiply_down, multiply_up
from choque._core.types import Floats, Rows

SUM_ROUNDING = 2.0**-50
"""More than the relative error of adding three numbers."""

TURN_ROUNDING = 2.0**-46
"""More than the relative error of turning a direction, splitting it into others and adding their slabs."""

STRIDES = (9, 3, 1)
HOME = 13
"""A direction (x, y, z) of {−1, 0, 1}³ has the place 13 + 9 x + 3 y + z in the table of `slot_table`."""


@kernel
def fit_slabs(
    flat: Floats,
    starts: Rows,
    directions: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> None:
    """The extent of each group of points along each direction, rounded outward.

    Only a point that may set a new extreme, by its plainly rounded projection, is projected with directed
    rounding.
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
def box_slabs(
    box_lower: Floats,
    box_upper: Floats,
    directions: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> None:
    """The extent of each box along each direction, rounded outward; infinite boxes have infinite slabs."""
    for row in range(len(lower)):
        for slab in range(len(directions)):
            low = high = 0.0
            for axis in range(directions.shape[1]):
                factor = directions[slab, axis]
                near, far = np.float64(box_lower[row, axis]), np.float64(box_upper[row, axis])
                if factor < 0:
                    near, far = far, near
                low = add_down(low, multiply_down(factor, near))
                high = add_up(high, multiply_up(factor, far))
            lower[row, slab] = low
            upper[row, slab] = high


@kernel
def move_slabs(
    lower: Floats,
    upper: Floats,
    directions: NDArray[np.float64],
    slots: Rows,
    rotation: NDArray[np.float64],
    translation: NDArray[np.float64],
    moved_lower: NDArray[np.float64],
    moved_upper: NDArray[np.float64],
) -> None:
    """Slabs around each moved k-DOP: the reach of R P along d is the reach of P along Rᵀ d."""
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
def _only_swaps(turn: NDArray[np.float64]) -> bool:
    """Whether a rotation swaps and flips axes and so rounds nothing."""
    for row in turn:
        for entry in row:
            if entry != 0 and abs(entry) != 1:
                return False
    return True


@kernel
def _reach_up(
    vector: NDArray[np.float64],
    weights: NDArray[np.float64],
    slots: Rows,
    lower: Floats,
    upper: Floats,
    rounding: float,
) -> float:
    """An upper bound of how far one k-DOP reaches along any ``vector`` (3,).

    The vector is written as a sum of directions of the k-DOP with non-negative ``weights`` (scratch, (8,)),
    from the cone that it lies in; the same sum of their reaches bounds its reach, because reach is
    subadditive. Bit i of an index into ``weights`` says that the i-th largest component takes part: 1 is a
    face, 3 an edge, 7 a corner.
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

"""The overlap test of everything made of intervals along fixed directions: boxes and k-DOPs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.rounding import narrow_down, narrow_up
from choque._core.types import Floats


@kernel
def overlap_slabs(
    first: int,
    last: int,
    pairs: NDArray[np.int32],
    lower_a: Floats,
    upper_a: Floats,
    lower_b: Floats,
    upper_b: Floats,
    closed: bool,
    result: NDArray[np.bool_],
) -> None:
    """Test ``pairs[first:last]``: intervals along every direction overlap; exact, as it only compares.

    Costs O(1) memory and at most k/2 interval tests for a pair; the first direction that separates ends it.
    """
    for index in range(first, last):
        row_a, row_b = pairs[index, 0], pairs[index, 1]
        meet = True
        for axis in range(lower_a.shape[1]):
            if closed:
                meet = lower_a[row_a, axis] <= upper_b[row_b, axis] and lower_b[row_b, axis] <= upper_a[row_a, axis]
            else:
                meet = lower_a[row_a, axis] < upper_b[row_b, axis] and lower_b[row_b, axis] < upper_a[row_a, axis]
            if not meet:
                break
        result[index] = meet


def swept_slabs(lower: Floats, upper: Floats, way: NDArray[np.float64]) -> tuple[Floats, Floats]:
    """Intervals (n, m) stretched along ``way`` (n, m): each contains itself at the start and at the end.

    Sums are rounded outward by at most one step, and only where they are not exact.
    """
    low = np.minimum(lower, _sum(lower, way, -np.inf))
    high = np.maximum(upper, _sum(upper, way, np.inf))
    return narrow_down(low, lower.dtype), narrow_up(high, upper.dtype)


def _sum(ends: Floats, way: NDArray[np.float64], outward: float) -> NDArray[np.float64]:
    """``ends`` + ``way`` in float64, a step towards ``outward`` where rounding went the other way."""
    wide = ends.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        total = wide + way
        # Knuth's TwoSum: what the addition lost, exactly; of an infinite end, nothing.
        part = total - wide
        lost = (wide - (total - part)) + (way - part)
        total = np.where(lost * np.sign(outward) > 0, np.nextafter(total, outward), total)
    # A sum that left the floats stays at the end of them on the inner side.
    largest = np.finfo(np.float64).max
    inner = np.isinf(total) & np.isfinite(wide) & (np.sign(total) != np.sign(outward))
    return np.where(inner, np.copysign(largest, total), total)

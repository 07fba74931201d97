"""The overlap test of everything made of intervals along fixed directions: boxes and k-DOPs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._types import Floats
from choque.kernel import kernel


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

"""Whether boxes overlap: one pair of records, or a block of 64 columns.

Both are the same six comparisons, without a branch, on boxes of six bounds: x0, y0, z0, x1, y1, z1. The wider one
writes a mask of bytes, which the caller reads as 64-bit words.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline
from choque._core.types import U8, Floats, Integer

BLOCK = 64  # columns that are tested at once
Box: TypeAlias = tuple[Any, Any, Any, Any, Any, Any]  # the six bounds of a box, or six arrays of them


@inline
def boxes_meet(first: Any, i: Integer, second: Any, j: Integer) -> Any:
    """Return whether record ``i`` of ``first`` and record ``j`` of ``second`` overlap."""
    return (
        (first[i, 0] <= second[j, 3])
        & (second[j, 0] <= first[i, 3])
        & (first[i, 1] <= second[j, 4])
        & (second[j, 1] <= first[i, 4])
        & (first[i, 2] <= second[j, 5])
        & (second[j, 2] <= first[i, 5])
    )


@inline
def columns_meet(columns: Box, first: Integer, box: Box, mask: U8) -> None:
    """Set ``mask`` (64,) to 1 where a box of the six ``columns``, from ``first`` on, overlaps ``box``, else to 0."""
    x0, y0, z0, x1, y1, z1 = box
    # Slices keep the index from wrapping around, so that the loop is vectorised.
    s0, t0, u0 = columns[0][first : first + BLOCK], columns[1][first : first + BLOCK], columns[2][first : first + BLOCK]
    s1, t1, u1 = columns[3][first : first + BLOCK], columns[4][first : first + BLOCK], columns[5][first : first + BLOCK]
    for k in range(BLOCK):
        mask[k] = (s0[k] <= x1) & (s1[k] >= x0) & (t0[k] <= y1) & (t1[k] >= y0) & (u0[k] <= z1) & (u1[k] >= z0)


@inline
def is_any(words: NDArray[np.uint64]) -> Any:
    """Return whether a mask of 64 bytes, read as eight words, has a mark."""
    return words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7] != 0


def padded_columns(records: Floats) -> Floats:
    """Return the columns of ``records``, (6, n + BLOCK); the padding overlaps nothing.

    The layout follows Terdiman, "Box pruning revisited", 2017.
    """
    count = len(records)
    columns: Floats = np.empty((6, count + BLOCK), records.dtype)
    columns[:, :count] = records.T
    columns[:, count:] = np.nan  # no comparison with it holds, not even one with infinity
    return columns

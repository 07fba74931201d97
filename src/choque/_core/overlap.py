"""Whether boxes overlap: one pair of records, or one box and 32 in columns.

Both are the same six comparisons, without a branch, on boxes of six bounds: x0, y0, z0, x1, y1, z1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from choque._core.kernel import forceinline, inline
from choque._core.lanes import compare_eight
from choque._core.types import U32, Floats, Integer

AT_ONCE = 32  # boxes that are tested at once
PADDING = 64  # places behind the last box, which overlap nothing


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


class Columns(NamedTuple):
    """Boxes in columns: the layout follows Terdiman, "Box pruning revisited", 2017."""

    bounds: Floats  # flat: six columns of n + `PADDING` places
    numbers: U32  # (n + padding,): the number of each box

    @classmethod
    def of(cls, records: Floats, numbers: U32 | None = None) -> Columns:
        """Return records (n, 6) in columns, with these ``numbers`` (n,) or those of their rows."""
        count = len(records)
        bounds, named = np.empty((6, count + PADDING), records.dtype), np.arange(count + PADDING, dtype=np.uint32)
        bounds[:, :count] = records.T
        bounds[:, count:] = np.nan  # no comparison with it holds, not even one with infinity
        if numbers is not None:
            named[:count] = numbers
        return cls(bounds.reshape(-1), named)


@forceinline
def meeting(columns: Any, at: Integer, stride: Integer, asked: Any, own: Integer, own_stride: Integer) -> Any:
    """Return the bits of the `AT_ONCE` boxes from ``at`` on that overlap the box at ``own`` of ``asked``."""
    hits = np.int64(0)
    for group in range(4):
        hits |= (compare_eight(columns, at + 8 * group, stride, asked, own, own_stride) & 255) << (8 * group)
    return hits


@forceinline
def count_up_to(values: Any, first: Integer, last: Integer, limit: Any) -> Any:
    """Return how many of values[first:last] are at most ``limit``."""
    count = np.int64(0)
    for k in range(first, last):
        count += values[np.uint64(k)] <= limit
    return count

"""Boxes in columns, so that 64 are tested at once: the layout of Terdiman, "Box pruning revisited", 2017."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline
from choque._core.types import Floats

BLOCK = 64


def padded_columns(records: Floats) -> Floats:
    """(6, n + BLOCK) columns of ``records``; the padding overlaps nothing."""
    count = len(records)
    columns: Floats = np.empty((6, count + BLOCK), records.dtype)
    columns[:, :count] = records.T
    columns[:, count:] = np.nan  # no comparison with it holds, not even one with infinity
    return columns


@inline
def mark_overlaps(
    x0: Any, y0: Any, z0: Any, x1: Any, y1: Any, z1: Any, first: int,
    a0: float, b0: float, c0: float, a1: float, b1: float, c1: float, mask: NDArray[np.uint8],
) -> None:  # fmt: skip
    """Set ``mask`` (64,) to 1 where a box of the columns, from ``first`` on, overlaps the box given, else to 0."""
    # Slices keep the index from wrapping around, so that the loop is vectorised.
    s0, t0, u0 = x0[first : first + 64], y0[first : first + 64], z0[first : first + 64]
    s1, t1, u1 = x1[first : first + 64], y1[first : first + 64], z1[first : first + 64]
    for k in range(64):
        mask[k] = (s0[k] <= a1) & (s1[k] >= a0) & (t0[k] <= b1) & (t1[k] >= b0) & (u0[k] <= c1) & (u1[k] >= c0)


@inline
def is_any(words: NDArray[np.uint64]) -> Any:
    """Whether a mask of 64, seen as eight words, has a mark."""
    return words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7] != 0

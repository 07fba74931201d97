"""The oracle: every pair tested in NumPy, by the definition and nothing else.

It shares no code with the methods that it judges. Time is O(n²), memory O(n · block) beside the answer.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from choque._core.types import I64, Bools, Floats, Pairs

BLOCK = 256  # how many rows are tested against all others at once


def overlapping_pairs(
    lower: Floats,
    upper: Floats,
    *,
    closed: bool = True,
    groups: ArrayLike | None = None,
    masks: ArrayLike | None = None,
    static: ArrayLike | None = None,
    block: int = BLOCK,
) -> Pairs:
    """Return all pairs of rows i < j whose boxes overlap and that the filter allows: (m, 2) int32, sorted.

    Closed boxes have ``lower_i <= upper_j`` and the reverse on every axis, others ``<``. ``groups``, ``masks`` and
    ``static`` are (n,) arrays or single values, as `choque.broad.BroadPhase` takes them.
    """
    count = len(lower)
    found = [np.empty((0, 2), np.int32)]
    for first in range(0, count, block):
        last = min(first + block, count)
        rows, others = _overlaps(lower[first:last], upper[first:last], lower[first:], upper[first:], closed)
        above = rows < others
        found.append(np.stack((rows[above] + first, others[above] + first), axis=1).astype(np.int32))
    pairs = np.concatenate(found)
    return pairs[allowed(pairs, count, groups, masks, static)]


def overlapping_queries(
    lower: Floats, upper: Floats, other_lower: Floats, other_upper: Floats, *, closed: bool = True, block: int = BLOCK
) -> Pairs:
    """Return which rows of ``other`` overlap which rows: (m, 2) int32 of (row of other, row), sorted."""
    found = [np.empty((0, 2), np.int32)]
    for first in range(0, len(other_lower), block):
        part = slice(first, first + block)
        rows, others = _overlaps(other_lower[part], other_upper[part], lower, upper, closed)
        found.append(np.stack((rows + first, others), axis=1).astype(np.int32))
    return np.concatenate(found)


def allowed(
    pairs: Pairs,
    count: int,
    groups: ArrayLike | None = None,
    masks: ArrayLike | None = None,
    static: ArrayLike | None = None,
) -> Bools:
    """Return which ``pairs`` of ``count`` bodies are allowed: each in a group of the other's mask, not both static."""
    group = np.broadcast_to(np.asarray(1 if groups is None else groups, np.int64), (count,))
    mask = np.broadcast_to(np.asarray(0xFFFFFFFF if masks is None else masks, np.int64), (count,))
    rest = np.broadcast_to(np.asarray(False if static is None else static, np.bool_), (count,))
    i, j = pairs[:, 0], pairs[:, 1]
    admitted: Bools = (group[i] & mask[j] != 0) & (group[j] & mask[i] != 0) & ~(rest[i] & rest[j])
    return admitted


def _overlaps(lower: Floats, upper: Floats, other_lower: Floats, other_upper: Floats, closed: bool) -> tuple[I64, I64]:
    """Rows and others that overlap, sorted; only the first axis is tested for all of them."""
    below = np.less_equal if closed else np.less
    rows, others = np.nonzero(
        below(lower[:, None, 0], other_upper[None, :, 0]) & below(other_lower[None, :, 0], upper[:, None, 0])
    )
    for axis in range(1, lower.shape[1]):
        meet = below(lower[rows, axis], other_upper[others, axis]) & below(other_lower[others, axis], upper[rows, axis])
        rows, others = rows[meet], others[meet]
    return rows, others

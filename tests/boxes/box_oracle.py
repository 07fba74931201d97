"""What joins, suppression and merging must return, by dense arrays and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def random_boxes(
    rng: np.random.Generator, count: int, dimension: int, dtype: Any = np.float64, *, spread: float = 10.0
) -> Array:
    """(n, 2 d) boxes of mixed sizes, a tenth of them near copies of others, some on whole numbers, some flat."""
    lower = rng.uniform(0, spread, (count, dimension))
    edges = rng.uniform(0.1, 2, (count, dimension)) * rng.choice([0.3, 1, 3], (count, 1))
    lower[::5], edges[::5] = np.round(lower[::5]), np.round(edges[::5])
    if count:
        copied = rng.integers(0, count, count // 3)
        lower[: len(copied)] = lower[copied] + rng.normal(0, 0.05, (len(copied), dimension))
        edges[: len(copied)] = edges[copied]
    return np.concatenate((lower, lower + edges), axis=1).astype(dtype)


def dense_iou(a: Array, b: Array, over: str = "union") -> Array:
    """(n, k) overlaps in the float type of the boxes, in torchvision's order; 0 where both are flat."""
    half = a.shape[1] // 2
    low = np.maximum(a[:, None, :half], b[None, :, :half])
    high = np.minimum(a[:, None, half:], b[None, :, half:])
    edges = np.maximum(high - low, a.dtype.type(0))
    inner = np.ones(edges.shape[:2], a.dtype)
    for axis in range(half):
        inner = inner * edges[..., axis]
    areas = [_areas(a)[:, None], _areas(b)[None, :]]
    whole = np.minimum(*areas) if over == "smaller" else areas[0] + areas[1] - inner
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.nan_to_num(inner / whole, nan=0.0)


def _areas(boxes: Array) -> Array:
    half = boxes.shape[1] // 2
    area = np.ones(len(boxes), boxes.dtype)
    for axis in range(half):
        area = area * (boxes[:, half + axis] - boxes[:, axis])
    return area


def dense_join(a: Array, b: Array, closed: bool = True) -> Array:
    """(m, 2) rows of overlapping boxes, sorted."""
    half, below = a.shape[1] // 2, np.less_equal if closed else np.less
    meet = np.ones((len(a), len(b)), np.bool_)
    for low, high in zip(range(half), range(half, 2 * half), strict=True):  # an axis at a time: large arrays are slow
        meet &= below(a[:, low, None], b[:, high]) & below(b[:, low], a[:, high, None])
    return np.argwhere(meet)


def plain_suppress(boxes: Array, scores: Array, iou: float, groups: Array | None = None, over: str = "union") -> Array:
    """The loop of torchvision's CPU kernel."""
    order = np.argsort(-scores, kind="stable")
    alike = dense_iou(boxes, boxes, over).astype(np.float64) > iou
    if groups is not None:
        alike &= groups[:, None] == groups[None]
    dropped, kept = np.zeros(len(boxes), bool), []
    for row in order:
        if not dropped[row]:
            kept.append(row)
            dropped |= alike[row]
    return np.array(kept, np.int64)


def plain_merge(
    boxes: Array, scores: Array, iou: float, groups: Array | None = None, over: str = "union"
) -> dict[int, list[int]]:
    """The loop of SAHI's greedy non-maximum merging."""
    order = np.argsort(-scores, kind="stable")
    alike = dense_iou(boxes, boxes, over).astype(np.float64) >= iou
    if groups is not None:
        alike &= groups[:, None] == groups[None]
    found: dict[int, list[int]] = {}
    taken = np.zeros(len(boxes), bool)
    for place, row in enumerate(order):
        if not taken[row]:
            later = order[place + 1 :]
            found[int(row)] = [int(other) for other in later if alike[row, other] and not taken[other]]
            taken[found[int(row)]] = True
    return found

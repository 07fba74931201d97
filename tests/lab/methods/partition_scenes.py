"""What the tests of grids and trees share: an oracle, scenes that are hard for them, and raw counts by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from choque.bounds import Boxes


def oracle(boxes: Boxes, closed: bool = True) -> Any:
    """All overlapping pairs by NumPy, every pair tested."""
    meets = np.ones((len(boxes), len(boxes)), bool)
    for low, high in zip(boxes.lower.T, boxes.upper.T, strict=True):
        before = low[:, None] <= high if closed else low[:, None] < high
        meets &= before & before.T
    return np.argwhere(np.triu(meets, 1)).astype(np.int32)


def scattered(count: int, dimension: int, dtype: type = np.float64, seed: int = 0) -> Boxes:
    """Boxes of sizes that differ a hundredfold, about three overlaps each."""
    random = np.random.default_rng(seed)
    lower = random.random((count, dimension))
    edge = (3 / count) ** (1 / dimension) * np.exp(random.uniform(-4.0, 0.5, (count, 1)))
    return Boxes(lower.astype(dtype), (lower + edge).astype(dtype))


def touching(dimension: int, dtype: type = np.float64, seed: int = 0) -> Boxes:
    """Boxes on a lattice of whole numbers: most contacts are exactly at a wall."""
    random = np.random.default_rng(seed)
    lower = random.integers(0, 8, (150, dimension))
    return Boxes(lower.astype(dtype), (lower + random.integers(0, 3, (150, dimension))).astype(dtype))


def coincident(count: int, size: float = 0.4, dimension: int = 3) -> Boxes:
    """The same box around the origin, again and again."""
    return Boxes(np.full((count, dimension), -size / 2), np.full((count, dimension), size / 2))


def extreme(dtype: type, dimension: int = 3) -> Boxes:
    """A crowd with everything beside it that is legal: infinite, huge, tiny, empty and identical boxes."""
    crowd = scattered(120, dimension, dtype)
    inf, huge, tiny = np.inf, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal
    intervals = [
        (-inf, inf), (-inf, 0.5), (0.5, inf), (-inf, -inf), (inf, inf), (-huge, huge), (huge, huge), (-huge, -huge / 2),
        (-huge / 2, huge / 2), (1e30, 1e30), (-1e30, 1e30), (0.0, tiny), (tiny, tiny), (0.0, 0.0), (-tiny, tiny),
        (0.5, 0.5), (0.25, 0.5), (0.5, 0.75),
    ]  # fmt: skip
    random = np.random.default_rng(1)
    chosen = np.array(intervals, dtype)[random.integers(0, len(intervals), (200, dimension))]
    return Boxes(np.concatenate((crowd.lower, chosen[..., 0])), np.concatenate((crowd.upper, chosen[..., 1])))


def crowd_far_away() -> Boxes:
    """A crowd in a corner of a scene a million times larger, on a floor without end."""
    crowd = scattered(2000, 3)
    floor, beacon = [[-np.inf, -np.inf, -1.0]], [[1e6, 1e6, 1e6]]
    return Boxes(
        np.concatenate((crowd.lower, floor, beacon)), np.concatenate((crowd.upper, [[np.inf, np.inf, 0.0]], beacon))
    )


@st.composite
def small_scenes(draw: st.DrawFn) -> Boxes:
    """A few boxes whose bounds are often equal."""
    dimension = draw(st.sampled_from([2, 3]))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    numbers = st.one_of(
        st.integers(-3, 3).map(float), st.floats(-4, 4, width=32), st.sampled_from([np.inf, -np.inf, 1e30])
    )
    ends = draw(arrays.arrays(dtype, (2, draw(st.integers(0, 24)), dimension), elements=numbers))
    return Boxes(ends.min(axis=0), ends.max(axis=0))


def is_subset(some: Any, others: Any) -> bool:
    """True if every pair of ``some`` is one of ``others``."""
    return {tuple(pair) for pair in some.tolist()} <= {tuple(pair) for pair in others.tolist()}

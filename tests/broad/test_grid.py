"""The grid whose cells come from the data: levels, giants and memory; and the grid of given cells."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from choque.bounds import Boxes
from choque.broad import BroadPhase, create
from choque.testing import oracle


def grid_over(boxes: Boxes, **options: object) -> BroadPhase:
    return create("grid", boxes, **options)


@given(st.integers(0, 2**32 - 1), st.sampled_from((2, 3)), st.sampled_from((1e-30, 1.0, 1e30)), st.booleans())
def test_sizes_of_any_mixture_are_exact(seed: int, dimension: int, scale: float, closed: bool) -> None:
    random = np.random.default_rng(seed)
    edges = np.exp2(random.integers(-30, 8, (150, 1))) * random.integers(0, 3, (150, dimension))
    lower = random.integers(0, 20, (150, dimension)) * np.exp2(random.integers(-4, 3))
    lower, upper = lower * scale, (lower + edges) * scale
    grid = grid_over(Boxes(lower, upper), closed=closed)
    np.testing.assert_array_equal(grid.pairs(), oracle.overlapping_pairs(lower, upper, closed=closed))


def test_one_giant_does_not_ruin_the_cells_of_the_rest() -> None:
    random = np.random.default_rng(0)
    lower = random.uniform(0, 60, (20_000, 3))
    upper = lower + 1
    alone = grid_over(Boxes(lower, upper), threads=1)
    alone.count()
    for low, high in ((-1e3, 1e3), (-np.inf, np.inf)):
        lower[7], upper[7] = low, high
        beside = grid_over(Boxes(lower, upper), threads=1)
        assert beside.count() >= len(lower) - 1
        assert beside.counters.tests < alone.counters.tests + 3 * len(lower)


def test_few_tests_and_bytes_a_box_on_even_scenes() -> None:
    random = np.random.default_rng(0)
    side = (30_000 * 8 / 3) ** (1 / 3)
    centre, half = random.uniform(0, side, (30_000, 3)), random.uniform(0.25, 0.75, (30_000, 3))
    grid = grid_over(Boxes((centre - half).astype(np.float32), (centre + half).astype(np.float32)), threads=1)
    assert grid.count() > 40_000
    assert grid.counters.tests < 15 * 30_000  # eight cost as much as one, so rows are wide
    assert grid.counters.peak_bytes < 100 * 30_000


def test_the_unit_of_a_plane_does_not_decide_its_levels() -> None:
    """2D boxes once had a third edge of 1, which put all boxes smaller than that into one level."""
    random = np.random.default_rng(3)
    lower = random.uniform(0, 50, (400, 2))
    edge = np.where(random.random((400, 1)) < 0.1, 2.0, 0.2)
    levels = []
    for unit in (1e-3, 1.0, 1e3):
        boxes = Boxes(lower * unit, (lower + edge) * unit)
        grid = grid_over(boxes)
        assert np.array_equal(grid.pairs(), oracle.overlapping_pairs(boxes.lower, boxes.upper))
        levels.append(grid.index.level_count)  # type: ignore[attr-defined]
    assert levels == [2, 2, 2]

"""What the tree answers beside pairs: points, rays and nearest boxes; and how it follows motion."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque._core.tree import surface_of
from choque.bounds import Boxes
from choque.broad import BroadPhase, create
from choque.errors import InvalidInput
from choque.testing import oracle


def scattered(count: int, dimension: int, seed: int = 0, dtype: Any = np.float64) -> Boxes:
    random = np.random.default_rng(seed)
    lower = random.integers(0, 40, (count, dimension)).astype(dtype)
    return Boxes(lower, lower + random.integers(0, 6, (count, dimension)).astype(dtype))


def tree_over(boxes: Boxes, **options: Any) -> BroadPhase:
    return create("bvh", boxes, **options)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("closed", [True, False])
def test_points_are_found_in_every_box_that_holds_them(dimension: int, closed: bool) -> None:
    boxes = scattered(700, dimension)
    points = np.random.default_rng(1).integers(-2, 48, (200, dimension)).astype(np.float64)
    inside = (boxes.lower <= points[:, None]) & (
        (points[:, None] <= boxes.upper) if closed else (points[:, None] < boxes.upper)
    )
    expected = np.argwhere(inside.all(axis=2))
    assert len(expected) > 10
    np.testing.assert_array_equal(tree_over(boxes, closed=closed).query_points(points), expected)


def entries(boxes: Boxes, origin: Any, direction: Any, longest: float) -> Any:
    """Where each ray enters each box, infinity where it misses, by slabs in NumPy."""
    with np.errstate(divide="ignore", invalid="ignore"):
        near = (boxes.lower - origin[:, None]) / direction[:, None]
        far = (boxes.upper - origin[:, None]) / direction[:, None]
    along = np.broadcast_to(direction[:, None] == 0, near.shape)
    within = (boxes.lower <= origin[:, None]) & (origin[:, None] <= boxes.upper)
    low = np.where(along, np.where(within, -np.inf, np.inf), np.fmin(near, far))
    high = np.where(along, np.where(within, np.inf, -np.inf), np.fmax(near, far))
    enter, leave = np.maximum(low.max(axis=2), 0.0), np.minimum(high.min(axis=2), longest)
    return np.where(enter <= leave, enter, np.inf)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("longest", [np.inf, 3.0])
def test_rays_meet_the_boxes_that_slabs_say(dimension: int, longest: float) -> None:
    random = np.random.default_rng(2)
    boxes = scattered(500, dimension)
    origin = random.integers(-10, 60, (80, dimension)).astype(np.float64)
    direction = random.integers(-3, 4, (80, dimension)).astype(np.float64)
    direction[~direction.any(axis=1)] = 1.0
    entry = entries(boxes, origin, direction, longest)
    tree = tree_over(boxes)
    np.testing.assert_array_equal(tree.query_rays(origin, direction, longest=longest), np.argwhere(entry < np.inf))
    first = tree.cast_rays(origin, direction, longest=longest)
    met = entry.min(axis=1) < np.inf
    np.testing.assert_array_equal(first.ids, np.where(met, entry.argmin(axis=1), -1))
    np.testing.assert_array_equal(first.distance, entry.min(axis=1))
    assert met.any()
    assert not met.all()


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("count", [1, 4, 1000])
def test_the_nearest_boxes_come_in_order_of_distance_then_id(dimension: int, count: int) -> None:
    boxes = scattered(300, dimension, dtype=np.float32)
    points = np.random.default_rng(3).uniform(-20, 70, (50, dimension))
    gap = np.maximum(np.maximum(boxes.lower - points[:, None], points[:, None] - boxes.upper), 0.0)
    squared = (gap**2).sum(axis=2)
    order = np.argsort(squared, axis=1, kind="stable")[:, :count]
    found = tree_over(boxes).nearest(points, count=count)
    kept = min(count, len(boxes))
    np.testing.assert_array_equal(found.ids[:, :kept], order)
    np.testing.assert_allclose(found.distance[:, :kept], np.sqrt(np.take_along_axis(squared, order, 1)), rtol=1e-12)
    assert (found.ids[:, kept:] == -1).all()
    assert np.isinf(found.distance[:, kept:]).all()


def test_answers_name_ids_not_rows() -> None:
    boxes = scattered(60, 2)
    tree = tree_over(boxes)
    tree.remove(range(30))
    centre = (boxes.lower[40] + boxes.upper[40]) / 2
    assert 40 in tree.query_points(centre)[:, 1]
    assert tree.nearest(centre).distance[0, 0] == 0
    assert tree.nearest(centre, count=3).ids.min() >= 30


def test_an_empty_tree_finds_nothing() -> None:
    tree = tree_over(Boxes(np.empty((0, 3)), np.empty((0, 3))))
    assert tree.query_points([[0, 0, 0]]).shape == (0, 2)
    assert tree.cast_rays([[0, 0, 0]], [[1, 0, 0]]).ids.tolist() == [-1]
    assert tree.nearest([[0, 0, 0]], count=2).ids.tolist() == [[-1, -1]]


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda tree: tree.query_points([[0, np.nan, 0]]), "Row 0 of points is .*NaN"),
        (lambda tree: tree.query_points([[0, 0]]), "points has the shape"),
        (lambda tree: tree.query_points("here"), "points has the element type"),
        (lambda tree: tree.cast_rays([[0, 0, 0]], [[0, 0, 0]]), "direction of zero"),
        (lambda tree: tree.cast_rays([[0, 0, 0]], [[1, 0, 0]] * 2), "one direction for each"),
        (lambda tree: tree.query_rays([[0, 0, 0]], [[1, 0, 0]], longest=-1), "longest is -1"),
        (lambda tree: tree.query_rays([[0, 0, 0]], [[1, 0, 0]], longest="far"), "longest is .far."),
        (lambda tree: tree.nearest([[0, 0, 0]], count=0), "count is 0"),
    ],
)
def test_bad_questions_are_a_sentence(ask: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        ask(tree_over(scattered(5, 3)))


@given(st.integers(0, 10_000))
def test_many_small_moves_stay_exact_and_the_tree_does_not_swell_for_ever(seed: int) -> None:
    random = np.random.default_rng(seed)
    boxes = scattered(200, 3, seed, np.float32)
    lower, upper = boxes.lower.copy(), boxes.upper.copy()
    tree = tree_over(boxes)
    fresh = surface_of(tree.index.tree())
    for _ in range(30):
        ids = random.choice(200, 20, replace=False)
        step = random.integers(-3, 4, (20, 3)).astype(np.float32)
        lower[ids], upper[ids] = lower[ids] + step, upper[ids] + step
        before = set(map(tuple, tree.pairs().tolist()))
        tree.move(ids, Boxes(lower[ids], upper[ids]))
        after = set(map(tuple, oracle.overlapping_pairs(lower, upper).tolist()))
        assert set(map(tuple, tree.began.tolist())) == after - before
        assert set(map(tuple, tree.ended.tolist())) == before - after
        np.testing.assert_array_equal(tree.pairs(), sorted(after) or np.empty((0, 2)))
    assert surface_of(tree.index.tree()) < 4 * max(fresh, 1.0)


def test_a_move_is_paid_by_what_moved() -> None:
    random = np.random.default_rng(0)
    lower = random.uniform(0, 60, (20_000, 3))
    tree = tree_over(Boxes(lower, lower + 1.0), threads=1)
    tree.counters.reset()
    tree.move([5, 17], Boxes(lower[[5, 17]] + 0.1, lower[[5, 17]] + 1.1))
    assert tree.counters.tests < 5_000
    tree.counters.reset()
    tree.count()
    assert tree.counters.tests > 500_000


def test_an_update_that_shuffles_everything_orders_the_tree_again() -> None:
    random = np.random.default_rng(0)
    lower = random.uniform(0, 100, (2000, 3))
    tree = tree_over(Boxes(lower, lower + 1))
    order = tree.index.tree().rows
    tree.update(Boxes(lower + 0.01, lower + 1.01))
    assert tree.index.tree().rows is order
    shuffled = random.permutation(lower)
    tree.update(Boxes(shuffled, shuffled + 1))
    assert tree.index.tree().rows is not order
    np.testing.assert_array_equal(tree.pairs(), oracle.overlapping_pairs(shuffled, shuffled + 1))

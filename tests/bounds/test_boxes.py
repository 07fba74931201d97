"""Axis-aligned boxes: overlap, infinite boxes, and fitting."""

from __future__ import annotations

import numpy as np
import pytest
from bounds_oracles import random_axes

from choque.bounds import Boxes


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("closed", [True, False])
def test_overlap_is_the_interval_test(dimension: int, dtype: str, closed: bool) -> None:
    generator = np.random.default_rng(7)
    lower = generator.integers(0, 12, (300, dimension)).astype(dtype)
    boxes = Boxes(lower, lower + generator.integers(0, 5, (300, dimension)).astype(dtype))
    pairs = np.stack(np.triu_indices(300, 1), axis=1)
    i, j = pairs.T
    less = np.less_equal if closed else np.less
    wanted = (less(boxes.lower[i], boxes.upper[j]) & less(boxes.lower[j], boxes.upper[i])).all(axis=1)
    np.testing.assert_array_equal(boxes.overlap(pairs, closed=closed), wanted)
    assert wanted.any()
    assert not wanted.all()


def test_touching_counts_only_when_closed() -> None:
    boxes = Boxes([[0, 0], [1, 0], [1, 1], [5, 5]], [[1, 1], [2, 1], [2, 2], [5, 5]])
    pairs = [[0, 1], [0, 2], [1, 2], [3, 3]]
    assert boxes.overlap(pairs).tolist() == [True, True, True, True]
    assert boxes.overlap(pairs, closed=False).tolist() == [False, False, False, False]


def test_infinite_boxes() -> None:
    ground = Boxes([[-np.inf, -np.inf, -np.inf]], [[np.inf, np.inf, 0]])
    above = Boxes([[5, 5, 1]], [[6, 6, 2]])
    both = ground.join(above)
    assert not both.overlap([[0, 1]]).any()
    assert both.moved(None, [0, 0, -1]).overlap_with(both.take([1, 0])).tolist() == [False, True]
    assert ground.moved(np.eye(3)[[2, 0, 1]], [1, 2, 3]).upper.tolist() == [[1, np.inf, np.inf]]
    turned = ground.moved(random_axes(np.random.default_rng(1), 1, 3))
    assert np.isinf(turned.lower).all()
    assert np.isinf(turned.upper).all()


def test_fit_is_the_least_and_the_greatest() -> None:
    points = np.random.default_rng(2).normal(size=(9, 20, 3))
    fitted = Boxes.fit(points)
    np.testing.assert_array_equal(fitted.lower, points.min(axis=1))
    np.testing.assert_array_equal(fitted.upper, points.max(axis=1))
    assert fitted.boxes() is fitted


def test_a_turned_box_is_no_larger_than_its_corners_need() -> None:
    rotation = random_axes(np.random.default_rng(3), 1, 3)[0]
    unit = Boxes([[-1, -1, -1]], [[1, 1, 1]]).moved(rotation)
    np.testing.assert_allclose(unit.upper[0], np.abs(rotation).sum(axis=1), rtol=1e-15)


def test_sums_beyond_the_largest_float_stay_bounds() -> None:
    huge = np.finfo(np.float32).max
    moved = Boxes(np.array([[huge, -huge]], np.float32), np.array([[huge, -huge]], np.float32)).moved(
        None, [1e38, -1e38]
    )
    assert moved.lower.tolist() == [[huge, -np.inf]]
    assert moved.upper.tolist() == [[np.inf, -huge]]

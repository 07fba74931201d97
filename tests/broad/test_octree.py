from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partition_scenes import (
    coincident,
    crowd_far_away,
    extreme,
    is_subset,
    oracle,
    scattered,
    small_scenes,
    touching,
)

from choque import threads
from choque.bounds import Boxes
from choque.broad import _partition_growth, create
from choque.errors import InvalidInput


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_equals_the_oracle(monkeypatch, dimension, dtype, closed, thread_count):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    for boxes in (scattered(400, dimension, dtype), touching(dimension, dtype)):
        tree = create("octree", boxes, closed=closed, threads=thread_count, leaf_size=4)
        np.testing.assert_array_equal(tree.pairs(), oracle(boxes, closed))
        assert tree.count() == len(oracle(boxes, closed))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("depth", [None, 4])
def test_legal_extremes_are_right(dtype, closed, depth):
    for dimension in (2, 3):
        boxes = extreme(dtype, dimension)
        tree = create("octree", boxes, closed=closed, leaf_size=2, depth=depth)
        np.testing.assert_array_equal(tree.pairs(), oracle(boxes, closed))


@given(boxes=small_scenes(), closed=st.booleans(), depth=st.sampled_from([None, 2, 4]))
def test_any_scene(boxes, closed, depth):
    options = {"closed": closed, "depth": depth, "leaf_size": 1}
    expected = oracle(boxes, closed)
    np.testing.assert_array_equal(create("octree", boxes, **options).pairs(), expected)
    assert is_subset(expected, create("octree", boxes, test=False, **options).pairs())


@pytest.mark.parametrize(("dimension", "leaf_count"), [(2, 4), (3, 8)])
def test_a_cube_is_halved_along_every_axis(dimension, leaf_count):
    corners = np.stack(np.meshgrid(*[[0.0, 3.0]] * dimension), axis=-1).reshape(-1, dimension)
    tree = create("octree", Boxes(corners, corners + 1), depth=2, test=False)
    assert tree.leaf_count == leaf_count
    assert tree.level_count == 2
    assert tree.count() == 0


def test_raw_is_unique_plus_duplicates_in_both_modes():
    boxes = coincident(10)
    for test in (True, False):
        tree = create("octree", boxes, depth=3, test=test)
        assert tree.leaf_count == 64
        assert len(tree.pairs()) == 45
        assert tree.counters.duplicates == 63 * 45


def test_sides_agree_with_half_open_cubes_by_hand():
    # Root [0, 8): the first body ends at the wall 4 and is a pair there only with the one that begins there.
    boxes = Boxes([[0.0, 0.0], [4.0, 0.0], [5.0, 0.0]], [[4.0, 1.0], [4.5, 1.0], [8.0, 8.0]])
    tree = create("octree", boxes, depth=2, test=False)
    assert tree.pairs().tolist() == [[0, 1], [1, 2]]


@pytest.mark.parametrize("size", [0.4, 0.0])
def test_identical_boxes_do_not_fill_the_memory(size):
    boxes = coincident(3000, size)
    tree = create("octree", boxes)
    assert tree.leaf_count == 1
    assert tree.counters.peak_bytes < 250 * len(boxes)


def test_nested_boxes_do_not_fill_the_memory():
    half = np.arange(1, 3001, dtype=np.float64)[:, None].repeat(3, axis=1)
    tree = create("octree", Boxes(-half, half))
    assert tree.count() == 3000 * 2999 // 2
    assert tree.counters.peak_bytes < 250 * 3000


@pytest.mark.parametrize("thickness", [0.01, 5.0])
def test_a_scene_of_slabs_or_columns_is_parted_on_the_other_axes(thickness):
    boxes = scattered(3000, 2)
    flat = Boxes(np.insert(boxes.lower, 0, 0.0, axis=1), np.insert(boxes.upper, 0, thickness, axis=1))
    tree = create("octree", flat)
    np.testing.assert_array_equal(tree.pairs(), oracle(flat))
    assert tree.counters.tests < 3000 * 100


def test_a_crowd_far_away_is_still_parted():
    boxes = crowd_far_away()
    tree = create("octree", boxes)
    np.testing.assert_array_equal(tree.pairs(), oracle(boxes))
    assert tree.counters.tests < 2000 * 100


def test_follows_a_moving_scene():
    first, second = scattered(300, 2, seed=1), scattered(300, 2, seed=2)
    tree = create("octree", first)
    tree.update(second)
    np.testing.assert_array_equal(tree.pairs(), oracle(second))


def test_too_deep_a_tree_is_refused(monkeypatch):
    monkeypatch.setattr(_partition_growth, "LISTINGS_FREE", 10_000)
    with pytest.raises(InvalidInput, match="fewer levels"):
        create("octree", coincident(100), depth=4)

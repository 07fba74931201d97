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
from choque.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("planes", ["widest", "cycle"])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_equals_the_oracle(monkeypatch, planes, dimension, dtype, closed, thread_count):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    for boxes in (scattered(400, dimension, dtype), touching(dimension, dtype)):
        tree = create("kd-tree", boxes, planes=planes, closed=closed, threads=thread_count, leaf_size=4)
        np.testing.assert_array_equal(tree.pairs(), oracle(boxes, closed))
        assert tree.count() == len(oracle(boxes, closed))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("depth", [None, 6])
def test_legal_extremes_are_right(dtype, closed, depth):
    for dimension in (2, 3):
        boxes = extreme(dtype, dimension)
        tree = create("kd-tree", boxes, closed=closed, leaf_size=2, depth=depth)
        np.testing.assert_array_equal(tree.pairs(), oracle(boxes, closed))


@given(
    boxes=small_scenes(),
    closed=st.booleans(),
    planes=st.sampled_from(["widest", "cycle"]),
    depth=st.sampled_from([None, 2, 5]),
)
def test_any_scene(boxes, closed, planes, depth):
    options = {"closed": closed, "planes": planes, "depth": depth, "leaf_size": 1}
    expected = oracle(boxes, closed)
    tested = create("kd-tree", boxes, **options)
    np.testing.assert_array_equal(tested.pairs(), expected)
    assert is_subset(expected, create("kd-tree", boxes, test=False, **options).pairs())


def test_planes_across_one_axis_at_the_median():
    lower = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [6.0, 0.0]])
    tree = create("kd-tree", Boxes(lower, lower + 1), depth=2, test=False)
    assert tree.leaf_count == 2
    assert tree.pairs().tolist() == [[0, 1], [2, 3]]
    assert tree.counters.tests == 0


def test_a_body_that_only_touches_a_plane_meets_there_only_what_begins_there():
    # The plane is at 4, half-way between the middles 3 and 5.
    lower = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [4.5, 0.0]])
    boxes = Boxes(lower, [[1.0, 1.0], [4.0, 1.0], [6.0, 1.0], [6.5, 1.0]])
    tree = create("kd-tree", boxes, depth=2, test=False)
    assert tree.pairs().tolist() == [[0, 1], [1, 2], [2, 3]]
    assert create("kd-tree", boxes, depth=2).pairs().tolist() == [[1, 2], [2, 3]]


def test_raw_is_unique_plus_duplicates_in_both_modes():
    boxes = coincident(10)
    for test in (True, False):
        tree = create("kd-tree", boxes, depth=3, test=test)
        assert tree.leaf_count == 4
        assert len(tree.pairs()) == 45
        assert tree.counters.duplicates == 3 * 45
        assert tree.counters.tests == (4 * 45 if test else 0)


def test_duplicates_count_only_allowed_pairs():
    boxes = coincident(10)
    static = np.arange(10) < 5
    tree = create("kd-tree", boxes, depth=3, static=static)
    assert len(tree.pairs()) == 45 - 10
    assert tree.counters.duplicates == 3 * (45 - 10)


@pytest.mark.parametrize("size", [0.4, 0.0])
@pytest.mark.parametrize("planes", ["widest", "cycle"])
def test_identical_boxes_do_not_fill_the_memory(size, planes):
    boxes = coincident(3000, size)
    tree = create("kd-tree", boxes, planes=planes)
    assert tree.leaf_count == 1
    assert tree.counters.peak_bytes < 150 * len(boxes)


def test_a_flat_scene_is_parted_on_the_axes_that_it_has():
    boxes = scattered(3000, 2)
    flat = Boxes(np.insert(boxes.lower, 0, 0.0, axis=1), np.insert(boxes.upper, 0, 5.0, axis=1))
    for planes in ("widest", "cycle"):
        tree = create("kd-tree", flat, planes=planes)
        np.testing.assert_array_equal(tree.pairs(), oracle(flat))
        assert tree.counters.tests < 3000 * 100


def test_a_crowd_far_away_is_still_parted():
    boxes = crowd_far_away()
    tree = create("kd-tree", boxes)
    np.testing.assert_array_equal(tree.pairs(), oracle(boxes))
    assert tree.counters.tests < 2000 * 100


def test_columns_without_end_are_parted_on_the_other_axes():
    boxes = scattered(2000, 3)
    lower, upper = boxes.lower.copy(), boxes.upper.copy()
    lower[:, 1], upper[:, 1] = -np.inf, np.inf
    columns = Boxes(lower, upper)
    tree = create("kd-tree", columns)
    np.testing.assert_array_equal(tree.pairs(), oracle(columns))
    assert tree.leaf_count > 10


def test_follows_a_moving_scene():
    first, second = scattered(300, 3, seed=1), scattered(300, 3, seed=2)
    tree = create("kd-tree", first)
    tree.pairs()
    tree.update(second)
    np.testing.assert_array_equal(tree.pairs(), oracle(second))
    assert is_subset(tree.began, oracle(second))


@pytest.mark.parametrize("options", [{"depth": 0}, {"depth": 33}, {"depth": 2.5}, {"leaf_size": 0}, {"test": 1}])
def test_bad_options_are_a_sentence(options):
    with pytest.raises(InvalidInput, match=f"{next(iter(options))} is"):
        create("kd-tree", coincident(3), **options)


def test_an_unknown_choice_of_planes_is_named():
    with pytest.raises(UnknownName, match="'wide'"):
        create("kd-tree", coincident(3), planes="wide")


def test_too_deep_a_tree_is_refused(monkeypatch):
    monkeypatch.setattr(_partition_growth, "LISTINGS_FREE", 10_000)
    with pytest.raises(InvalidInput, match="fewer levels"):
        create("kd-tree", coincident(100), depth=8)


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_pair(count):
    boxes = coincident(count)
    assert create("kd-tree", boxes).pairs().shape == (0, 2)

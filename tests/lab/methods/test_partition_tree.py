"""What the bsp, the octree and the kd-tree promise alike, with every choice of planes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partition_scenes import coincident, crowd_far_away, extreme, is_subset, oracle, scattered, small_scenes, touching

from choque._core import threads
from choque.bounds import Boxes
from choque.broad import create
from choque.errors import InvalidInput
from choque.lab.methods import partition_growth as _partition_growth

TREES = {
    "bsp-axis": ("bsp", {"planes": "axis"}),
    "bsp-random": ("bsp", {"planes": "random"}),
    "bsp-principal": ("bsp", {"planes": "principal"}),
    "octree": ("octree", {}),
    "kd-tree-widest": ("kd-tree", {"planes": "widest"}),
    "kd-tree-cycle": ("kd-tree", {"planes": "cycle"}),
}


@pytest.fixture(params=TREES)
def make(request):
    """Makes the tree of this test's parameter."""
    name, planes = TREES[request.param]
    return lambda boxes, **options: create(name, boxes, **planes, **options)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_equals_the_oracle(monkeypatch, make, dimension, dtype, closed, thread_count):
    monkeypatch.setattr(threads, "SERIAL_BELOW", 1)
    for boxes in (scattered(400, dimension, dtype), touching(dimension, dtype)):
        tree = make(boxes, closed=closed, threads=thread_count, leaf_size=4)
        expected = oracle(boxes, closed)
        np.testing.assert_array_equal(tree.pairs(), expected)
        assert tree.count() == len(expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("closed", [True, False])
@pytest.mark.parametrize("depth", [None, 4, 6])
def test_legal_extremes_are_right(make, dtype, closed, depth):
    for dimension in (2, 3):
        boxes = extreme(dtype, dimension)
        tree = make(boxes, closed=closed, leaf_size=2, depth=depth)
        np.testing.assert_array_equal(tree.pairs(), oracle(boxes, closed))


@pytest.mark.parametrize("name", ["bsp", "octree", "kd-tree"])
@given(
    boxes=small_scenes(),
    closed=st.booleans(),
    depth=st.sampled_from([None, 2, 4, 5]),
    seed=st.integers(0, 1000),
    data=st.data(),
)
def test_any_scene(name, boxes, closed, depth, seed, data):
    """F-004-15: whatever the planes, no true pair is lost."""
    chosen = data.draw(st.sampled_from([planes for method, planes in TREES.values() if method == name]))
    options = {**chosen, "closed": closed, "depth": depth, "leaf_size": 1}
    if name == "bsp":
        options["seed"] = seed
    expected = oracle(boxes, closed)
    np.testing.assert_array_equal(create(name, boxes, **options).pairs(), expected)
    assert is_subset(expected, create(name, boxes, test=False, **options).pairs())


@pytest.mark.parametrize("size", [0.4, 0.0])
def test_identical_boxes_do_not_fill_the_memory(make, size):
    boxes = coincident(3000, size)
    tree = make(boxes)
    assert tree.index.leaf_count == 1
    assert tree.counters.peak_bytes < (250 if tree.name == "octree" else 150) * len(boxes)


@pytest.mark.parametrize("tree", ["bsp-axis", "octree", "kd-tree-widest", "kd-tree-cycle"])
@pytest.mark.parametrize("thickness", [0.01, 5.0])
def test_a_scene_of_slabs_or_columns_is_parted_on_the_other_axes(tree, thickness):
    boxes = scattered(3000, 2)
    flat = Boxes(np.insert(boxes.lower, 0, 0.0, axis=1), np.insert(boxes.upper, 0, thickness, axis=1))
    name, options = TREES[tree]
    made = create(name, flat, **options)
    np.testing.assert_array_equal(made.pairs(), oracle(flat))
    assert made.counters.tests < 3000 * (150 if name == "bsp" else 100)


@pytest.mark.parametrize("tree", ["bsp-axis", "bsp-random", "octree", "kd-tree-widest"])
def test_a_crowd_far_away_is_still_parted(tree):
    boxes = crowd_far_away()
    name, options = TREES[tree]
    made = create(name, boxes, **options)
    np.testing.assert_array_equal(made.pairs(), oracle(boxes))
    assert made.counters.tests < 2000 * (400 if name == "bsp" else 100)


def test_follows_a_moving_scene(make):
    first, second = scattered(300, 3, seed=1), scattered(300, 3, seed=2)
    tree = make(first)
    tree.pairs()
    tree.update(second)
    np.testing.assert_array_equal(tree.pairs(), oracle(second))
    assert is_subset(tree.began, oracle(second))


def test_duplicates_count_only_allowed_pairs(make):
    tree = make(coincident(10), depth=3, static=np.arange(10) < 5)
    assert len(tree.pairs()) == 45 - 10
    assert tree.counters.duplicates == (tree.index.leaf_count - 1) * (45 - 10)


@pytest.mark.parametrize("options", [{"depth": 0}, {"depth": 33}, {"depth": 2.5}, {"leaf_size": 0}, {"test": 1}])
def test_bad_options_are_a_sentence(options):
    with pytest.raises(InvalidInput, match=f"{next(iter(options))} is"):
        create("octree", coincident(3), **options)


@pytest.mark.parametrize(("name", "depth"), [("octree", 4), ("kd-tree", 8)])
def test_too_deep_a_tree_is_refused(monkeypatch, name, depth):
    monkeypatch.setattr(_partition_growth, "LISTINGS_FREE", 10_000)
    with pytest.raises(InvalidInput, match="fewer levels"):
        create(name, coincident(100), depth=depth)


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_pair(make, count):
    assert make(coincident(count)).pairs().shape == (0, 2)

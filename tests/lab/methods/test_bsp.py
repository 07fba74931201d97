"""The BSP tree: its planes, its depth, and bodies that lie on planes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partition_scenes import coincident, is_subset, oracle, scattered

from choque.bounds import Boxes
from choque.broad import create
from choque.errors import InvalidInput, UnknownName

PLANES = ["axis", "random", "principal"]


@given(seed=st.integers(0, 10_000))
def test_boxes_that_touch_in_one_point_are_never_parted(seed):
    random = np.random.default_rng(seed)
    corner = random.normal(size=(20, 3))
    size = random.random((20, 3))
    boxes = Boxes(np.concatenate((corner - size, corner)), np.concatenate((corner, corner + size)))
    tree = create("bsp", boxes, planes="random", seed=seed, depth=8)
    touching_pairs = np.stack((np.arange(20), np.arange(20, 40)), axis=1)
    assert is_subset(touching_pairs, tree.pairs())
    np.testing.assert_array_equal(tree.pairs(), oracle(boxes))


@pytest.mark.parametrize("planes", PLANES)
@pytest.mark.parametrize("depth", [1, 2, 3, 5, 6])
@pytest.mark.parametrize("size", [0.4, 0.0])
def test_coincident_bodies_are_on_every_plane(planes, depth, size):
    """F-004-14 and, for the first step of the dense scenario, F-004-28."""
    count = 25
    brute = count * (count - 1) // 2
    boxes = coincident(count, size)
    for test in (True, False):
        tree = create("bsp", boxes, planes=planes, depth=depth, test=test)
        assert tree.index.leaf_count == 2 ** (depth - 1)
        assert tree.index.level_count == depth
        assert len(tree.pairs()) == brute
        raw = len(tree.pairs()) + tree.counters.duplicates
        assert raw == brute * 2 ** (depth - 1)
        assert tree.counters.tests == (raw if test else 0)


@pytest.mark.parametrize("planes", PLANES)
def test_no_more_leaves_than_the_depth_allows(planes):
    boxes = scattered(300, 3)
    for depth in (1, 2, 3, 5, 6):
        tree = create("bsp", boxes, planes=planes, depth=depth, test=False)
        assert tree.index.leaf_count <= 2 ** (depth - 1)
        assert tree.index.level_count <= depth
        assert is_subset(oracle(boxes), tree.pairs())


def test_the_same_seed_gives_the_same_candidates():
    boxes = scattered(200, 3)
    options = {"planes": "random", "depth": 4, "test": False}
    first, again = (create("bsp", boxes, seed=7, **options) for _ in range(2))
    other = create("bsp", boxes, seed=8, **options)
    np.testing.assert_array_equal(first.pairs(), again.pairs())
    assert first.counters == again.counters
    assert not np.array_equal(first.pairs(), other.pairs())


def test_axis_planes_go_through_the_centroid_in_turn():
    # The centroid of the middles is (4.5, 4.5): four quarters.
    lower = np.array([[0.0, 0.0], [1.0, 1.0], [7.0, 0.0], [8.0, 1.0], [0.0, 7.0], [1.0, 8.0], [7.0, 7.0], [8.0, 8.0]])
    tree = create("bsp", Boxes(lower, lower + 0.5), depth=3, test=False)
    assert tree.index.leaf_count == 4
    assert tree.pairs().tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_the_principal_plane_is_across_the_longest_spread():
    along = np.linspace(0.0, 10.0, 11)[:, None]
    lower = np.concatenate((along * [1.0, 1.0] + [0.0, 1.0], along * [1.0, 1.0] - [0.0, 1.0]))
    tree = create("bsp", Boxes(lower, lower), planes="principal", depth=2, test=False)
    first_half = lower.sum(axis=1) <= 10
    both = [k for k in range(22) if lower[k].sum() == 10]
    together = {(i, j) for i in range(22) for j in range(i + 1, 22) if first_half[i] == first_half[j]}
    together |= {(min(i, j), max(i, j)) for i in both for j in range(22) if i != j}
    assert {tuple(pair) for pair in tree.pairs().tolist()} == together


def test_bad_options_are_a_sentence():
    with pytest.raises(UnknownName, match="'axes'"):
        create("bsp", coincident(3), planes="axes")
    with pytest.raises(InvalidInput, match="seed is -1"):
        create("bsp", coincident(3), seed=-1)
    with pytest.raises(UnknownName, match=r"'dept'.*'depth'"):
        create("bsp", coincident(3), dept=3)

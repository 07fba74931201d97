"""The octree: its cubes, its counts, and nested boxes."""

from __future__ import annotations

import numpy as np
import pytest
from partition_scenes import coincident

from choque.bounds import Boxes
from choque.broad import create


@pytest.mark.parametrize(("dimension", "leaf_count"), [(2, 4), (3, 8)])
def test_a_cube_is_halved_along_every_axis(dimension, leaf_count):
    corners = np.stack(np.meshgrid(*[[0.0, 3.0]] * dimension), axis=-1).reshape(-1, dimension)
    tree = create("octree", Boxes(corners, corners + 1), depth=2, test=False)
    assert tree.index.leaf_count == leaf_count
    assert tree.index.level_count == 2
    assert tree.count() == 0


def test_raw_is_unique_plus_duplicates_in_both_modes():
    boxes = coincident(10)
    for test in (True, False):
        tree = create("octree", boxes, depth=3, test=test)
        assert tree.index.leaf_count == 64
        assert len(tree.pairs()) == 45
        assert tree.counters.duplicates == 63 * 45


def test_sides_agree_with_half_open_cubes_by_hand():
    # Root [0, 8): the first body ends at the wall 4 and is a pair there only with the one that begins there.
    boxes = Boxes([[0.0, 0.0], [4.0, 0.0], [5.0, 0.0]], [[4.0, 1.0], [4.5, 1.0], [8.0, 8.0]])
    tree = create("octree", boxes, depth=2, test=False)
    assert tree.pairs().tolist() == [[0, 1], [1, 2]]


def test_nested_boxes_do_not_fill_the_memory():
    half = np.arange(1, 3001, dtype=np.float64)[:, None].repeat(3, axis=1)
    tree = create("octree", Boxes(-half, half))
    assert tree.count() == 3000 * 2999 // 2
    assert tree.counters.peak_bytes < 250 * 3000

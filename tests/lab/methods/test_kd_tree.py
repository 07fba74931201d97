"""The k-d tree: its planes, its counts, and columns without an end."""

from __future__ import annotations

import numpy as np
import pytest
from partition_scenes import coincident, oracle, scattered

from choque.bounds import Boxes
from choque.broad import create
from choque.errors import UnknownName


def test_planes_across_one_axis_at_the_median():
    lower = np.array([[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [6.0, 0.0]])
    tree = create("kd-tree", Boxes(lower, lower + 1), depth=2, test=False)
    assert tree.index.leaf_count == 2
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
        assert tree.index.leaf_count == 4
        assert len(tree.pairs()) == 45
        assert tree.counters.duplicates == 3 * 45
        assert tree.counters.tests == (4 * 45 if test else 0)


def test_columns_without_end_are_parted_on_the_other_axes():
    boxes = scattered(2000, 3)
    lower, upper = boxes.lower.copy(), boxes.upper.copy()
    lower[:, 1], upper[:, 1] = -np.inf, np.inf
    columns = Boxes(lower, upper)
    tree = create("kd-tree", columns)
    np.testing.assert_array_equal(tree.pairs(), oracle(columns))
    assert tree.index.leaf_count > 10


def test_an_unknown_choice_of_planes_is_named():
    with pytest.raises(UnknownName, match="'wide'"):
        create("kd-tree", coincident(3), planes="wide")

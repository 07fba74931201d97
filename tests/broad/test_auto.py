"""What auto chooses, and that it says why."""

from __future__ import annotations

import numpy as np

import choque
from choque.bounds import Boxes
from choque.broad._auto import FEW, SWEEP_UP_TO, Auto
from choque.testing import oracle


def auto_over(boxes: Boxes) -> Auto:
    method = choque.broad.create("auto", boxes)
    assert isinstance(method, Auto)
    return method


def spread(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    lower = np.random.default_rng(seed).uniform(0, count ** (1 / 3) * 1.4, (count, 3))
    return lower, lower + 1.0


def test_few_boxes_are_tested_one_by_one() -> None:
    choice = choque.explain(*spread(50))
    assert choice.method == "brute"
    assert "50 boxes" in choice.reason
    assert choice.box_count == 50
    assert choice.dimension == 3


def test_a_thousand_boxes_are_swept_unless_they_are_aligned() -> None:
    lower, upper = spread(1000)
    assert choque.explain(lower, upper).method == "sap-direct"
    upper[:, 0] = lower[:, 0] + 1000
    assert choque.explain(lower, upper).method == "grid"


def test_sizes_of_many_classes_get_a_tree() -> None:
    lower, _ = spread(4000)
    edges = np.exp(np.random.default_rng(1).uniform(0, np.log(1000), (4000, 1))) / 100
    choice = choque.explain(lower, lower + edges)
    assert choice.method == "bvh"
    assert "sizes differ" in choice.reason


def test_an_even_scene_gets_a_grid() -> None:
    choice = choque.explain(*spread(SWEEP_UP_TO + 1))
    assert choice.method == "grid"
    assert choice.tests_per_box is not None
    assert 1 < choice.tests_per_box < 40
    assert str(choice).startswith("grid: ")


def test_a_crowd_in_a_wide_world_gets_a_tree() -> None:
    random = np.random.default_rng(0)
    lower = random.normal(0, 1, (5000, 3)) * 30
    lower[:2500] += 1e6
    choice = choque.explain(lower, lower + 1)
    assert choice.method == "bvh"
    assert "crowded" in choice.reason


def test_few_movers_are_followed_by_a_tree_and_all_movers_by_a_grid() -> None:
    lower, upper = spread(4000)
    method = auto_over(Boxes(lower, upper))
    assert method.choice.method == "grid"
    some = np.arange(int(FEW * 4000) - 1)
    lower[some] += 0.3
    upper[some] += 0.3
    method.update(Boxes(lower, upper))
    assert method.choice.method == "bvh"
    assert "moved" in method.choice.reason
    np.testing.assert_array_equal(method.pairs(), oracle.overlapping_pairs(lower, upper))
    lower, upper = lower + 0.1, upper + 0.1
    method.update(Boxes(lower, upper))
    assert method.choice.method == "grid"
    np.testing.assert_array_equal(method.pairs(), oracle.overlapping_pairs(lower, upper))


def test_the_shortest_way_agrees_with_the_long_one() -> None:
    for count in (0, 1, 2, 255, 256, 257):
        lower, upper = spread(count, count)
        for closed in (True, False):
            short = choque.pairs(np.rint(lower), np.rint(upper), closed=closed)
            long = choque.pairs(np.rint(lower), np.rint(upper), closed=closed, method="grid")
            np.testing.assert_array_equal(short, long)
            assert short.dtype == np.int32
            assert short.flags.writeable

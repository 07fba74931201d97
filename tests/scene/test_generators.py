"""What each generator promises of its boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from choque import scene
from choque.lab.scenes.density import expected_pairs, pair_polynomial

EVERYWHERE = [name for name in scene.names() if name != "reference"]


def pair_count(boxes: tuple[np.ndarray, np.ndarray]) -> int:
    """All axes, a block of rows at a time, each with those behind it that begin before its end along x."""
    order = np.argsort(boxes[0][:, 0])
    lower, upper = (each[order] for each in boxes)
    found = 0
    for first in range(0, len(lower), 200):
        block = slice(first, first + 200)
        last = int(np.searchsorted(lower[:, 0], upper[block, 0].max(), "right"))
        meets = np.tri(len(lower[block]), last - first, dtype=bool) ^ True  # each pair once, and none with itself
        for axis in range(lower.shape[1]):
            meets &= lower[block, None, axis] <= upper[None, first:last, axis]
            meets &= lower[None, first:last, axis] <= upper[block, None, axis]
        found += int(meets.sum())
    return found


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("name", EVERYWHERE)
@pytest.mark.parametrize("count", [0, 1, 2, 57])
def test_any_number_of_boxes(name: str, count: int, dimension: int) -> None:
    options: dict[str, Any] = {"moving": 0} if name == "one-moves" else {}
    made = scene.generate(name, count, dimension=dimension, frames=3, **options)
    for lower, upper in made.frames():
        assert lower.shape == upper.shape == (count, dimension)
        assert lower.dtype == upper.dtype == np.float32
        assert lower.flags.c_contiguous
        assert np.isfinite(lower).all()
        assert (lower < upper).all()


@pytest.mark.parametrize("name", scene.names())
def test_frames_are_the_callers_own(name: str) -> None:
    made = scene.generate(name, 20, frames=2)
    before = made.frame(1)[0].copy()
    changed = made.frame(1)[0]
    changed += 1
    np.testing.assert_array_equal(made.frame(1)[0], before)


@pytest.mark.parametrize("name", EVERYWHERE)
def test_seed_count_and_name_decide_everything(name: str) -> None:
    first, again, other = (scene.generate(name, 50, seed=seed).frame() for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert (first[0] != other[0]).any()
    assert (scene.generate(name, 51, seed=1).frame()[0][:50] != first[0]).any()


def test_two_kinds_with_one_seed_are_independent() -> None:
    uniform, moving = (scene.generate(name, 50).frame()[0] for name in ("uniform", "moving"))
    assert (uniform != moving).all()


def test_float64_is_the_same_scene_more_finely() -> None:
    for name in scene.names():
        fine = scene.generate(name, 50, dtype="float64", frames=2)
        coarse = scene.generate(name, 50, dtype=np.float32, frames=2)
        assert fine.frame(1)[0].dtype == np.float64
        np.testing.assert_array_equal(fine.frame(1)[0].astype(np.float32), coarse.frame(1)[0])


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("overlaps", [1.0, 3.0])
@pytest.mark.parametrize("name", ["uniform", "clustered", "mixed", "aligned", "moving", "one-moves"])
def test_crowd_is_what_was_asked_for(name: str, overlaps: float, dimension: int) -> None:
    made = scene.generate(name, 6000, dimension=dimension, overlaps=overlaps)
    assert pair_count(made.frame()) == pytest.approx(overlaps * 6000 / 2, rel=0.1)


def test_uniform_matches_the_measured_workload() -> None:
    """14,204 pairs at 10,000 boxes, where the border takes its share."""
    assert pair_count(scene.generate("uniform", 10_000).frame()) == pytest.approx(14_204, rel=0.03)


def test_uniform_edges() -> None:
    lower, upper = scene.generate("uniform", 2000, dtype="float64").frame()
    assert 0.5 <= (upper - lower).min() < 0.51
    assert 1.49 < (upper - lower).max() <= 1.5 + 1e-12


def test_mixed_sizes_span_the_ratio_evenly_in_their_logarithm() -> None:
    lower, upper = scene.generate("mixed", 5000, ratio=1000, dtype="float64").frame()
    edges = upper - lower
    np.testing.assert_allclose(edges, edges[:, :1].repeat(3, axis=1), rtol=1e-9)
    assert 1 <= edges.min() < 1.01
    assert 990 < edges.max() <= 1000.001
    shares = np.histogram(np.log10(edges[:, 0]), bins=3, range=(0, 3))[0] / 5000
    np.testing.assert_allclose(shares, 1 / 3, atol=0.03)


@pytest.mark.parametrize("seed", range(3))
def test_mixed_has_the_pairs_of_uniform(seed: int) -> None:
    mixed, uniform = (pair_count(scene.generate(name, 6000, seed=seed).frame()) for name in ("mixed", "uniform"))
    assert mixed == pytest.approx(uniform, rel=0.1)


def test_expected_pairs_of_cubes_are_the_average_over_all_placements() -> None:
    """The polynomial against the plain sum over pairs of the probability that two intervals meet."""
    sizes = np.random.default_rng(0).uniform(0.1, 3, 40)
    for dimension in (2, 3):
        sums = (sizes[:, None] + sizes[None, :])[np.triu_indices(40, 1)]
        direct = ((sums / 7 - sums**2 / (4 * 7**2)) ** dimension).sum()
        assert expected_pairs(pair_polynomial(sizes, dimension), 7.0) == pytest.approx(direct, rel=1e-9)


def test_clustered_boxes_are_in_few_places() -> None:
    center = np.mean(scene.generate("clustered", 6000, clusters=5).frame(), axis=0)
    cells = np.floor((center - center.min(axis=0)) / np.ptp(center, axis=0) * 9.999).astype(int)
    occupied = len(np.unique(cells, axis=0))
    assert occupied < 150  # of the 1000 cells; uniform centres occupy nearly all of them
    assert scene.generate("clustered", 3, clusters=100).frame()[0].shape == (3, 3)


@pytest.mark.parametrize("dimension", [2, 3])
def test_aligned_boxes_defeat_the_axis_of_greatest_variance(dimension: int) -> None:
    for axis in range(dimension):
        lower, upper = scene.generate("aligned", 500, dimension=dimension, axis=axis).frame()
        assert lower[:, axis].max() < upper[:, axis].min()
        assert np.argmax(((lower + upper) / 2).var(axis=0)) == axis


def test_broadmark_scenes_have_the_density_asked_for() -> None:
    for name in ("brownian", "free-fall"):
        lower, upper = scene.generate(name, 5000, density=0.2).frame()
        world = np.ptp((lower + upper) / 2, axis=0).prod()
        assert (upper - lower).prod(axis=1).sum() / world == pytest.approx(0.2, rel=0.02)

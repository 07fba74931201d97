"""k-DOPs: their directions, fits rounded outward, and overlap."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from bounds_oracles import exact, exact_dot, random_axes
from scipy.optimize import linprog

from choque.bounds import Boxes, KDops, directions
from choque.errors import InvalidInput

SPACE = [6, 14, 18, 26]


def rods(count: int, seed: int, dimension: int = 3) -> np.ndarray:
    """The corners of elongated boxes in random orientation, close enough for some to meet."""
    generator = np.random.default_rng(seed)
    corners = generator.uniform(-1, 1, (count, 12, dimension)) * [0.3, 2, 0.3][:dimension]
    return corners @ random_axes(generator, count, dimension) + generator.uniform(-2, 2, (count, 1, dimension))


@pytest.mark.parametrize(("k", "dimension"), [(4, 2), (8, 2), (6, 3), (14, 3), (18, 3), (26, 3)])
def test_directions(k: int, dimension: int) -> None:
    table = directions(k)
    assert table.shape == (k // 2, dimension)
    np.testing.assert_array_equal(table[:dimension], np.eye(dimension))
    assert set(np.unique(table)) <= {-1, 0, 1}
    both_ways = {tuple(row) for row in table} | {tuple(-row) for row in table}
    assert len(both_ways) == k
    weights = {6: {1}, 14: {1, 3}, 18: {1, 2}, 26: {1, 2, 3}, 4: {1}, 8: {1, 2}}[k]
    every = np.stack(np.meshgrid(*[[-1, 0, 1]] * dimension), axis=-1).reshape(-1, dimension)
    assert both_ways == {tuple(row) for row in every if np.abs(row).sum() in weights}


def test_directions_nest() -> None:
    np.testing.assert_array_equal(directions(26)[:9], directions(18))
    np.testing.assert_array_equal(directions(26)[[0, 1, 2, 9, 10, 11, 12]], directions(14))


@pytest.mark.parametrize("k", [4, 8, *SPACE])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_fit_is_the_exact_extent_rounded_outward_by_little(k: int, dtype: str) -> None:
    dimension = directions(k).shape[1]
    points = (rods(20, 20, dimension) * 10.0 ** np.arange(-4, 16)[:, None, None]).astype(dtype)
    fitted = KDops.fit(points, k=k)
    for row in range(20):
        for slab, direction in enumerate(directions(k)):
            along = [exact_dot(exact(direction), exact(point)) for point in points[row]]
            low, high = fitted.lower[row, slab], fitted.upper[row, slab]
            assert float(low) <= min(along)
            assert max(along) <= float(high)
            size = np.abs(points[row]).max()
            assert float(min(along) - exact([low])[0]) <= 4 * np.finfo(dtype).eps * size
            assert float(exact([high])[0] - max(along)) <= 4 * np.finfo(dtype).eps * size


@pytest.mark.parametrize("k", [4, 8, *SPACE])
def test_whole_numbers_are_exact(k: int) -> None:
    points = np.random.default_rng(21).integers(-(2**20), 2**20, (30, 9, directions(k).shape[1]))
    fitted = KDops.fit(points.astype(np.float32), k=k)
    along = points @ directions(k).T
    np.testing.assert_array_equal(fitted.lower, along.min(axis=1).astype(np.float32))
    assert (fitted.upper.astype(np.int64) >= along.max(axis=1)).all()
    wide = KDops.fit(points, k=k)
    np.testing.assert_array_equal(wide.upper, along.max(axis=1))


def test_tighter_volumes_have_fewer_pairs() -> None:
    points = rods(200, 22)
    pairs = np.stack(np.triu_indices(200, 1), axis=1)
    answer = {k: KDops.fit(points, k=k).overlap(pairs) for k in SPACE}
    np.testing.assert_array_equal(answer[6], Boxes.fit(points).overlap(pairs))
    for tight, loose in ((26, 18), (26, 14), (18, 6), (14, 6)):
        assert not (answer[tight] & ~answer[loose]).any()
        assert answer[tight].sum() < answer[loose].sum()
    flat = rods(200, 23, dimension=2)
    eight, four = (KDops.fit(flat, k=k).overlap(pairs) for k in (8, 4))
    assert not (eight & ~four).any()
    assert eight.sum() < four.sum()
    np.testing.assert_array_equal(four, Boxes.fit(flat).overlap(pairs))


def test_hulls_that_meet_have_kdops_that_overlap() -> None:
    """Against a linear program that looks for a common point of two convex hulls."""
    points = rods(24, 24)
    pairs = np.array(list(combinations(range(24), 2)))
    meet = np.array([_hulls_meet(points[i], points[j]) for i, j in pairs])
    assert 10 < meet.sum() < len(pairs) - 10
    for k in SPACE:
        fitted = KDops.fit(points, k=k)
        assert fitted.overlap(pairs)[meet].all()
        assert not fitted.overlap(pairs)[~meet].all()
        rotation = random_axes(np.random.default_rng(25), 1, 3)[0]
        assert fitted.moved(rotation, [1, 2, 3]).overlap(pairs)[meet].all()


def _hulls_meet(first: np.ndarray, second: np.ndarray) -> bool:
    equal = np.vstack([np.hstack([first.T, -second.T]), np.repeat(np.eye(2), 12, axis=1)])
    return bool(linprog(np.zeros(24), A_eq=equal, b_eq=[0, 0, 0, 1, 1]).status == 0)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("closed", [True, False])
def test_boxes_as_kdops_overlap_as_boxes(dimension: int, closed: bool) -> None:
    generator = np.random.default_rng(26)
    lower = generator.integers(0, 12, (150, dimension)).astype(float)
    boxes = Boxes(lower, lower + generator.integers(0, 5, (150, dimension)))
    pairs = np.stack(np.triu_indices(150, 1), axis=1)
    for k in (4, 8) if dimension == 2 else SPACE:
        around = KDops.from_boxes(boxes, k=k)
        assert around.k == k
        assert around.boxes() == boxes
        np.testing.assert_array_equal(around.overlap(pairs, closed=closed), boxes.overlap(pairs, closed=closed))


def test_touching_counts_only_when_closed() -> None:
    """Two octahedra that touch at one point of a diagonal face."""
    octahedron = np.vstack([np.eye(3), -np.eye(3)]) * 3
    farther = octahedron + np.array([2, 2, 3])
    both = KDops.fit([octahedron, octahedron + 2], k=14)
    assert both.overlap([[0, 1]]).tolist() == [True]
    assert both.overlap([[0, 1]], closed=False).tolist() == [False]
    assert not KDops.fit([octahedron, farther], k=14).overlap([[0, 1]]).any()
    assert KDops.fit([octahedron, farther], k=18).overlap([[0, 1]]).all()


def test_turning_keeps_most_of_the_tightness() -> None:
    points = rods(100, 27)
    rotation = random_axes(np.random.default_rng(28), 100, 3)
    moved_points = points @ rotation.transpose(0, 2, 1)
    growth = {}
    for k in SPACE:
        moved, fitted = KDops.fit(points, k=k).moved(rotation), KDops.fit(moved_points, k=k)
        growth[k] = (moved.upper - moved.lower).mean() / (fitted.upper - fitted.lower).mean()
    assert growth[26] < growth[18] < growth[14] < growth[6]
    assert growth[26] < 1.3


def test_infinite_boxes_have_infinite_slabs() -> None:
    ground = Boxes([[-np.inf, -np.inf, -1]], [[np.inf, np.inf, 0]])
    slabs = KDops.from_boxes(ground, k=26)
    assert slabs.boxes() == ground
    assert np.isinf(slabs.lower[:, 3:]).all()
    moved = slabs.moved(None, [1, 2, 3])
    assert moved.boxes() == Boxes([[-np.inf, -np.inf, 2]], [[np.inf, np.inf, 3]])
    turned = slabs.moved(random_axes(np.random.default_rng(29), 1, 3))
    assert not np.isnan(turned.lower).any()
    assert (turned.lower == -np.inf).all()


@pytest.mark.parametrize("k", [0, 5, 10, 12, 24, True, "18", None, 18.5])
def test_other_k_are_refused(k: Any) -> None:
    with pytest.raises(InvalidInput, match="4 or 8 in 2D, or 6, 14, 18 or 26 in 3D"):
        KDops(k, [[0]], [[1]])


def test_bad_slabs_are_named() -> None:
    with pytest.raises(InvalidInput, match=r"shape \(1, 3\); for a 18-DOP it must be \(n, 9\)"):
        KDops(18, [[0, 0, 0]], [[1, 1, 1]])
    with pytest.raises(InvalidInput, match="Row 1 has lower > upper"):
        KDops(4, [[0, 0], [0, 2]], [[1, 1], [1, 1]])
    with pytest.raises(InvalidInput, match="k is 8, which is for 2D"):
        KDops.fit(np.zeros((1, 1, 3)), k=8)
    with pytest.raises(InvalidInput, match="18-DOPs in 3D and 26-DOPs in 3D do not go together"):
        KDops.fit(np.zeros((1, 1, 3)), k=18).join(KDops.fit(np.zeros((1, 1, 3)), k=26))

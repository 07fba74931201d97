"""EPA on overlaps whose depth is known: F-002-28."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from convex_oracle import random_rotations
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from choque.narrow import Hulls, epa

CUBE = np.array(list(itertools.product((-1.0, 1.0), repeat=3)))
part = st.floats(-1.9, 1.9)


@given(part, part, part, st.integers(0, 100))
def test_boxes_overlap_by_the_least_of_three(x: float, y: float, z: float, seed: int) -> None:
    """Aligned boxes of edge 2, turned together: the depth is the least of 2 − |shift|, along that axis."""
    turn = random_rotations(np.random.default_rng(seed), 1)[0]
    shift = np.array([x, y, z])
    found = epa(CUBE @ turn.T, (CUBE + shift) @ turn.T)
    depths = 2 - np.abs(shift)
    assert found.depth == pytest.approx(depths.min(), abs=1e-12)
    normal = turn.T @ found.normal
    axis = int(np.abs(normal).argmax())
    assert np.abs(normal[axis]) == pytest.approx(1, abs=1e-9)
    assert depths[axis] == pytest.approx(depths.min(), abs=1e-9)
    if abs(shift[axis]) > 1e-9:
        assert np.sign(normal[axis]) == np.sign(shift[axis])


@pytest.mark.parametrize(
    ("a", "b", "depth"),
    [
        (CUBE, CUBE, 2.0),
        (CUBE, 0.5 * CUBE, 1.5),
        (CUBE, [[0.0, 0, 0]], 1.0),
        (CUBE, [[0.0, 0.5, 0], [0, 3, 0]], 0.5),
        (CUBE, [[-3.0, 0.75, -3], [3, 0.75, -3], [0, 0.75, 5]], 0.25),
        (CUBE, CUBE * [1, 1e-3, 1] + [0, 0.9, 0], 0.101),
        (CUBE * [10, 10, 0.01], CUBE * [0.01, 10, 10], 10.01),
    ],
)
def test_nested_thin_and_flat_bodies(a: object, b: object, depth: float) -> None:
    assert epa(np.array(a), np.array(b)).depth == pytest.approx(depth, abs=1e-12)
    assert epa(np.array(b), np.array(a)).depth == pytest.approx(depth, abs=1e-12)


def test_bodies_of_one_plane_have_no_depth() -> None:
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    found = epa(square, square + [0.5, 0.25, 0])
    assert found.depth == 0
    assert np.abs(found.normal) == pytest.approx([0, 0, 1])
    assert epa([[0.0, 0, 0]], [[0.0, 0, 0]]).depth == 0
    assert epa([[0.0, 0, 0], [2, 0, 0]], [[1.0, 0, 0], [3, 0, 0]]).depth == 0


def test_depth_is_the_distance_to_the_surface_of_the_difference() -> None:
    """Against Qhull on all differences of vertices; the deepest points differ by depth times normal."""
    random = np.random.default_rng(1)
    a, b = random.normal(size=(60, 10, 3)), random.normal(size=(60, 8, 3)) * 0.7
    found = epa(a, b)
    for row in range(60):
        surface = ConvexHull((a[row][:, None] - b[row][None]).reshape(-1, 3)).equations[:, 3].max()
        if surface < 0:
            assert found.depth[row] == pytest.approx(-surface, abs=1e-12)
        else:
            assert found.depth[row] < 0
    between = found.first - found.second
    assert between == pytest.approx(found.depth[:, None] * found.normal, abs=1e-9)
    moved = epa(a, b + (found.depth[:, None] * found.normal)[:, None])
    assert moved.depth == pytest.approx(np.zeros(60), abs=1e-9)


def test_hulls_too_large_for_the_first_room() -> None:
    """Round hulls of 250 vertices that share their centre need more corners than the first polytope can hold."""
    random = np.random.default_rng(2)
    points = random.normal(size=(2, 250, 3))
    points /= np.linalg.norm(points, axis=2, keepdims=True)
    found = epa(*points)
    assert found.iterations > 96
    surface = ConvexHull((points[0][:, None] - points[1][None]).reshape(-1, 3)).equations[:, 3].max()
    assert found.depth == pytest.approx(-surface, abs=1e-10)


def test_random_boxes_touching_by_a_vertex_or_an_edge() -> None:
    """Pushed apart by the depth found, bodies touch: whichever features meet."""
    random = np.random.default_rng(3)
    hulls = Hulls.boxes([1, 2, 3])
    turns, place = random_rotations(random, 400), random.normal(size=(200, 3))
    one, other = hulls.at(np.zeros((200, 3)), turns[:200]), hulls.at(place, turns[200:])
    found = epa(one, other)
    parted = hulls.at(place + found.depth[:, None] * found.normal, turns[200:])
    again = epa(one, parted)
    assert again.depth == pytest.approx(np.zeros(200), abs=1e-9)

"""How the boxes of moving scenes move."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

from choque import scene
from choque.lab.scenes.motion import reflected


def centers(made: scene.BoxScene) -> np.ndarray:
    """Centres of all frames, (frames, n, d)."""
    return np.array([(lower + upper) / 2 for lower, upper in made.frames()])


def sizes(made: scene.BoxScene) -> np.ndarray:
    lower, upper = made.frame(0)
    size: np.ndarray = (upper - lower).mean(axis=1)
    return size


@pytest.mark.parametrize("name", scene.names())
def test_any_order_gives_the_same_frames(name: str) -> None:
    options: dict[str, Any] = {"cycle": 4} if name == "brownian" else {}
    made = scene.generate(name, 30, frames=20, **options)
    walked = [(lower.copy(), upper.copy()) for lower, upper in made.frames()]
    fresh = scene.generate(name, 30, frames=20, **options)
    for index in (13, 19, 2, 0, 7, 8, 3, 4, 12):
        for source in (made, fresh, pickle.loads(pickle.dumps(fresh)), copy.deepcopy(fresh)):
            np.testing.assert_array_equal(source.frame(index)[0], walked[index][0])
            np.testing.assert_array_equal(source.frame(index)[1], walked[index][1])


@pytest.mark.parametrize("name", ["moving", "one-moves", "brownian", "free-fall"])
def test_boxes_keep_their_edges(name: str) -> None:
    made = scene.generate(name, 50, frames=200, dtype="float64")
    (lower, upper), (later_lower, later_upper) = made.frame(0), made.frame(199)
    assert (lower != later_lower).any()
    np.testing.assert_allclose(later_upper - later_lower, upper - lower, atol=1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
def test_moving_boxes_go_the_promised_distance(dimension: int) -> None:
    made = scene.generate("moving", 400, dimension=dimension, frames=50, step=0.02, dtype="float64")
    moves = np.diff(centers(made), axis=0)
    distance = np.linalg.norm(moves, axis=2) / sizes(made)
    assert distance.max() <= 0.02 * (1 + 1e-9)
    assert np.isclose(distance, 0.02, rtol=1e-9).mean() > 0.97  # the others meet a wall in this frame
    assert len(made.moved(1)) == 400


def test_walls_hold_and_reflect() -> None:
    made = scene.generate("moving", 200, frames=400, step=0.1, dtype="float64")
    path = centers(made)
    wall = path.max()
    assert 0 <= path.min() < 0.01
    assert path[0].max() <= wall < path[0].max() * 1.2
    turned = np.diff(np.sign(np.diff(path, axis=0)), axis=0) != 0
    assert turned.any(axis=(0, 2)).mean() > 0.5
    from_wall = np.minimum(path, wall - path)[1:-1][turned]
    assert from_wall.max() < 0.1 * sizes(made).max()


def test_reflection_is_a_path_between_two_mirrors() -> None:
    position = np.array([-2.5, -0.5, 0, 0.5, 1, 1.5, 2, 2.5, 7.25])
    np.testing.assert_allclose(reflected(position, 1.0), [0.5, 0.5, 0, 0.5, 1, 0.5, 0, 0.5, 0.75])


@pytest.mark.parametrize("count", [0, 1, 7])
def test_only_the_chosen_move(count: int) -> None:
    made = scene.generate("one-moves", 300, moving=count, frames=30, dtype="float64")
    moved = made.moved(1)
    assert len(moved) == count
    assert made.moved(0).size == 0
    assert np.array_equal(made.moved(29), moved)
    distance = np.linalg.norm(np.diff(centers(made), axis=0)[:, moved], axis=2) / sizes(made)[moved]
    assert np.allclose(np.median(distance, axis=0), 0.1)


def test_brownian_boxes_change_their_velocity_once_a_cycle() -> None:
    made = scene.generate("brownian", 200, frames=61, cycle=20, step=0.01, density=0.001, dtype="float64")
    moves = np.diff(centers(made), axis=0)
    distance = np.linalg.norm(moves, axis=2) / sizes(made)
    assert distance.max() <= 0.015 * (1 + 1e-9)
    assert distance.mean() == pytest.approx(0.01, rel=0.05)
    changes = (np.abs(np.diff(moves, axis=0)).max(axis=2) > 1e-9).sum(axis=0)
    # Three cycles, hence three changes; one at the very first frame is not seen, and a wall adds one.
    assert np.isin(changes, (2, 3)).mean() > 0.9
    assert len(np.unique(np.argmax(np.abs(np.diff(moves, axis=0)).max(axis=2) > 1e-9, axis=0))) > 10


def test_brownian_boxes_stay_in_their_world() -> None:
    made = scene.generate("brownian", 300, frames=300, step=0.3, cycle=50, dtype="float64")
    path = centers(made)
    wall = ((np.diff(made.frame(0), axis=0)[0]).prod(axis=1).sum() / 0.1) ** (1 / 3)
    assert path.min() >= 0
    assert path.max() <= wall * (1 + 1e-9)


@pytest.mark.parametrize("dimension", [2, 3])
def test_free_fall_against_a_simulation_in_small_steps(dimension: int) -> None:
    """The closed form against symplectic steps of 1/15,000 s with explicit bounces."""
    made = scene.generate("free-fall", 12, dimension=dimension, frames=121, restitution=0.6, dtype="float64")
    path = centers(made)[:, :, -1]
    floor = path[0] * 0.1 / 0.5
    height, speed = path[0] - floor, np.zeros(12)
    for frame in range(1, 121):
        for _ in range(500):
            speed -= 9.81 / 15_000
            height += speed / 15_000
            hits = (height < 0) & (speed < 0)
            height[hits] = 0
            speed[hits] *= -0.6
        assert np.abs(path[frame] - floor - height).max() < 0.03


def test_free_fall_ends_in_a_resting_heap() -> None:
    made = scene.generate("free-fall", 500, frames=3000, packing=0.5)
    assert len(made.moved(1)) == 500
    assert len(made.moved(2999)) == 0
    start, end = (np.mean(made.frame(index), axis=0)[:, 2] for index in (0, 2999))
    np.testing.assert_allclose(end, start * 0.1 / 0.5, rtol=1e-5)
    dropped = scene.generate("free-fall", 500, frames=3000, restitution=0.0)
    np.testing.assert_array_equal(np.argsort(np.mean(dropped.frame(2999), axis=0)[:, 2]), np.argsort(end))

"""The arena of the thesis on areas of interest; F-004 numbers are those of its specification."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import choque.theses.interest.arena  # noqa: F401  (registers the scene)
from choque import scene
from choque.errors import InvalidInput
from choque.theses.interest.arena import Arena, Path, density


def make(count: int = 60, frames: int = 501, **options: Any) -> Arena:
    motion = scene.generate("arena", count, frames=frames, dtype="float64", **options).motion
    assert isinstance(motion, Arena)
    return motion


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize(
    "options",
    [
        {"start": "dense"},
        {"start": "sparse"},
        {"start": "sparse", "links": 4, "pulse": 0.5},
        {"links": 3, "speed_spread": 1.0},
        {"resting": 0.5},
        {"start": "sparse", "speed": 1.7},
    ],
)
def test_no_surface_leaves_the_walls(options: dict[str, Any], dimension: int) -> None:
    """F-004-02, F-004-06: ±2 for the arena, ±1 for the dense start, over 500 steps."""
    made = scene.generate("arena", 60, frames=501, dimension=dimension, dtype="float64", **options)
    wall = 1.0 if options.get("start", "dense") == "dense" else 2.0
    for lower, upper in made.frames():
        assert lower.min() >= -wall - 1e-12
        assert upper.max() <= wall + 1e-12
        assert (lower < upper).all()


def test_radii_are_even_over_their_range() -> None:
    """F-004-03."""
    radius = make(100_000).spheres(0)[1]
    assert 0.04 <= radius.min() < 0.0401
    assert 0.3999 < radius.max() <= 0.40
    assert radius.mean() == pytest.approx(0.22, rel=0.01)
    assert np.ptp(make(50, smallest=0.05, largest=0.05).spheres(0)[1]) == 0


def test_a_step_is_what_the_rule_says() -> None:
    """F-004-01, F-004-04: no wall is near in the first step."""
    for rule in ("raw", "normalised"):
        motion = make(2000, speed_rule=rule)
        step = motion.path.position(1) - motion.path.position(0)
        np.testing.assert_allclose(step, motion.path.velocity, atol=1e-15)
        if rule == "raw":
            assert np.abs(step).max() <= 0.01
            assert np.abs(step).mean() == pytest.approx(0.005, rel=0.05)
        else:
            np.testing.assert_allclose(np.linalg.norm(step, axis=1), 0.01, rtol=1e-9)
    varied = np.linalg.norm(make(2000, speed_rule="normalised", speed_spread=0.5).path.velocity, axis=1)
    assert 0.005 <= varied.min() < 0.0052
    assert 0.0148 < varied.max() <= 0.015


def test_a_wall_turns_one_component_round() -> None:
    """F-004-05, A21: the surface is reflected exactly, step by step as in closed form."""
    path = Path(np.array([[0.75, 0.0, 0.5]]), np.array([[0.125, 0.03125, 0.0]]), np.array([[1.0]]))
    assert path.position(4).tolist() == [[0.75, 0.125, 0.5]]  # 0.25 to the wall, 0.25 back
    assert path.heading(4).tolist() == [[-0.125, 0.03125, 0.0]]
    position, velocity = path.origin.copy(), path.velocity.copy()
    for step in range(1, 200):
        position = position + velocity
        beyond = np.abs(position) > 1.0
        position[beyond] = np.sign(position[beyond]) * 2.0 - position[beyond]
        velocity[beyond] *= -1
        np.testing.assert_allclose(path.position(step), position, atol=1e-12)


def test_dense_starts_in_one_point_and_spreads() -> None:
    """F-004-06, F-004-08."""
    motion = make(300)
    assert (motion.spheres(0)[0] == 0).all()
    assert motion.density(0) == 0
    assert 0 < motion.density(10) < motion.density(50) < motion.density(100)


def test_sparse_goes_on_from_the_end_of_dense() -> None:
    """F-004-07: place, size and velocity; then the walls are twice as far."""
    options: dict[str, Any] = {"links": 2, "pulse": 0.3}
    dense, sparse = make(80, **options), make(80, start="sparse", **options)
    np.testing.assert_array_equal(dense.spheres(500)[0], sparse.spheres(0)[0])
    np.testing.assert_array_equal(dense.spheres(500)[1], sparse.spheres(0)[1])
    np.testing.assert_array_equal(dense.path.heading(500), sparse.path.velocity)
    assert sparse.density(400) > 1.5 * dense.density(500)


def test_static_bodies_never_move() -> None:
    """F-004-01."""
    motion = make(100, resting=0.3)
    assert motion.static.sum() == 30
    moved = (motion.spheres(0)[0] != motion.spheres(17)[0]).any(axis=1)
    np.testing.assert_array_equal(moved, ~motion.static)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("links", [2, 3, 5])
def test_the_area_of_a_chain_holds_every_pose(links: int, dimension: int) -> None:
    """F-004-41: articulated and deforming; neighbours in a chain touch."""
    motion = make(60, links=links, pulse=0.4, dimension=dimension)
    bent = []
    for index in range(0, 160, 7):
        center, radius = motion.spheres(index)
        from_middle = np.linalg.norm(center - motion.path.position(index)[motion.body], axis=1)
        assert (from_middle + radius <= motion.reach[motion.body] * (1 + 1e-12)).all()
        together = motion.body[1:] == motion.body[:-1]
        apart = np.linalg.norm(np.diff(center, axis=0), axis=1)[together]
        np.testing.assert_allclose(apart, 2 * radius[1:][together], rtol=1e-9)
        bent.append(from_middle.max() / radius.max())
    assert np.ptp(np.array(bent)) > 0 or links == 2


def test_the_density_is_that_of_the_spheres() -> None:
    motion = make(40, start="sparse", links=2)
    assert motion.density(3) == density(*motion.spheres(3))


def test_the_same_seed_gives_the_same_frames() -> None:
    """F-004-44."""
    choices: tuple[dict[str, Any], ...] = ({}, {"start": "sparse", "links": 3, "pulse": 0.2})
    for options in choices:
        first, again = make(50, seed=4, **options), make(50, seed=4, **options)
        np.testing.assert_array_equal(first.frame(123), again.frame(123))
    assert (make(50, seed=5).frame(0)[0] != make(50, seed=4).frame(0)[0]).all()


@pytest.mark.parametrize(
    "options",
    [
        {"start": "middle"},
        {"speed_rule": "fast"},
        {"smallest": 0.2, "largest": 0.1},
        {"largest": 0.6},
        {"links": 0},
        {"pulse": 1.0},
        {"speed": -1.0},
        {"resting": 1.5},
        {"edge": float("nan")},
    ],
)
def test_bad_parameters_are_one_sentence(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"^[^\n]+\.$"):
        make(5, **options)


def test_the_density_of_three_by_hand() -> None:
    """F-004-08: the center is at x = 1, where the weights are 2, 1 and 1."""
    assert density([[0, 0, 0], [4, 0, 0], [0, 0, 0]], [2, 1, 1]) == pytest.approx(5 / 3)
    assert density([[5, 5]], [0]) == 0
    with pytest.raises(InvalidInput, match="no bodies"):
        density(np.empty((0, 2)), [])

"""Motion over steps: closed sums, exact turns, rotations that stay rotations, limits (F-001-29 to F-001-31)."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from dynamics_oracles import random_state, turned_by
from hypothesis import given
from hypothesis import strategies as st

from choque._core.vector import orthonormalised
from choque.dynamics.response import integrate

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_free_fall_is_the_closed_sum(seed: int) -> None:
    """F-001-29: after t seconds v = v0 + a t and p = p0 + v0 t + a t² / 2, in steps of any length."""
    random = np.random.default_rng(seed)
    bodies = random_state(random, 3)
    bodies.acceleration[:] = random.normal(size=(3, 3)) * 9.8
    start = copy.deepcopy(bodies)
    dt, steps = 1 / 60, 90
    for _ in range(steps):
        integrate(bodies, dt, threads=1)
    time = steps * dt
    fallen = start.position + time * start.velocity + 0.5 * time**2 * bodies.acceleration
    np.testing.assert_allclose(bodies.position, fallen, rtol=1e-12, atol=1e-11)
    np.testing.assert_allclose(
        bodies.velocity, start.velocity + steps * dt * bodies.acceleration, rtol=1e-12, atol=1e-12
    )


@given(SEEDS, st.floats(1e-9, 10))
def test_a_turn_is_the_exponential(seed: int, dt: float) -> None:
    bodies = random_state(np.random.default_rng(seed), 4)
    bodies.inertia[:] = 1
    expected = [
        turned_by(spin * dt) @ turn for spin, turn in zip(bodies.angular_velocity, bodies.rotation, strict=True)
    ]
    integrate(bodies, dt, threads=1)
    np.testing.assert_allclose(bodies.rotation, expected, atol=1e-12)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float64, 4e-15), (np.float32, 4e-7)])
def test_a_spinning_body_stays_orthonormal(dtype: type, tolerance: float) -> None:
    """F-001-30: after 20,000 steps, as exactly as after one."""
    bodies = random_state(np.random.default_rng(5), 20)
    for name, column in vars(bodies).items():
        if column.dtype == np.float64:
            setattr(bodies, name, column.astype(dtype))
    bodies.angular_velocity *= 5
    for _ in range(20_000):
        integrate(bodies, 1 / 60, threads=1)
    product = bodies.rotation @ bodies.rotation.transpose(0, 2, 1)
    assert np.abs(product - np.eye(3)).max() < tolerance
    np.testing.assert_allclose(np.linalg.det(bodies.rotation.astype(np.float64)), 1, atol=10 * tolerance)


def spin_of(bodies: Any) -> np.ndarray:
    """(n, 3): the angular momentum of each body about its centre."""
    local = np.einsum("nji,nj->ni", bodies.rotation, bodies.angular_velocity)
    return np.einsum("nij,nj->ni", bodies.rotation, bodies.inertia * local)


def turning_energy(bodies: Any) -> np.ndarray:
    return 0.5 * np.einsum("ni,ni->n", spin_of(bodies), bodies.angular_velocity)


@given(SEEDS)
def test_a_free_body_keeps_its_angular_momentum(seed: int) -> None:
    """And its energy: to the last bits where two moments are equal, and within the error of the step elsewhere."""
    random = np.random.default_rng(seed)
    bodies = random_state(random, 10)
    bodies.inertia[:5, 1] = bodies.inertia[:5, 0]
    start, energy = spin_of(bodies), turning_energy(bodies)
    scale = np.abs(start).max(axis=1, keepdims=True)
    for _ in range(200):
        integrate(bodies, 1 / 60, threads=1)
        np.testing.assert_allclose(spin_of(bodies) / scale, start / scale, atol=1e-12)
    np.testing.assert_allclose(turning_energy(bodies)[:5], energy[:5], rtol=1e-11)


def test_a_book_tumbles_as_with_a_thousandth_of_the_step() -> None:
    """The motion about the axis in the middle, which is not stable, is of second order, and keeps its energy."""
    found = []
    for steps in (150, 300, 30_000):
        body = random_state(np.random.default_rng(8), 1)
        body.inertia[:] = [[1.0, 2.0, 3.0]]
        body.rotation[:] = np.eye(3)
        body.angular_velocity[:] = [[0.05, 3.0, 0.02]]
        energy = turning_energy(body)
        for _ in range(steps):
            integrate(body, 5 / steps, threads=1)
        np.testing.assert_allclose(turning_energy(body), energy, rtol=2e-3)
        found.append(body.rotation[0])
    coarse, fine = (np.abs(each - found[-1]).max() for each in found[:2])
    assert coarse < 0.05
    assert fine < 0.3 * coarse


def test_a_static_body_keeps_the_angular_velocity_that_drives_it() -> None:
    bodies = random_state(np.random.default_rng(9), 3, static_share=1.0)
    before = bodies.angular_velocity.copy()
    integrate(bodies, 1 / 60, threads=1)
    np.testing.assert_array_equal(bodies.angular_velocity, before)


def test_a_quarter_turn_in_steps_is_a_quarter_turn() -> None:
    bodies = random_state(np.random.default_rng(6), 1)
    bodies.rotation[:] = np.eye(3)
    bodies.angular_velocity[:] = [[0, 0, np.pi / 2]]
    for _ in range(60):
        integrate(bodies, 1 / 60, threads=1)
    np.testing.assert_allclose(bodies.rotation[0], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-13)


@given(SEEDS)
def test_speeds_stay_below_their_limits(seed: int) -> None:
    """F-001-31: 50 units and 10 radians a second, whatever happens; slower ones are not touched."""
    random = np.random.default_rng(seed)
    bodies = random_state(random, 30)
    bodies.velocity *= 10 ** random.uniform(-1, 3, (30, 1))
    bodies.angular_velocity *= 10 ** random.uniform(-1, 3, (30, 1))
    bodies.acceleration[:] = random.normal(size=(30, 3)) * 100
    fast = copy.deepcopy(bodies)
    for _ in range(20):
        integrate(bodies, 1 / 60, max_speed=50.0, max_spin=10.0, threads=1)
        assert np.linalg.norm(bodies.velocity, axis=1).max() <= 50 * (1 + 1e-15)
        assert np.linalg.norm(bodies.angular_velocity, axis=1).max() <= 10 * (1 + 1e-15)
    bodies.inertia[:] = 1  # another motion changes the angular velocity
    bodies.angular_velocity[:] = fast.angular_velocity
    integrate(bodies, 1 / 60, max_speed=50.0, max_spin=10.0, threads=1)
    slow = np.linalg.norm(fast.angular_velocity, axis=1) <= 10
    np.testing.assert_array_equal(bodies.angular_velocity[slow], fast.angular_velocity[slow])
    turned = np.cross(bodies.angular_velocity, fast.angular_velocity)
    np.testing.assert_allclose(turned, 0, atol=1e-9 * np.abs(fast.angular_velocity).max())


@given(SEEDS)
def test_straightening_finds_the_nearest_rotation(seed: int) -> None:
    random = np.random.default_rng(seed)
    rotation = random_state(random, 5).rotation
    crooked = rotation + random.uniform(-3e-5, 3e-5, rotation.shape)
    straight = orthonormalised(crooked)
    np.testing.assert_allclose(
        straight @ straight.transpose(0, 2, 1), np.broadcast_to(np.eye(3), (5, 3, 3)), atol=1e-15
    )
    left, _, right = np.linalg.svd(crooked)
    np.testing.assert_allclose(straight, left @ right, atol=1e-14)
    np.testing.assert_array_equal(orthonormalised(np.eye(3)[np.newaxis]), np.eye(3)[np.newaxis])

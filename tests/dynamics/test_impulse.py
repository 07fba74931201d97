"""The impulse response against plain NumPy, and what each collision must keep (F-001-23 to F-001-27)."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from dynamics_oracles import (
    contact_speed,
    contacts_of_points,
    energy,
    momenta,
    random_contacts,
    random_state,
    respond_plainly,
)
from hypothesis import given
from hypothesis import strategies as st

from choque.dynamics import create_response
from choque.dynamics.mechanics import angular_momentum, kinetic_energy, momentum

SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_many_contacts_are_answered_as_in_plain_arrays(seed: int) -> None:
    random = np.random.default_rng(seed)
    bodies = random_state(random, 12, static_share=0.3)
    contacts = random_contacts(random, bodies, 25)
    plain = copy.deepcopy(bodies)
    impulses = create_response("impulse").respond(bodies, contacts, 1 / 60)
    assert impulses == respond_plainly(plain, contacts)
    np.testing.assert_allclose(bodies.velocity, plain.velocity, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(bodies.angular_velocity, plain.angular_velocity, rtol=1e-9, atol=1e-11)


@given(SEEDS)
def test_each_collision_keeps_momentum_and_energy(seed: int) -> None:
    """F-001-23: to 1e-12 of what is exchanged, one collision at a time."""
    random = np.random.default_rng(seed)
    bodies = random_state(random, 6)
    bodies.restitution[:] = 1.0
    contacts = random_contacts(random, bodies, 10)
    response = create_response("impulse")
    for row in range(len(contacts)):
        before, moving = momenta(bodies), energy(bodies)
        response.respond(bodies, contacts.take(np.array([row])), 1 / 60)
        scale = np.abs(bodies.mass[:, np.newaxis] * bodies.velocity).sum() + np.abs(before).max()
        np.testing.assert_allclose(momenta(bodies), before, atol=1e-12 * scale)
        assert energy(bodies) == pytest.approx(moving, rel=1e-12)


@given(SEEDS, st.floats(0, 1), st.floats(0, 1))
def test_bodies_part_at_the_mean_elasticity(seed: int, first: float, second: float) -> None:
    """F-001-23 and F-001-26: e = 0.2 and 0.8 act as 0.5; at 0 no speed along the normal is left."""
    random = np.random.default_rng(seed)
    bodies = random_state(random, 2)
    bodies.restitution[:] = first, second
    contacts = random_contacts(random, bodies, 1)
    met = contact_speed(bodies, contacts, 0)
    impulses = create_response("impulse").respond(bodies, contacts, 1 / 60)
    assert impulses == (met < 0)
    left = -(first + second) / 2 * met if met < 0 else met
    assert contact_speed(bodies, contacts, 0) == pytest.approx(left, rel=1e-9, abs=1e-11)


def test_a_static_body_keeps_its_velocity_and_counts_with_it() -> None:
    """F-001-24 and F-001-25: what a moving wall hits leaves at e times the relative speed, relative to the wall."""
    bodies = random_state(np.random.default_rng(1), 2)
    bodies.position[:] = [[0, 0, 0], [2, 0, 0]]
    bodies.static[0] = True
    bodies.inverse_mass[0] = bodies.inverse_inertia[0] = 0
    bodies.velocity[:] = [[10, 0, 0], [-1, 0, 0]]
    bodies.angular_velocity[:] = 0
    bodies.restitution[:] = 0.5
    contact = contacts_of_points(
        np.array([[0, 1]], np.int32), np.array([[1.0, 0, 0]]), np.array([[1.0, 0, 0]]), np.array([0.1])
    )
    assert create_response("impulse").respond(bodies, contact, 1 / 60) == 1
    np.testing.assert_allclose(bodies.velocity, [[10, 0, 0], [10 + 0.5 * 11, 0, 0]])


@given(SEEDS)
def test_what_parts_already_is_left_alone(seed: int) -> None:
    """F-001-27: one impulse a bounce, however long bodies overlap."""
    random = np.random.default_rng(seed)
    bodies = random_state(random, 2)
    contacts = random_contacts(random, bodies, 1)
    if contact_speed(bodies, contacts, 0) > 0:
        bodies.velocity *= -1
        bodies.angular_velocity *= -1
    response = create_response("impulse")
    assert response.respond(bodies, contacts, 1 / 60) == 1
    after = bodies.velocity.copy()
    assert response.respond(bodies, contacts, 1 / 60) == 0
    np.testing.assert_array_equal(bodies.velocity, after)


def test_impulses_follow_one_another() -> None:
    """Three equal balls in a row pass the motion on within one step: each impulse sees the one before."""
    bodies = random_state(np.random.default_rng(3), 3)
    bodies.position[:] = [[0, 0, 0], [2, 0, 0], [4, 0, 0]]
    bodies.mass[:] = bodies.inverse_mass[:] = 1
    bodies.velocity[:] = [[3, 0, 0], [0, 0, 0], [0, 0, 0]]
    bodies.angular_velocity[:] = 0
    bodies.restitution[:] = 1
    pairs = np.array([[0, 1], [1, 2]], np.int32)
    normal = np.array([[1.0, 0, 0], [1.0, 0, 0]])
    contacts = contacts_of_points(pairs, np.array([[1.0, 0, 0], [3.0, 0, 0]]), normal, np.full(2, 0.01))
    assert create_response("impulse").respond(bodies, contacts, 1 / 60) == 2
    np.testing.assert_allclose(bodies.velocity[:, 0], [0, 0, 3], atol=1e-14)


@given(SEEDS)
def test_measures_are_those_of_whole_matrices(seed: int) -> None:
    bodies = random_state(np.random.default_rng(seed), 5, static_share=0.3)
    assert kinetic_energy(bodies).sum() == pytest.approx(energy(bodies), rel=1e-12)
    given = np.concatenate((momentum(bodies).sum(axis=0), angular_momentum(bodies).sum(axis=0)))
    np.testing.assert_allclose(given, momenta(bodies), rtol=1e-11, atol=1e-11)

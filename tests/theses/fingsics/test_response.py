"""The response and integration of the Fingsics engine, on hand-made contacts and closed forms."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dynamics_oracles import contacts_of_points
from hypothesis import given
from hypothesis import strategies as st

from choque.dynamics import create_response
from choque.errors import InvalidInput
from choque.narrow.pair import Contacts
from choque.narrow.shapes import CAPSULE, SPHERE, TILE
from choque.theses.fingsics.response import STATIC_MASS, integrate, radians, rotations


def bodies(kind: list[int], position: Any, velocity: Any, **columns: Any) -> Any:
    """Bodies of mass and elasticity 1 and radius 1, capsules 2 long, tiles static; all but what ``columns`` say."""
    count = len(kind)
    size = np.zeros((count, 3), np.float32)
    size[:, 0] = 1
    size[np.array(kind) == CAPSULE, 1] = 2
    made = {
        "ids": np.arange(count, dtype=np.int32),
        "kind": np.array(kind, np.int8),
        "position": position,
        "velocity": velocity,
        "rotation": np.array([np.eye(3)] * count),
        "angular_velocity": np.zeros((count, 3)),
        "acceleration": np.zeros((count, 3)),
        "mass": np.ones(count),
        "restitution": np.ones(count),
        "inertia": np.ones((count, 3)),
        "static": np.array(kind) == TILE,
        "size": size,
    } | columns
    single = {
        "inertia",
        "position",
        "velocity",
        "rotation",
        "angular_velocity",
        "acceleration",
        "mass",
        "restitution",
        "size",
    }
    return SimpleNamespace(
        **{name: np.array(column, np.float32) if name in single else np.array(column) for name, column in made.items()}
    )


def contacts(pairs: Any, point: Any, normal: Any, depth: Any = None) -> Contacts:
    rows = np.array(pairs, np.int32).reshape(-1, 2)
    deep = np.full(len(rows), 0.1, np.float32) if depth is None else np.array(depth, np.float32)
    return contacts_of_points(rows, np.array(point, np.float32), np.array(normal, np.float32), deep)


def respond(state: Any, found: Contacts) -> int:
    return create_response("fingsics").respond(state, found, 1 / 60)


def test_equal_spheres_swap_their_velocities() -> None:
    """F-001-23."""
    state = bodies([SPHERE, SPHERE], [[0, 0, 0], [1.9, 0, 0]], [[3, 1, 0], [-1, 0, 0]])
    assert respond(state, contacts([[0, 1]], [[0.95, 0, 0]], [[1, 0, 0]])) == 1
    np.testing.assert_allclose(state.velocity, [[-1, 1, 0], [3, 0, 0]], atol=1e-6)
    assert not state.angular_velocity.any()


def test_elasticity_is_the_mean_of_both() -> None:
    """F-001-26, and F-001-24: a ball on a floor rebounds at e·v."""
    state = bodies([SPHERE, TILE], [[0, 0.9, 0], [0, 0, 0]], [[0, -4, 0], [0, 0, 0]], restitution=[0.2, 0.8])
    respond(state, contacts([[0, 1]], [[0, 0, 0]], [[0, -1, 0]]))
    np.testing.assert_allclose(state.velocity, [[0, 2, 0], [0, 0, 0]], atol=1e-6)


def test_velocity_of_a_static_body_counts() -> None:
    """F-001-25: what a moving static body strikes takes up twice its speed, and it goes on as it was."""
    state = bodies([SPHERE, SPHERE], [[0, 0, 0], [1.9, 0, 0]], [[10, 0, 0], [0, 0, 0]], static=[True, False])
    respond(state, contacts([[0, 1]], [[0.95, 0, 0]], [[1, 0, 0]]))
    np.testing.assert_allclose(state.velocity, [[10, 0, 0], [20, 0, 0]], atol=1e-5)


def test_symmetric_strike_leaves_the_centre_of_the_capsule_still() -> None:
    """F-001-28: two equal balls, from both sides, off the middle: the capsule turns and stays where it is."""
    state = bodies(
        [CAPSULE, SPHERE, SPHERE],
        [[0, 0, 0], [-1.9, 0, 1], [1.9, 0, -1]],
        [[0, 0, 0], [4, 0, 0], [-4, 0, 0]],
        mass=[0.8, 0.4, 0.4],
        restitution=[0.8] * 3,
    )
    found = contacts([[0, 1], [0, 2]], [[-0.95, 0, 1], [0.95, 0, -1]], [[-1, 0, 0], [1, 0, 0]])
    assert respond(state, found) == 2
    assert not state.velocity[0].any()
    assert state.angular_velocity[0, 1] > 0.5
    np.testing.assert_allclose(state.velocity[1], -state.velocity[2])


@given(st.integers(0, 2**32 - 1))
def test_result_does_not_depend_on_the_order_of_bodies(seed: int) -> None:
    """F-001-28: all impulses come from the velocities before the step; order shows in rounding alone."""
    random = np.random.default_rng(seed)
    count = 12
    state = bodies(
        random.choice([SPHERE, CAPSULE], count).tolist(),
        random.uniform(-3, 3, (count, 3)),
        random.uniform(-3, 3, (count, 3)),
        mass=random.uniform(0.5, 5, count),
        restitution=random.uniform(0, 1, count),
        static=random.random(count) < 0.2,
    )
    pairs = np.array([(i, j) for i in range(count) for j in range(i + 1, count)])[random.permutation(66)[:20]]
    pairs = pairs[~state.static[pairs].all(axis=1)]
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    normal = random.normal(size=(len(pairs), 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    point = state.position[pairs].mean(axis=1)
    places = random.permutation(count)  # body k goes to row places[k]
    named = places[pairs]
    turned = named[:, 0] > named[:, 1]
    again = np.sort(named, axis=1)
    order = np.lexsort((again[:, 1], again[:, 0]))
    moved = SimpleNamespace(**{key: value[np.argsort(places)].copy() for key, value in vars(state).items()})
    moved.ids = np.arange(count, dtype=np.int32)
    respond(state, contacts(pairs, point, normal))
    respond(moved, contacts(again[order], point[order], np.where(turned[:, np.newaxis], -normal, normal)[order]))
    np.testing.assert_allclose(moved.velocity[places], state.velocity, rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(moved.angular_velocity[places], state.angular_velocity, rtol=2e-4, atol=2e-4)


def test_several_contacts_give_a_mean_weighted_by_mass_on_each_axis() -> None:
    """A ball is struck along x by one of mass 1 and one of mass 3: a quarter and three quarters of each impulse."""
    state = bodies(
        [SPHERE] * 3, [[0, 0, 0], [-1.9, 0, 0], [-1.9, 0, 0]], [[0, 0, 0], [2, 0, 0], [2, 0, 0]], mass=[1, 1, 3]
    )
    respond(state, contacts([[0, 1], [0, 2]], [[-0.95, 0, 0]] * 2, [[-1, 0, 0]] * 2))
    np.testing.assert_allclose(state.velocity[0], [2 * 0.25 + 3 * 0.75, 0, 0], atol=1e-6)
    np.testing.assert_allclose(state.velocity[1:, 0], [0, 1], atol=1e-6)


def test_contacts_on_different_axes_are_whole() -> None:
    state = bodies([SPHERE] * 3, [[0, 0, 0], [-1.9, 0, 0], [0, -1.9, 0]], [[0, 0, 0], [2, 0, 0], [0, 3, 0]])
    respond(state, contacts([[0, 1], [0, 2]], [[-0.95, 0, 0], [0, -0.95, 0]], [[-1, 0, 0], [0, -1, 0]]))
    np.testing.assert_allclose(state.velocity, [[2, 3, 0], [0, 0, 0], [0, 0, 0]], atol=1e-6)


def test_statics_override_the_others() -> None:
    state = bodies([SPHERE, SPHERE, TILE], [[0, 0.9, 0], [0, 2.8, 0], [0, 0, 0]], [[0, -1, 0], [0, -5, 0], [0, 0, 0]])
    found = contacts([[0, 1], [0, 2]], [[0, 1.85, 0], [0, 0, 0]], [[0, 1, 0], [0, -1, 0]])
    respond(state, found)
    np.testing.assert_allclose(state.velocity[0], [0, 1, 0], atol=1e-6)
    assert float(STATIC_MASS) == np.float32(1e12)


def test_bodies_that_part_are_pushed_too() -> None:
    """The engine takes the magnitude of the impulse."""
    state = bodies([SPHERE, SPHERE], [[0, 0, 0], [1.9, 0, 0]], [[-1, 0, 0], [1, 0, 0]])
    respond(state, contacts([[0, 1]], [[0.95, 0, 0]], [[1, 0, 0]]))
    np.testing.assert_allclose(state.velocity[:, 0], [-3, 3], atol=1e-6)


def test_gate_lets_only_new_and_deeper_contacts_through() -> None:
    """F-001-27."""
    response = create_response("fingsics")
    state = bodies([SPHERE, SPHERE], [[0, 0, 0], [1.9, 0, 0]], [[1, 0, 0], [-1, 0, 0]])
    answered = []
    for depth in (0.1, 0.1, 0.2, 0.15, None, 0.05):
        pairs = [] if depth is None else [[0, 1]]
        count = len(pairs)
        found = contacts(pairs, np.zeros((count, 3)), np.tile([1, 0, 0], (count, 1)), [depth] * count)
        answered.append(response.respond(state, found, 1 / 60))
    assert answered == [1, 0, 1, 0, 0, 1]


def test_gate_is_saved_and_restored() -> None:
    response, other = create_response("fingsics"), create_response("fingsics")
    state = bodies([SPHERE, SPHERE], [[0, 0, 0], [1.9, 0, 0]], [[1, 0, 0], [-1, 0, 0]])
    found = contacts([[0, 1]], [[0.95, 0, 0]], [[1, 0, 0]])
    assert response.respond(state, found, 1 / 60) == 1
    other.restore(response.state())
    assert other.respond(state, found, 1 / 60) == 0
    with pytest.raises(InvalidInput, match="out of order"):
        other.restore({})
    with pytest.raises(InvalidInput, match="out of order"):
        other.restore({"keys": np.array([3, 2], np.uint64), "depth": np.zeros(2, np.float32)})


def test_speeds_are_limited_at_every_change() -> None:
    """F-001-31."""
    state = bodies([SPHERE, SPHERE], [[0, 0, 0], [1.9, 0, 0]], [[49, 0, 0], [0, 0, 0]], mass=[100, 0.01])
    respond(state, contacts([[0, 1]], [[0.95, 0, 0]], [[1, 0, 0]]))
    np.testing.assert_allclose(state.velocity[1], [50, 0, 0], rtol=1e-6)
    rod = bodies([CAPSULE, SPHERE], [[0, 0, 0], [1.9, 0, 1]], [[0, 0, 0], [-49, 0, 0]], mass=[1, 100])
    respond(rod, contacts([[0, 1]], [[0.95, 0, 1]], [[1, 0, 0]]))
    np.testing.assert_allclose(np.linalg.norm(rod.angular_velocity, axis=1)[0], 10, rtol=1e-6)


def test_fall_is_the_closed_sum_of_the_steps() -> None:
    """F-001-29: position moves by the velocity before the step, so p after n steps is −g dt² n(n − 1)/2."""
    state = bodies([SPHERE], [[0, 0, 0]], [[0, 0, 0]], acceleration=[[0, -9.8, 0]])
    for _ in range(60):
        integrate(state, 1 / 60, 50.0)
    np.testing.assert_allclose(state.velocity, [[0, -9.8, 0]], rtol=1e-5)
    np.testing.assert_allclose(state.position, [[0, -9.8 / 3600 * 60 * 59 / 2, 0]], rtol=1e-5)
    integrate(state, 1.0, 10.0)
    np.testing.assert_allclose(state.velocity, [[0, -10, 0]], rtol=1e-6)


def test_hardly_moving_is_not_moving() -> None:
    state = bodies([SPHERE, SPHERE], np.zeros((2, 3)), [[9e-5, 9e-5, 0], [9e-5, 2e-4, 0]])
    state.angular_velocity[:] = state.velocity
    integrate(state, 1.0)
    assert not state.position[0].any()
    assert state.position[1].all(where=[True, True, False])
    np.testing.assert_array_equal(state.rotation[0], np.eye(3))
    assert (state.rotation[1] != np.eye(3)).any()


def test_turn_is_by_angles_not_about_an_axis() -> None:
    """R = Euler(ω dt)·R, in the axes of the world."""
    state = bodies([CAPSULE], [[0, 0, 0]], [[0, 0, 0]], angular_velocity=[[1, 2, 3]])
    start = rotations([[20, 40, 60]])
    state.rotation[:] = start
    integrate(state, 0.5, 50.0)
    by = rotations(np.degrees([[0.5, 1.0, 1.5]]))
    np.testing.assert_allclose(state.rotation[0], by[0] @ start[0], atol=1e-6)


def test_angles_become_matrices_in_the_order_z_y_x() -> None:
    angles = np.array([[30.0, -50.0, 110.0], [90.0, 0.0, 0.0]])
    for degrees, matrix in zip(angles, rotations(angles), strict=True):
        x, y, z = np.radians(degrees)
        one = np.array([[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]])
        two = np.array([[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]])
        three = np.array([[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]])
        np.testing.assert_allclose(matrix, three @ two @ one, atol=1e-6)
    assert rotations(angles)[1, 1, 1] != 0  # as in the engine, whose quarter turns are rounded
    assert radians(180.0) == np.float32(np.pi)

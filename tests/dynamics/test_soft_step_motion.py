"""Fast bodies, bullets, sensors, damping, gravity factors and impulses under `soft-step`."""

from __future__ import annotations

import numpy as np
import pytest

import choque
from choque.errors import InvalidInput
from choque.narrow import Hulls


def free_world(**options: object) -> choque.World:
    """A world without gravity."""
    return choque.World(response="soft-step", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("speed", [60.0, 600.0, 6000.0])
@pytest.mark.parametrize("shape", ["sphere", "capsule", "box", "hull"])
def test_no_body_passes_through_a_thin_wall(shape: str, speed: float) -> None:
    """The wall is 1 cm thick; the body moves up to 100 m in a step, and turns."""
    world = free_world()
    world.add_boxes([[5.0, 0, 0]], [0.01, 20, 20], static=True)
    motion = {"velocity": [speed, 0.1 * speed, 0], "angular_velocity": [1.0, 2.0, 3.0]}
    if shape == "sphere":
        world.add_spheres([[0.0, 0, 0]], 0.1, **motion)  # type: ignore[arg-type]
    elif shape == "capsule":
        world.add_capsules([[0.0, 0, 0]], 0.1, 0.4, **motion)  # type: ignore[arg-type]
    elif shape == "box":
        world.add_boxes([[0.0, 0, 0]], 0.2, **motion)  # type: ignore[arg-type]
    else:
        world.add_hulls(Hulls.solids("octahedron"), [[0.0, 0, 0]], 0.2, **motion)  # type: ignore[arg-type]
    energy = world.energy()
    for _ in range(10):
        world.step(1 / 60)
        assert world.bodies.position[1, 0] < 5.0
    assert world.bodies.velocity[1, 0] < 1
    assert world.energy() < energy


def test_a_fast_body_lands_on_a_plane_and_passes_beside_a_wall() -> None:
    world = free_world()
    world.add_ground()
    world.add_boxes([[50.0, 10, 0]], [0.01, 2, 2], static=True)
    world.add_spheres([[0.0, 8, 0], [0.0, 30, 5]], 0.1, velocity=[[0, -900, 0], [900, 0, 0]])
    for _ in range(8):
        world.step(1 / 60)
        assert world.bodies.position[2, 1] > 0.05
    assert world.bodies.position[3, 0] == pytest.approx(900 * 8 / 60)  # no ghost contact


def test_only_a_bullet_meets_moving_bodies_within_a_step() -> None:
    ends = []
    for bullet in (False, True):
        world = free_world()
        world.add_spheres([[5.0, 0, 0]], 0.1)
        world.add_spheres([[0.0, 0, 0]], 0.1, velocity=[600, 0, 0], bullet=bullet)
        for _ in range(4):
            world.step(1 / 60)
        ends.append(world.bodies.velocity[:, 0].copy())
        assert world.momentum()[0] == pytest.approx(600)
    np.testing.assert_array_equal(ends[0], [0, 600])
    assert ends[1][0] > 299


def test_a_sensor_touches_nothing_and_tells_what_is_in_it() -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    gate = world.add_boxes([[0, 1.0, 0]], [2, 2, 2], static=True, sensor=True)
    ball = world.add_spheres([[0, 4.0, 0]], 0.5)
    box = world.add_boxes([[1.9, 0.5, 0]])  # its corner is outside, its box is not
    seen = []
    for _ in range(90):
        world.step(1 / 60)
        seen.append([tuple(pair) for pair in world.sensed().tolist()])
    assert seen[0] == []
    assert seen[-1] == [(int(gate[0]), int(ball[0]))]
    assert world.bodies.position[2, 1] == pytest.approx(0.5, abs=0.01)
    world.bodies.position[3, 0] = 1.4
    assert (int(gate[0]), int(box[0])) in [tuple(pair) for pair in world.sensed().tolist()]


def test_damping_and_gravity_factors_act_by_their_closed_forms() -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_spheres([[0.0, 0, 0]], velocity=[1, 0, 0], linear_damping=2.0, gravity_factor=0.0)
    world.add_spheres([[9.0, 0, 0]], angular_velocity=[0, 1, 0], angular_damping=3.0, gravity_factor=-0.5)
    for _ in range(60):
        world.step(1 / 60)
    assert world.bodies.velocity[0] == pytest.approx([(1 + 2 / 60) ** -60, 0, 0])
    assert world.bodies.angular_velocity[1] == pytest.approx([0, (1 + 3 / 60) ** -60, 0])
    assert world.bodies.velocity[1] == pytest.approx([0, 0.5 * 9.81, 0])


def test_impulses_change_momentum_and_angular_momentum_by_their_amount() -> None:
    random = np.random.default_rng(5)
    world = free_world()
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    ids = world.add_boxes(
        random.normal(size=(4, 3)) * 9, [1, 2, 3], mass=[1, 2, 3, 4], rotation=turn * np.linalg.det(turn)
    )
    impulse, point, angular = random.normal(size=(3, 4, 3))
    world.apply_impulses(ids, impulse, point=point, angular=angular)
    np.testing.assert_allclose(world.momentum(), impulse.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(world.angular_momentum(), (np.cross(point, impulse) + angular).sum(axis=0), atol=1e-12)
    before = world.hash()
    for bad in ({"impulse": [np.nan, 0, 0]}, {"impulse": [1, 2]}, {"impulse": [1, 0, 0], "point": [[0, 0, 0]] * 3}):
        with pytest.raises(InvalidInput):
            world.apply_impulses(ids, **bad)  # type: ignore[arg-type]
    assert world.hash() == before


def test_an_impulse_wakes_a_sleeper() -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    ids = world.add_boxes([[0, 0.5, 0]])
    for _ in range(60):
        world.step(1 / 60)
    assert world.asleep[1]
    world.apply_impulses(ids, [3, 0, 0])
    world.step(1 / 60)
    assert not world.asleep[1]


def test_bad_options_are_refused_and_add_nothing() -> None:
    world = free_world()
    for bad in (
        {"linear_damping": -1},
        {"angular_damping": np.nan},
        {"gravity_factor": np.inf},
        {"gravity_factor": 2.0, "acceleration": [0, 0, 0]},
        {"bullet": 3},
        {"sensor": "yes"},
        {"friction": -0.1},
        {"mass": np.nan},
        {"mass": 1e35},
    ):
        with pytest.raises(InvalidInput):
            world.add_spheres([[0, 0, 0]], **bad)  # type: ignore[arg-type]
    assert len(world) == 0


def test_bodies_that_start_inside_each_other_are_pushed_out_without_an_explosion() -> None:
    """The greatest speed is stated in the limits: that of a fall, or of a few pushes of 3 m/s."""
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    world.add_boxes(np.random.default_rng(1).normal(size=(20, 3)) * 0.05 + [0, 3, 0])
    fastest = 0.0
    for _ in range(120):
        world.step(1 / 60)
        fastest = max(fastest, float(np.linalg.norm(world.bodies.velocity, axis=1).max()))
    assert fastest < 15
    assert world.bodies.position[1:, 1].min() > 0.4


def test_a_million_bodies_in_one_point_are_refused_and_the_world_stays_as_it_was() -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_spheres([[0, 5, 0]])
    with pytest.raises(InvalidInput, match=r"1,000,000 bodies are in one place.*Spread them"):
        world.add_spheres(np.full((1_000_000, 3), [0.0, 5.0, 0.0]))
    assert len(world) == 1
    world.add_spheres(np.full((2_000, 3), [0.0, 5.0, 0.0]), mask=2)  # which do not meet each other
    world.add_spheres(np.random.default_rng(0).uniform(0, 40, (20_000, 3)))
    assert len(world) == 22_001


@pytest.mark.parametrize("heavy", [1e2, 1e6])
def test_a_body_of_any_mass_on_a_light_one_stays_slow(heavy: float) -> None:
    world = choque.World(gravity=(0, -9.81, 0), response_options={"sleep": False})
    world.add_ground()
    world.add_boxes([[0, 0.5, 0], [0, 1.5, 0]], mass=[1, heavy])
    for _ in range(120):
        world.step(1 / 60)
        assert np.abs(world.bodies.velocity).max() < 10
    stands = heavy == 1e2  # one of a million times the mass pushes the light one away
    assert world.bodies.position[2, 1] > (1.45 if stands else 0.45)


def test_a_resting_pile_uses_its_manifolds_again() -> None:
    world = choque.World(gravity=(0, -9.81, 0), response_options={"sleep": False})
    world.add_ground()
    world.add_boxes([[0, 0.5 + k, 0] for k in range(5)])
    for _ in range(30):
        report = world.step(1 / 60)
    assert report.counters == {"manifolds": 5, "found": 0, "recycled": 5}

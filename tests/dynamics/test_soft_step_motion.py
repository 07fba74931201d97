"""Fast bodies, bullets, sensors, damping, gravity factors and impulses under `soft-step`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dynamics_oracles import random_rotations

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


def add_every_shape(world: choque.World, place: np.ndarray, **options: Any) -> None:
    """Spheres, boxes, capsules and octahedra of 0.3 m in turns, turned every way."""
    turn = random_rotations(np.random.default_rng(1), len(place))
    for kind in range(4):
        rows = slice(kind, None, 4)
        given = {name: value[rows] if np.ndim(value) == 2 else value for name, value in options.items()}
        if kind == 0:
            world.add_spheres(place[rows], 0.15, **given)
        elif kind == 1:
            world.add_boxes(place[rows], 0.3, rotation=turn[rows], **given)
        elif kind == 2:
            world.add_capsules(place[rows], 0.075, 0.15, rotation=turn[rows], **given)
        else:
            world.add_hulls(Hulls.solids("octahedron"), place[rows], 0.15, rotation=turn[rows], **given)


@pytest.mark.parametrize("wall", ["plate", "mesh"])
def test_no_body_that_hits_a_thin_floor_with_a_corner_passes_through_it(wall: str) -> None:
    """The hit makes it spin at thousands of radians a second and leaves its centre fast: 6 of 200 passed a plate."""
    random = np.random.default_rng(3)
    world = free_world(response_options={"sleep": False})
    if wall == "plate":
        world.add_boxes([[0, 0, 0]], [400, 0.01, 400], static=True)
    else:
        corners = [[-200.0, 0, -200], [200, 0, -200], [200, 0, 200], [-200, 0, 200]]
        world.add_mesh(choque.meshes.Mesh(corners, [[0, 2, 1], [0, 3, 2]]))
    place = np.stack((np.arange(-100, 100) * 1.0, random.uniform(0.6, 9, 200), np.zeros(200)), axis=1)
    way = random.normal(size=(200, 3)) * [0.3, 1, 1]
    way[:, 1] = -1 - np.abs(way[:, 1])
    velocity = 500 * way / np.linalg.norm(way, axis=1, keepdims=True)
    add_every_shape(
        world, place, velocity=velocity, angular_velocity=random.normal(size=(200, 3)) * 10, mask=1, group=2
    )
    for _ in range(12):
        world.step(1 / 60)
    assert world.bodies.position[1:, 1].min() > 0


@pytest.mark.parametrize("rate", [60, 240])
def test_no_bullet_passes_through_a_thin_plate_that_moves(rate: int) -> None:
    """The plates are fast for their thickness; each bullet hits its own, off its middle."""
    world = free_world()
    place = np.array([[0.0, 0.1, 6.0 * plate] for plate in range(24)])
    world.add_boxes(place + [10, -0.1, 0], [0.02, 4, 4], mass=50, velocity=[-5, 0, 0])
    add_every_shape(world, place, velocity=[500.0, 0, 0], bullet=True, mass=0.1)
    plate = np.concatenate([np.arange(kind, 24, 4) for kind in range(4)])
    for _ in range(12):
        world.step(1 / rate)
        position, turn = world.bodies.position, world.bodies.rotation[plate]
        where = np.einsum("nji,nj->ni", turn, position[24:] - position[plate])
        assert (where[np.abs(where[:, 1:]).max(axis=1) < 1.9, 0] < 0).all()
    assert world.momentum()[0] == pytest.approx(24 * (0.1 * 500 - 50 * 5))


@pytest.mark.parametrize("speed", [20.0, 300.0])
@pytest.mark.parametrize("pusher", ["plate", "ball", "tile", "mesh"])
def test_static_bodies_that_move_push_what_they_reach(pusher: str, speed: float) -> None:
    """Bodies of every shape at rest, none of them a bullet, each before a pusher that begins at another distance."""
    world = free_world()
    place = np.array([[1.0 + 0.07 * each, 0.01, 6.0 * each] for each in range(8)])
    add_every_shape(world, place)
    start = np.concatenate([place[kind::4] for kind in range(4)]) * [0, 0, 1]
    moves: Any = {"velocity": [speed, 0, 0]}
    if pusher == "plate":
        world.add_boxes(start, [0.02, 2, 2], static=True, **moves)
    elif pusher == "ball":
        world.add_spheres(start, 0.5, static=True, **moves)
    elif pusher == "tile":
        world.add_tiles(start, 2, 2, rotation=np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), **moves)
    else:
        world.add_mesh(choque.Mesh([[0.0, -4, -1], [0, 4, -1], [0, 0, 9]], [[0, 1, 2]]), start, **moves)
    bodies = world.bodies
    for _ in range(int(120 / speed) + 6):
        world.step(1 / 60)
        ahead = bodies.position[:8] - bodies.position[8:]
        assert (np.linalg.norm(ahead, axis=1) > 0.5 if pusher == "ball" else ahead[:, 0] > 0).all()
    assert (bodies.velocity[:8, 0] > 0.5 * speed).all()


def test_a_fast_platform_takes_what_lands_on_it_along_by_friction_alone() -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_boxes([[0, -0.1, 0]], [400, 0.2, 4], static=True, velocity=[60, 0, 0])
    world.add_spheres([0, 0.5, 0], 0.15, velocity=[0, -3, 0])
    place, speed = world.bodies.position, world.bodies.velocity
    for _ in range(60):
        before = place[1, 0]
        world.step(1 / 60)
        assert place[1, 0] - before <= speed[1, 0] / 60 + 1e-9
    assert speed[1, 0] == pytest.approx(0.6 * (9.81 + 3), rel=1e-3)  # of the weight for a second, and of the blow


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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("locked", [False, True])
@pytest.mark.parametrize("given", [{"impulse": [1e308, 0, 0]}, {"angular": [0, 1e308, 0]}, {"impulse": [-1e308, 0, 0]}])
def test_an_impulse_that_overflows_is_refused_and_changes_nothing(
    given: dict[str, list[float]], locked: bool, dtype: str
) -> None:
    world = choque.World(dtype=dtype)
    lock = [False, False, False, False, False, locked]
    ids = world.add_boxes([[0, 0, 0], [5, 0, 0]], 0.5, mass=0.5, locked=lock, velocity=[1, 2, 3])
    world.apply_impulses(ids[1:], [0.1, 0, 0])
    before = world.hash()
    impulses = {name: [[0, 0, 0], value] for name, value in given.items()}
    with pytest.raises(InvalidInput, match=rf"impulse of body 1 .*{dtype} can hold\. Give a smaller impulse"):
        world.apply_impulses(ids, **impulses)  # type: ignore[arg-type]
    if "impulse" in given:
        with pytest.raises(InvalidInput, match="can hold"):  # a lever that overflows by itself
            world.apply_impulses(ids, [0, 0, 1e200], point=[1e200, 0, 0])
    assert world.hash() == before
    world.step(1 / 60)


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


@pytest.mark.parametrize("change", ["ground moves", "a wall is put in", "belt", "rotation", "mask"])
def test_what_happens_to_a_sleeper_or_under_it_wakes_it(change: str) -> None:
    """Places are compared in each step; an empty impulse wakes after any other change, also that of a static body."""
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    ids = world.add_boxes([[0, 0.5, 0], [0, 1.5, 0], [9, 0.5, 0]])
    for _ in range(60):
        world.step(1 / 60)
    assert world.asleep[1:].all()
    if change == "ground moves":
        world.bodies.position[0, 1] = -1.0
    elif change == "a wall is put in":
        world.add_boxes([[0.9, 1.5, 0]], static=True)
    elif change == "belt":
        world.bodies.surface_velocity[0, 0] = 1.0
        world.apply_impulses([0])
    elif change == "rotation":
        world.bodies.rotation[2] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
        world.apply_impulses(ids[1:2])
    else:
        world.bodies.mask[1] = 0
        world.apply_impulses(ids[:1])
    world.step(1 / 60)
    assert not world.asleep[1:3].any()
    assert world.asleep[3] == (change not in ("ground moves", "belt"))
    assert set(world.events.woke.tolist()) == set(ids[: 2 if world.asleep[3] else 3].tolist())


def test_what_moves_in_empty_space_does_not_fall_asleep() -> None:
    """A slow body stopped after half a second, and one that falls slowly hung in the air."""
    world = choque.World(gravity=(0, -0.05, 0))
    world.add_spheres([[0, 0, 0]])
    world.add_spheres([[9, 0, 0]], velocity=[0.01, 0, 0], gravity_factor=0.0)
    world.add_spheres([[0, 0, 9]], gravity_factor=0.0)
    for _ in range(120):
        world.step(1 / 60)
    assert world.bodies.position[0, 1] == pytest.approx(-0.1)
    assert world.bodies.position[1, 0] == pytest.approx(9.02)
    assert world.asleep.tolist() == [False, False, True]


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


@pytest.mark.parametrize("sleep", [False, True])
@pytest.mark.parametrize("shape", ["sphere", "box", "capsule"])
def test_a_body_that_becomes_a_sensor_or_another_size_is_so_at_once(shape: str, sleep: bool) -> None:
    """Bodies at rest, whose candidates and manifolds would be used again; sleepers after `apply_impulses`."""

    def at_rest() -> choque.World:
        world = choque.World(gravity=(0, -9.81, 0), response_options={"sleep": sleep})
        world.add_ground()
        if shape == "sphere":
            world.add_spheres([0, 0.5, 0], 0.5)
        elif shape == "box":
            world.add_boxes([0, 0.5, 0])
        else:
            world.add_capsules([0, 0.5, 0], 0.5, 1.0)
        for _ in range(60):
            world.step(1 / 60)
        assert world.asleep[1] == sleep
        return world

    def height(world: choque.World) -> float:
        world.apply_impulses([1])
        for _ in range(90):
            world.step(1 / 60)
        return float(world.bodies.position[1, 1])

    for factor in (2.0, 0.5):
        world = at_rest()
        world.bodies.size[1] *= factor
        assert height(world) == pytest.approx(0.5 * factor, rel=1e-3)
    world = at_rest()
    world.bodies.sensor[1] = True
    assert height(world) < -5
    assert len(world.contacts()) == 0
    world.bodies.sensor[1], world.bodies.position[1, 1], world.bodies.velocity[1] = False, 1.0, 0.0
    assert height(world) == pytest.approx(0.5, rel=1e-3)

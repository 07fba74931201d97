"""Locked axes, groups and masks, events of sensors, islands and forces of worlds with `soft-step`."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import choque
from choque.errors import InvalidInput
from choque.record import Recorder, Recording, verify


def turned(seed: int) -> np.ndarray:
    """A random rotation."""
    found = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return found * np.linalg.det(found)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**20), flags=st.lists(st.booleans(), min_size=6, max_size=6))
def test_a_free_body_keeps_its_momentum_along_free_axes_and_has_none_along_others(seed: int, flags: list[bool]) -> None:
    random, locked = np.random.default_rng(seed), np.array(flags)
    world = choque.World(response="soft-step")
    motion = {"velocity": random.normal(size=3), "angular_velocity": random.normal(size=3), "rotation": turned(seed)}
    world.add_boxes([[1.0, 2, 3]], [1, 2, 3], mass=2, locked=flags, **motion)  # type: ignore[arg-type]
    bodies = world.bodies
    world.step(1 / 600)  # takes away what is locked
    start, before = bodies.position.copy(), bodies.velocity.copy()
    inertia = bodies.rotation[0] @ np.diag(bodies.inertia[0]) @ bodies.rotation[0].T
    momentum = inertia @ bodies.angular_velocity[0]
    for _ in range(20):
        world.step(1 / 600)
    np.testing.assert_array_equal(bodies.velocity[0], np.where(locked[:3], 0, before[0]))
    np.testing.assert_array_equal(bodies.position[0][locked[:3]], start[0][locked[:3]])
    assert (bodies.angular_velocity[0][locked[3:]] == 0).all()
    inertia = bodies.rotation[0] @ np.diag(bodies.inertia[0]) @ bodies.rotation[0].T
    after = inertia @ bodies.angular_velocity[0]
    np.testing.assert_allclose(after[~locked[3:]], momentum[~locked[3:]], atol=1e-9)


def test_a_turning_door_takes_the_angular_momentum_of_the_ball_that_hits_it() -> None:
    """The door is pinned in its middle and turns about y alone: what the ball loses of it, the door has."""
    world = choque.World(response="soft-step")
    world.add_boxes([[0, 0, 0]], [4, 2, 0.2], mass=3, locked=(1, 1, 1, 1, 0, 1))
    world.add_spheres([[1.5, 0.3, -2]], 0.3, velocity=[0.5, 0, 6], friction=0.5)

    def about_y() -> float:
        return float(world.angular_momentum()[1])

    before = about_y()
    for _ in range(40):
        world.step(1 / 60)
    door = world.bodies.angular_velocity[0]
    assert door[1] < -0.5
    assert door[0] == door[2] == 0
    np.testing.assert_array_equal(world.bodies.position[0], 0)
    assert about_y() == pytest.approx(before, rel=1e-4)  # arms end on both surfaces, a small gap apart


def test_bodies_locked_to_a_plane_stay_in_it_to_the_last_bit() -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    flat = (0, 0, 1, 1, 1, 0)
    place = [[0.3 * (k % 3), 1 + 1.1 * k, 0] for k in range(8)]
    world.add_boxes(place[:4], locked=flat)
    world.add_spheres(place[4:], 0.5, locked=flat)
    for _ in range(150):
        world.step(1 / 60)
    moving = world.bodies.take(slice(1, None))
    assert (moving.position[:, 2] == 0).all()
    assert (moving.angular_velocity[:, :2] == 0).all()
    assert (moving.rotation[:, 2] == [0, 0, 1]).all()
    assert moving.position[:, 1].min() > 0.45


def test_a_locked_body_on_a_slope_presses_on_it_with_what_its_weight_needs() -> None:
    """It may only move up and down: N · cos 30° carries it, and without friction nothing else does."""
    slope = choque.dynamics.response.rotations(np.array([[0.0, 0, 30]]))[0]
    world = choque.World(gravity=(0, -9.81, 0), response_options={"sleep": False})
    world.add_ground(rotation=slope, friction=0)
    world.add_boxes([[0, 0.9, 0]], locked=(1, 0, 1, 1, 1, 1), friction=0)
    world.add_spheres([[-5, -2.3, 0]], 0.5, locked=(1, 0, 1, 1, 1, 1), friction=0)
    for _ in range(120):
        world.step(1 / 60)
    np.testing.assert_allclose(world.forces().sum(axis=1), 9.81 / np.cos(np.radians(30)), rtol=2e-3)
    np.testing.assert_array_equal(world.bodies.position[1:, 0], [0, -5])


def test_impulses_on_locked_bodies_are_those_of_the_free_part_of_their_inertia() -> None:
    world = choque.World(response="soft-step")
    ids = world.add_boxes([[0.0, 0, 0]], [1, 2, 3], rotation=turned(3), locked=(0, 1, 0, 0, 0, 1))
    world.apply_impulses(ids, [1, 2, 3], angular=[4, 5, 6])
    rotation = world.bodies.rotation[0]
    free = (rotation @ np.diag(world.bodies.inertia[0]) @ rotation.T)[:2, :2]
    np.testing.assert_allclose(world.bodies.velocity[0], [1, 0, 3])
    np.testing.assert_allclose(world.bodies.angular_velocity[0], [*np.linalg.solve(free, [4, 5]), 0])


def test_groups_and_masks_say_which_bodies_meet() -> None:
    """Balls of group 2 fall through boards of group 4, fast ones too; a mask that changes acts in the next step."""
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    world.add_boxes([[0, 2.0, 0]], [9, 0.2, 9], static=True, group=4)
    ids = world.add_spheres([[-2, 3, 0], [0, 3, 0], [2, 3, 0]], 0.3, group=[2, 1, 2], mask=[1, 0xFFFFFFFF, 1])
    world.bodies.velocity[ids[2], 1] = -200
    for _ in range(90):
        world.step(1 / 60)
    np.testing.assert_allclose(world.bodies.position[ids, 1], [0.3, 2.4, 0.3], atol=0.02)
    world.bodies.mask[ids[1]] = 1
    world.bodies.velocity[ids[1], 1] = -0.1  # wakes it
    for _ in range(90):
        world.step(1 / 60)
    assert world.bodies.position[ids[1], 1] == pytest.approx(0.3, abs=0.02)


def test_bodies_enter_and_leave_sensors_once_and_a_saved_world_goes_on(tmp_path: Path) -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    gate = int(world.add_boxes([[0, 0, 0]], [2, 2, 2], static=True, sensor=True)[0])
    ball = int(world.add_spheres([[0, 3.0, 0]], 0.5)[0])
    seen = []
    for frame in range(90):
        if frame == 50:
            world.write(tmp_path / "world.npz")
            world = choque.World.read(tmp_path / "world.npz")
        world.step(1 / 60)
        seen += [("entered", *pair) for pair in world.events.entered.tolist()]
        seen += [("left", *pair) for pair in world.events.left.tolist()]
    assert seen == [("entered", gate, ball), ("left", gate, ball)]


def test_islands_are_the_bodies_that_touch_each_other_through_moving_ones() -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    world.add_boxes([[0, 0.5, 0], [0, 1.5, 0], [4, 0.5, 0]])
    world.add_spheres([[4, 1.5, 0], [8, 0.5, 0]], 0.5)
    assert world.islands.tolist() == [-1, 1, 2, 3, 4, 5]
    for _ in range(10):
        world.step(1 / 60)
    assert world.islands.tolist() == [-1, 1, 1, 3, 3, 5]
    for _ in range(80):
        world.step(1 / 60)
    assert world.asleep[1:].all()
    assert world.islands.tolist() == [-1, 1, 1, 3, 3, 5]


@pytest.mark.parametrize("bad", [{"locked": (1, 0)}, {"locked": 0.5}, {"group": -1}, {"mask": 2**32}, {"group": 0.5}])
def test_bad_locks_and_groups_are_refused(bad: dict[str, object]) -> None:
    world = choque.World()
    with pytest.raises(InvalidInput, match=next(iter(bad))):
        world.add_spheres([[0, 0, 0]], **bad)  # type: ignore[arg-type]
    assert len(world) == 0


def test_copies_pickles_and_recordings_hold_all_columns(tmp_path: Path) -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    world.add_boxes([[0, 0.5, 0], [0.2, 1.6, 0]], locked=(0, 0, 1, 1, 1, 0), group=2)
    world.add_boxes([[0, 1, 0]], 3, static=True, sensor=True)
    world.add_spheres([[0, 4, 0], [0.2, 5, 0]], 0.4, mask=[2, 1], linear_damping=0.1, rolling=0.02)
    for _ in range(10):
        world.step(1 / 60)
    twins = [world.copy(), pickle.loads(pickle.dumps(world))]
    with Recorder(tmp_path / "all.choque", world, scene="all") as recorder:
        for _ in range(40):
            recorder(world, world.step(1 / 60))
            for twin in twins:
                twin.step(1 / 60)
    assert [twin.hash() for twin in twins] == [world.hash()] * 2
    recording = Recording(tmp_path / "all.choque")
    assert "equal to the last bit" in str(verify(recording, threads=1))
    recording.close()

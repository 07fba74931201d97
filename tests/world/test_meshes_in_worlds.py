"""Static meshes in worlds: nothing sinks, nothing jumps at inner edges, and saved worlds go on bit for bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choque import Mesh, World
from choque.bounds import Spheres
from choque.errors import InvalidInput
from choque.narrow import Hulls


def sheet(cells: int, cell: float = 1.0, height: float = 0.0, seed: int = 0) -> Mesh:
    """A sheet of squares in two triangles each around the origin, its vertices raised by up to ``height``."""
    x, z = (np.arange(cells + 1.0) - cells / 2)[:, None] * cell, (np.arange(cells + 1.0) - cells / 2) * cell
    y = np.random.default_rng(seed).uniform(-height, height, (cells + 1, cells + 1))
    row = np.arange((cells + 1) ** 2).reshape(cells + 1, cells + 1)
    a, b, c, d = row[:-1, :-1].ravel(), row[:-1, 1:].ravel(), row[1:, 1:].ravel(), row[1:, :-1].ravel()
    faces = np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))
    return Mesh(np.stack(np.broadcast_arrays(x, y, z), -1).reshape(-1, 3), faces)


def valley(angle: float) -> Mesh:
    """Two slopes that meet along the z axis."""
    x, y = 4 * np.cos(np.radians(angle)), 4 * np.sin(np.radians(angle))
    return Mesh(
        [[0, 0, -4], [0, 0, 4], [x, y, -4], [x, y, 4], [-x, y, -4], [-x, y, 4]],
        [[0, 1, 2], [1, 3, 2], [0, 4, 1], [1, 4, 5]],
    )


def mixed(world: World) -> None:
    world.add_spheres([[-1.5, 1.2, 0], [1.5, 2.0, 1]], 0.4)
    world.add_boxes([[0.3, 1.5, 0.2], [-1, 2.5, 1.2]], (0.7, 0.5, 0.6))
    world.add_capsules([[0.5, 2.6, -1.1]], 0.25, 0.6)


def test_bodies_that_slide_across_inner_edges_do_not_jump() -> None:
    world = World(response="soft-step", gravity=(0, -9.81, 0))
    world.add_mesh(sheet(20), friction=0.0)
    way = {"velocity": (6, 0, 0), "friction": 0.0}
    world.add_spheres([[-8, 0.5, 0.13]], 0.5, **way)
    world.add_boxes([[-8, 0.25, 2.17]], 0.5, **way)
    world.add_capsules([[-8, 0.3, -2.3]], 0.3, 0.6, **way)
    heights = []
    for _ in range(90):
        world.step(1 / 60)
        heights.append(world.bodies.position[1:, 1].copy())
    np.testing.assert_allclose(heights, np.tile([0.5, 0.25, 0.3], (90, 1)), atol=2e-4)
    np.testing.assert_allclose(world.bodies.velocity[1:], [[6, 0, 0]] * 3, atol=2e-3)


def test_a_ball_in_a_valley_rests_on_both_slopes() -> None:
    world = World(response="soft-step", gravity=(0, -9.81, 0))
    mesh = world.add_mesh(valley(40))
    ball = world.add_spheres([[0.02, 0.75, 0.3]], 0.5)
    began = []
    for _ in range(120):
        world.step(1 / 60)
        began.append(world.events.began)
        if world.frame == 25:
            contacts = world.contacts()
    assert abs(world.bodies.position[1, 1] - 0.5 / np.cos(np.radians(40))) < 2e-3
    assert contacts.pairs.tolist() == [[0, 1]] * len(contacts)
    assert {round(float(x)) for x in 2 * contacts.normal[:, 0]} == {-1, 1}
    # Both slopes are one body: it was touched once.
    assert np.concatenate(began).tolist() == [[mesh[0], ball[0]]]
    assert world.asleep.tolist() == [False, True]
    world.remove(mesh)
    for _ in range(30):
        world.step(1 / 60)
    assert world.bodies.position[0, 1] < 0.0


def test_nothing_sinks_into_a_landscape() -> None:
    world = World(response="soft-step", gravity=(0, -9.81, 0))
    world.add_mesh(sheet(8, height=0.3, seed=4))
    mixed(world)
    for _ in range(240):
        world.step(1 / 60)
    contacts = world.contacts()
    assert len(contacts) >= 5
    assert contacts.depth.max() < 0.01
    assert (world.bodies.position[1:, 1] > -0.1).all()


def test_fast_bodies_stop_at_a_mesh() -> None:
    world = World(response="soft-step", gravity=(0, 0, 0))
    world.add_mesh(sheet(4, height=0.2))
    world.add_spheres([[0.3, 3, 0.4]], 0.05, velocity=(0, -600, 0))
    world.add_boxes([[-0.6, 3, 0.4]], 0.1, velocity=(0, -600, 0))
    for _ in range(3):
        world.step(1 / 60)
    assert (world.bodies.position[1:, 1] > -0.2).all()


def test_a_saved_world_with_a_mesh_goes_on_bit_for_bit(tmp_path: Path) -> None:
    world = World(response="soft-step", gravity=(0, -9.81, 0))
    world.add_mesh(sheet(6, height=0.3, seed=2), (0, 0.5, 0), 1.5)
    mixed(world)
    for _ in range(40):
        world.step(1 / 60)
    world.write(tmp_path / "world.npz")
    again = World.read(tmp_path / "world.npz")
    for _ in range(20):
        world.step(1 / 60)
        again.step(1 / 60)
        assert world.hash() == again.hash()


def test_a_world_whose_meshes_are_gone_is_written_and_read(tmp_path: Path) -> None:
    world = World(gravity=(0, -9.81, 0))
    ground = world.add_mesh(Mesh([[-9.0, 0, -9], [9, 0, -9], [0, 0, 9]], [[0, 1, 2]]))
    world.add_spheres([[0, 0.5, 0], [1.5, 0.5, 0]], 0.5)
    world.step()
    world.remove(ground)
    world.step()
    world.write(tmp_path / "world.npz")
    again = World.read(tmp_path / "world.npz")
    for each in (world, again):
        each.add_mesh(Mesh([[-9.0, -1, -9], [9, -1, -9], [0, -1, 9]], [[0, 1, 2]]))
        for _ in range(60):
            each.step()
    assert again.hash() == world.hash()
    assert (world.bodies.position[:2, 1] > -0.6).all()


def test_impulses_and_sensors_see_meshes() -> None:
    world = World(response="impulse", gravity=(0, -9.81, 0))
    world.add_mesh(sheet(4))
    world.add_spheres([[0.1, 1.0, 0.2]], 0.4)
    for _ in range(60):
        world.step(1 / 60)
    assert world.bodies.position[1, 1] > 0.35
    world = World(response="soft-step")
    gate = world.add_mesh(sheet(2), sensor=True)
    ball = world.add_spheres([[0, 0.2, 0], [0, 3, 0]], 0.4)
    world.step(1 / 60)
    assert world.sensed().tolist() == [[gate[0], ball[0]]]


def test_worlds_with_meshes_answer_questions() -> None:
    world = World()
    world.add_mesh(sheet(6), (0, 1, 0), rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])  # upright: x = 0, y from −2 to 4
    hits = world.cast_rays([[3, 1.2, 0.3], [-2, 1.2, 0.3], [3, 9, 0]], [[-2, 0, 0], [1, 0, 0], [-1, 0, 0]])
    assert hits.distance.tolist() == [1.5, 2.0, np.inf]
    np.testing.assert_allclose(hits.normal[:2], [[1, 0, 0], [-1, 0, 0]], atol=1e-12)
    near = world.nearest([[0.7, 2.2, 0.1], [0, 5, 0]])
    np.testing.assert_allclose(near.distance, [0.7, 1.0], atol=1e-12)
    np.testing.assert_allclose(near.point, [[0, 2.2, 0.1], [0, 4, 0]], atol=1e-12)
    cast = world.cast_shapes(Spheres([[2.0, 1.1, 0.2]], [0.5]), [-4, 0, 0], every=True)
    assert cast.ids.tolist() == [0]
    np.testing.assert_allclose(cast.distance, [1.5 / 4], atol=1e-5)
    assert world.query(Spheres([[0.3, 1, 0], [0.7, 1, 0]], [0.5, 0.5])).tolist() == [[0, 0]]


def test_bad_meshes_are_refused(tmp_path: Path) -> None:
    world = World()
    with pytest.raises(InvalidInput, match="no faces"):
        world.add_mesh(Mesh(np.empty((0, 3)), np.empty((0, 3), int)))
    with pytest.raises(InvalidInput, match="scale is"):
        world.add_mesh(sheet(1), scale=0)
    sheet(1).write(tmp_path / "sheet.ply")
    assert world.add_mesh(tmp_path / "sheet.ply").tolist() == [0]
    assert len(world) == 1


def test_tips_that_come_in_fast_are_held_wherever_they_meet_a_surface() -> None:
    """At an edge of a surface, each of its triangles once left a deep tip to the other one."""
    world = World(gravity=(0, -9.81, 0))
    world.add_mesh(sheet(8))
    start = np.random.default_rng(2).uniform(-3, 3, (60, 3)) * [1, 0, 1] + [0, 0.75, 0]
    start[::2, 0] = np.round(start[::2, 0])  # half of them over an edge
    world.add_hulls(Hulls.solids("octahedron"), start, 0.6, velocity=[0, -15, 0], restitution=0.0, group=2, mask=1)
    for _ in range(20):
        world.step(1 / 60)
    assert world.bodies.position[1:, 1].min() > 0.2


def test_a_mesh_that_turns_sweeps_bodies_along() -> None:
    """Triangles far from the axis of their mesh move fast where it turns slowly."""
    world = World(response="soft-step")
    wing = Mesh([[0, 0, -1], [12, 0, -1], [12, 0, 1], [0, 0, 1]], [[0, 2, 1], [0, 3, 2]])
    world.add_mesh(wing, angular_velocity=[0, 0, 0.5], friction=0.0, restitution=0.0)
    balls = world.add_spheres([[x, 1.0, 0.0] for x in (2, 4, 6, 8, 10)], 0.3, restitution=0.0, friction=0.0)
    for _ in range(90):
        world.step(1 / 60)
        assert (world.bodies.position[balls] @ world.bodies.rotation[0])[:, 1].min() > 0.2
    assert (world.bodies.velocity[balls, 1] > 0.5).all()

"""Boxes and hulls in a world: their mass, their pose, their bounds, and that each hull is kept once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from world_scenes import random_rotations

from choque.bounds import OrientedBoxes, directions
from choque.dynamics.mechanics import kinetic_energy
from choque.errors import InvalidInput
from choque.narrow.hulls import Hulls
from choque.narrow.shapes import CONVEX
from choque.world import World

SEEDS = st.integers(0, 2**32 - 1)


def vertices(world: World, row: int) -> np.ndarray:
    """Where the vertices of a convex body are."""
    bodies = world.bodies
    hulls = bodies.hulls
    hull = bodies.hull[row]
    local = hulls.points[hulls.first[hull] : hulls.first[hull + 1]] * bodies.size[row]
    moved: np.ndarray = bodies.position[row] + local @ bodies.rotation[row].T
    return moved


def test_a_box_has_the_inertia_of_a_box() -> None:
    world = World()
    world.add_boxes([[0, 0, 0], [5, 0, 0]], [[1, 2, 5], [1, 1, 1]], mass=[3, 6])
    np.testing.assert_allclose(world.bodies.inertia, [[29 / 4, 26 / 4, 5 / 4], [1, 1, 1]])
    assert world.bodies.kind.tolist() == [CONVEX, CONVEX]
    corners = vertices(world, 0)
    np.testing.assert_allclose(corners.min(axis=0), [-0.5, -1, -2.5])
    np.testing.assert_allclose(corners.max(axis=0), [0.5, 1, 2.5])


@given(SEEDS)
def test_a_solid_stands_as_it_was_given(seed: int) -> None:
    """The vertices are the given ones, turned, scaled and with their centre of mass at the centre."""
    random = np.random.default_rng(seed)
    cloud = random.normal(size=(12, 3)) * [1, 2, 3]
    turned = random_rotations(random, 1)[0]
    world = World()
    world.add_hulls(cloud, [7, 8, 9], 2.0, rotation=turned, mass=3.0)
    hull = Hulls.from_points(cloud)
    given = (cloud - hull.center[0]) @ turned.T * 2.0 + [7, 8, 9]
    found = vertices(world, 0)
    assert all(np.abs(given - point).sum(axis=1).min() < 1e-9 for point in found)
    inertia = world.bodies.rotation[0] @ np.diag(world.bodies.inertia[0]) @ world.bodies.rotation[0].T
    assert (np.linalg.eigvalsh(inertia) > 0).all()
    box = World()
    box.add_hulls([[x, y, z] for x in (0, 1) for y in (0, 2) for z in (0, 5)], [0, 0, 0], rotation=turned, mass=3.0)
    same = World()
    same.add_boxes([0, 0, 0], [1, 2, 5], rotation=turned, mass=3.0)
    for one in (box, same):
        bodies = one.bodies
        whole = bodies.rotation[0] @ np.diag(bodies.inertia[0]) @ bodies.rotation[0].T
        np.testing.assert_allclose(whole, turned @ np.diag([29 / 4, 26 / 4, 5 / 4]) @ turned.T, atol=1e-12)


@given(SEEDS)
def test_bounds_hold_the_vertices_tightly(seed: int) -> None:
    random = np.random.default_rng(seed)
    world = World()
    turned = random_rotations(random, 3)
    scale = random.uniform(0.2, 3, (3, 3))
    world.add_hulls(random.normal(size=(9, 3)), random.uniform(-20, 20, (3, 3)), scale, rotation=turned)
    world.switch(bounds="26-dop")
    slabs = world.bounds()
    world.switch(bounds="oriented")
    oriented = world.bounds()
    assert isinstance(oriented, OrientedBoxes)
    world.switch(bounds="sphere")
    spheres: Any = world.bounds()
    along = directions(26).astype(float)
    for row in range(3):
        points = vertices(world, row)
        np.testing.assert_allclose((points @ along.T).min(axis=0), slabs.lower[row], atol=1e-12)  # type: ignore[attr-defined]
        np.testing.assert_allclose((points @ along.T).max(axis=0), slabs.upper[row], atol=1e-12)  # type: ignore[attr-defined]
        inside = (points - oriented.center[row]) @ oriented.axes[row].T
        np.testing.assert_allclose(inside.max(axis=0), oriented.half[row], atol=1e-12)
        np.testing.assert_allclose(inside.min(axis=0), -oriented.half[row], atol=1e-12)
        far = np.linalg.norm(points - spheres.center[row], axis=1).max()
        assert far == pytest.approx(spheres.radius[row], rel=1e-12)
    np.testing.assert_array_equal(oriented.boxes().lower, slabs.lower[:, :3])  # type: ignore[attr-defined]


def test_a_hull_is_kept_once() -> None:
    world = World()
    world.add_boxes([0, 0, 0])
    world.add_boxes([[5, 0, 0], [9, 0, 0]], [1, 2, 3])
    library = Hulls.solids("cube", "tetrahedron")
    world.add_hulls(library, [[0, 9, 0], [5, 9, 0], [9, 9, 0]], row=[1, 0, 1])
    world.add_hulls(library, [0, 20, 0], row=1)
    assert len(world.bodies.hulls) == 3
    assert world.bodies.hull.tolist() == [0, 0, 0, 2, 1, 2, 2]
    world.add_spheres([0, 30, 0])
    assert world.bodies.hull.tolist()[-1] == -1


def test_a_mesh_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "pyramid.off"
    path.write_text("OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n")
    world = World()
    world.add_hulls(path, [0, 0, 0])
    world.add_hulls(str(path), [5, 0, 0])
    assert len(world.bodies.hulls) == 1
    assert world.bodies.hulls.volume[0] == pytest.approx(1 / 6)


@pytest.mark.parametrize("method", ["brute", "grid", "sap-obb"])
def test_boxes_fall_and_rebound(method: str) -> None:
    """Momentum apart from gravity and the ground: a box that falls flat rebounds straight at e·v."""
    world = World(method, response="impulse")
    world.add_ground(0.0, restitution=0.5)
    box = world.add_boxes([0, 0.55, 0], velocity=[0, -6, 0], restitution=0.5)
    above = world.add_boxes([10, 2, 0], rotation=[[0.8, -0.6, 0], [0.6, 0.8, 0], [0, 0, 1]], velocity=[0, -1, 0])
    for _ in range(10):
        world.step()
    np.testing.assert_allclose(world.bodies.velocity[box[0]], [0, 3, 0], atol=1e-9)
    np.testing.assert_allclose(world.bodies.velocity[above[0]], [0, -1, 0])


def test_collisions_of_hulls_keep_energy_and_momentum() -> None:
    random = np.random.default_rng(4)
    world = World(response="impulse")
    center = np.stack(np.meshgrid(*3 * [np.arange(3) * 1.6]), -1).reshape(-1, 3)
    velocity = -center + center.mean(axis=0) + random.normal(size=center.shape) * 0.3
    world.add_boxes(center[:14], [1, 0.8, 1.1], velocity=velocity[:14], rotation=random_rotations(random, 14))
    world.add_hulls(random.normal(size=(8, 3)), center[14:], 0.5, velocity=velocity[14:], mass=2.0)
    push = world.momentum()
    impulses = 0
    for _ in range(60):
        before = kinetic_energy(world.bodies).sum()
        impulses += world.step().impulses
        # The energy of a body with three moments oscillates within the error of a step; impulses must not change it.
        assert kinetic_energy(world.bodies).sum() == pytest.approx(before, rel=1e-3)
    assert impulses > 10
    np.testing.assert_allclose(world.momentum(), push, atol=1e-11)


def test_collisions_of_cubes_keep_energy_to_rounding() -> None:
    """Three equal moments: between impulses the energy is constant, so that every change of it comes from one."""
    random = np.random.default_rng(4)
    world = World(response="impulse")
    center = np.stack(np.meshgrid(*3 * [np.arange(3) * 1.6]), -1).reshape(-1, 3)
    velocity = -center + center.mean(axis=0) + random.normal(size=center.shape) * 0.3
    world.add_boxes(center[:14], 1.0, velocity=velocity[:14], rotation=random_rotations(random, 14))
    world.add_hulls(Hulls.solids("cube"), center[14:], 0.9, velocity=velocity[14:], mass=2.0)
    energy, impulses = kinetic_energy(world.bodies).sum(), 0
    for _ in range(60):
        impulses += world.step().impulses
        assert kinetic_energy(world.bodies).sum() == pytest.approx(energy, rel=1e-11)
    assert impulses > 10


def test_contacts_that_no_response_needs_are_found_when_asked_for() -> None:
    """Shape matching tests pairs itself. Contacts, however late they are read, are of the poses before the response."""
    world = World("sap-kdop", response="shape-matching")
    world.add_ground()
    random = np.random.default_rng(1)
    world.add_hulls(
        Hulls.solids("cube"), random.random((20, 3)) * [4, 2, 4] + [0, 0.5, 0], scale=0.6, acceleration=[0, -9.8, 0]
    )
    unasked = world.copy()
    reports, expected = [], []
    for _ in range(4):
        expected.append(world.shadow("brute", bounds="box").find(world.bodies_ahead(1 / 60)).contacts)
        reports.append(world.step(1 / 60))
        unasked.step(1 / 60)
        assert not reports[-1].detected.is_tested
    for asked, true in zip(reports, expected, strict=True):
        assert asked.contacts == len(true) > 0
        assert asked.detected.contacts.pairs.tolist() == true.pairs.tolist()
        np.testing.assert_allclose(asked.detected.contacts.depth, true.depth, atol=1e-12)
        assert asked.contacts == sum(each.contacts for each in asked.tally.values())
        assert asked.pairs == sum(each.tests for each in asked.tally.values())
        assert not asked.has_exact_tests
    assert world.contacts().pairs.tolist() == expected[-1].pairs.tolist()
    world.step(1 / 60)
    unasked.step(1 / 60)
    assert world.hash() == unasked.hash()


def test_a_response_to_contacts_has_them_tested_in_the_step() -> None:
    world = World()
    world.add_boxes([[0, 0, 0], [0.9, 0, 0]], [1, 1, 1])
    report = world.step(1 / 60)
    assert report.detected.is_tested
    assert report.has_exact_tests
    assert report.pairs == report.contacts == 1


def test_saved_hulls_are_the_same(tmp_path: Path) -> None:
    world = World("sap-obb")
    world.add_ground(0.0)
    random = np.random.default_rng(5)
    world.add_hulls(
        random.normal(size=(15, 3)), [[0, 2, 0], [0.5, 4, 0]], 0.7, acceleration=(0, -9.8, 0), restitution=0.3
    )
    world.add_boxes([[0, 6, 0], [3, 1, 0]], acceleration=(0, -9.8, 0), restitution=0.3)
    for _ in range(60):
        world.step()
    world.write(tmp_path / "hulls")
    kept = World.read(tmp_path / "hulls")
    for _ in range(60):
        world.step()
        kept.step()
    assert kept.hash() == world.hash()
    with np.load(tmp_path / "hulls") as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["hull.triangles"] = arrays["hull.triangles"] + 100
    with (tmp_path / "wrong").open("wb") as handle:
        np.savez(handle, **arrays)
    with pytest.raises(InvalidInput, match="hulls of its bodies are damaged"):
        World.read(tmp_path / "wrong")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda world: world.add_boxes([0, 0, 0], [1, 0, 1]), "size"),
        (lambda world: world.add_boxes([0, 0, 0], [1, 1]), "size"),
        (lambda world: world.add_hulls([[0, 0, 0]] * 5, [0, 0, 0]), "cloud"),
        (lambda world: world.add_hulls([[0, 0], [1, 1]], [0, 0, 0]), "cloud"),
        (lambda world: world.add_hulls(Hulls.boxes(), [0, 0, 0], row=1), "row"),
        (lambda world: world.add_hulls(Hulls.boxes(), [0, 0, 0], row=[0, 0]), "row"),
        (lambda world: world.add_hulls(Hulls.boxes(), [0, 0, 0], -1), "scale"),
        (lambda world: world.add_hulls("missing.off", [0, 0, 0]), "missing.off"),
    ],
)
def test_what_is_refused_changes_nothing(call: Any, message: str) -> None:
    world = World()
    world.add_spheres([0, 0, 0])
    before = world.bodies
    with pytest.raises(InvalidInput, match=message):
        call(world)
    assert world.bodies is before

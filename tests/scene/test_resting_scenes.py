"""Scenes by ``soft-step``: what stands, falls, rides and comes to rest."""

from __future__ import annotations

import numpy as np
import pytest

from choque import scene
from choque.narrow import Kind
from choque.world import World


def run(name: str, n: int, steps: int, **parameters: object) -> tuple[World, np.ndarray]:
    """The world of a scene after some steps, and where its bodies began."""
    made = scene.bodies(name, n, **parameters)
    world = made.world()
    assert world.settings.response == "soft-step"
    before = world.bodies.position.copy()
    for _ in range(steps):
        world.step(made.dt)
    return world, before


def test_a_pyramid_stands_and_sleeps() -> None:
    world, before = run("pyramid", 55, 240)
    moved = np.abs(world.bodies.position - before)
    assert moved[:, [0, 2]].max() < 0.02
    assert moved[:, 1].max() < 0.1
    assert world.asleep[~world.bodies.static].all()


@pytest.mark.parametrize(("n", "ratio", "sunk"), [(20, 1.0, 0.3), (10, 10.0, 0.4), (20, 100.0, 0.3)])
def test_a_stack_stands_under_a_heavy_cube(n: int, ratio: float, sunk: float) -> None:
    world, before = run("stack", n, 240, ratio=ratio)
    moved = np.abs(world.bodies.position - before)
    assert moved[:, [0, 2]].max() < 0.1
    assert moved[:, 1].max() < sunk


def test_dominoes_fall_one_after_another() -> None:
    world, _ = run("dominoes", 8, 240)
    upright = world.bodies.rotation[~world.bodies.static][:, 1, 1]
    assert (np.abs(upright) < 0.9).all()


def test_balls_run_through_a_funnel() -> None:
    world, before = run("hopper", 40, 300)
    moving = ~world.bodies.static
    mouth = world.bodies.hulls[0].points[:, 1].min()
    assert before[moving, 1].min() > mouth > world.bodies.position[moving, 1].max()
    assert world.bodies.position[moving, 1].min() > 0.45
    assert world.bodies.position[moving, 1].max() < 2.5  # they do not stand on each other as they began


@pytest.mark.parametrize("angle", [20.0, 60.0])
def test_no_ball_goes_over_the_rim_of_a_funnel(angle: float) -> None:
    made = scene.bodies("hopper", 120, angle=angle)
    world = made.world()
    moving, funnel = ~world.bodies.static, world.bodies.hulls[0].points
    mouth, rim = funnel[:, 1].min(), np.hypot(funnel[:, 0], funnel[:, 2]).max()
    for _ in range(240):
        world.step(made.dt)
        place = world.bodies.position[moving]
        assert (np.hypot(place[:, 0], place[:, 2])[place[:, 1] > mouth] < rim).all()


def test_rubble_stays_in_its_box() -> None:
    world, _ = run("rubble", 30, 700)
    walls = np.abs(world.bodies.position[world.bodies.static]).max(axis=0)
    inside = np.abs(world.bodies.position[~world.bodies.static])
    assert (inside < walls).all()
    assert world.asleep[~world.bodies.static].all()


def test_the_balls_of_rubble_are_not_above_each_other() -> None:
    """Balls in one column would stand as a tower among the bodies that fall."""
    bodies = scene.bodies("rubble", 400).world().bodies
    place = bodies.position[bodies.kind == Kind.SPHERE]
    _, balls = np.unique(place[:, [0, 2]].round(3), axis=0, return_counts=True)
    assert len(place) == 100
    assert balls.max() < 12  # of 12 in a column


def test_nothing_sinks_into_the_terrain() -> None:
    world, _ = run("terrain", 24, 300)
    moving = ~world.bodies.static
    assert world.bodies.kind[-1] == Kind.MESH
    mesh = world.bodies.hulls[int(world.bodies.hull[-1])].mesh
    corners = mesh.vertices[mesh.faces]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    up = np.cross(b - a, c - a)
    for place in world.bodies.position[moving]:
        flat = [(w - v)[:, [2, 0]] * (place - v)[:, [0, 2]] for v, w in ((a, b), (b, c), (c, a))]
        below = np.flatnonzero(np.all([(each[:, 0] - each[:, 1]) * up[:, 1] >= 0 for each in flat], axis=0))
        assert len(below) > 0
        assert (((place - a) * up).sum(axis=1) * np.sign(up[:, 1]))[below[0]] > 0
    assert world.contacts().depth.max() < 0.02


def test_a_belt_carries_boxes() -> None:
    world, before = run("conveyor", 3, 90)
    moved = (world.bodies.position - before)[~world.bodies.static, 0]
    np.testing.assert_allclose(moved, 2.0 * 1.5, atol=0.6)


def test_pyramids_stand_beside_each_other() -> None:
    world, before = run("pyramids", 80, 90, base=5)
    assert np.abs(world.bodies.position - before).max() < 0.02
    assert world.asleep[~world.bodies.static].all()
    assert len(np.unique(world.islands[~world.bodies.static])) == 6


@pytest.mark.parametrize(("friction", "stands"), [(0.8, True), (0.1, False)])
def test_an_arch_stands_by_friction_and_falls_without_it(friction: float, stands: bool) -> None:
    world, before = run("arch", 11, 240, friction=friction)
    assert (np.linalg.norm(world.bodies.position - before, axis=1).max() < 0.02) == stands
    assert not stands or world.asleep[1:].all()


def test_bodies_tumble_with_the_drum_and_none_leaves_it() -> None:
    world, before = run("washer", 24, 240)
    moving, drum = ~world.bodies.static, world.bodies.hulls[int(world.bodies.hull[-1])].points
    away = np.linalg.norm(world.bodies.position[moving, :2], axis=1)
    assert away.max() < np.linalg.norm(drum[:, :2], axis=1).max()
    assert np.abs(world.bodies.position[moving, 2]).max() < 3.5
    assert np.linalg.norm(world.bodies.position - before, axis=1)[moving].min() > 0.2
    np.testing.assert_allclose(world.bodies.rotation[-1, :2, 0], [np.cos(8 * np.pi / 9), np.sin(8 * np.pi / 9)])
    about = np.cross(world.bodies.position[moving], world.bodies.velocity[moving])[:, 2]
    assert np.median(about) > 0  # they go round as the drum does


def test_a_house_of_cards_stands_by_friction_and_falls_without_it() -> None:
    made = scene.find_bodies("house-of-cards")
    for friction, stands in ((0.8, True), (0.05, False)):
        world = made.world()
        world.bodies.friction[:] = friction
        before = world.bodies.position.copy()
        for _ in range(180):
            world.step(made.dt)
        moved = np.linalg.norm(world.bodies.position - before, axis=1).max()
        assert (moved < 0.02) == stands


def test_a_top_precesses_by_the_closed_form() -> None:
    """Steady precession of a symmetric top about its tip: the slow root of I₁ cos θ Ω² − I₃ ω Ω + m g h."""
    made = scene.find_bodies("top")
    world = made.world()
    bodies, height = world.bodies, 0.4
    third, first, lean = bodies.inertia[1, 1], bodies.inertia[1, 0] + height**2, np.cos(np.radians(20))
    slow = min(np.roots([first * lean, -third * 60.0, 9.8 * height]).real)
    angles = []
    for _ in range(480):
        world.step(made.dt)
        axis = bodies.rotation[1, :, 1]
        angles.append(np.arctan2(axis[0], axis[2]))
    course = np.unwrap(angles)
    assert (course[-1] - course[0]) / (479 * made.dt) == pytest.approx(slow, rel=0.02)
    assert np.degrees(np.arccos(axis[1])) == pytest.approx(20, abs=1)


def test_a_ball_rolls_and_another_slides_by_the_closed_forms() -> None:
    made = scene.find_bodies("roll-and-slide")
    world = made.world()
    before = world.bodies.position.copy()
    for _ in range(120):
        world.step(made.dt)
    balls = ~world.bodies.static
    way = np.linalg.norm(world.bodies.position - before, axis=1)[balls]
    np.testing.assert_allclose(way, 0.5 * 9.8 * np.sin(np.radians(10)) * 2**2 * np.array([5 / 7, 1]), rtol=0.01)
    spin = np.linalg.norm(world.bodies.angular_velocity, axis=1)[balls] * 0.5
    np.testing.assert_allclose(spin, [np.linalg.norm(world.bodies.velocity[balls][0]), 0], atol=0.01)
    for _ in range(330):
        world.step(made.dt)
    assert world.asleep[balls].all()
    np.testing.assert_allclose(np.linalg.norm(world.bodies.position - before, axis=1)[balls], 20.5, atol=0.05)

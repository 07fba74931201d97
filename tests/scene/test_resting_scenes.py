"""Scenes by ``soft-step``: what stands, falls, rides and comes to rest."""

from __future__ import annotations

import numpy as np
import pytest

from choque import scene
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


@pytest.mark.parametrize(("n", "ratio", "sunk"), [(10, 1.0, 0.1), (10, 10.0, 0.4), (2, 100.0, 0.3)])
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
    world, before = run("hopper", 40, 420)
    height = world.bodies.position[~world.bodies.static, 1]
    assert height.min() > 0.45
    assert (height < 5).sum() > 30
    assert before[~world.bodies.static, 1].min() > 5


def test_rubble_stays_in_its_box() -> None:
    world, _ = run("rubble", 30, 400)
    walls = np.abs(world.bodies.position[world.bodies.static]).max(axis=0)
    inside = np.abs(world.bodies.position[~world.bodies.static])
    assert (inside < walls).all()
    assert world.asleep[~world.bodies.static].all()


def test_a_belt_carries_boxes() -> None:
    world, before = run("conveyor", 3, 90)
    moved = (world.bodies.position - before)[~world.bodies.static, 0]
    np.testing.assert_allclose(moved, 2.0 * 1.5, atol=0.6)

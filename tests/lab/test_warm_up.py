"""Warming up a world compiles and loads all that a run needs, and does not change the run."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import choque
from choque.lab.warm_up import warm_up
from choque.theses.fingsics import engine
from choque.world import World


def loaded() -> set[tuple[str, str, Any]]:
    """Every kernel that this process has compiled or loaded, by the types of its arguments."""
    return {
        (each.py_func.__module__, each.py_func.__qualname__, types)
        for each in gc.get_objects()
        if type(each).__name__ == "CPUDispatcher" and each.py_func.__module__.startswith("choque")
        for types in each.signatures
    }


@pytest.mark.parametrize(
    ("scene", "options"),
    [
        ("bowling", {}),
        ("one-of-each", {"broad": "sap-incremental"}),
        ("boxes", {}),
        ("capsule-box-16", {"broad": "sap-obb"}),
        ("mixed-box-100", engine.settings({"broad": "sap-incremental"})),
        ("strike", engine.settings({"broad": "sap-obb"})),
    ],
)
def test_a_run_after_a_warm_up_loads_no_kernel_and_has_the_same_states(scene: str, options: dict[str, Any]) -> None:
    found = choque.scene.find_bodies(scene)
    plain, warm = found.world(**options), found.world(**options)
    warm_up(warm, found.dt)
    before = loaded()
    for _ in range(40):
        warm.step(found.dt)
    assert loaded() == before
    for _ in range(40):
        plain.step(found.dt)
    assert plain.hash() == warm.hash()
    assert warm.frame == 40


def test_errors_are_left_to_the_run() -> None:
    world = World()
    world.add_spheres([[0, 0, 0], [1, 0, 0]])
    world.bodies.position[1, 0] = np.nan
    warm_up(world)
    with pytest.raises(choque.errors.InvalidInput, match="The body 1 is at"):
        world.step()


def test_an_empty_world_is_not_stepped() -> None:
    world = World()
    warm_up(world)
    assert world.frame == 0

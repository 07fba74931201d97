"""What is compiled and loaded before the clock starts: all that a run needs, and nothing that changes it."""

from __future__ import annotations

import gc
from typing import Any

import pytest

import choque
from choque.record.rehearsal import rehearse
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
        ("mixed-box-100", {"legacy": True, "broad": "sap-incremental"}),
        ("strike", {"legacy": True, "broad": "sap-obb"}),
    ],
)
def test_a_run_loads_nothing_more_and_goes_the_same_way(scene: str, options: dict[str, Any]) -> None:
    found = choque.scene.load_bodies(scene)
    plain, rehearsed = found.world(**options), found.world(**options)
    rehearse(rehearsed, found.dt)
    before = loaded()
    for _ in range(40):
        rehearsed.step(found.dt)
    assert loaded() == before
    for _ in range(40):
        plain.step(found.dt)
    assert plain.hash() == rehearsed.hash()
    assert rehearsed.frame == 40


def test_what_is_refused_is_refused_by_the_run() -> None:
    world = World(response="shape-matching")
    world.add_spheres([[0, 0, 0], [1, 0, 0]])
    rehearse(world)
    with pytest.raises(choque.errors.InvalidInput, match="shape matching"):
        world.step()


def test_an_empty_world_needs_nothing() -> None:
    world = World()
    rehearse(world)
    assert world.frame == 0

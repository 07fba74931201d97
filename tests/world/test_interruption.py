"""A step, and a change of the bodies, happens wholly or not at all, at whichever line of Choque an exception comes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import choque
from choque import World

Interrupt = Callable[[Callable[[], object], int], tuple[int, bool]]


def crowd(broad: str, response: str) -> World:
    """Bodies that collide from the first step on, as the response can move them."""
    random = np.random.default_rng(3)
    rules = "fingsics" if response.startswith("fingsics") else "exact"
    dtype = "float32" if rules == "fingsics" else "float64"
    world = World(broad, response=response, narrow=rules, dtype=dtype, threads=1)
    where, speed = random.uniform(0, 4, (14, 3)), random.normal(0, 2, (14, 3))
    if response == "shape-matching":
        world.add_boxes(where, 1.0, velocity=speed)
    else:
        world.add_spheres(where, 0.6, velocity=speed, angular_velocity=speed[::-1])
        world.add_capsules(where[:4] + 0.5, 0.3, 1.0, velocity=-speed[:4])
    for _ in range(3):
        world.step()
    return world


def course(world: World, frames: int = 3) -> list[int]:
    return [world.hash(), *(world.hash() for _ in range(frames) if world.step())]


CHANGES: dict[str, Callable[[World], object]] = {
    "step": lambda world: world.step(),
    "add_boxes": lambda world: world.add_boxes([[1, 1, 1], [2, 2, 2]]),
    "remove": lambda world: world.remove([2, 5]),
    "switch": lambda world: world.switch("grid"),
}


@pytest.mark.parametrize(
    ("broad", "response"),
    [
        ("auto", "impulse"),
        ("sap-incremental", "impulse"),
        ("sap-obb", "impulse"),
        ("sap-kdop", "shape-matching"),
        ("fingsics-sap", "fingsics-impulse"),
    ],
)
@pytest.mark.parametrize("change", CHANGES)
def test_an_exception_at_any_line_leaves_the_world_before_the_change_or_after_it(
    broad: str, response: str, change: str, interrupt: Interrupt, thorough: bool
) -> None:
    base = crowd(broad, response)
    before, whole = course(base.copy()), base.copy()
    CHANGES[change](whole)
    ids, frame = whole.bodies.ids.tolist(), whole.frame
    settings, after = whole.settings, course(whole)
    line, step = 0, 1 if thorough else 53 if change == "add_boxes" else 13  # new bodies are checked in many lines
    while True:
        world = base.copy()
        _, was_interrupted = interrupt(lambda world=world: CHANGES[change](world), line)
        if not was_interrupted:
            break
        is_done = (world.frame, world.bodies.ids.tolist(), world.settings) == (frame, ids, settings)
        if not is_done:
            assert world.frame == base.frame, f"line {line}"
            assert world.bodies.ids.tolist() == base.bodies.ids.tolist(), f"line {line}"
            assert world.settings == base.settings, f"line {line}"
            assert course(world.copy()) == before, f"line {line}"
            CHANGES[change](world)
        assert course(world) == after, f"line {line}"
        line += step
    assert line > 20


def test_arrays_of_bodies_stay_the_same_objects_when_a_step_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    world = crowd("auto", "impulse")
    position, values = world.bodies.position, world.bodies.position.copy()
    integrate = type(world.response).integrate

    def failing(*arguments: Any, **options: Any) -> None:
        integrate(*arguments, **options)
        raise MemoryError

    monkeypatch.setattr(type(world.response), "integrate", failing)
    with pytest.raises(MemoryError):
        world.step()
    assert world.bodies.position is position
    np.testing.assert_array_equal(position, values)


@pytest.mark.parametrize("bounds", ["box", "oriented", "sphere", "14-dop"])
@pytest.mark.parametrize("number", [10**8, 2, -1])
def test_a_hull_that_is_not_there_is_refused(bounds: str, number: int) -> None:
    """Arrays may be written to between steps, and kernels read the vertices of hulls without a check."""
    world = World("brute", bounds=bounds)
    world.add_boxes([[0, 0, 0], [0.5, 0, 0]])
    world.bodies.hull[1] = number
    with pytest.raises(choque.errors.InvalidInput, match=rf"has the hull {number}; hulls go from 0 to 0"):
        world.step()


@pytest.mark.parametrize("bounds", ["box", "oriented", "sphere", "14-dop"])
def test_a_kind_that_a_body_cannot_have_is_refused(bounds: str) -> None:
    world = World("brute", bounds=bounds)
    world.add_spheres([[0, 0, 0], [0.5, 0, 0]])
    convex = World()
    convex.add_boxes([[0, 0, 0]])
    world.bodies.kind[0] = convex.bodies.kind[0]
    with pytest.raises(choque.errors.InvalidInput, match="there are no hulls"):
        world.step()
    world.bodies.kind[0] = 99
    with pytest.raises(choque.errors.InvalidInput, match="has the kind 99"):
        world.step()

"""A world asleep leaves its steps out, and notices every number that is changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import choque
from choque.dynamics.soft_step import islands
from choque.dynamics.soft_step.islands import is_unchanged
from choque.errors import InvalidInput

BODIES = 601  # two blocks of compared numbers and a part of a third, an odd number of bodies
COLUMNS = "position", "velocity", "angular_velocity", "acceleration"


@cache
def sleeping_world(dtype: str, pulls: int) -> choque.World:
    """Return bodies far from each other that sleep on the ground, of as many different weights."""
    world = choque.World(gravity=(0, -9.81, 0), dtype=dtype)
    world.add_ground()
    places = np.arange(BODIES - 1)
    factor = 1 + 0.1 * (places % pulls)
    world.add_boxes(
        np.stack([3.0 * (places % 25), np.full(len(places), 0.5), 3.0 * (places // 25)], 1), gravity_factor=factor
    )
    while not world.asleep[1:].all():
        world.step()
    world.step()
    assert world.response.rests(world.bodies)
    return world


@given(
    dtype=st.sampled_from(["float64", "float32"]),
    pulls=st.sampled_from([1, 7]),
    column=st.sampled_from(COLUMNS),
    body=st.one_of(st.integers(1, BODIES - 1), st.sampled_from([1, 255, 256, 257, 511, 512, BODIES - 1])),
    axis=st.integers(0, 2),
    kind=st.sampled_from(["next", "denormal", "more", "nan"]),
)
def test_any_number_that_changes_wakes_its_body_alone(
    dtype: str, pulls: int, column: str, body: int, axis: int, kind: str
) -> None:
    world = sleeping_world(dtype, pulls).copy()
    assert world.response.rests(world.bodies)
    numbers = getattr(world.bodies, column)
    before = numbers[body, axis]
    after = {
        "next": np.nextafter(before, before.dtype.type(np.inf)),
        "denormal": before.dtype.type(np.finfo(before.dtype).smallest_subnormal),
        "more": before + before.dtype.type(0.125),
        "nan": before.dtype.type(np.nan),
    }[kind]
    numbers[body, axis] = after
    assert not world.response.rests(world.bodies)
    if kind == "nan":
        with pytest.raises(InvalidInput, match="finite"):
            world.step()
    else:
        world.step()
        alone = column != "position" or kind != "denormal"  # at 0 it may lie on another one
        woke = world.events.woke.tolist()
        assert woke == [body] if alone else body in woke
        assert (np.flatnonzero(~world.asleep[1:]) + 1).tolist() == woke


@pytest.mark.parametrize("column", ["velocity", "angular_velocity"])
def test_a_negative_zero_is_no_motion(column: str) -> None:
    world = sleeping_world("float64", 1).copy()
    getattr(world.bodies, column)[...] *= -1
    state, report = world.hash(), world.step()
    assert report.impulses == 0
    assert world.asleep[1:].all()
    assert state != world.hash()  # the number of the frame is part of it


def push(world: choque.World) -> None:
    world.apply_impulses([2], [0.0, 1.0, 0.0])


def touch(world: choque.World) -> None:
    world.apply_impulses([2])


def carry(world: choque.World) -> None:
    world.bodies.velocity[1] = [0.5, 0, 0]


def turn(world: choque.World) -> None:
    world.bodies.angular_velocity[1] = [0, 0.5, 0]


def lift(world: choque.World) -> None:
    world.bodies.position[1, 1] += 0.001


def take_away(world: choque.World) -> None:
    world.remove([1])


def put_in(world: choque.World) -> None:
    world.add_boxes([[0.3, 2.4, 0]], 0.9)


def weigh(world: choque.World) -> None:
    world.bodies.acceleration[2:] *= 0.5


@pytest.mark.parametrize("change", [push, touch, carry, turn, lift, take_away, put_in, weigh])
def test_what_is_done_to_a_sleeper_or_to_what_carries_it_wakes_it(change: Callable[[choque.World], None]) -> None:
    world = choque.World(gravity=(0, -9.81, 0))
    world.add_ground()
    world.add_boxes([[0, 0.5, 0]], static=True)
    world.add_boxes([[0, 1.5, 0], [50, 0.5, 0]])
    for _ in range(60):
        world.step()
    assert world.asleep[2:].all()
    assert world.response.rests(world.bodies)
    change(world)
    woke = set()
    for _ in range(5):
        world.step()
        woke |= set(world.events.woke.tolist())
    assert woke == ({2, 3} if change is weigh else {2})


def test_the_reports_of_steps_at_rest_are_their_own() -> None:
    world = sleeping_world("float64", 1).copy()
    first, second = world.step(0.25), world.step(0.5)
    assert (second.frame, second.dt, second.time) == (first.frame + 1, 0.5, first.time + 0.5)
    assert (world.frame, world.dt, world.time) == (second.frame, 0.5, second.time)
    assert first.seconds == second.seconds
    assert first.seconds is not second.seconds
    assert (second.bodies, second.contacts, second.impulses, second.total_seconds) == (BODIES, 0, 0, 0.0)
    assert not len(world.events)
    assert not len(world.contacts())
    world.switch("bvh")
    assert world.step().broad == "bvh"
    other = world.copy()
    assert other.step(0.5).time == world.time + 0.5


def test_a_world_that_was_saved_asleep_leaves_its_steps_out_too(tmp_path: Path) -> None:
    world = sleeping_world("float32", 1).copy()
    world.write(tmp_path / "world.npz")
    read = choque.World.read(tmp_path / "world.npz")
    read.step()
    assert read.response.rests(read.bodies)
    world.step()
    assert read.hash() == world.hash()


def world_of_columns(has_memory: bool) -> choque.World:
    """Return a world asleep whose columns have memory of their own, or are views of other arrays."""
    world = sleeping_world("float64", 1).copy() if has_memory else sleeping_world.__wrapped__("float64", 1)
    assert (world.bodies.velocity.base is None) == has_memory
    return world


def compared(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Return a list that grows with every comparison of all bodies with what they were."""
    answers: list[bool] = []

    def noted(*words: Any) -> bool:
        answers.append(is_unchanged(*words))
        return answers[-1]

    monkeypatch.setattr(islands, "is_unchanged", noted)
    return answers


@pytest.mark.skipif(not islands._COUNTS_REFERENCES, reason="references are not counted without the GIL")
@pytest.mark.parametrize("has_memory", [True, False])
def test_bodies_that_nobody_else_holds_are_not_compared_again(
    has_memory: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = world_of_columns(has_memory)
    world.step()
    answers = compared(monkeypatch)
    for _ in range(5):
        world.step()
    assert not answers
    assert world.bodies.velocity[1, 0] == 0  # looked at, so compared once
    for _ in range(5):
        world.step()
    assert answers == [True]
    held = world.bodies
    assert held is world.bodies
    for _ in range(5):
        world.step()
    assert answers == [True] * 6


HOLDS: dict[str, Callable[[choque.World], Any]] = {
    "table": lambda world: world.bodies,
    "column": lambda world: world.bodies.velocity,
    "row": lambda world: world.bodies.velocity[5],
    "turned": lambda world: world.bodies.velocity.T,
    "buffer": lambda world: world.bodies.velocity.data,
    "base": lambda world: world.bodies.velocity.base,
    "ahead": lambda world: world.bodies_ahead(1 / 60),
}


@pytest.mark.parametrize("has_memory", [True, False])
@pytest.mark.parametrize("hold", HOLDS)
def test_what_is_written_through_anything_that_was_held_wakes(hold: str, has_memory: bool) -> None:
    world = world_of_columns(has_memory)
    world.step()
    held = HOLDS[hold](world)
    if held is None:
        assert has_memory
        return
    for _ in range(3):
        world.step()
    assert world.asleep[1:].all()
    if hold in ("table", "ahead"):
        held.velocity[5] = 1.0
    elif hold == "turned":
        held[:, 5] = 1.0
    elif hold == "buffer":
        held[5, 1] = 1.0
    elif hold == "base":
        held.view(np.float64)[...] = 1.0
    else:
        held[...] = 1.0
    del held
    world.step()
    assert 5 in world.events.woke


@settings(max_examples=25)
@given(
    moves=st.lists(st.sampled_from(["step", "step", "hold", "column", "drop", "write", "glance", "push"]), max_size=30)
)
def test_worlds_that_count_references_wake_as_those_that_compare(moves: list[str]) -> None:
    worlds = [sleeping_world("float64", 1).copy() for _ in range(2)]
    held: list[list[Any]] = [[], []]
    for number, move in enumerate(moves):
        hashes = []
        for world, holds, counts in zip(worlds, held, (True, False), strict=True):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(islands, "_COUNTS_REFERENCES", counts and islands._COUNTS_REFERENCES)
                if move == "hold":
                    holds.append(world.bodies)
                elif move == "column":
                    holds.append(world.bodies)
                    holds[-1] = holds[-1].velocity[:]
                elif move == "drop":
                    holds.clear()
                elif move == "write":
                    for each in holds:
                        getattr(each, "velocity", each)[1 + number, 1] += 0.5
                elif move == "glance":
                    world.bodies.position[1 + number, 1] += 0.25
                elif move == "push":
                    world.apply_impulses([1 + number], [0.0, 0.5, 0.0])
                world.step()
                hashes.append((world.hash(), world.asleep.sum()))
        assert hashes[0] == hashes[1]

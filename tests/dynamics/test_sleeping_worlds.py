"""A world asleep leaves its steps out, and notices every number that is changed meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import choque
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

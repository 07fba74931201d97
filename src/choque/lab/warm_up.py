"""Warming up a world: its kernels are compiled or loaded before a clock starts, or noticed if they come later."""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product

import numpy as np
from numba.core import event

from choque.errors import ChoqueError
from choque.world import World

BODIES_OF_EACH_KIND = 2  # two bodies of each kind cover every pair of kinds, including that of a kind with itself

WARM_UP_STEPS = 4
"""The first step builds the structures of the broad phase; in the others, bodies collide, rebound and separate."""


def warm_up(world: World, dt: float = 1 / 60) -> None:
    """Run the methods of ``world`` once, so that no step that is timed later compiles or loads a kernel.

    Calls `warm_up_kinds`, then steps a copy of the whole world, for what depends on the number of bodies. The world
    itself does not change: its states are the same, bit for bit, with or without this call.
    """
    warm_up_kinds(world, dt)
    _make_steps(world.copy(), dt)


def warm_up_kinds(world: World, dt: float = 1 / 60) -> None:
    """Collide a few bodies of each kind of ``world`` in a small world; the cost does not depend on its size.

    Every pair of kinds is tested, touches and is resolved.
    """
    if len(world):
        _make_steps(_collided_sample(world, dt), dt)


def _make_steps(world: World, dt: float) -> None:
    # An error here is not reported: the run itself raises it if it gets that far.
    with suppress(ChoqueError):
        for _ in range(WARM_UP_STEPS):
            world.step(dt)


def _collided_sample(world: World, dt: float) -> World:
    """A few bodies of each kind, static and not, at one place, separating by half their size a step."""
    bodies = world.bodies
    chosen = np.zeros(len(bodies), bool)
    for kind, static in product(np.unique(bodies.kind).tolist(), (False, True)):
        chosen[np.flatnonzero((bodies.kind == kind) & (bodies.static == static))[:BODIES_OF_EACH_KIND]] = True
    small = world.copy()
    small.remove(bodies.ids[~chosen])
    random = np.random.default_rng(0)
    sample = small.bodies
    sizes = sample.size[sample.size > 0]
    reach = float(sizes.min()) if len(sizes) else 1.0
    sample.position[:] = random.uniform(-0.3, 0.3, sample.position.shape) * reach
    sample.velocity[~sample.static] = random.uniform(-0.5, 0.5, (int((~sample.static).sum()), 3)) * reach / dt
    return small


@contextmanager
def taking_up() -> Iterator[Callable[[], int]]:
    """Yield a function that returns a number, which grows whenever a kernel is compiled or loaded during the block."""
    with event.install_recorder("numba:compiler_lock") as recorder:
        yield lambda: len(recorder.buffer)

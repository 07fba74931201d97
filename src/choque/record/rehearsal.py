"""Everything a world will need, compiled and loaded before its clock starts."""

from __future__ import annotations

from contextlib import suppress
from itertools import product

import numpy as np

from choque.errors import ChoqueError
from choque.world import World

EACH = 2
"""Bodies of each kind in the small world: enough for every pair of kinds, that of a kind with itself included."""
STEPS = 4
"""The first makes the structures of the broad phase; in the others bodies meet, rebound and part."""


def rehearse(world: World, dt: float = 1 / 60) -> None:
    """Let the methods of ``world`` run once, so that the first step to be timed neither compiles nor loads anything.

    `rehearse_kinds`, and then a copy of the whole goes a few steps, for what the number of bodies decides. The world
    itself is not touched: its course is the same, bit for bit, with or without.
    """
    rehearse_kinds(world, dt)
    _run(world.copy(), dt)


def rehearse_kinds(world: World, dt: float = 1 / 60) -> None:
    """Throw a few bodies of each kind of ``world`` together in a small world of their own, however large it is.

    So every pair of kinds is tested, touches and is answered.
    """
    if len(world):
        _run(_thrown_together(world, dt), dt)


def _run(world: World, dt: float) -> None:
    # What is refused here is refused by the run itself, if it ever comes to it.
    with suppress(ChoqueError):
        for _ in range(STEPS):
            world.step(dt)


def _thrown_together(world: World, dt: float) -> World:
    """A few bodies of each kind, static and not, at one place, and flying apart by half their size a step."""
    bodies = world.bodies
    chosen = np.zeros(len(bodies), bool)
    for kind, static in product(np.unique(bodies.kind).tolist(), (False, True)):
        chosen[np.flatnonzero((bodies.kind == kind) & (bodies.static == static))[:EACH]] = True
    small = world.copy()
    small.remove(bodies.ids[~chosen])
    random = np.random.default_rng(0)
    thrown = small.bodies
    sizes = thrown.size[thrown.size > 0]
    reach = float(sizes.min()) if len(sizes) else 1.0
    thrown.position[:] = random.uniform(-0.3, 0.3, thrown.position.shape) * reach
    thrown.velocity[~thrown.static] = random.uniform(-0.5, 0.5, (int((~thrown.static).sum()), 3)) * reach / dt
    return small

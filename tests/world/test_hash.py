"""The fingerprint of a state changes with every bit that belongs to it, and with nothing else."""

from __future__ import annotations

import numpy as np
import pytest
from world_scenes import gas

from choque.world import World
from choque.world.bodies import HASHED, state_hash


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_bit_counts(dtype: str) -> None:
    world = gas(9, dtype=dtype)
    bodies = world.bodies
    seen = {world.hash()}
    changes = 0
    for name in HASHED:
        words = getattr(bodies, name).reshape(-1).view(np.uint8)
        for place in range(0, words.size, 7):
            for bit in (0, 7):
                words[place] ^= np.uint8(1 << bit)
                seen.add(world.hash())
                words[place] ^= np.uint8(1 << bit)
                changes += 1
    assert len(seen) == changes + 1
    assert world.hash() in seen


def test_order_and_frame_count() -> None:
    world = gas(9)
    before = world.hash()
    world.bodies.velocity[[0, 1]] = world.bodies.velocity[[1, 0]]
    assert world.hash() != before
    world.bodies.velocity[[0, 1]] = world.bodies.velocity[[1, 0]]
    assert world.hash() == before == state_hash(world.bodies, 0)
    assert state_hash(world.bodies, 1) != before
    assert 0 <= before < 2**64


def test_looks_and_rules_do_not_count() -> None:
    world = gas(9)
    before = world.hash()
    world.bodies.color[:] = 0
    world.bodies.drawn[:] = False
    world.switch("brute")
    assert world.hash() == before


def test_bits_are_spread() -> None:
    """One changed bit of the state changes about half the bits of the hash."""
    world = gas(30)
    before = world.hash()
    words = world.bodies.position.reshape(-1).view(np.uint64)
    flips = []
    for place in range(words.size):
        words[place] ^= np.uint64(1)
        flips.append(bin(world.hash() ^ before).count("1"))
        words[place] ^= np.uint64(1)
    assert 28 < np.mean(flips) < 36
    assert min(flips) > 12


def test_a_world_without_bodies_has_a_hash() -> None:
    world = World("brute")
    assert world.hash() == World().hash()
    world.add_spheres([0, 0, 0])
    assert world.hash() != World().hash()

"""Small worlds that the tests of this folder share."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque.world import World

GRAVITY = (0.0, -9.8, 0.0)

UPRIGHT = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
"""Turns local z, along which capsules lie, upward."""


def random_rotations(random: np.random.Generator, count: int) -> np.ndarray:
    """(count, 3, 3) rotations, from orthogonal matrices."""
    turned, _ = np.linalg.qr(random.normal(size=(count, 3, 3)))
    turned[np.linalg.det(turned) < 0] *= -1
    return np.ascontiguousarray(turned)


def pile(count: int = 60, seed: int = 0, **options: Any) -> World:
    """A dense pile-up: spheres and capsules that fall into a box of five tiles, with little rebound."""
    random = np.random.default_rng(seed)
    world = World(**{"response": "impulse", **options})
    side = 4.0
    world.add_tiles([0, 0, 0], side, side, restitution=0.3)
    standing = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    world.add_tiles([[-side / 2, 10, 0], [side / 2, 10, 0]], 20, side, rotation=standing, restitution=0.3)
    world.add_tiles([[0, 10, -side / 2], [0, 10, side / 2]], side, 20, rotation=UPRIGHT, restitution=0.3)
    layers = -(-count // 9)
    grid = np.stack(np.meshgrid(np.arange(3), np.arange(layers), np.arange(3), indexing="ij"), -1).reshape(-1, 3)
    center = (grid[:count] - [1, 0, 1]) * [1.25, 1.2, 1.25] + [0, 1, 0] + random.uniform(-0.1, 0.1, (count, 3))
    shared: dict[str, Any] = {"acceleration": GRAVITY, "restitution": 0.3}
    half = count // 2
    world.add_spheres(center[:half], random.uniform(0.3, 0.5, half), mass=2.0, **shared)
    turned = random_rotations(random, count - half)
    world.add_capsules(
        center[half:], 0.3, 0.5, rotation=turned, velocity=random.normal(size=(count - half, 3)), **shared
    )
    return world


def gas(count: int = 100, seed: int = 0, **options: Any) -> World:
    """Spheres and capsules that fly about in a closed box without loss of energy."""
    random = np.random.default_rng(seed)
    world = World(**{"response": "impulse", **options})
    side = round((2.5 * count) ** (1 / 3) + 0.5)
    grid = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), -1).reshape(-1, 3)
    grid = grid[np.sort(random.permutation(len(grid))[:count])]
    center = (grid - (side - 1) / 2) * [1, 2.7, 1] + random.uniform(-0.1, 0.1, (count, 3))
    velocity = random.integers(-30, 31, (count, 3)) / 6
    even = grid.sum(axis=1) % 2 == 0
    world.add_spheres(center[even], 0.3, velocity=velocity[even])
    world.add_capsules(center[~even], 0.3, 2.0, mass=7.667, velocity=velocity[~even], rotation=UPRIGHT)
    wide, high = side + 0.5, 2.7 * side + 1
    standing = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
    world.add_tiles([[0, -high / 2, 0], [0, high / 2, 0]], wide, wide)
    world.add_tiles([[-wide / 2, 0, 0], [wide / 2, 0, 0]], high, wide, rotation=standing)
    world.add_tiles([[0, 0, -wide / 2], [0, 0, wide / 2]], wide, high, rotation=UPRIGHT)
    return world


class VirtualClock:
    """A clock on which waiting takes no time: it only moves the hands."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        return self._now

    def wait_until(self, moment: float) -> None:
        self._now = max(self._now, moment)

    def pass_by(self, seconds: float) -> None:
        """Let time pass, as work does."""
        self._now += seconds

"""Motion over one step, by explicit Euler as the Fingsics engine orders it: position, rotation, velocity."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from choque._core import threads
from choque._core.kernel import inline, kernel
from choque._core.rotation import turn
from choque._core.types import Floats
from choque.dynamics.response import State


def integrate(bodies: State, dt: float, max_speed: float | None, max_spin: float | None, thread_count: int) -> None:
    """Move all bodies by ``dt`` seconds, in place.

    ``p += v dt``, ``R = rotation(ω dt) R``, ``v += a dt``. The turn is exact for the constant angular velocity of the
    step, and rotations stay orthonormal to the last bits however many steps there are. There is no gyroscopic term:
    angular velocity changes by impulses alone. Speeds above the limits are scaled down to them, before the motion and
    after it. O(n); the same for any number of threads, as each body is moved on its own.
    """
    limits = [math.inf if limit is None else float(limit) for limit in (max_speed, max_spin)]
    state = (bodies.position, bodies.rotation, bodies.velocity, bodies.angular_velocity, bodies.acceleration)
    threads.over_ranges(_integrate, len(bodies.position), thread_count, *state, float(dt), *limits)


def limit_speeds(bodies: State, max_speed: float | None, max_spin: float | None) -> None:
    """Scale speeds above the limits down to them, in place."""
    integrate(bodies, 0.0, max_speed, max_spin, 1)


@kernel
def _integrate(
    first: int,
    last: int,
    position: Floats,
    rotation: Floats,
    velocity: Floats,
    angular_velocity: Floats,
    acceleration: Floats,
    dt: float,
    max_speed: float,
    max_spin: float,
) -> None:
    for row in range(first, last):
        _limit(velocity, row, max_speed)
        _limit(angular_velocity, row, max_spin)
        for axis in range(3):
            position[row, axis] += velocity[row, axis] * dt
        x, y, z = angular_velocity[row, 0] * dt, angular_velocity[row, 1] * dt, angular_velocity[row, 2] * dt
        if x != 0 or y != 0 or z != 0:
            turn(rotation, row, x, y, z)
        for axis in range(3):
            velocity[row, axis] += acceleration[row, axis] * dt
        _limit(velocity, row, max_speed)


@inline
def _limit(vectors: Any, row: Any, most: float) -> None:
    """Scale vector ``row`` down to the length ``most`` where it is longer."""
    squared = 0.0
    for axis in range(3):
        squared += np.float64(vectors[row, axis]) ** 2
    if squared > most * most:
        scale = most / np.sqrt(squared)
        for axis in range(3):
            vectors[row, axis] *= scale

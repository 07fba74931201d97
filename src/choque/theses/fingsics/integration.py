"""The engine's step in time: explicit, position before orientation before velocity."""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.kernel import kernel
from choque.dynamics.response import State
from choque.theses.fingsics.rotation import euler, turn
from choque.theses.fingsics.vectors import (
    Vector,
    is_near_zero,
    length,
    length_squared,
    over,
    plus,
    square,
    times,
    vector,
)


@kernel
def limited(a: Vector, most: Any) -> Vector:
    """``a``, or as much of it as is ``most`` long."""
    if length_squared(a) > square(most):
        return times(over(a, length(a)), most)
    return a


@kernel
def put(rows: Any, row: int, a: Vector) -> None:
    """Store a vector in a row of (n, 3)."""
    rows[row, 0], rows[row, 1], rows[row, 2] = a[0], a[1], a[2]


@kernel
def _move(
    position: Any, rotation: Any, velocity: Any, angular_velocity: Any, acceleration: Any, dt: Any, max_speed: Any
) -> None:
    by, room = np.empty((3, 3), np.float32), np.empty((3, 3), np.float32)
    for row in range(position.shape[0]):
        speed = vector(velocity, row)
        if not is_near_zero(speed):
            put(position, row, plus(vector(position, row), times(speed, dt)))
        spin = vector(angular_velocity, row)
        if not is_near_zero(spin):
            angles = times(spin, dt)
            euler(angles[0], angles[1], angles[2], by)
            turn(rotation, row, by, room)
        force = vector(acceleration, row)
        if not is_near_zero(force):
            put(velocity, row, limited(plus(speed, times(force, dt)), max_speed))


def integrate(bodies: State, dt: float, max_speed: float | None = None) -> None:
    """Move ``bodies`` by ``dt`` seconds in place: p += v·dt, R = Euler(ω·dt)·R, then v += a·dt up to ``max_speed``.

    Guarantees: a motion whose every component is below 0.0001 is left out; rotations are not made orthonormal again;
    static bodies move like all others; single precision; O(n), one thread.
    """
    limit = np.float32(np.inf if max_speed is None else max_speed)
    state = (bodies.position, bodies.rotation, bodies.velocity, bodies.angular_velocity, bodies.acceleration)
    _move(*state, np.float32(dt), limit)

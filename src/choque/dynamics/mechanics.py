"""Rigid-body mechanics: moments of inertia, motion over one step, energy and momentum."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline, kernel
from choque._core.rotation import turn
from choque._core.threads import over_ranges, resolve_count
from choque._core.types import Floats
from choque.dynamics.response import State

# Inertia


def sphere_inertia(mass: Floats, radius: Floats) -> NDArray[np.float64]:
    """Return the principal moments (n, 3) of solid spheres: 2/5 m r²."""
    return np.repeat((0.4 * mass * radius**2)[:, np.newaxis], 3, axis=1)


def capsule_inertia(mass: Floats, radius: Floats, length: Floats) -> NDArray[np.float64]:
    """Return the principal moments (n, 3) of capsules along local z, approximated by a solid cylinder.

    The cylinder has the radius of the capsule and its volume, so it is ``length`` + 4 r / 3 long.
    """
    whole = length + 4 * radius / 3
    across = mass * (3 * radius**2 + whole**2) / 12
    return np.stack((across, across, mass * radius**2 / 2), axis=1)


# Motion


class _Motion(NamedTuple):
    """The columns of bodies that a step changes, and the acceleration (n, 3)."""

    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    acceleration: Floats


def integrate(
    bodies: State,
    dt: float,
    *,
    max_speed: float | None = None,
    max_spin: float | None = None,
    threads: int | None = None,
) -> None:
    """Move all bodies by ``dt`` seconds, in place, by explicit Euler.

    ``p += v dt``, ``R = rotation(ω dt) R``, ``v += a dt``, in this order. The rotation is exact for the constant
    angular velocity of the step, and stays orthonormal to the last bits over any number of steps. There is no
    gyroscopic term: only impulses change the angular velocity. Speeds above ``max_speed`` (units/s) and
    ``max_spin`` (radians/s) are scaled down to these limits before and after the motion. O(n); the result does not
    depend on ``threads``.
    """
    limits = [math.inf if limit is None else float(limit) for limit in (max_speed, max_spin)]
    motion = _Motion(bodies.position, bodies.rotation, bodies.velocity, bodies.angular_velocity, bodies.acceleration)
    count = len(bodies.position)
    over_ranges(_integrate, count, resolve_count(threads, count), motion, float(dt), *limits)


def limit_speeds(bodies: State, max_speed: float | None, max_spin: float | None) -> None:
    """Scale speeds above the limits down to them, in place."""
    integrate(bodies, 0.0, max_speed=max_speed, max_spin=max_spin, threads=1)


@kernel
def _integrate(first: int, last: int, motion: _Motion, dt: float, max_speed: float, max_spin: float) -> None:
    position, rotation, velocity, angular_velocity, acceleration = motion
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
def _limit(vectors: Any, row: Any, maximum: float) -> None:
    """Scale vector ``row`` down to the length ``maximum`` where it is longer."""
    squared = 0.0
    for axis in range(3):
        squared += np.float64(vectors[row, axis]) ** 2
    if squared > maximum * maximum:
        scale = maximum / np.sqrt(squared)
        for axis in range(3):
            vectors[row, axis] *= scale


# Conserved quantities


def kinetic_energy(bodies: State) -> NDArray[np.float64]:
    """Return the kinetic energy (n,) of each body, linear and rotational; 0 for static bodies."""
    local = np.einsum("nji,nj->ni", bodies.rotation, bodies.angular_velocity, dtype=np.float64)
    moving = bodies.mass * np.einsum("ni,ni->n", bodies.velocity, bodies.velocity, dtype=np.float64)
    turning = np.einsum("ni,ni->n", bodies.inertia, local**2, dtype=np.float64)
    return np.where(bodies.static, 0.0, 0.5 * (moving + turning))


def momentum(bodies: State) -> NDArray[np.float64]:
    """Return the momentum (n, 3) of each body; 0 for static bodies."""
    moving = bodies.mass[:, np.newaxis] * bodies.velocity.astype(np.float64)
    return np.where(bodies.static[:, np.newaxis], 0.0, moving)


def angular_momentum(bodies: State) -> NDArray[np.float64]:
    """Return the angular momentum (n, 3) of each body about the origin; 0 for static bodies."""
    rotation = bodies.rotation.astype(np.float64)
    local = np.einsum("nji,nj->ni", rotation, bodies.angular_velocity)
    spin = np.einsum("nij,nj->ni", rotation, bodies.inertia * local)
    orbit = np.cross(bodies.position.astype(np.float64), momentum(bodies))
    return orbit + np.where(bodies.static[:, np.newaxis], 0.0, spin)

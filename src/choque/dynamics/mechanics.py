"""Rigid-body mechanics: moments of inertia, energy, momentum and impulses."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import F64, Floats, Rows
from choque.dynamics.response import State
from choque.errors import InvalidInput

# Inertia


def sphere_inertia(mass: Floats, radius: Floats) -> F64:
    """Return the principal moments (n, 3) of solid spheres: 2/5 m r²."""
    return np.repeat((0.4 * mass * radius**2)[:, np.newaxis], 3, axis=1)


def capsule_inertia(mass: Floats, radius: Floats, length: Floats) -> F64:
    """Return the principal moments (n, 3) of solid capsules along local z: a cylinder and two half balls."""
    caps = 4 * radius / 3  # the length of a cylinder that has the volume of both
    cylinder, balls = mass * length / (length + caps), mass * caps / (length + caps)
    across = cylinder * (3 * radius**2 + length**2) / 12
    across += balls * (0.4 * radius**2 + 0.25 * length**2 + 0.375 * length * radius)
    return np.stack((across, across, (0.5 * cylinder + 0.4 * balls) * radius**2), axis=1)


# Conserved quantities


def kinetic_energy(bodies: State) -> F64:
    """Return the kinetic energy (n,) of each body, linear and rotational; 0 for static bodies."""
    local = np.einsum("nji,nj->ni", bodies.rotation, bodies.angular_velocity, dtype=np.float64)
    moving = bodies.mass * np.einsum("ni,ni->n", bodies.velocity, bodies.velocity, dtype=np.float64)
    turning = np.einsum("ni,ni->n", bodies.inertia, local**2, dtype=np.float64)
    return np.where(bodies.static, 0.0, 0.5 * (moving + turning))


def momentum(bodies: State) -> F64:
    """Return the momentum (n, 3) of each body; 0 for static bodies."""
    moving = bodies.mass[:, np.newaxis] * bodies.velocity.astype(np.float64)
    return np.where(bodies.static[:, np.newaxis], 0.0, moving)


def angular_momentum(bodies: State) -> F64:
    """Return the angular momentum (n, 3) of each body about the origin; 0 for static bodies."""
    rotation = bodies.rotation.astype(np.float64)
    local = np.einsum("nji,nj->ni", rotation, bodies.angular_velocity)
    spin = np.einsum("nij,nj->ni", rotation, bodies.inertia * local)
    orbit = np.cross(bodies.position.astype(np.float64), momentum(bodies))
    return orbit + np.where(bodies.static[:, np.newaxis], 0.0, spin)


# Impulses


@np.errstate(over="ignore", invalid="ignore")  # what overflows is refused
def apply_impulses(bodies: State, rows: Rows, impulse: ArrayLike, point: ArrayLike | None, angular: ArrayLike) -> None:
    """Change the velocities of the bodies ``rows`` (k,), each once, by impulses: see `choque.World.apply_impulses`."""
    shape = (len(rows), 3)
    push, turn = check.table(impulse, "impulse", shape), check.table(angular, "angular", shape)
    if point is not None:
        turn += np.cross(check.table(point, "point", shape) - bodies.position[rows], push)
    local = np.einsum("nji,nj->ni", bodies.rotation[rows], turn) * bodies.inverse_inertia[rows]
    spin = np.einsum("nij,nj->ni", bodies.rotation[rows], local)
    speed = bodies.inverse_mass[rows][:, np.newaxis] * push
    locked = bodies.locked[rows]
    speed[locked[:, :3]] = 0.0
    turns = locked[:, 3:]
    held = np.flatnonzero(turns.any(axis=1) & ~bodies.static[rows])
    if len(held):  # the free part of the inertia, with the torque of the locks
        rotation, fixed = bodies.rotation[rows[held]].astype(np.float64), turns[held]
        whole = np.einsum("nij,nj,nkj->nik", rotation, bodies.inertia[rows[held]], rotation)
        whole[fixed[:, :, np.newaxis] | fixed[:, np.newaxis]] = 0.0
        whole += fixed[:, :, np.newaxis] * np.eye(3)
        spin[held] = np.linalg.solve(whole, np.where(fixed, 0.0, turn[held])[:, :, np.newaxis])[:, :, 0]
    dtype = bodies.velocity.dtype
    velocity, turning = bodies.velocity[rows] + speed.astype(dtype), bodies.angular_velocity[rows] + spin.astype(dtype)
    lost = np.flatnonzero(~(np.isfinite(velocity) & np.isfinite(turning)).all(axis=1))
    if len(lost):
        row = lost[0]
        raise InvalidInput(
            f"The impulse of body {bodies.ids[rows[row]]} is {push[row].tolist()}, and {turn[row].tolist()} about its "
            f"centre; its velocity would be more than {dtype} can hold. Give a smaller impulse."
        )
    bodies.velocity[rows], bodies.angular_velocity[rows] = velocity, turning

"""What a closed world keeps: energy, momentum and angular momentum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.dynamics.response import State


def kinetic_energy(bodies: State) -> NDArray[np.float64]:
    """The kinetic energy (n,) of each body, of motion and of rotation; 0 for static ones, whose mass is infinite."""
    local = np.einsum("nji,nj->ni", bodies.rotation, bodies.angular_velocity, dtype=np.float64)
    moving = bodies.mass * np.einsum("ni,ni->n", bodies.velocity, bodies.velocity, dtype=np.float64)
    turning = np.einsum("ni,ni->n", bodies.inertia, local**2, dtype=np.float64)
    return np.where(bodies.static, 0.0, 0.5 * (moving + turning))


def momentum(bodies: State) -> NDArray[np.float64]:
    """The momentum (n, 3) of each body; 0 for static ones."""
    moving = bodies.mass[:, np.newaxis] * bodies.velocity.astype(np.float64)
    return np.where(bodies.static[:, np.newaxis], 0.0, moving)


def angular_momentum(bodies: State) -> NDArray[np.float64]:
    """The angular momentum (n, 3) of each body about the origin; 0 for static ones."""
    rotation = bodies.rotation.astype(np.float64)
    local = np.einsum("nji,nj->ni", rotation, bodies.angular_velocity)
    spin = np.einsum("nij,nj->ni", rotation, bodies.inertia * local)
    orbit = np.cross(bodies.position.astype(np.float64), momentum(bodies))
    return orbit + np.where(bodies.static[:, np.newaxis], 0.0, spin)

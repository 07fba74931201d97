"""The response `impulse`: one impulse for each contact, exact for two bodies."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from choque._core.kernel import inline, kernel
from choque._core.types import Floats, Integer, Pairs
from choque._core.vector import cross, dot
from choque.dynamics.response import Response, State
from choque.narrow.pair import Contacts


class Impulse(Response):
    """Two-body impulses without friction, one after another in the order of the pairs.

    Each impulse is computed from the current velocities, so a body in several contacts gets them in sequence. A contact
    whose bodies already separate gets no impulse, so a simple bounce gets one, however many frames the bodies overlap.
    Restitution is the mean of both bodies. The velocity of a static body counts, and is not changed.

    Guarantees: each impulse conserves momentum and angular momentum and, at restitution 1, energy, up to rounding; at
    restitution 0 it leaves no speed along the normal. The exception are bodies that accelerations push together: they
    leave with at least the speed that the accelerations take away in half a step, which may add that energy. O(m) for m
    contacts, no memory, one thread; the result is a function of the state and the contacts. After Mirtich,
    "Impulse-based Dynamic Simulation of Rigid Body Systems", 1996, without friction.
    """

    name: ClassVar[str] = "impulse"

    def respond(self, bodies: State, contacts: Contacts, dt: float) -> int:
        """Change the velocities of ``bodies`` in place and return the number of impulses."""
        rigid = _Rigid(*(getattr(bodies, name) for name in _Rigid._fields))
        point = np.ascontiguousarray(contacts.point)
        return _respond(contacts.pairs, point, contacts.normal, rigid, float(dt))


class _Rigid(NamedTuple):
    """The columns of bodies that impulses depend on or change."""

    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    inverse_mass: Floats
    inverse_inertia: Floats
    restitution: Floats
    acceleration: Floats


@kernel
def _respond(pairs: Pairs, point: Floats, normal: Floats, bodies: _Rigid, dt: float) -> int:
    position, rotation, velocity, angular_velocity, inverse_mass, inverse_inertia, rebound, acceleration = bodies
    impulse_count = 0
    for contact in range(pairs.shape[0]):
        a, b = pairs[contact, 0], pairs[contact, 1]
        n = (np.float64(normal[contact, 0]), np.float64(normal[contact, 1]), np.float64(normal[contact, 2]))
        arm_a, arm_b = _arm(point, contact, position, a), _arm(point, contact, position, b)
        speed = _along(velocity, b, angular_velocity, arm_b, n) - _along(velocity, a, angular_velocity, arm_a, n)
        if not speed < 0:
            continue
        torque_a, torque_b = cross(arm_a, n), cross(arm_b, n)
        spin_a = _turned(rotation, a, inverse_inertia, torque_a)
        spin_b = _turned(rotation, b, inverse_inertia, torque_b)
        yielding = inverse_mass[a] + inverse_mass[b] + dot(spin_a, torque_a) + dot(spin_b, torque_b)
        if not yielding > 0:
            continue
        restitution = 0.5 * (rebound[a] + rebound[b])
        pull = 0.0  # how fast accelerations push the bodies together
        for axis in range(3):
            pull += (np.float64(acceleration[a, axis]) - acceleration[b, axis]) * n[axis]
        # Half a step of it: a body that comes to rest then ends the step where it is instead of sinking.
        impulse = -(1.0 + restitution) * speed / yielding
        if 0.5 * pull * dt > -restitution * speed:
            impulse = (0.5 * pull * dt - speed) / yielding
        for axis in range(3):
            velocity[a, axis] -= impulse * inverse_mass[a] * n[axis]
            velocity[b, axis] += impulse * inverse_mass[b] * n[axis]
            angular_velocity[a, axis] -= impulse * spin_a[axis]
            angular_velocity[b, axis] += impulse * spin_b[axis]
        impulse_count += 1
    return impulse_count


@inline
def _arm(point: Any, contact: Integer, position: Any, row: Integer) -> Any:
    """Return the vector from the centre of a body to the contact point."""
    return (
        np.float64(point[contact, 0]) - position[row, 0],
        np.float64(point[contact, 1]) - position[row, 1],
        np.float64(point[contact, 2]) - position[row, 2],
    )


@inline
def _along(velocity: Any, row: Integer, angular_velocity: Any, arm: Any, direction: Any) -> Any:
    """Return the speed along ``direction`` of the point of a body at the end of ``arm``."""
    x, y, z = angular_velocity[row, 0], angular_velocity[row, 1], angular_velocity[row, 2]
    return (
        (velocity[row, 0] + y * arm[2] - z * arm[1]) * direction[0]
        + (velocity[row, 1] + z * arm[0] - x * arm[2]) * direction[1]
        + (velocity[row, 2] + x * arm[1] - y * arm[0]) * direction[2]
    )


@inline
def _turned(rotation: Any, row: Integer, inverse_inertia: Any, torque: Any) -> Any:
    """Return the change of the angular velocity by an angular impulse ``torque``: R I⁻¹ Rᵀ torque."""
    r = rotation[row]
    x = inverse_inertia[row, 0] * (r[0, 0] * torque[0] + r[1, 0] * torque[1] + r[2, 0] * torque[2])
    y = inverse_inertia[row, 1] * (r[0, 1] * torque[0] + r[1, 1] * torque[1] + r[2, 1] * torque[2])
    z = inverse_inertia[row, 2] * (r[0, 2] * torque[0] + r[1, 2] * torque[1] + r[2, 2] * torque[2])
    return (
        r[0, 0] * x + r[0, 1] * y + r[0, 2] * z,
        r[1, 0] * x + r[1, 1] * y + r[1, 2] * z,
        r[2, 0] * x + r[2, 1] * y + r[2, 2] * z,
    )

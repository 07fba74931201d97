"""Independent answers for the tests of motion: the impulse response in plain NumPy, rotations by a series, measures."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from choque.narrow.pair import Contacts


def random_rotations(random: np.random.Generator, count: int) -> np.ndarray:
    """(count, 3, 3) rotations, uniformly."""
    q = random.normal(size=(count, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    return np.stack(
        (
            np.stack((1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)), axis=1),
            np.stack((2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)), axis=1),
            np.stack((2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)), axis=1),
        ),
        axis=1,
    )


def random_state(random: np.random.Generator, count: int, static_share: float = 0.0) -> Any:
    """Bodies with anything for mass, inertia, restitution and motion."""
    static = random.random(count) < static_share
    mass = 10 ** random.uniform(-1, 1, count)
    inertia = mass[:, np.newaxis] * 10 ** random.uniform(-1, 1, (count, 3))
    return SimpleNamespace(
        position=random.uniform(-2, 2, (count, 3)),
        rotation=np.ascontiguousarray(random_rotations(random, count)),
        velocity=random.normal(size=(count, 3)),
        angular_velocity=random.normal(size=(count, 3)),
        acceleration=np.zeros((count, 3)),
        mass=mass,
        inertia=inertia,
        inverse_mass=np.where(static, 0.0, 1 / mass),
        inverse_inertia=np.where(static[:, np.newaxis], 0.0, 1 / inertia),
        restitution=random.random(count),
        static=static,
    )


def random_contacts(random: np.random.Generator, bodies: Any, count: int) -> Contacts:
    """Contacts between random bodies, one of each pair not static, in the order of their pairs."""
    pairs = np.stack(np.triu_indices(len(bodies.mass), 1), axis=1).astype(np.int32)
    pairs = pairs[~bodies.static[pairs].all(axis=1)]
    pairs = pairs[np.sort(random.permutation(len(pairs))[:count])]
    normal = random.normal(size=(len(pairs), 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    return contacts_of_points(pairs, random.uniform(-2, 2, (len(pairs), 3)), normal, random.random(len(pairs)))


def contacts_of_points(pairs: np.ndarray, point: np.ndarray, normal: np.ndarray, depth: np.ndarray) -> Contacts:
    """Contacts with one point for each pair: ``point`` (m, 3), ``normal`` (m, 3) and ``depth`` (m,)."""
    features, counts = np.zeros((len(pairs), 1), np.uint32), np.ones(len(pairs), np.uint8)
    return Contacts(pairs, normal, point[:, np.newaxis], -depth[:, np.newaxis], features, counts)


def contact_speed(bodies: Any, contacts: Contacts, row: int) -> float:
    """How fast the bodies of one contact part along its normal."""
    a, b = contacts.pairs[row]
    speeds = [
        bodies.velocity[i] + np.cross(bodies.angular_velocity[i], contacts.point[row] - bodies.position[i])
        for i in (a, b)
    ]
    return float((speeds[1] - speeds[0]) @ contacts.normal[row])


def respond_plainly(bodies: Any, contacts: Contacts) -> int:
    """Each contact by the formulas of impulses with whole matrices, in order and in place; return their number."""
    impulses = 0
    for row, (a, b) in enumerate(contacts.pairs):
        speed = contact_speed(bodies, contacts, row)
        if speed >= 0:
            continue
        n = contacts.normal[row]
        below, inverse, arm = 0.0, {}, {}
        for i in (a, b):
            turn = bodies.rotation[i]
            inverse[i] = turn @ np.diag(bodies.inverse_inertia[i]) @ turn.T
            arm[i] = contacts.point[row] - bodies.position[i]
            below += bodies.inverse_mass[i] + np.cross(inverse[i] @ np.cross(arm[i], n), arm[i]) @ n
        j = -(1 + (bodies.restitution[a] + bodies.restitution[b]) / 2) * speed / below
        for i, sign in ((a, -1), (b, 1)):
            bodies.velocity[i] += sign * j * bodies.inverse_mass[i] * n
            bodies.angular_velocity[i] += sign * j * (inverse[i] @ np.cross(arm[i], n))
        impulses += 1
    return impulses


def turned_by(vector: np.ndarray) -> np.ndarray:
    """The rotation matrix of a rotation vector: the exponential series of a 64th of it, 64 times."""
    x, y, z = vector / 64
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    total, term = np.eye(3), np.eye(3)
    for order in range(1, 30):
        term = term @ skew / order
        total = total + term
    return np.linalg.matrix_power(total, 64)


def energy(bodies: Any) -> float:
    """The kinetic energy of what is not static, with whole matrices."""
    total = 0.0
    for i in np.flatnonzero(~bodies.static):
        whole = bodies.rotation[i] @ np.diag(bodies.inertia[i]) @ bodies.rotation[i].T
        total += 0.5 * bodies.mass[i] * bodies.velocity[i] @ bodies.velocity[i]
        total += 0.5 * bodies.angular_velocity[i] @ whole @ bodies.angular_velocity[i]
    return float(total)


def momenta(bodies: Any) -> np.ndarray:
    """Momentum and angular momentum about the origin of what is not static: (6,)."""
    total = np.zeros(6)
    for i in np.flatnonzero(~bodies.static):
        whole = bodies.rotation[i] @ np.diag(bodies.inertia[i]) @ bodies.rotation[i].T
        push = bodies.mass[i] * bodies.velocity[i]
        total[:3] += push
        total[3:] += np.cross(bodies.position[i], push) + whole @ bodies.angular_velocity[i]
    return total

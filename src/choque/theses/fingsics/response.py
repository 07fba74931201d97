"""The engine's response: queue every impulse, then apply them, weighted on each axis by the other body's mass.

All impulses come from the velocities before the step, so the order of contacts shows only in rounding. A body with
several contacts gets their mean on each axis, weighted by the masses it met there; a static body counts as
999999999999, so contacts with statics override the others. An impulse is never negative: bodies that part already
are pushed too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.kernel import kernel
from choque._core.pair_keys import pack_pairs
from choque._core.types import Floats, Integer, Keys, Pairs
from choque.dynamics.response import Response, State
from choque.errors import InvalidInput
from choque.narrow.pair import Contacts
from choque.narrow.shapes import CAPSULE, SPHERE
from choque.theses.fingsics.order import in_text_order
from choque.theses.fingsics.vectors import (
    HALF,
    NEAR_ZERO,
    ONE,
    ZERO,
    Vector,
    axis,
    cross,
    dot,
    is_near_zero,
    length,
    length_squared,
    minus,
    over,
    plus,
    square,
    times,
    vector,
)


@kernel
def euler(x: Any, y: Any, z: Any, matrix: Any) -> None:
    """Write Rz(z)·Ry(y)·Rx(x), angles in radians, to ``matrix`` (3, 3)."""
    cx, sx = np.cos(x), np.sin(x)
    cy, sy = np.cos(y), np.sin(y)
    cz, sz = np.cos(z), np.sin(z)
    matrix[0, 0], matrix[0, 1], matrix[0, 2] = cz * cy, cz * sy * sx - sz * cx, sz * sx + cz * sy * cx
    matrix[1, 0], matrix[1, 1], matrix[1, 2] = sz * cy, cz * cx + sz * sy * sx, sz * sy * cx - cz * sx
    matrix[2, 0], matrix[2, 1], matrix[2, 2] = -sy, cy * sx, cy * cx


@kernel
def turn(rotation: Any, row: Integer, by: Any, result: Any) -> None:
    """Put ``by``·``rotation[row]`` in the place of ``rotation[row]``; ``result`` (3, 3) is working memory."""
    for i in range(3):
        for j in range(3):
            result[i, j] = (
                by[i, 0] * np.float32(rotation[row, 0, j])
                + by[i, 1] * np.float32(rotation[row, 1, j])
                + by[i, 2] * np.float32(rotation[row, 2, j])
            )
    for i in range(3):
        for j in range(3):
            rotation[row, i, j] = result[i, j]


def radians(degrees: ArrayLike) -> NDArray[np.float32]:
    """Degrees as radians, rounded where the engine rounds."""
    return np.asarray(degrees, np.float32) * np.float32(np.pi) / np.float32(180.0)


def rotations(degrees: ArrayLike) -> NDArray[np.float32]:
    """Return (n, 3, 3) the orientations of ``degrees`` (n, 3) about x, y and z, rounded where the engine rounds.

    A quarter turn is not exact: its cosine is that of the float next to π/2.
    """
    angles = radians(degrees)
    matrices = np.empty((len(angles), 3, 3), np.float32)
    _fill(angles, matrices)
    return matrices


@kernel
def _fill(angles: NDArray[np.float32], matrices: NDArray[np.float32]) -> None:
    for row in range(angles.shape[0]):
        euler(angles[row, 0], angles[row, 1], angles[row, 2], matrices[row])


TWO_FIFTHS, ONE_HALF, TWELFTH = np.float64(2.0 / 5.0), np.float64(0.5), np.float64(1.0 / 12.0)
TWO, THREE = np.float64(2.0), np.float64(3.0)
TWO_THIRDS = np.float32(2.0 / 3.0)


@kernel
def invert_inertia(
    pairs: Pairs, kind: Any, size: Any, mass: Any, inertia: Any, rotation: Any, static: Any, yielding: Any
) -> None:
    """Write (R·I·Rᵀ)⁻¹ of both bodies of each pair to ``yielding`` (m, 2, 3, 3); statics are left at what is there."""
    tensor = np.empty((3, 3), np.float32)
    for row in range(pairs.shape[0]):
        for side in range(2):
            body = np.int64(pairs[row, side])
            if static[body]:
                continue
            moments = _moments(kind, size, mass, inertia, body)
            if kind[body] == SPHERE:
                for k in range(3):
                    yielding[row, side, k, k] = ONE / moments[k]
                continue
            x, y, z = axis(rotation, body, 0), axis(rotation, body, 1), axis(rotation, body, 2)
            for i in range(3):
                for j in range(3):
                    tensor[i, j] = x[i] * moments[0] * x[j] + y[i] * moments[1] * y[j] + z[i] * moments[2] * z[j]
            _invert(tensor, yielding[row, side])


@kernel
def _moments(kind: Any, size: Any, mass: Any, inertia: Any, body: Integer) -> Vector:
    """Return the principal moments of a body; those of kinds that the engine lacks are the world's."""
    radius, weight = np.float32(size[body, 0]), np.float64(mass[body])
    if kind[body] == SPHERE:
        moment = np.float32(TWO_FIFTHS * weight * radius * radius)
        return moment, moment, moment
    if kind[body] == CAPSULE:
        whole = np.float32(size[body, 1]) + np.float32((radius * TWO) * TWO_THIRDS)
        across = np.float32(TWELFTH * weight * (THREE * radius * radius + whole * whole))
        return across, across, np.float32(ONE_HALF * weight * radius * radius)
    return np.float32(inertia[body, 0]), np.float32(inertia[body, 1]), np.float32(inertia[body, 2])


@kernel
def _invert(matrix: Any, inverse: Any) -> None:
    """Write the inverse of a 3 by 3 matrix, by its cofactors."""
    a, b, c = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    d, e, f = matrix[1, 0], matrix[1, 1], matrix[1, 2]
    g, h, k = matrix[2, 0], matrix[2, 1], matrix[2, 2]
    scale = ONE / (a * (e * k - h * f) - b * (d * k - f * g) + c * (d * h - e * g))
    inverse[0, 0], inverse[0, 1], inverse[0, 2] = e * k - h * f, c * h - b * k, b * f - c * e
    inverse[1, 0], inverse[1, 1], inverse[1, 2] = f * g - d * k, a * k - c * g, d * c - a * f
    inverse[2, 0], inverse[2, 1], inverse[2, 2] = d * h - g * e, g * b - a * h, a * e - d * b
    for i in range(3):
        for j in range(3):
            inverse[i, j] *= scale


@kernel
def limited(a: Vector, most: Any) -> Vector:
    """Return ``a``, shortened to the length ``most`` if it is longer."""
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
    by, scratch = np.empty((3, 3), np.float32), np.empty((3, 3), np.float32)
    for row in range(position.shape[0]):
        speed = vector(velocity, row)
        if not is_near_zero(speed):
            put(position, row, plus(vector(position, row), times(speed, dt)))
        spin = vector(angular_velocity, row)
        if not is_near_zero(spin):
            angles = times(spin, dt)
            euler(angles[0], angles[1], angles[2], by)
            turn(rotation, row, by, scratch)
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


STATIC_MASS = np.float32(999999999999.0)
MAX_SPEED = np.float32(50.0)
MAX_SPIN = np.float32(10.0)


class FingsicsImpulse(Response):
    """The impulses of the Fingsics engine, with the default equations of motion.

    A contact is answered only if its pair was not in contact the frame before, or is deeper now: `state` holds the
    depths of that frame. Speeds are kept to 50 units and 10 radians a second at every change.

    Guarantees: independent of the order of bodies but for rounding; single precision; O(n + m log m), one thread.
    """

    name: ClassVar[str] = "fingsics-impulse"

    def __init__(self) -> None:
        self._keys: Keys = np.empty(0, np.uint64)
        self._depth: NDArray[np.float32] = np.empty(0, np.float32)

    def respond(self, bodies: State, contacts: Contacts, dt: float) -> int:  # noqa: ARG002
        """Change the velocities of ``bodies`` in place; how many contacts were answered."""
        grows = self._note(bodies.ids, contacts)
        order, swapped = in_text_order(contacts.pairs)
        order = order[grows[order]]
        if not len(order):
            return 0
        turned = swapped[order, np.newaxis]
        pairs = np.where(turned, contacts.pairs[order, ::-1], contacts.pairs[order])
        normal = np.where(turned, -contacts.normal[order], contacts.normal[order])
        motion = _Motion(
            bodies.position, bodies.velocity, bodies.angular_velocity, bodies.mass, bodies.restitution, bodies.static
        )
        yielding: NDArray[np.float32] = np.zeros((len(order), 2, 3, 3), np.float32)
        solids = (bodies.kind, bodies.size, bodies.mass, bodies.inertia, bodies.rotation, bodies.static)
        invert_inertia(pairs, *solids, yielding)
        queued: NDArray[np.float32] = np.empty((len(order), 2, 8), np.float32)
        weight: NDArray[np.float32] = np.zeros((len(bodies.ids), 6), np.float32)
        points = contacts.point[order]
        _queue(pairs, points, normal, motion, yielding, queued, weight)
        _apply(pairs, queued, weight, yielding, motion)
        return len(order)

    def _note(self, ids: NDArray[np.int32], contacts: Contacts) -> NDArray[np.bool_]:
        """Return (m,) whether each contact is new or deeper than in the frame before; remember this frame."""
        keys = pack_pairs(ids[contacts.pairs])
        depth = contacts.depth.astype(np.float32)
        grows = np.ones(len(keys), np.bool_)
        if self._keys.size:
            place = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
            grows = (self._keys[place] != keys) | (depth > self._depth[place])
        self._keys, self._depth = keys, depth
        return grows

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the pairs in contact in the frame before, as packed ids, and their depths."""
        return {"keys": self._keys, "depth": self._depth}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Remember what `state` gave."""
        keys = np.array(state.get("keys", 0), np.uint64)
        depth = np.array(state.get("depth", 0), np.float32)
        if keys.ndim != 1 or keys.shape != depth.shape or (keys[1:] <= keys[:-1]).any():
            raise InvalidInput("The saved contacts are out of order, or there are not as many depths as contacts.")
        self._keys, self._depth = keys, depth


class Fingsics(FingsicsImpulse):
    """The impulses and the equations of motion of the Fingsics engine."""

    name: ClassVar[str] = "fingsics"
    normalises_rotations: ClassVar[bool] = False

    def integrate(
        self,
        bodies: State,
        dt: float,
        *,
        max_speed: float | None = None,
        max_spin: float | None = None,  # noqa: ARG002
        threads: int | None = None,  # noqa: ARG002
    ) -> None:
        """Move ``bodies`` by ``dt`` seconds, in place, by `choque.theses.fingsics.response.integrate`."""
        integrate(bodies, dt, max_speed)

    def rotations(self, angles: Floats) -> Floats:
        """Return the matrices (n, 3, 3) of ``angles`` (n, 3) [degree], rounded where the engine rounds."""
        return rotations(angles)

    def angular_velocity(self, spin: Floats) -> Floats:
        """Return ``spin`` (n, 3) [degree/s] in radians, rounded where the engine rounds."""
        return radians(spin)


@kernel
def _product(matrix: Any, a: Vector) -> Vector:
    """Return a matrix times a vector."""
    return (
        a[0] * matrix[0, 0] + a[1] * matrix[0, 1] + a[2] * matrix[0, 2],
        a[0] * matrix[1, 0] + a[1] * matrix[1, 1] + a[2] * matrix[1, 2],
        a[0] * matrix[2, 0] + a[1] * matrix[2, 1] + a[2] * matrix[2, 2],
    )


class _Motion(NamedTuple):
    """The columns of bodies that impulses depend on or change."""

    position: Any
    velocity: Any
    angular_velocity: Any
    mass: Any
    elasticity: Any
    static: Any


@kernel
def _queue(pairs: Pairs, points: Any, normals: Any, motion: _Motion, yielding: Any, queued: Any, weight: Any) -> None:
    """Compute all impulses from the present velocities.

    Writes to ``queued`` (m, 2, 8), for each body of each contact: direction, arm × direction, magnitude, mass of the
    other body; adds those masses to ``weight`` (n, 6) for the components that are not zero.
    """
    position, velocity, angular_velocity, mass, elasticity, static = motion
    for row in range(pairs.shape[0]):
        a, b = np.int64(pairs[row, 0]), np.int64(pairs[row, 1])
        point, normal = vector(points, row), vector(normals, row)
        arm_a, arm_b = minus(point, vector(position, a)), minus(point, vector(position, b))
        speed_a = plus(vector(velocity, a), cross(vector(angular_velocity, a), arm_a))
        speed_b = plus(vector(velocity, b), cross(vector(angular_velocity, b), arm_b))
        torque_a, torque_b = cross(arm_a, normal), cross(arm_b, normal)
        spin_a = cross(_product(yielding[row, 0], torque_a), arm_a)
        spin_b = cross(_product(yielding[row, 1], torque_b), arm_b)
        mass_a, mass_b = np.float32(mass[a]), np.float32(mass[b])
        if static[a]:
            bottom = ONE / mass_b + dot(spin_b, normal)
        elif static[b]:
            bottom = ONE / mass_a + dot(spin_a, normal)
        else:
            bottom = ONE / mass_a + ONE / mass_b + dot(plus(spin_a, spin_b), normal)
        restitution = (np.float32(elasticity[a]) + np.float32(elasticity[b])) * HALF
        magnitude = abs(-(ONE + restitution) * dot(minus(speed_b, speed_a), normal) / bottom)
        other_a, other_b = STATIC_MASS if static[b] else mass_b, STATIC_MASS if static[a] else mass_a
        _queue_one(queued[row, 0], weight[a], normal, torque_a, -magnitude, other_a)
        _queue_one(queued[row, 1], weight[b], normal, torque_b, magnitude, other_b)


@kernel
def _queue_one(entry: Any, weight: Any, normal: Vector, torque: Vector, magnitude: Any, other_mass: Any) -> None:
    for k in range(3):
        entry[k] = ZERO if abs(normal[k]) < NEAR_ZERO else normal[k]
        entry[3 + k] = ZERO if abs(torque[k]) < NEAR_ZERO else torque[k]
    for k in range(6):
        if abs(entry[k]) > NEAR_ZERO:
            weight[k] += other_mass
    entry[6], entry[7] = magnitude, other_mass


@kernel
def _apply(pairs: Pairs, queued: Any, weight: Any, yielding: Any, motion: _Motion) -> None:
    """Apply the queued impulses, the latest first; each share of an axis is one write to the velocities."""
    _, velocity, angular_velocity, mass, _, static = motion
    share = np.empty(6, np.float32)
    for row in range(pairs.shape[0] - 1, -1, -1):
        for side in range(2):
            body = pairs[row, side]
            if static[body]:
                continue
            entry = queued[row, side]
            for k in range(6):
                part = entry[7] / weight[body, k] if weight[body, k] > NEAR_ZERO else ZERO
                share[k] = entry[k] * part * entry[6]
            push = over((share[0], share[1], share[2]), np.float32(mass[body]))
            spin = _product(yielding[row, side], (share[3], share[4], share[5]))
            put(velocity, body, limited(plus(vector(velocity, body), push), MAX_SPEED))
            put(angular_velocity, body, limited(plus(vector(angular_velocity, body), spin), MAX_SPIN))

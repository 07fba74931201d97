"""The bodies as the solver has them: in the order of the solver, in float64, velocities scaled by mass.

A body has the velocity v·√m and the spin √I·Rᵀ·ω, with the inertia of the start of the step. One row of numbers for a
contact then serves to read the speed at it, to apply an impulse, and to follow its separation, and no pass multiplies
by a matrix. A static body has its own velocity and spin, unscaled; it is read and never written to.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Self

import numpy as np

from choque._core import memory
from choque._core.kernel import forceinline, helper, kernel
from choque._core.phases import Shares, next_share
from choque._core.types import F64, I8, I32, U8, Bools, Floats, Integer, Rows
from choque._core.vector import Vector, scaled
from choque.dynamics.response import free_turn, limit, turn_by
from choque.dynamics.soft_step.four import MOVED, SCALE, TURNED, V, W
from choque.narrow.manifolds.solids import BOX, PosedSolids
from choque.narrow.shapes import CAPSULE, CONVEX, SPHERE

RADIUS, REACH, LIGHTNESS, ARM, FRICTION = 3, 4, 5, 6, 7  # places in a row of `SolverBodies.ball`, after the position

RESTITUTION, ROLLING, SURFACE = 0, 1, 2
"""Places in a row of `SolverBodies.material`; the velocity of the surface takes three."""


class WorldColumns(NamedTuple):
    """The columns of a world's bodies that the solver reads, in their own order and float type."""

    kind: I8
    hull: I32
    position: Floats
    rotation: Any
    velocity: Floats
    angular_velocity: Floats
    acceleration: Floats
    mass: Floats
    inertia: Floats
    size: Floats
    restitution: Floats
    friction: Floats
    rolling: Floats
    surface_velocity: Floats


class SolverBodies(NamedTuple):
    """Bodies in the order of the solver: those that move, along a Morton curve, then the static ones."""

    kind: I8
    hull: I32
    pose: F64  # (n, 12): position, then the rotation matrix row by row
    size: F64  # (n, 3): as in `PosedSolids`
    near: F64  # (n,): half the distance at which contacts are made
    # (n, 8): what contacts read first, in one cache line: position; the radius of a sphere, of others half the least
    # extent, negative; ``near``; 1/√m, 0 if static; radius/√I of a sphere that moves, else 0; friction
    ball: F64
    speed: F64  # (n, 16): see `V`, `W`, `MOVED`, `TURNED`, `SCALE`
    given: F64  # (n, 16): the sum of all impulses on a body so far, and its velocities after they were last applied
    frame: F64  # (n, 9): the matrix √I⁻¹·Rᵀ
    pull: F64  # (n, 4): acceleration·√m, and a 0; of a static body 0
    material: F64  # (n, 5): see `RESTITUTION`
    # (n, 2): how far any point of the body may have moved in all steps since `load_bodies` began to follow it, and how
    # far such a point may be from its position
    path: F64

    @classmethod
    def empty(cls, count: int) -> Self:
        """Return rows for ``count`` bodies, not initialised."""
        widths = (12, 3, 1, 8, 16, 16, 9, 4, 5, 2)
        wide = [memory.aligned(count * width, np.float64).reshape(count, width) for width in widths]
        wide[2] = wide[2][:, 0]
        wide[0][...] = 0.0  # what is read before it is written must be numbers
        return cls._make((np.empty(count, np.int8), np.empty(count, np.int32), *wide))

    def solids(self) -> PosedSolids:
        """Return the solids, for finding manifolds."""
        return PosedSolids(self.kind, self.hull, self.pose, self.size, self.near)


@kernel
def load_bodies(
    shares: Shares,
    order: Rows,
    moving: Integer,
    columns: WorldColumns,
    hulls: tuple[F64, Bools],
    nearness: float,
    rows: SolverBodies,
    follows: bool,
) -> None:
    """Read the bodies ``order`` of a world into rows; ``moving`` come first.

    ``hulls`` are half the extents of each, and whether it is a box. ``follows`` tells whether the rows are of the same
    bodies as before, so that their paths become longer.
    """
    given_kind, given_hull, position, rotation, velocity, spin, acceleration = columns[:7]
    mass, inertia, given_size, restitution, friction, rolling, surface_velocity = columns[7:]
    kind, hull, pose, size, near, ball, speed, _, frame, pull, material, path = rows
    extent, is_box = hulls
    first, last = next_share(shares)
    while first < last:
        for row in range(first, last):
            body = order[row]
            shape = given_kind[body]
            hull[row] = given_hull[body]
            thin = np.inf
            way = turn = long = 0.0
            for axis in range(3):
                size[row, axis] = given_size[body, axis]
                long += size[row, axis] ** 2
                way += (position[body, axis] - pose[row, axis]) ** 2
                pose[row, axis] = ball[row, axis] = position[body, axis]
                for other in range(3):  # how a sphere is turned does not matter
                    at = 3 + 3 * axis + other
                    now = np.float64(axis == other) if shape == SPHERE else np.float64(rotation[body, axis, other])
                    turn += (now - pose[row, at]) ** 2
                    pose[row, at] = now
            if shape == CONVEX:
                long = 0.0
                for axis in range(3):
                    half = extent[given_hull[body], axis] * size[row, axis]
                    thin, long = min(thin, half), long + half * half
                    if is_box[given_hull[body]]:
                        size[row, axis] = half
                if is_box[given_hull[body]]:
                    shape = BOX
            elif shape in (SPHERE, CAPSULE):
                thin = size[row, 0]
            else:
                long = np.inf
            kind[row] = shape
            path[row, 1] = math.sqrt(1.25 * long)  # of a capsule r + l/2, which is √1.25·√(r² + l²) at most
            if not follows:
                path[row, 0] = 0.0
            elif way + turn > 0:  # √½·|R − R'| is the chord of the turn, and chords add up to a way
                path[row, 0] += math.sqrt(way) + path[row, 1] * math.sqrt(0.5 * turn) if long < np.inf else np.inf
            near[row] = ball[row, REACH] = min(nearness, 0.125 * thin)
            material[row, RESTITUTION], material[row, ROLLING] = restitution[body], rolling[body]
            moves = row < moving
            root = math.sqrt(np.float64(mass[body])) if moves else 1.0
            speed[row, SCALE] = 1.0 / root
            ball[row, RADIUS], ball[row, ARM] = thin if shape == SPHERE else -thin, 0.0
            ball[row, LIGHTNESS], ball[row, FRICTION] = speed[row, SCALE] if moves else 0.0, friction[body]
            for axis in range(3):
                material[row, SURFACE + axis] = surface_velocity[body, axis]
                speed[row, V + axis] = velocity[body, axis] * root
                pull[row, axis] = acceleration[body, axis] * root if moves else 0.0
                speed[row, MOVED + axis] = speed[row, TURNED + axis] = 0.0
            if shape == SPHERE and moves:
                # The frame of a sphere may be any: that of the world makes spins comparable between spheres.
                weight = math.sqrt(np.float64(inertia[body, 0]))
                inverse = 1.0 / weight
                ball[row, ARM] = size[row, 0] * inverse
                for axis in range(3):
                    for other in range(3):
                        frame[row, 3 * axis + other] = inverse if axis == other else 0.0
                    speed[row, W + axis] = spin[body, axis] * weight
            else:
                for axis in range(3):
                    weight = math.sqrt(np.float64(inertia[body, axis])) if moves else 1.0
                    inverse = 1.0 / weight
                    own = 0.0
                    for other in range(3):
                        across = pose[row, 3 + 3 * other + axis]
                        frame[row, 3 * axis + other] = across * inverse
                        own += across * spin[body, other]
                    speed[row, W + axis] = own * weight
            speed[row, 3] = speed[row, 7] = speed[row, 11] = pull[row, 3] = 0.0
        first, last = next_share(shares)


@kernel
def move_bodies(
    shares: Shares,
    order: Rows,
    awake: tuple[Any, U8],
    columns: tuple[Any, ...],
    rows: tuple[F64, F64],
    touched: U8,
    limits: tuple[float, float, float],
) -> None:
    """Write the rows back to their bodies, and move these.

    ``awake`` is how many bodies move, and which are awake; sleepers that nothing touched stay. A body without
    contacts moves exactly under its acceleration and turns freely, as `choque.dynamics.response.integrate` has it. One
    with contacts takes the motion of the sub-steps and keeps the angular momentum that they gave it. ``limits`` are the
    length of the step, the greatest speed, and the greatest spin; ``columns`` and ``rows`` those that are unpacked.
    """
    position, rotation, velocity, angular_velocity, acceleration, inertia = columns
    dt, max_speed, max_spin = limits
    moving, is_awake = awake
    first, last = next_share(shares)
    while first < last:
        for row in range(first, last):
            body = order[row]
            if row < moving and not (is_awake[row] or touched[row]):
                continue
            if row >= moving or not touched[row]:
                for axis in range(3):
                    before = np.float64(velocity[body, axis])
                    after = before + acceleration[body, axis] * dt
                    velocity[body, axis] = after
                    position[body, axis] += 0.5 * (before + after) * dt
                spin = (
                    np.float64(angular_velocity[body, 0]),
                    np.float64(angular_velocity[body, 1]),
                    np.float64(angular_velocity[body, 2]),
                )
                if spin[0] != 0 or spin[1] != 0 or spin[2] != 0:
                    moments = (np.float64(inertia[body, 0]), np.float64(inertia[body, 1]), np.float64(inertia[body, 2]))
                    if row >= moving or (moments[0] == moments[1] and moments[1] == moments[2]):
                        turn_by(rotation, body, scaled(spin, dt))
                    else:
                        after_turn = free_turn(rotation, body, spin, moments, dt)
                        for axis in range(3):
                            angular_velocity[body, axis] = after_turn[axis]
            else:
                _take_motion(row, body, columns, rows)
            limit(velocity, body, max_speed)
            limit(angular_velocity, body, max_spin)
        first, last = next_share(shares)


@forceinline
def _take_motion(row: Integer, body: Integer, columns: tuple[Any, ...], rows: tuple[F64, F64]) -> None:
    """Move a body by what the sub-steps found."""
    position, rotation, velocity, angular_velocity, _, inertia = columns
    speed, frame = rows
    scale = speed[row, SCALE]
    momentum = scaled_sum(frame, speed, row, W)  # the spin at first
    by = scaled_sum(frame, speed, row, TURNED)
    one, two, three = inertia[body, 0], inertia[body, 1], inertia[body, 2]
    for axis in range(3):
        velocity[body, axis] = speed[row, V + axis] * scale
        position[body, axis] += speed[row, MOVED + axis] * scale
    if one == two and two == three:
        turn_by(rotation, body, by)
        angular_velocity[body, 0], angular_velocity[body, 1], angular_velocity[body, 2] = momentum
        return
    momentum = through(rotation, body, momentum, (one, two, three))
    turn_by(rotation, body, by)
    spin = through(rotation, body, momentum, (1.0 / one, 1.0 / two, 1.0 / three))
    angular_velocity[body, 0], angular_velocity[body, 1], angular_velocity[body, 2] = spin


@helper
def scaled_sum(frame: Any, speed: Any, row: Integer, at: Integer) -> Vector:
    """Return a scaled spin, or turn, in the world: G transposed times it."""
    x, y, z = speed[row, at], speed[row, at + 1], speed[row, at + 2]
    return (
        frame[row, 0] * x + frame[row, 3] * y + frame[row, 6] * z,
        frame[row, 1] * x + frame[row, 4] * y + frame[row, 7] * z,
        frame[row, 2] * x + frame[row, 5] * y + frame[row, 8] * z,
    )


@helper
def through(rotation: Any, body: Integer, vector: Vector, moments: Vector) -> Vector:
    """Return R·diag(moments)·Rᵀ·vector."""
    x = y = z = 0.0
    for axis in range(3):
        a, b, c = rotation[body, 0, axis], rotation[body, 1, axis], rotation[body, 2, axis]
        own = moments[axis] * (a * vector[0] + b * vector[1] + c * vector[2])
        x, y, z = x + own * a, y + own * b, z + own * c
    return x, y, z

"""Locked axes: bodies that do not move along some axes of the world, or do not turn about some of them.

The solver sees a body that is 10⁸ times as heavy along what is locked, so that every row has a mass, and what is left
of its motion there is removed: after each pass, and to the last bit when it moves. Where two of three turns are free,
the inverse of its inertia is that of the free part of I, as the torque of the lock requires, and not the free part of
the inverse of I. Angular momentum about free axes is kept.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.types import U8, Bools, Integer, Rows
from choque._core.vector import Vector
from choque.dynamics.response import limit, turn_by
from choque.dynamics.soft_step.bodies import LIGHTNESS, SolverBodies, WorldColumns, scaled_sum, through
from choque.dynamics.soft_step.four import MOVED, SCALE, TURNED, V, W

STIFF = 1e-4  # the root of how much of the inverse mass is left along what is locked


class Locks(NamedTuple):
    """Bodies with locked axes: their rows in the solver, the order of the bodies, and the flags of all (n, 6)."""

    rows: Rows
    order: Rows
    flags: Bools

    def move(
        self, columns: WorldColumns, bodies: SolverBodies, awake: U8, touched: U8, limits: tuple[float, float, float]
    ) -> tuple[U8, U8]:
        """Move these bodies; return which others are awake or touched, and so are still to be moved."""
        if not len(self.rows):
            return awake, touched
        rows = self.rows[(awake[self.rows] | touched[self.rows]) > 0]
        _move_locked(rows, self.order, self.flags, columns, bodies, touched, limits)
        awake, touched = awake.copy(), touched.copy()
        awake[rows] = touched[rows] = 0
        return awake, touched


@helper
def _free_inertia(rotation: Any, inertia: Any, locked: Any, body: Integer) -> tuple[float, float, float, float]:
    """Return the moments and the product of inertia of a body about its first two free axes, and about the locked one.

    In the order of `_free_axes`.
    """
    i, j, k = _free_axes(locked, body)
    ii = jj = kk = ij = 0.0
    for axis in range(3):
        moment = np.float64(inertia[body, axis])
        a, b, c = rotation[body, i, axis], rotation[body, j, axis], rotation[body, k, axis]
        ii, jj, kk, ij = ii + moment * a * a, jj + moment * b * b, kk + moment * c * c, ij + moment * a * b
    return ii, jj, kk, ij


@helper
def _free_axes(locked: Any, body: Integer) -> tuple[int, int, int]:
    """Return the three axes, those about which a body turns freely first."""
    if locked[body, 5]:
        return (1, 0, 2) if locked[body, 3] else (0, 1, 2)
    if locked[body, 4]:
        return (2, 0, 1) if locked[body, 3] else (0, 2, 1)
    return (1, 2, 0)


@kernel
def lock_bodies(rows: Rows, order: Rows, locked: Bools, columns: WorldColumns, bodies: SolverBodies) -> None:
    """Make the solver's ``rows`` of bodies stiff along what is locked, and take their motion along it away."""
    rotation, spin = columns.rotation, columns.angular_velocity
    speed, frame, pull = bodies.speed, bodies.frame, bodies.pull
    for at in range(rows.size):
        row = rows[at]
        body = order[row]
        if locked[body, 0] and locked[body, 1] and locked[body, 2]:
            speed[row, SCALE] *= STIFF
            bodies.ball[row, LIGHTNESS] *= STIFF
        for axis in range(3):
            if locked[body, axis]:
                speed[row, V + axis] = pull[row, axis] = 0.0
        if locked[body, 3] or locked[body, 4] or locked[body, 5]:
            i, j, k = _free_axes(locked, body)
            ii, jj, kk, ij = _free_inertia(rotation, columns.inertia, locked, body)
            i_free, j_free = not locked[body, 3 + i], not locked[body, 3 + j]
            for part in range(9):
                frame[row, part] = 0.0
            if not j_free:
                ij = 0.0
            first = math.sqrt(ii - ij * ij / jj)  # of the inverse of [[ii, ij], [ij, jj]] by Cholesky
            frame[row, i] = (1.0 if i_free else STIFF) / first
            frame[row, j] = -ij / (jj * first)
            frame[row, 3 + j] = (1.0 if j_free else STIFF) / math.sqrt(jj)
            frame[row, 6 + k] = STIFF / math.sqrt(kk)
            one = spin[body, i] * first if i_free else 0.0
            speed[row, W] = one
            speed[row, W + 1] = (spin[body, j] - frame[row, j] * one) * math.sqrt(jj) if j_free else 0.0
            speed[row, W + 2] = 0.0


@helper
def hold(first: Integer, last: Integer, locks: Locks, speed: Any) -> None:
    """Take away what the latest pass gave the bodies ``first … last − 1`` along locked axes: an impulse of the lock."""
    rows, order, locked = locks
    for at in range(rows.size):
        if first <= rows[at] < last:
            for axis in range(3):
                if locked[order[rows[at]], axis]:
                    speed[rows[at], V + axis] = speed[rows[at], MOVED + axis] = 0.0


@kernel
def _move_locked(
    rows: Rows,
    order: Rows,
    locked: Bools,
    columns: WorldColumns,
    bodies: SolverBodies,
    touched: U8,
    limits: tuple[float, float, float],
) -> None:
    """Move bodies with locked axes as `move_bodies` moves others; the arguments are the same.

    Along what is locked a body has no velocity afterwards, and its position is the same to the last bit.
    """
    position, rotation, velocity, spin = columns[2:6]
    inertia, speed, frame = columns.inertia, bodies.speed, bodies.frame
    dt, max_speed, max_spin = limits
    for at in range(rows.size):
        row = rows[at]
        body, scale = order[row], speed[row, SCALE]
        for axis in range(3):
            before, after = np.float64(velocity[body, axis]), speed[row, V + axis] * scale
            velocity[body, axis] = 0.0 if locked[body, axis] else after
            if not locked[body, axis]:
                way = speed[row, MOVED + axis] * scale if touched[row] else 0.5 * (before + after) * dt
                position[body, axis] += way
        turned, after_turn = scaled_sum(frame, speed, row, TURNED), scaled_sum(frame, speed, row, W)
        locks = np.int64(locked[body, 3]) + np.int64(locked[body, 4]) + np.int64(locked[body, 5])
        if locks == 0:
            moments = (np.float64(inertia[body, 0]), np.float64(inertia[body, 1]), np.float64(inertia[body, 2]))
            momentum = through(rotation, body, after_turn, moments)
            turn_by(rotation, body, turned)
            after_turn = through(rotation, body, momentum, (1.0 / moments[0], 1.0 / moments[1], 1.0 / moments[2]))
        else:
            i, j, _ = _free_axes(locked, body)
            ii, jj, _, ij = _free_inertia(rotation, inertia, locked, body)
            after_turn = _masked(after_turn, locked, body)
            one, other = ii * after_turn[i] + ij * after_turn[j], ij * after_turn[i] + jj * after_turn[j]
            turn_by(rotation, body, _masked(turned, locked, body))
        for axis in range(3):
            spin[body, axis] = after_turn[axis]
        if locks == 1:
            ii, jj, _, ij = _free_inertia(rotation, inertia, locked, body)
            whole = ii * jj - ij * ij
            spin[body, i], spin[body, j] = (jj * one - ij * other) / whole, (ii * other - ij * one) / whole
        limit(velocity, body, max_speed)
        limit(spin, body, max_spin)


@helper
def _masked(vector: Vector, locked: Any, body: Integer) -> Vector:
    return (
        0.0 if locked[body, 3] else vector[0],
        0.0 if locked[body, 4] else vector[1],
        0.0 if locked[body, 5] else vector[2],
    )

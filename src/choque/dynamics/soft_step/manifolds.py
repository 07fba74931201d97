"""Contacts of up to four points: how their rows are made from manifolds, and the loops of their passes.

Friction acts in the middle of the points, along two tangents solved together, and as a twist about the normal.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from choque._core.kernel import forceinline, helper
from choque._core.types import F32, I32, U8, Integer, Rows
from choque._core.vector import Vector
from choque.dynamics.soft_step.bodies import FRICTION, RADIUS, RESTITUTION, ROLLING, SURFACE, SolverBodies, scaled_sum
from choque.dynamics.soft_step.four import AT_ONCE, FREE, MOVED, SCALE, SOFT, SPEED, STATIC, TOUCHED, TURNED

# isort: split
from choque.dynamics.soft_step.four import V, W, group_contacts
from choque.dynamics.soft_step.making import COUNT, make_rows
from choque.dynamics.soft_step.rows import APPROACH, BOUNCE, DRIVE1, DRIVE2, GAP, GREATEST, IMPULSE, JA

# isort: split
from choque.dynamics.soft_step.rows import JB, MASS, MU, NORMAL, PULL, ROLL, ROLL_LIMIT, SLIDE1

# isort: split
from choque.dynamics.soft_step.rows import SLIDE2, T1, T2, TWIST, solve_row, solve_rows, warm_row
from choque.dynamics.soft_step.spheres import rebound

BLOWS = 8
"""Rounds of rebound of a manifold: after one, the first points have taken more than the others, and the body spins."""

ROLLED = 10  # place of the torque against rolling in what is held of a manifold
_Spins: TypeAlias = tuple[Any, Any]  # the columns ``speed`` and ``frame`` of `SolverBodies`


class ManifoldRows(NamedTuple):
    """The manifolds that are solved in a step, in the order of the solver."""

    a: I32
    b: I32
    point_count: I32
    row: F32  # (t, 112): see `rows`
    held: F32  # (t, 13): what is held after the step, see `Kept`
    group: U8  # (t,): see `group_contacts`


@helper
def _turn_scaled(frame: Any, body: Integer, vector: Vector) -> Vector:
    """Return a torque of the world as the change of the body's scaled spin."""
    x, y, z = vector
    return (
        frame[body, 0] * x + frame[body, 1] * y + frame[body, 2] * z,
        frame[body, 3] * x + frame[body, 4] * y + frame[body, 5] * z,
        frame[body, 6] * x + frame[body, 7] * y + frame[body, 8] * z,
    )


class ManifoldTask(NamedTuple):
    """The manifolds to solve, and what their rows are made from."""

    rows: ManifoldRows
    live: Rows  # (t,): their pairs
    kept: tuple[Any, ...]  # of all pairs: columns of `Kept`, from pairs on


@helper
def prepare_manifolds(first: Integer, last: Integer, task: ManifoldTask, bodies: SolverBodies, moving: Integer) -> None:
    """Make the rows ``first … last − 1``."""
    _, _, pose, _, _, ball, speed, _, frame, pull, material = bodies[:11]
    rows, live, (pairs, slot, held, home, marks, found_pose, arms) = task
    a_row, b_row, count_row, row = rows[:4]
    columns, what = (pose, frame, ball, pull), (pairs, home, marks, found_pose, arms)
    for t in range(first, last):
        pair = live[t]
        a, b, count, at = pairs[pair, 0], pairs[pair, 1], marks[home[pair], COUNT], slot[pair]
        a_row[t], b_row[t], count_row[t] = a, b, count
        if (t - first) % AT_ONCE == 0:
            make_rows(speed, row, columns, what, live, t, last)
        for point in range(4):
            row[t, IMPULSE + point] = held[at, point] if at >= 0 and point < count else 0.0
            row[t, GREATEST + point] = 0.0
        drive1 = drive2 = slide1 = slide2 = 0.0
        for axis in range(3):
            along = material[b, SURFACE + axis] - material[a, SURFACE + axis]
            drive1, drive2 = drive1 + along * row[t, T1 + axis], drive2 + along * row[t, T2 + axis]
            rub = np.float64(held[at, 4 + axis]) if at >= 0 else 0.0
            slide1, slide2 = slide1 + rub * row[t, T1 + axis], slide2 + rub * row[t, T2 + axis]
            row[t, ROLL + axis] = held[at, ROLLED + axis] if at >= 0 else 0.0
        row[t, SLIDE1], row[t, SLIDE2], row[t, TWIST] = slide1, slide2, held[at, 7] if at >= 0 else 0.0
        row[t, DRIVE1], row[t, DRIVE2] = drive1, drive2
        row[t, MU] = math.sqrt(ball[a, FRICTION] * ball[b, FRICTION])
        row[t, BOUNCE] = max(material[a, RESTITUTION], material[b, RESTITUTION])
        rolling = max(material[a, ROLLING], material[b, ROLLING])
        row[t, ROLL_LIMIT] = 0.0
        if rolling > 0:
            curved = 1.0 / abs(ball[a, RADIUS]) if a < moving else 0.0
            curved += 1.0 / abs(ball[b, RADIUS]) if b < moving else 0.0
            row[t, ROLL_LIMIT] = rolling / curved


@helper
def warm_manifolds(first: Integer, last: Integer, rows: ManifoldRows, bodies: _Spins, moving: Integer) -> None:
    """Apply the impulses so far, and group the manifolds for what follows."""
    a_row, b_row, _, row = rows[:4]
    group_contacts(first, last, a_row, b_row, moving, rows.group)
    for t in range(first, last):
        warm_row(bodies[0], row, t, a_row[t], b_row[t], moving)
        if row[t, ROLL_LIMIT] > 0:
            by = (np.float64(row[t, ROLL]), np.float64(row[t, ROLL + 1]), np.float64(row[t, ROLL + 2]))
            _twist(bodies, a_row[t], b_row[t], moving, by)


@forceinline
def _store(rows: ManifoldRows, t: Integer, threshold: float) -> None:
    """Keep the impulses of row ``t`` for the next step; those of a rebound, which is still to come, act once."""
    row, held = rows.row, rows.held
    for point in range(4):
        bounces = row[t, BOUNCE] > 0 and row[t, APPROACH + point] <= -threshold
        held[t, point] = 0.0 if bounces else row[t, IMPULSE + point]
    for axis in range(3):
        held[t, 4 + axis] = row[t, SLIDE1] * row[t, T1 + axis] + row[t, SLIDE2] * row[t, T2 + axis]
        held[t, ROLLED + axis] = row[t, ROLL + axis]
    held[t, 7] = row[t, TWIST]
    touched, fastest = False, -np.inf
    for point in range(rows.point_count[t]):
        touched |= row[t, GREATEST + point] > 0 or row[t, GAP + point] <= 0
        fastest = max(fastest, -row[t, APPROACH + point])
    held[t, TOUCHED], held[t, SPEED] = touched, fastest


@helper
def solve_manifolds(
    first: Integer, last: Integer, rows: ManifoldRows, bodies: _Spins, moving: Integer, rates: F32, how: tuple[Any, ...]
) -> None:
    """Normal impulses of all points, then twist and friction.

    With the soft bias that corrects overlap, or without it, so that what it added leaves the velocities again. Friction
    acts in both: bodies would move sideways by what the bias gives them, and tall stacks would sway. Rolling is
    resisted without the bias only. ``how`` is whether there is a bias, then as in `relax_spheres`.
    """
    a_row, b_row, _, row = rows[:4]
    speed, (has_bias, stores, threshold) = bodies[0], how
    t = first
    while t < last:
        which = FREE if not has_bias else SOFT if a_row[t] < moving and b_row[t] < moving else STATIC
        after = t + rows.group[t]
        if after > t + 1:
            solve_rows(speed, row, a_row, b_row, t, moving, rates, which)
        else:
            solve_row(speed, row, a_row, b_row, t, moving, rates, which)
        while t < after:
            if row[t, ROLL_LIMIT] > 0 and not has_bias:
                _roll(row, t, a_row[t], b_row[t], bodies, moving)
            if stores:
                _store(rows, t, threshold)
            t += 1


@helper
def _roll(row: Any, t: Integer, a: Integer, b: Integer, bodies: _Spins, moving: Integer) -> None:
    """Resist turning against each other by a torque of at most the limit times the normal impulse."""
    speed, frame = bodies
    (ax, ay, az), (bx, by, bz) = scaled_sum(frame, speed, a, W), scaled_sum(frame, speed, b, W)
    ease = (_ease(frame, a) if a < moving else 0.0) + (_ease(frame, b) if b < moving else 0.0)
    x, y, z = row[t, ROLL] - (bx - ax) / ease, row[t, ROLL + 1] - (by - ay) / ease, row[t, ROLL + 2] - (bz - az) / ease
    pressed = row[t, IMPULSE] + row[t, IMPULSE + 1] + row[t, IMPULSE + 2] + row[t, IMPULSE + 3]
    most, square = np.float64(row[t, ROLL_LIMIT]) * pressed, x * x + y * y + z * z
    share = most / math.sqrt(square) if square > most * most else 1.0
    old = (np.float64(row[t, ROLL]), np.float64(row[t, ROLL + 1]), np.float64(row[t, ROLL + 2]))
    row[t, ROLL], row[t, ROLL + 1], row[t, ROLL + 2] = share * x, share * y, share * z
    _twist(bodies, a, b, moving, (row[t, ROLL] - old[0], row[t, ROLL + 1] - old[1], row[t, ROLL + 2] - old[2]))


@helper
def _ease(frame: Any, body: Integer) -> float:
    """Return how fast a unit of torque turns a body at most: the inverse of its least moment of inertia."""
    most = 0.0
    for axis in range(3):
        most = max(most, frame[body, 3 * axis] ** 2 + frame[body, 3 * axis + 1] ** 2 + frame[body, 3 * axis + 2] ** 2)
    return most


@helper
def _twist(bodies: _Spins, a: Integer, b: Integer, moving: Integer, by: Vector) -> None:
    """Turn ``b`` by an angular impulse, and ``a`` by the opposite."""
    speed, frame = bodies
    one, other = _turn_scaled(frame, a, by), _turn_scaled(frame, b, by)
    for axis in range(3):
        if a < moving:
            speed[a, W + axis] -= one[axis]
        if b < moving:
            speed[b, W + axis] += other[axis]


@helper
def bounce_manifolds(count: Integer, rows: ManifoldRows, speed: Any, moving: Integer, threshold: float) -> None:
    """Rebound, point by point, as `bounce_spheres` does."""
    a_row, b_row, point_count, row = rows[:4]
    for t in range(count):
        if row[t, BOUNCE] == 0:
            continue
        a, b = a_row[t], b_row[t]
        scale_a, scale_b = speed[a, SCALE], speed[b, SCALE]
        greatest = max(max(row[t, GREATEST], row[t, GREATEST + 1]), max(row[t, GREATEST + 2], row[t, GREATEST + 3]))
        for turn in range(BLOWS * point_count[t] if greatest > 0 else 0):
            point = turn % point_count[t]
            approach = row[t, APPROACH + point]
            if approach > -threshold:
                continue
            parting, gap = 0.0, row[t, GAP + point]
            for axis in range(3):
                ahead, behind = row[t, NORMAL + axis] * scale_b, row[t, NORMAL + axis] * scale_a
                parting += ahead * speed[b, V + axis] - behind * speed[a, V + axis]
                gap += ahead * speed[b, MOVED + axis] - behind * speed[a, MOVED + axis]
                ja, jb = row[t, JA + 4 * axis + point], row[t, JB + 4 * axis + point]
                parting += ja * speed[a, W + axis] + jb * speed[b, W + axis]
                gap += ja * speed[a, TURNED + axis] + jb * speed[b, TURNED + axis]
            wanted = rebound(approach, row[t, GAP + point], gap, row[t, PULL], row[t, BOUNCE])
            impulse = max(row[t, IMPULSE + point] - row[t, MASS + point] * (parting - wanted), 0.0)
            change = impulse - row[t, IMPULSE + point]
            row[t, IMPULSE + point] = impulse  # rounded: it is not carried over where bodies rebound
            for axis in range(3):
                along = change * row[t, NORMAL + axis]
                if a < moving:
                    speed[a, V + axis] -= scale_a * along
                    speed[a, W + axis] += change * row[t, JA + 4 * axis + point]
                if b < moving:
                    speed[b, V + axis] += scale_b * along
                    speed[b, W + axis] += change * row[t, JB + 4 * axis + point]

"""Contacts of up to four points: how their rows are made from manifolds, and the loops of their passes.

Friction acts in the middle of the points, along two tangents solved together, and as a twist about the normal.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, kernel
from choque._core.types import Integer, Rows
from choque._core.vector import Vector, cross, dot, scaled, unit
from choque.dynamics.soft_step.bodies import (
    FRICTION,
    LIGHTNESS,
    RADIUS,
    REACH,
    RESTITUTION,
    ROLLING,
    SURFACE,
    SolverBodies,
    scaled_sum,
)
from choque.dynamics.soft_step.four import MOVED, SCALE, TURNED, V, W, are_apart
from choque.dynamics.soft_step.rates import Rates
from choque.dynamics.soft_step.rows import (
    APPROACH,
    BOUNCE,
    CROSS,
    DRIVE1,
    DRIVE2,
    FA1,
    FA2,
    FB1,
    FB2,
    GAP,
    GREATEST,
    IMPULSE,
    INVERSE,
    JA,
    JB,
    LEVER,
    MASS,
    MU,
    NORMAL,
    PULL,
    ROLL,
    ROLL_LIMIT,
    SLIDE1,
    SLIDE2,
    T1,
    T2,
    TA,
    TB,
    TWIST,
    TWIST_MASS,
    WIDTH,
    solve_row,
    solve_two_rows,
    warm_row,
)
from choque.dynamics.soft_step.spheres import rebound

NORMAL_ARMS = 27
"""Numbers that are kept for a manifold: its normal, and for each point the arms from the centres of both bodies."""

POSE = 22
"""And the pose it was found in: the offset of the bodies, how far they may move, and the rotation of each."""


BLOWS = 8
"""Rounds of rebound of a manifold: after one, the first points have taken more than the others, and the body spins."""


ROLLED = 10
"""Place of the torque against rolling in what is held of a manifold."""

_Spins: TypeAlias = tuple[Any, Any]
"""The columns ``speed`` and ``frame`` of `SolverBodies`."""


class ManifoldRows(NamedTuple):
    """The manifolds that are solved in a step, in the order of the solver."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    point_count: NDArray[np.int32]
    row: NDArray[np.float32]
    """(t, 112): see `rows`."""


@helper
def _turn_scaled(frame: Any, body: Integer, vector: Vector) -> Vector:
    """Return a torque of the world as the change of the body's scaled spin."""
    x, y, z = vector
    return (
        frame[body, 0] * x + frame[body, 1] * y + frame[body, 2] * z,
        frame[body, 3] * x + frame[body, 4] * y + frame[body, 5] * z,
        frame[body, 6] * x + frame[body, 7] * y + frame[body, 8] * z,
    )


@helper
def _turned_normal(pose: Any, body: Integer, kept: Any, pair: Integer, at: Integer, normal: Vector) -> Vector:
    """Return R₀·Rᵀ·n: the normal as a body sees it that has turned from R₀ to R since the manifold was found."""
    x, y, z = normal
    u = pose[body, 3] * x + pose[body, 6] * y + pose[body, 9] * z
    v = pose[body, 4] * x + pose[body, 7] * y + pose[body, 10] * z
    w = pose[body, 5] * x + pose[body, 8] * y + pose[body, 11] * z
    return (
        kept[pair, at] * u + kept[pair, at + 1] * v + kept[pair, at + 2] * w,
        kept[pair, at + 3] * u + kept[pair, at + 4] * v + kept[pair, at + 5] * w,
        kept[pair, at + 6] * u + kept[pair, at + 7] * v + kept[pair, at + 8] * w,
    )


@kernel
def prepare_manifolds(
    first: Integer,
    last: Integer,
    live: Rows,
    kept: tuple[Any, Any, Any, Any, Any, Any],
    bodies: SolverBodies,
    moving: Integer,
    rows: ManifoldRows,
) -> None:
    """Make the rows ``first … last − 1`` from the manifolds ``live``, with the impulses that were held.

    ``kept`` are all columns of `Kept` but the keys. Normals and arms
    stay as they were found; only the gaps follow the bodies: if normals turned along with a body, tall stacks would
    buckle.
    """
    _, _, pose, _, _, ball, speed, _, frame, pull, material = bodies
    pairs, slot, held, marks, found_pose, arms = kept
    a_row, b_row, count_row, row = rows
    for t in range(first, last):
        pair = live[t]
        a, b, count, at_held = pairs[pair, 0], pairs[pair, 1], marks[pair, 4], slot[pair]
        a_row[t], b_row[t], count_row[t] = a, b, count
        for place in range(WIDTH):
            row[t, place] = 0.0
        normal = (arms[pair, 0], arms[pair, 1], arms[pair, 2])
        seen_a = _turned_normal(pose, a, found_pose, pair, 4, normal)
        seen_b = _turned_normal(pose, b, found_pose, pair, 13, normal)
        offset = (pose[b, 0] - pose[a, 0], pose[b, 1] - pose[a, 1], pose[b, 2] - pose[a, 2])
        apart = dot(normal, offset)
        scale_a, scale_b = speed[a, SCALE], speed[b, SCALE]
        mass = ball[a, LIGHTNESS] ** 2 + ball[b, LIGHTNESS] ** 2
        weight_a, weight_b = (1.0 if a < moving else 0.0), (1.0 if b < moving else 0.0)
        approach = pulled = 0.0
        for axis in range(3):
            approach += normal[axis] * (scale_b * speed[b, V + axis] - scale_a * speed[a, V + axis])
            pulled += normal[axis] * (scale_b * pull[b, axis] - scale_a * pull[a, axis])
        margin = ball[a, REACH] + ball[b, REACH]
        total = 0.0
        ax = ay = az = bx = by = bz = 0.0
        for point in range(count):
            at = 3 + 6 * point
            arm_a = (arms[pair, at], arms[pair, at + 1], arms[pair, at + 2])
            arm_b = (arms[pair, at + 3], arms[pair, at + 4], arms[pair, at + 5])
            gap = apart + dot(seen_b, arm_b) - dot(seen_a, arm_a)
            ja = _turn_scaled(frame, a, cross(normal, arm_a))  # −(arm × normal)
            jb = _turn_scaled(frame, b, cross(arm_b, normal))
            meeting = approach
            for axis in range(3):
                row[t, JA + 4 * axis + point] = ja[axis]
                row[t, JB + 4 * axis + point] = jb[axis]
                meeting += ja[axis] * speed[a, W + axis] + jb[axis] * speed[b, W + axis]
            row[t, GAP + point], row[t, APPROACH + point] = gap, meeting
            row[t, MASS + point] = 1.0 / (mass + weight_a * dot(ja, ja) + weight_b * dot(jb, jb))
            row[t, IMPULSE + point] = held[at_held, point] if at_held >= 0 else 0.0
            share = min(max(2.0 - gap / margin, 1e-6), 1.0)  # points that hardly touch count less
            total += share
            ax, ay, az = ax + share * arm_a[0], ay + share * arm_a[1], az + share * arm_a[2]
            bx, by, bz = bx + share * arm_b[0], by + share * arm_b[1], bz + share * arm_b[2]
        ax, ay, az, bx, by, bz = ax / total, ay / total, az / total, bx / total, by / total, bz / total
        for point in range(count):
            at = 3 + 6 * point
            lever = (arms[pair, at] - ax, arms[pair, at + 1] - ay, arms[pair, at + 2] - az)
            row[t, LEVER + point] = math.sqrt(dot(lever, lever))
        for point in range(count - 1):
            for other in range(point + 1, count):
                change = mass
                for axis in range(3):
                    change += weight_a * row[t, JA + 4 * axis + point] * row[t, JA + 4 * axis + other]
                    change += weight_b * row[t, JB + 4 * axis + point] * row[t, JB + 4 * axis + other]
                row[t, CROSS + 4 * point + other] = change
        tangent = (0.0, normal[2], -normal[1]) if abs(normal[0]) < abs(normal[1]) else (normal[2], 0.0, -normal[0])
        tangent = unit(tangent)
        other_tangent = cross(normal, tangent)
        middle_a, middle_b = (ax, ay, az), (bx, by, bz)
        fa1 = _turn_scaled(frame, a, cross(tangent, middle_a))
        fb1 = _turn_scaled(frame, b, cross(middle_b, tangent))
        fa2 = _turn_scaled(frame, a, cross(other_tangent, middle_a))
        fb2 = _turn_scaled(frame, b, cross(middle_b, other_tangent))
        ta, tb = _turn_scaled(frame, a, scaled(normal, -1.0)), _turn_scaled(frame, b, normal)
        k11 = mass + weight_a * dot(fa1, fa1) + weight_b * dot(fb1, fb1)
        k22 = mass + weight_a * dot(fa2, fa2) + weight_b * dot(fb2, fb2)
        k12 = weight_a * dot(fa1, fa2) + weight_b * dot(fb1, fb2)
        inverse = 1.0 / (k11 * k22 - k12 * k12)
        drive1 = drive2 = slide1 = slide2 = 0.0
        for axis in range(3):
            row[t, NORMAL + axis], row[t, T1 + axis], row[t, T2 + axis] = (
                normal[axis],
                tangent[axis],
                other_tangent[axis],
            )
            row[t, FA1 + axis], row[t, FB1 + axis] = fa1[axis], fb1[axis]
            row[t, FA2 + axis], row[t, FB2 + axis] = fa2[axis], fb2[axis]
            row[t, TA + axis], row[t, TB + axis] = ta[axis], tb[axis]
            along = material[b, SURFACE + axis] - material[a, SURFACE + axis]
            drive1, drive2 = drive1 + along * tangent[axis], drive2 + along * other_tangent[axis]
            rub = held[at_held, 4 + axis] if at_held >= 0 else 0.0
            slide1, slide2 = slide1 + rub * tangent[axis], slide2 + rub * other_tangent[axis]
        row[t, SLIDE1], row[t, SLIDE2], row[t, TWIST] = slide1, slide2, held[at_held, 7] if at_held >= 0 else 0.0
        row[t, INVERSE], row[t, INVERSE + 1], row[t, INVERSE + 2] = k22 * inverse, -k12 * inverse, k11 * inverse
        row[t, TWIST_MASS] = 1.0 / (weight_a * dot(ta, ta) + weight_b * dot(tb, tb))
        row[t, PULL] = pulled
        row[t, MU] = math.sqrt(ball[a, FRICTION] * ball[b, FRICTION])
        row[t, BOUNCE] = max(material[a, RESTITUTION], material[b, RESTITUTION])
        row[t, DRIVE1], row[t, DRIVE2] = drive1, drive2
        curved = weight_a / abs(ball[a, RADIUS]) + weight_b / abs(ball[b, RADIUS])
        row[t, ROLL_LIMIT] = max(material[a, ROLLING], material[b, ROLLING]) / curved
        for axis in range(3):
            row[t, ROLL + axis] = held[at_held, ROLLED + axis] if at_held >= 0 else 0.0


@helper
def warm_manifolds(first: Integer, last: Integer, rows: ManifoldRows, bodies: _Spins, moving: Integer) -> None:
    """Apply the impulses so far."""
    a_row, b_row, _, row = rows
    for t in range(first, last):
        warm_row(bodies[0], row, t, a_row[t], b_row[t], moving)
        if row[t, ROLL_LIMIT] > 0:
            by = (np.float64(row[t, ROLL]), np.float64(row[t, ROLL + 1]), np.float64(row[t, ROLL + 2]))
            _twist(bodies, a_row[t], b_row[t], moving, by)


@helper
def solve_manifolds(
    first: Integer, last: Integer, rows: ManifoldRows, bodies: _Spins, moving: Integer, rates: Rates, has_bias: bool
) -> None:
    """Normal impulses of all points, then twist and friction.

    With the soft bias that corrects overlap, or without it, so that what it added leaves the velocities again. Friction
    acts in both: bodies would move sideways by what the bias gives them, and tall stacks would sway. Rolling is
    resisted without the bias only.
    """
    a_row, b_row, _, row = rows
    speed = bodies[0]
    inverse_h, push = rates.inverse_h, rates.push
    t = first
    while t < last:
        a, b = a_row[t], b_row[t]
        rate, scale, keep = rates.rate, rates.scale, rates.keep
        if not has_bias:
            rate, scale, keep = 0.0, 1.0, 0.0
        elif a >= moving or b >= moving:
            rate, scale, keep = rates.static_rate, rates.static_scale, rates.static_keep
        if t + 1 < last and are_apart(a, b, a_row[t + 1], b_row[t + 1], moving):
            c, d = a_row[t + 1], b_row[t + 1]
            solve_two_rows(speed, row, t, a, b, c, d, moving, inverse_h, push, rate, scale, keep)
            if row[t + 1, ROLL_LIMIT] > 0 and not has_bias:
                _roll(row, t + 1, c, d, bodies, moving)
            step = 2
        else:
            solve_row(speed, row, t, a, b, moving, inverse_h, push, rate, scale, keep)
            step = 1
        if row[t, ROLL_LIMIT] > 0 and not has_bias:
            _roll(row, t, a, b, bodies, moving)
        t += step


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
    a_row, b_row, point_count, row = rows
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


@kernel
def store_manifolds(first: Integer, last: Integer, rows: ManifoldRows, threshold: float, held: Any) -> None:
    """Keep the impulses of the rows ``first … last − 1`` for the next step."""
    row = rows.row
    for t in range(first, last):
        for point in range(4):
            bounced = row[t, BOUNCE] > 0 and row[t, APPROACH + point] < -threshold  # its impulse will not act again
            held[t, point] = 0.0 if bounced else row[t, IMPULSE + point]
        for axis in range(3):
            held[t, 4 + axis] = row[t, SLIDE1] * row[t, T1 + axis] + row[t, SLIDE2] * row[t, T2 + axis]
            held[t, ROLLED + axis] = row[t, ROLL + axis]
        held[t, 7] = row[t, TWIST]
        touched, fastest = False, -np.inf
        for point in range(rows.point_count[t]):
            touched |= row[t, GREATEST + point] > 0 or row[t, GAP + point] <= 0
            fastest = max(fastest, -row[t, APPROACH + point])
        held[t, 8], held[t, 9] = touched, fastest

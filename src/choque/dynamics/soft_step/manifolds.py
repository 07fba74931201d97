"""Contacts of up to four points: a row of 104 numbers for each manifold, and its passes.

The points are solved one after another; the speeds at the others follow by the matrix of how an impulse at one point
changes the speed at another, so that a point costs four multiplications. Friction acts in the middle of the points, as
two tangents solved together, and as a twist about the normal.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import forceinline, helper, kernel
from choque._core.types import Integer, Rows
from choque._core.vector import Vector, cross, dot, scaled, unit
from choque.dynamics.soft_step.bodies import (
    FRICTION,
    INVERSE_MASS,
    MOVED,
    RESTITUTION,
    SCALE,
    SURFACE,
    TURNED,
    SolverBodies,
    V,
    W,
)
from choque.dynamics.soft_step.rates import Rates
from choque.dynamics.soft_step.spheres import rebound

# Places in a row. First columns of four points: what a unit impulse does to the spin of A (12) and of B (12), the gap,
# the mass, the impulse, its greatest value, the approach, and the lever for the twist; then how an impulse at the first
# three points changes the speed at the others (12).
JA, JB, GAP, MASS, IMPULSE, GREATEST, APPROACH, LEVER, CROSS = 0, 12, 24, 28, 32, 36, 40, 44, 48
# Then vectors of three with a number behind: the normal, both tangents with their friction, the inverse of their
# matrix with the twist, and what friction and twist do to the spins.
NORMAL, T1, T2, INVERSE, FA1, FB1, FA2, FB2, TA, TB = 60, 64, 68, 72, 76, 80, 84, 88, 92, 96
SLIDE1, SLIDE2, TWIST, TWIST_MASS, SCALE_A, SCALE_B, MU, BOUNCE, PULL = 67, 71, 75, 79, 83, 87, 91, 95, 99
DRIVE1, DRIVE2 = 100, 101
WIDTH = 104

NORMAL_ARMS = 27
"""Numbers that are kept for a manifold: its normal, and for each point the arms from the centres of both bodies."""

POSE = 22
"""And the pose it was found in: the offset of the bodies, how far they may move, and the rotation of each."""


BLOWS = 8
"""Rounds of rebound of a manifold: after one, the first points have taken more than the others, and the body spins."""


class ManifoldRows(NamedTuple):
    """The manifolds that are solved in a step, in the order of the solver."""

    a: NDArray[np.int32]
    b: NDArray[np.int32]
    point_count: NDArray[np.int32]
    row: NDArray[np.float64]
    """(t, 104)."""


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
    pairs: Any,
    kept: tuple[Any, Any, Any, Any],
    bodies: SolverBodies,
    moving: Integer,
    rows: ManifoldRows,
) -> None:
    """Make the rows ``first … last − 1`` from the manifolds ``live``, with the impulses that were held.

    ``kept`` are the poses, the normals with the arms, the numbers of points, and the impulses held. Normals and arms
    stay as they were found; only the gaps follow the bodies: if normals turned along with a body, tall stacks would
    buckle.
    """
    pose, frame, speed, pull, material, near = (
        bodies.pose,
        bodies.frame,
        bodies.speed,
        bodies.pull,
        bodies.material,
        bodies.near,
    )
    found_pose, arms, counts, held = kept
    a_row, b_row, count_row, row = rows
    for t in range(first, last):
        pair = live[t]
        a, b, count = pairs[pair, 0], pairs[pair, 1], counts[pair]
        a_row[t], b_row[t], count_row[t] = a, b, count
        for place in range(60):
            row[t, place] = 0.0
        normal = (arms[pair, 0], arms[pair, 1], arms[pair, 2])
        seen_a = _turned_normal(pose, a, found_pose, pair, 4, normal)
        seen_b = _turned_normal(pose, b, found_pose, pair, 13, normal)
        offset = (pose[b, 0] - pose[a, 0], pose[b, 1] - pose[a, 1], pose[b, 2] - pose[a, 2])
        apart = dot(normal, offset)
        scale_a, scale_b = frame[a, SCALE], frame[b, SCALE]
        mass = frame[a, INVERSE_MASS] + frame[b, INVERSE_MASS]
        weight_a, weight_b = (1.0 if a < moving else 0.0), (1.0 if b < moving else 0.0)
        approach = pulled = 0.0
        for axis in range(3):
            approach += normal[axis] * (scale_b * speed[b, V + axis] - scale_a * speed[a, V + axis])
            pulled += normal[axis] * (scale_b * pull[b, axis] - scale_a * pull[a, axis])
        margin = near[a] + near[b]
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
            row[t, IMPULSE + point] = held[pair, point]
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
            slide1 += held[pair, 4 + axis] * tangent[axis]
            slide2 += held[pair, 4 + axis] * other_tangent[axis]
        row[t, SLIDE1], row[t, SLIDE2], row[t, TWIST] = slide1, slide2, held[pair, 7]
        row[t, INVERSE], row[t, INVERSE + 1], row[t, INVERSE + 2] = k22 * inverse, -k12 * inverse, k11 * inverse
        row[t, TWIST_MASS] = 1.0 / (weight_a * dot(ta, ta) + weight_b * dot(tb, tb))
        row[t, SCALE_A], row[t, SCALE_B], row[t, PULL] = scale_a, scale_b, pulled
        row[t, MU] = math.sqrt(material[a, FRICTION] * material[b, FRICTION])
        row[t, BOUNCE] = max(material[a, RESTITUTION], material[b, RESTITUTION])
        row[t, DRIVE1], row[t, DRIVE2] = drive1, drive2


@forceinline
def _speed_along(row: Any, t: Integer, speed: Any, at: Integer, a: Integer, b: Integer) -> float:
    """Return the part of the speed along the normal, or of the way, that all points share."""
    found = 0.0
    for axis in range(3):
        found += row[t, NORMAL + axis] * (row[t, SCALE_B] * speed[b, at + axis] - row[t, SCALE_A] * speed[a, at + axis])
    return found


@forceinline
def _at_points(row: Any, t: Integer, speed: Any, at: Integer, a: Integer, b: Integer, base: float) -> Any:
    """Return the speed along the normal, or the way, at each of four points: ``base`` and what turning adds."""
    xa, ya, za = speed[a, at], speed[a, at + 1], speed[a, at + 2]
    xb, yb, zb = speed[b, at], speed[b, at + 1], speed[b, at + 2]
    return (
        base + _turning(row, t, 0, xa, ya, za, xb, yb, zb),
        base + _turning(row, t, 1, xa, ya, za, xb, yb, zb),
        base + _turning(row, t, 2, xa, ya, za, xb, yb, zb),
        base + _turning(row, t, 3, xa, ya, za, xb, yb, zb),
    )


@forceinline
def _turning(row: Any, t: Integer, point: int, xa: Any, ya: Any, za: Any, xb: Any, yb: Any, zb: Any) -> Any:
    return (
        row[t, JA + point] * xa
        + row[t, JA + 4 + point] * ya
        + row[t, JA + 8 + point] * za
        + row[t, JB + point] * xb
        + row[t, JB + 4 + point] * yb
        + row[t, JB + 8 + point] * zb
    )


@forceinline
def _apply_normals(row: Any, t: Integer, at: tuple[Any, Any, Any], speed: Any, change: Any) -> None:
    """Apply the impulses ``change`` of four points along the normal."""
    a, b, moving = at
    total = (change[0] + change[1]) + (change[2] + change[3])
    if a < moving:
        for axis in range(3):
            speed[a, V + axis] -= row[t, SCALE_A] * total * row[t, NORMAL + axis]
            j = JA + 4 * axis
            speed[a, W + axis] += (change[0] * row[t, j] + change[1] * row[t, j + 1]) + (
                change[2] * row[t, j + 2] + change[3] * row[t, j + 3]
            )
    if b < moving:
        for axis in range(3):
            speed[b, V + axis] += row[t, SCALE_B] * total * row[t, NORMAL + axis]
            j = JB + 4 * axis
            speed[b, W + axis] += (change[0] * row[t, j] + change[1] * row[t, j + 1]) + (
                change[2] * row[t, j + 2] + change[3] * row[t, j + 3]
            )


@forceinline
def _apply_friction(row: Any, t: Integer, at: tuple[Any, Any, Any], speed: Any, change: Vector) -> None:
    """Apply impulses along both tangents and about the normal."""
    a, b, moving = at
    one, two, twist = change
    if a < moving:
        for axis in range(3):
            speed[a, V + axis] -= row[t, SCALE_A] * (one * row[t, T1 + axis] + two * row[t, T2 + axis])
            speed[a, W + axis] += one * row[t, FA1 + axis] + two * row[t, FA2 + axis] + twist * row[t, TA + axis]
    if b < moving:
        for axis in range(3):
            speed[b, V + axis] += row[t, SCALE_B] * (one * row[t, T1 + axis] + two * row[t, T2 + axis])
            speed[b, W + axis] += one * row[t, FB1 + axis] + two * row[t, FB2 + axis] + twist * row[t, TB + axis]


@helper
def warm_manifolds(first: Integer, last: Integer, rows: ManifoldRows, speed: Any, moving: Integer) -> None:
    """Apply the impulses so far."""
    a_row, b_row, _, row = rows
    for t in range(first, last):
        at = (a_row[t], b_row[t], moving)
        impulse = (row[t, IMPULSE], row[t, IMPULSE + 1], row[t, IMPULSE + 2], row[t, IMPULSE + 3])
        _apply_normals(row, t, at, speed, impulse)
        _apply_friction(row, t, at, speed, (row[t, SLIDE1], row[t, SLIDE2], row[t, TWIST]))


@forceinline
def _solve_points(row: Any, t: Integer, closing: Any, start: Any, mass: Any) -> Any:
    """Solve the four points one after another; return the changes of their impulses.

    ``start`` is the impulse of each but for what its speed adds, ``mass`` how much that is for a unit of speed.
    """
    c0, c1, c2, c3 = closing
    old0, old1, old2, old3 = row[t, IMPULSE], row[t, IMPULSE + 1], row[t, IMPULSE + 2], row[t, IMPULSE + 3]
    new0 = max(start[0] - mass[0] * c0, 0.0)
    d0 = new0 - old0
    c1 += d0 * row[t, CROSS + 1]
    new1 = max(start[1] - mass[1] * c1, 0.0)
    d1 = new1 - old1
    c2 += d0 * row[t, CROSS + 2] + d1 * row[t, CROSS + 6]
    new2 = max(start[2] - mass[2] * c2, 0.0)
    d2 = new2 - old2
    c3 += d0 * row[t, CROSS + 3] + d1 * row[t, CROSS + 7] + d2 * row[t, CROSS + 11]
    new3 = max(start[3] - mass[3] * c3, 0.0)
    d3 = new3 - old3
    row[t, IMPULSE], row[t, IMPULSE + 1], row[t, IMPULSE + 2], row[t, IMPULSE + 3] = new0, new1, new2, new3
    row[t, GREATEST] = max(row[t, GREATEST], new0)
    row[t, GREATEST + 1] = max(row[t, GREATEST + 1], new1)
    row[t, GREATEST + 2] = max(row[t, GREATEST + 2], new2)
    row[t, GREATEST + 3] = max(row[t, GREATEST + 3], new3)
    return d0, d1, d2, d3


@forceinline
def _soft_start(
    row: Any, t: Integer, point: int, moved: Any, inverse_h: float, push: float, soft: Vector
) -> tuple[float, float]:
    """Return the start and the mass of a point with soft bias; ``soft`` are rate, scale and keep."""
    gap, mass, impulse = row[t, GAP + point] + moved[point], row[t, MASS + point], row[t, IMPULSE + point]
    if gap > 0:
        return impulse - mass * gap * inverse_h, mass
    return impulse - mass * max(soft[0] * gap, -push) - soft[2] * impulse, mass * soft[1]


@helper
def solve_manifolds(
    first: Integer, last: Integer, rows: ManifoldRows, speed: Any, moving: Integer, rates: Rates
) -> None:
    """Normal impulses of all points, with the soft bias that corrects overlap."""
    a_row, b_row, _, row = rows
    for t in range(first, last):
        a, b = a_row[t], b_row[t]
        closing = _at_points(row, t, speed, W, a, b, _speed_along(row, t, speed, V, a, b))
        moved = _at_points(row, t, speed, TURNED, a, b, _speed_along(row, t, speed, MOVED, a, b))
        soft = (rates.rate, rates.scale, rates.keep)
        if a >= moving or b >= moving:
            soft = (rates.static_rate, rates.static_scale, rates.static_keep)
        s0, m0 = _soft_start(row, t, 0, moved, rates.inverse_h, rates.push, soft)
        s1, m1 = _soft_start(row, t, 1, moved, rates.inverse_h, rates.push, soft)
        s2, m2 = _soft_start(row, t, 2, moved, rates.inverse_h, rates.push, soft)
        s3, m3 = _soft_start(row, t, 3, moved, rates.inverse_h, rates.push, soft)
        change = _solve_points(row, t, closing, (s0, s1, s2, s3), (m0, m1, m2, m3))
        _apply_normals(row, t, (a, b, moving), speed, change)


@helper
def relax_manifolds(
    first: Integer, last: Integer, rows: ManifoldRows, speed: Any, moving: Integer, rates: Rates
) -> None:
    """Normal impulses without the bias, so that what it added leaves the velocities again; then twist and friction."""
    a_row, b_row, _, row = rows
    inverse_h = rates.inverse_h
    for t in range(first, last):
        a, b = a_row[t], b_row[t]
        closing = _at_points(row, t, speed, W, a, b, _speed_along(row, t, speed, V, a, b))
        moved = _at_points(row, t, speed, TURNED, a, b, _speed_along(row, t, speed, MOVED, a, b))
        m0, m1, m2, m3 = row[t, MASS], row[t, MASS + 1], row[t, MASS + 2], row[t, MASS + 3]
        start = (
            row[t, IMPULSE] - m0 * max(row[t, GAP] + moved[0], 0.0) * inverse_h,
            row[t, IMPULSE + 1] - m1 * max(row[t, GAP + 1] + moved[1], 0.0) * inverse_h,
            row[t, IMPULSE + 2] - m2 * max(row[t, GAP + 2] + moved[2], 0.0) * inverse_h,
            row[t, IMPULSE + 3] - m3 * max(row[t, GAP + 3] + moved[3], 0.0) * inverse_h,
        )
        change = _solve_points(row, t, closing, start, (m0, m1, m2, m3))
        _apply_normals(row, t, (a, b, moving), speed, change)
        _apply_friction(row, t, (a, b, moving), speed, _rub(row, t, speed, a, b, moving))


@forceinline
def _rub(row: Any, t: Integer, speed: Any, a: Integer, b: Integer, moving: Integer) -> Vector:
    """Solve twist, then friction, within what the normal impulses allow.

    Return the changes along both tangents and about the normal.
    """
    i0, i1, i2, i3 = row[t, IMPULSE], row[t, IMPULSE + 1], row[t, IMPULSE + 2], row[t, IMPULSE + 3]
    lever = i0 * row[t, LEVER] + i1 * row[t, LEVER + 1] + i2 * row[t, LEVER + 2] + i3 * row[t, LEVER + 3]
    spin = 0.0
    for axis in range(3):
        spin += row[t, TA + axis] * speed[a, W + axis] + row[t, TB + axis] * speed[b, W + axis]
    most = row[t, MU] * lever
    twist = min(max(row[t, TWIST] - row[t, TWIST_MASS] * spin, -most), most)
    turn_a, turn_b = (twist - row[t, TWIST]) * (a < moving), (twist - row[t, TWIST]) * (b < moving)
    one, two = row[t, DRIVE1], row[t, DRIVE2]
    for axis in range(3):
        wa, wb = speed[a, W + axis] + turn_a * row[t, TA + axis], speed[b, W + axis] + turn_b * row[t, TB + axis]
        between = row[t, SCALE_B] * speed[b, V + axis] - row[t, SCALE_A] * speed[a, V + axis]
        one += row[t, T1 + axis] * between + row[t, FA1 + axis] * wa + row[t, FB1 + axis] * wb
        two += row[t, T2 + axis] * between + row[t, FA2 + axis] * wa + row[t, FB2 + axis] * wb
    x = row[t, SLIDE1] - (row[t, INVERSE] * one + row[t, INVERSE + 1] * two)
    y = row[t, SLIDE2] - (row[t, INVERSE + 1] * one + row[t, INVERSE + 2] * two)
    most = row[t, MU] * ((i0 + i1) + (i2 + i3))
    square = x * x + y * y
    if square > most * most:
        share = most / math.sqrt(square)
        x, y = share * x, share * y
    change = (x - row[t, SLIDE1], y - row[t, SLIDE2], twist - row[t, TWIST])
    row[t, SLIDE1], row[t, SLIDE2], row[t, TWIST] = x, y, twist
    return change


@helper
def bounce_manifolds(count: Integer, rows: ManifoldRows, speed: Any, moving: Integer, threshold: float) -> None:
    """Rebound, point by point, as `bounce_spheres` does."""
    a_row, b_row, point_count, row = rows
    for t in range(count):
        if row[t, BOUNCE] == 0:
            continue
        a, b = a_row[t], b_row[t]
        greatest = max(max(row[t, GREATEST], row[t, GREATEST + 1]), max(row[t, GREATEST + 2], row[t, GREATEST + 3]))
        for turn in range(BLOWS * point_count[t] if greatest > 0 else 0):
            point = turn % point_count[t]
            approach = row[t, APPROACH + point]
            if approach > -threshold:
                continue
            parting = _speed_along(row, t, speed, V, a, b)
            gap = row[t, GAP + point] + _speed_along(row, t, speed, MOVED, a, b)
            for axis in range(3):
                ja, jb = row[t, JA + 4 * axis + point], row[t, JB + 4 * axis + point]
                parting += ja * speed[a, W + axis] + jb * speed[b, W + axis]
                gap += ja * speed[a, TURNED + axis] + jb * speed[b, TURNED + axis]
            wanted = rebound(approach, row[t, GAP + point], gap, row[t, PULL], row[t, BOUNCE])
            impulse = max(row[t, IMPULSE + point] - row[t, MASS + point] * (parting - wanted), 0.0)
            change = impulse - row[t, IMPULSE + point]
            row[t, IMPULSE + point] = impulse
            for axis in range(3):
                along = change * row[t, NORMAL + axis]
                if a < moving:
                    speed[a, V + axis] -= row[t, SCALE_A] * along
                    speed[a, W + axis] += change * row[t, JA + 4 * axis + point]
                if b < moving:
                    speed[b, V + axis] += row[t, SCALE_B] * along
                    speed[b, W + axis] += change * row[t, JB + 4 * axis + point]


@kernel
def store_manifolds(first: Integer, last: Integer, live: Rows, rows: ManifoldRows, threshold: float, held: Any) -> None:
    """Keep the impulses of the rows ``first … last − 1`` for the next step."""
    row = rows.row
    for t in range(first, last):
        pair = live[t]
        for point in range(4):
            bounced = row[t, BOUNCE] > 0 and row[t, APPROACH + point] < -threshold  # its impulse will not act again
            held[pair, point] = 0.0 if bounced else row[t, IMPULSE + point]
        for axis in range(3):
            held[pair, 4 + axis] = row[t, SLIDE1] * row[t, T1 + axis] + row[t, SLIDE2] * row[t, T2 + axis]
        held[pair, 7] = row[t, TWIST]
        touched, fastest = False, -np.inf
        for point in range(rows.point_count[t]):
            touched |= row[t, GREATEST + point] > 0 or row[t, GAP + point] <= 0
            fastest = max(fastest, -row[t, APPROACH + point])
        held[pair, 8], held[pair, 9] = touched, fastest

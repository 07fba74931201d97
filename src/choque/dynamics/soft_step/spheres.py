"""Contacts of spheres with spheres, and with static bodies at rest: the arm of the contact lies along its normal.

The normal impulse then turns nothing, and friction is one vector in the plane of contact: a row of 16 numbers, which a
pass handles in a third of the time of a manifold.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from choque._core.kernel import forceinline, helper, kernel
from choque._core.phases import Shares, next_share
from choque._core.types import F32, I32, U8, Integer, Rows
from choque._core.vector import Vector, dot
from choque.dynamics.soft_step import sphere_rows as place
from choque.dynamics.soft_step.bodies import (
    ARM,
    FRICTION,
    LIGHTNESS,
    RADIUS,
    REACH,
    RESTITUTION,
    ROLLING,
    SURFACE,
    SolverBodies,
)
from choque.dynamics.soft_step.four import MOVED, SCALE, SOFT, SPEED, STATIC, TOUCHED, V, W, group_contacts
from choque.dynamics.soft_step.sphere_rows import relax_row, relax_rows, solve_row, solve_rows, warm_row, warm_rows
from choque.narrow.manifolds.rounds import sphere_gap

LIVE, SLEEPING = 1, 2  # a pair that is solved in a step, and one that is not looked at


class SphereRows(NamedTuple):
    """The contacts of spheres that are solved in a step, in the order of the solver."""

    a: I32
    b: I32
    row: F32  # (t, 16): see `sphere_rows`
    more: F32  # (t, 16): what rebound, rolling and belts need; empty without them
    meeting: F32  # (t,): how fast the bodies met at the start of the step
    held: F32  # (t, 13): what is held after the step, see `Kept`
    group: U8  # (t,): see `group_contacts`


@kernel
def touch_spheres(shares: Shares, pairs: Any, bodies: tuple[Any, ...], awake: U8, touch: Any, is_live: U8) -> None:
    """Write the normal and the gap of the pairs, and whether they are close and not asleep.

    The sphere of a pair, or its first one, is the first body of its row; the normal goes from it to the other.
    """
    kind, pose, size, ball = bodies
    first, last = next_share(shares)
    while first < last:
        for pair in range(first, last):
            a, b = pairs[pair, 0], pairs[pair, 1]
            if ball[b, RADIUS] > 0:
                # Without a branch on what is close: half of the candidates are, and no processor can guess which.
                x, y, z = ball[b, 0] - ball[a, 0], ball[b, 1] - ball[a, 1], ball[b, 2] - ball[a, 2]
                distance = math.sqrt(x * x + y * y + z * z)
                inverse = 1.0 / distance if distance > 0 else 0.0
                x, y, z = x * inverse, y * inverse if distance > 0 else 1.0, z * inverse
                gap = distance - ball[a, RADIUS] - ball[b, RADIUS]
            else:
                (x, y, z), gap = sphere_gap(kind, pose, size, a, b)
            touch[pair, 0], touch[pair, 1], touch[pair, 2], touch[pair, 3] = x, y, z, gap
            is_live[pair] = LIVE if gap < ball[a, REACH] + ball[b, REACH] else 0
            if not (awake[a] or awake[b]):
                is_live[pair] = SLEEPING
        first, last = next_share(shares)


class SphereTask(NamedTuple):
    """The contacts to solve, and what their rows are made from."""

    rows: SphereRows
    live: Rows  # (t,): their pairs
    kept: tuple[Any, ...]  # of all pairs: the rows of both bodies, slots, and impulses held; see `Kept`
    touch: F32  # (m, 4): what `touch_spheres` wrote


@helper
def prepare_spheres(first: Integer, last: Integer, task: SphereTask, bodies: SolverBodies) -> None:
    """Make the rows ``first … last − 1``."""
    rows, live, (pairs, slot, held), touch = task
    ball, speed, _, _, pull, material = bodies[5:11]
    a_row, b_row, row, more, meets = rows[:5]
    for t in range(first, last):
        pair = live[t]
        a, b, at = pairs[pair, 0], pairs[pair, 1], slot[pair]
        a_row[t], b_row[t] = a, b
        light_a, light_b, arm_a, arm_b = ball[a, LIGHTNESS], ball[b, LIGHTNESS], ball[a, ARM], ball[b, ARM]
        mass = light_a * light_a + light_b * light_b
        row[t, place.MASS] = 1.0 / mass
        row[t, place.SLIDE_MASS] = 1.0 / (mass + arm_a * arm_a + arm_b * arm_b)
        row[t, place.ARM_A], row[t, place.ARM_B] = arm_a, arm_b
        row[t, place.MU] = math.sqrt(ball[a, FRICTION] * ball[b, FRICTION])
        x, y, z = np.float64(touch[pair, 0]), np.float64(touch[pair, 1]), np.float64(touch[pair, 2])
        impulse = slide_x = slide_y = slide_z = 0.0
        if at >= 0:
            impulse, slide_x, slide_y, slide_z = held[at, 0], held[at, 1], held[at, 2], held[at, 3]
        across, meeting = slide_x * x + slide_y * y + slide_z * z, _between(speed, V, a, b, light_a, light_b)
        approach = x * meeting[0] + y * meeting[1] + z * meeting[2]
        row[t, place.IMPULSE], row[t, place.GAP], row[t, place.GREATEST] = impulse, touch[pair, 3], 0.0
        row[t, place.NORMAL], row[t, place.NORMAL + 1], row[t, place.NORMAL + 2] = x, y, z
        row[t, place.SLIDE], row[t, place.SLIDE + 1] = slide_x - across * x, slide_y - across * y
        row[t, place.SLIDE + 2] = slide_z - across * z
        row[t, place.EXTRA], meets[t] = 0.0, -approach
        if more.shape[0] == 0:
            continue
        pulled = drive = extra = 0.0
        for axis in range(3):
            more[t, place.ROLL + axis] = held[at, 4 + axis] if at >= 0 else 0.0
            pulled += np.float64(touch[pair, axis]) * (light_b * pull[b, axis] - light_a * pull[a, axis])
            drive += row[t, place.NORMAL + axis] * (material[b, SURFACE + axis] - material[a, SURFACE + axis])
        more[t, place.APPROACH], more[t, place.PULL] = approach, pulled
        for axis in range(3):
            part = material[b, SURFACE + axis] - material[a, SURFACE + axis] - drive * row[t, place.NORMAL + axis]
            more[t, place.DRIVE + axis] = part
            extra += abs(part)
        more[t, place.BOUNCE] = max(material[a, RESTITUTION], material[b, RESTITUTION])
        radius_a, radius_b = ball[a, RADIUS], ball[b, RADIUS]
        radius = radius_a if arm_b == 0 else radius_a * radius_b / (radius_a + radius_b)
        more[t, place.ROLL_LIMIT] = max(material[a, ROLLING], material[b, ROLLING]) * radius
        row[t, place.EXTRA] = 1.0 if extra + more[t, place.ROLL_LIMIT] > 0 else 0.0
        spin_a, spin_b = arm_a / radius_a, arm_b / radius_b if arm_b > 0 else 0.0
        more[t, place.SPIN_A], more[t, place.SPIN_B] = spin_a, spin_b
        more[t, place.ROLL_MASS] = 1.0 / (spin_a * spin_a + spin_b * spin_b)


@forceinline
def _add(speed: Any, body: Integer, at: Integer, scale: float, by: Vector) -> None:
    for axis in range(3):
        speed[body, at + axis] += scale * by[axis]


@forceinline
def _between(speed: Any, at: Integer, a: Integer, b: Integer, scale_a: float, scale_b: float) -> Vector:
    """Return how a quantity of body ``b`` differs from that of body ``a``."""
    return (
        scale_b * speed[b, at] - scale_a * speed[a, at],
        scale_b * speed[b, at + 1] - scale_a * speed[a, at + 1],
        scale_b * speed[b, at + 2] - scale_a * speed[a, at + 2],
    )


@helper
def warm_spheres(first: Integer, last: Integer, rows: SphereRows, speed: Any, moving: Integer) -> None:
    """Apply the impulses so far, and group the contacts for what follows."""
    a_row, b_row, row, more = rows[:4]
    group_contacts(first, last, a_row, b_row, moving, rows.group)
    t = first
    while t < last:
        after = t + rows.group[t]
        if after > t + 1:
            warm_rows(speed, row, a_row, b_row, t, moving)
        else:
            warm_row(speed, row, a_row, b_row, t, moving)
        while t < after:
            if row[t, place.EXTRA] > 0 and more[t, place.ROLL_LIMIT] > 0:
                roll = (more[t, place.ROLL], more[t, place.ROLL + 1], more[t, place.ROLL + 2])
                _add(speed, a_row[t], W, -more[t, place.SPIN_A], roll)
                if b_row[t] < moving:
                    _add(speed, b_row[t], W, more[t, place.SPIN_B], roll)
            t += 1


@helper
def solve_spheres(first: Integer, last: Integer, rows: SphereRows, speed: Any, moving: Integer, rates: F32) -> None:
    """Normal impulses, with the soft bias that corrects overlap."""
    a_row, b_row, row = rows[:3]
    t = first
    while t < last:
        which = SOFT if b_row[t] < moving else STATIC
        if rows.group[t] > 1:
            solve_rows(speed, row, a_row, b_row, t, moving, rates, which)
        else:
            solve_row(speed, row, a_row, b_row, t, moving, rates, which)
        t += rows.group[t]


@forceinline
def _store(rows: SphereRows, t: Integer, threshold: float) -> None:
    """Keep the impulses of row ``t`` for the next step; those of a rebound, which is still to come, act once."""
    row, more, held = rows.row, rows.more, rows.held
    held[t, 0] = row[t, place.IMPULSE]
    for axis in range(3):
        held[t, 1 + axis] = row[t, place.SLIDE + axis]
        held[t, 4 + axis] = more[t, place.ROLL + axis] if more.shape[0] > 0 else 0.0
    if more.shape[0] > 0 and more[t, place.BOUNCE] > 0 and more[t, place.APPROACH] <= -threshold:
        held[t, 0] = 0.0
    held[t, 7], held[t, SPEED] = 0.0, rows.meeting[t]
    held[t, TOUCHED] = row[t, place.GREATEST] > 0 or row[t, place.GAP] <= 0


@helper
def relax_spheres(
    first: Integer, last: Integer, rows: SphereRows, speed: Any, moving: Integer, rates: F32, how: tuple[Any, Any]
) -> None:
    """Normal impulses without the bias, so that what it added leaves the velocities again; then friction.

    ``how`` is whether this is the last pass, after which impulses are held, and below which speed nothing rebounds.
    """
    a_row, b_row, row, more = rows[:4]
    stores, threshold = how
    t = first
    while t < last:
        after = t + rows.group[t]
        if after > t + 1:
            relax_rows(speed, row, a_row, b_row, t, moving, rates, more)
        else:
            relax_row(speed, row, a_row, b_row, t, moving, rates, more)
        while t < after:
            if row[t, place.EXTRA] > 0:
                _roll(rows, t, speed, moving)
            if stores:
                _store(rows, t, threshold)
            t += 1


@helper
def _roll(rows: SphereRows, t: Integer, speed: Any, moving: Integer) -> None:
    """Resist rolling by a torque of at most the limit times the normal impulse."""
    a, b, row, more = rows.a[t], rows.b[t], rows.row, rows.more
    if more[t, place.ROLL_LIMIT] == 0:
        return
    impulse = row[t, place.IMPULSE]
    spin = _between(speed, W, a, b, more[t, place.SPIN_A], more[t, place.SPIN_B])
    mass, most = more[t, place.ROLL_MASS], more[t, place.ROLL_LIMIT] * impulse
    x, y, z = (
        more[t, place.ROLL] - mass * spin[0],
        more[t, place.ROLL + 1] - mass * spin[1],
        more[t, place.ROLL + 2] - mass * spin[2],
    )
    square = x * x + y * y + z * z
    if square > most * most:
        share = most / math.sqrt(square)
        x, y, z = share * x, share * y, share * z
    by = (x - more[t, place.ROLL], y - more[t, place.ROLL + 1], z - more[t, place.ROLL + 2])
    more[t, place.ROLL], more[t, place.ROLL + 1], more[t, place.ROLL + 2] = x, y, z
    _add(speed, a, W, -more[t, place.SPIN_A], by)
    if b < moving:
        _add(speed, b, W, more[t, place.SPIN_B], by)


@helper
def bounce_spheres(count: Integer, rows: SphereRows, speed: Any, moving: Integer, threshold: float) -> None:
    """Rebound: where two bodies met faster than ``threshold``, they part with the energy that restitution leaves.

    The speed at the moment of impact follows from the speed, the gap and the acceleration at the start of the step; at
    the end of the step the bodies are a gap apart again. So height is kept, whatever the length of the step.
    """
    a_row, b_row, row, more = rows[:4]
    for t in range(count):
        if more[t, place.BOUNCE] == 0 or more[t, place.APPROACH] > -threshold or row[t, place.GREATEST] == 0:
            continue
        a, b = a_row[t], b_row[t]
        normal = (row[t, place.NORMAL], row[t, place.NORMAL + 1], row[t, place.NORMAL + 2])
        scale_a, scale_b = speed[a, SCALE], speed[b, SCALE]
        parting = dot(normal, _between(speed, V, a, b, scale_a, scale_b))
        gap = row[t, place.GAP] + dot(normal, _between(speed, MOVED, a, b, scale_a, scale_b))
        wanted = rebound(more[t, place.APPROACH], row[t, place.GAP], gap, more[t, place.PULL], more[t, place.BOUNCE])
        impulse = max(row[t, place.IMPULSE] - row[t, place.MASS] * (parting - wanted), 0.0)
        change = impulse - row[t, place.IMPULSE]
        row[t, place.IMPULSE] = impulse
        row[t, place.GREATEST] = max(row[t, place.GREATEST], impulse)
        by = (change * normal[0], change * normal[1], change * normal[2])
        _add(speed, a, V, -scale_a, by)
        if b < moving:
            _add(speed, b, V, scale_b, by)


@helper
def rebound(approach: float, gap: float, gap_after: float, pull: float, restitution: float) -> float:
    """Return the speed at which bodies part at the end of a step in which they met.

    ``approach`` and ``gap`` are those at the start, ``pull`` is the acceleration along the normal, negative where it
    presses the bodies together.
    """
    impact = approach * approach - 2.0 * pull * gap
    left = restitution * restitution * impact + 2.0 * pull * gap_after
    return math.sqrt(left) if left > 0 else 0.0

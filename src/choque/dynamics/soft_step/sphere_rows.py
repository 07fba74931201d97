"""The row of a contact of a sphere, and its passes on vectors of four: x, y, z and a 0.

The arm of a sphere lies along the normal, so that normal impulses turn nothing, and friction is one vector. Each pass
is written twice, as in `rows`.
"""

from __future__ import annotations

import math
from typing import Any

from choque._core.lane_code import I64, Array, Code, Int, Pointer, operation
from choque._core.vector import Vector, cross, dot
from choque.dynamics.soft_step.four import AT_ONCE, FREE, MOVED, SCALE, Contact, Four, V, W, for_one_and_more

# Places in a row; vectors take three, with something else behind them.
NORMAL, EXTRA, GAP, MASS, IMPULSE, GREATEST = 0, 3, 4, 5, 6, 7
SLIDE, SLIDE_MASS, ARM_A, ARM_B, MU = 8, 12, 13, 14, 15
# Places in a row of what passes read only where `EXTRA` is 1, or not at all.
DRIVE, APPROACH, ROLL, ROLL_LIMIT, ROLL_MASS, SPIN_A, SPIN_B, BOUNCE, PULL = 0, 3, 4, 7, 8, 9, 10, 11, 12
WIDTH = 16  # of both: a row of 64 bytes is a cache line


class _SphereCode(Four):
    """Writes vector code for contacts of spheres and their bodies."""

    width = WIDTH

    def __init__(self, code: Code, speed: Any, rows: Any, *contacts: Contact) -> None:
        super().__init__(code, speed, rows, *contacts)
        self.normal = self.three(self.four(NORMAL))
        ways = [self.of_bodies(bodies, MOVED) for bodies in self.bodies]
        self.sliding = self.between(self.velocities)
        self.closing = self.total(self.mul(self.normal, self.sliding))
        self.gap = self.add(self.get(GAP), self.total(self.mul(self.normal, self.between(ways))))

    def keep_impulse(self, wanted: Any) -> tuple[Any, Any]:
        """Store the normal impulse; return it, and how it changed."""
        before, greatest = self.get(IMPULSE), self.get(GREATEST)
        now = self.put(self.most(wanted, self.zero), IMPULSE)
        self.put(self.most(now, greatest), GREATEST)
        return now, self.sub(now, before)


def _warm(row: _SphereCode, moving: Any) -> None:
    """Write the code of applying the impulses of one contact, or more."""
    slide = row.three(row.four(SLIDE))
    twist = row.cross(slide, row.normal)
    push = row.add(row.mul(row.get(IMPULSE), row.normal), slide)
    row.change(moving, push, [row.mul(row.get(place), twist) for place in (ARM_A, ARM_B)])


def _solve(row: _SphereCode, moving: Any, rates: Pointer, which: Any) -> None:
    """Write the code of solving one contact, or more."""
    inverse_h, push, rate, scale, keep = row.bias(rates, which)
    mass, before = row.get(MASS), row.get(IMPULSE)
    far = row.mul(mass, row.add(row.closing, row.mul(row.gap, inverse_h)))
    aim = row.most(row.mul(rate, row.gap), row.sub(row.zero, push))
    near = row.add(row.mul(mass, row.add(row.mul(scale, row.closing), aim)), row.mul(keep, before))
    _, change = row.keep_impulse(row.sub(before, row.builder.select(row.more(row.gap, row.zero), far, near)))
    row.change(moving, row.mul(change, row.normal), [])


def _relax(row: _SphereCode, moving: Any, rates: Pointer, more: Pointer) -> None:
    """Write the code of relaxing one contact, or more; ``more`` are the rows with `DRIVE`."""
    ahead = row.add(row.closing, row.mul(row.most(row.gap, row.zero), row.bias(rates, FREE)[0]))
    now, change = row.keep_impulse(row.sub(row.get(IMPULSE), row.mul(row.get(MASS), ahead)))
    arms = [row.get(place) for place in (ARM_A, ARM_B)]
    spin = row.add(*(row.mul(arm, row.narrow(own)) for arm, own in zip(arms, row.spins, strict=True)))
    extra, drives = row.get(EXTRA), []
    for lane in row.quarters:  # the normal, which is at hand, where there is none
        has_extra = row.builder.extract_element(row.more(extra, row.zero), I64(lane))
        drives.append(Pointer(row.builder.select(has_extra, more.start, row.rows.start), row.rows.element))
    sliding = row.sub(row.sliding, row.mul(row.closing, row.normal))
    sliding = row.add(row.sub(sliding, row.cross(spin, row.normal)), row.mul(extra, row.four(DRIVE, drives)))
    old = row.three(row.four(SLIDE))
    wanted = row.three(row.sub(old, row.mul(row.get(SLIDE_MASS), sliding)))
    share = row.share(row.mul(row.get(MU), now), [(wanted, axis) for axis in range(3)])
    slide = row.sub(row.put(row.mul(wanted, share), SLIDE, 4), old)
    twist = row.cross(slide, row.normal)
    row.change(moving, row.add(row.mul(change, row.normal), slide), [row.mul(arm, twist) for arm in arms])


_warm_one, _warm_more = for_one_and_more(_SphereCode, _warm)
_solve_one, _solve_more = for_one_and_more(_SphereCode, _solve)
_relax_one, _relax_more = for_one_and_more(_SphereCode, _relax)


@operation(_warm_one)
def warm_row(speed: Array, rows: Array, ones: Array, others: Array, t: Int, moving: Int) -> None:
    """Apply the impulses so far of contact ``t``."""
    _apply(rows[t], speed, (ones[t], others[t], moving), float(rows[t, IMPULSE]), _vector(rows[t], SLIDE))


@operation(_warm_more)
def warm_rows(speed: Array, rows: Array, ones: Array, others: Array, t: Int, moving: Int) -> None:
    """Apply the impulses of `AT_ONCE` contacts from ``t`` on, that share no body that moves."""
    for at in range(t, t + AT_ONCE):
        _apply(rows[at], speed, (ones[at], others[at], moving), float(rows[at, IMPULSE]), _vector(rows[at], SLIDE))


@operation(_solve_one)
def solve_row(
    speed: Array, rows: Array, ones: Array, others: Array, t: Int, moving: Int, rates: Array, which: Int
) -> None:
    """Solve the normal impulse of contact ``t``, with the soft bias ``rates[which:which + 5]``."""
    _solve_plain(rows[t], speed, (ones[t], others[t], moving), rates[which : which + 5])


@operation(_solve_more)
def solve_rows(
    speed: Array, rows: Array, ones: Array, others: Array, t: Int, moving: Int, rates: Array, which: Int
) -> None:
    """Solve `AT_ONCE` contacts from ``t`` on, that share no body that moves."""
    for row in range(t, t + AT_ONCE):
        _solve_plain(rows[row], speed, (ones[row], others[row], moving), rates[which : which + 5])


@operation(_relax_one)
def relax_row(
    speed: Array, rows: Array, ones: Array, others: Array, t: Int, moving: Int, rates: Array, more: Array
) -> None:
    """Solve the normal impulse of contact ``t`` without the bias, then friction."""
    _relax_plain(rows[t], more[t : t + 1], speed, (ones[t], others[t], moving), rates[FREE])


@operation(_relax_more)
def relax_rows(
    speed: Array, rows: Array, ones: Array, others: Array, t: Int, moving: Int, rates: Array, more: Array
) -> None:
    """Relax `AT_ONCE` contacts from ``t`` on, that share no body that moves."""
    for row in range(t, t + AT_ONCE):
        _relax_plain(rows[row], more[row : row + 1], speed, (ones[row], others[row], moving), rates[FREE])


# Plain Python


def _solve_plain(row: Any, speed: Any, at: tuple[int, int, int], bias: Any) -> None:
    inverse_h, push, rate, scale, keep = bias
    closing, gap = _closing_and_gap(row, speed, at[0], at[1])
    mass, before = float(row[MASS]), float(row[IMPULSE])
    if gap > 0:
        wanted = before - mass * (closing + gap * inverse_h)
    else:
        wanted = before - (mass * (scale * closing + max(rate * gap, -push)) + keep * before)
    _apply(row, speed, at, _keep_impulse(row, wanted), (0.0, 0.0, 0.0))


def _relax_plain(row: Any, more: Any, speed: Any, at: tuple[int, int, int], inverse_h: float) -> None:
    a, b, _ = at
    closing, gap = _closing_and_gap(row, speed, a, b)
    wanted = float(row[IMPULSE]) - float(row[MASS]) * (closing + max(gap, 0.0) * inverse_h)
    change = _keep_impulse(row, wanted)
    normal, old = _vector(row, NORMAL), _vector(row, SLIDE)
    arm_a, arm_b, extra = float(row[ARM_A]), float(row[ARM_B]), float(row[EXTRA])
    x, y, z = (arm_a * speed[a, W + axis] + arm_b * speed[b, W + axis] for axis in range(3))
    around, drive = cross((x, y, z), normal), _vector(more[0], DRIVE) if extra > 0 else normal
    between = _between(speed, V, a, b)
    new = []
    for axis in range(3):
        sliding = between[axis] - closing * normal[axis] - around[axis] + extra * drive[axis]
        new.append(old[axis] - float(row[SLIDE_MASS]) * sliding)
    most, square = float(row[MU]) * float(row[IMPULSE]), sum(part * part for part in new)
    share = most / math.sqrt(square) if square > most * most else 1.0
    for axis in range(3):
        row[SLIDE + axis] = share * new[axis]
    after = _vector(row, SLIDE)
    _apply(row, speed, at, change, (after[0] - old[0], after[1] - old[1], after[2] - old[2]))


def _vector(row: Any, at: int) -> Vector:
    return float(row[at]), float(row[at + 1]), float(row[at + 2])


def _between(speed: Any, at: int, a: int, b: int) -> Vector:
    """Return how a quantity of body ``b`` differs from that of body ``a``."""
    one, other = speed[a, SCALE], speed[b, SCALE]
    found = [other * speed[b, at + axis] - one * speed[a, at + axis] for axis in range(3)]
    return found[0], found[1], found[2]


def _closing_and_gap(row: Any, speed: Any, a: int, b: int) -> tuple[float, float]:
    normal = _vector(row, NORMAL)
    moved = dot(normal, _between(speed, MOVED, a, b))
    return dot(normal, _between(speed, V, a, b)), float(row[GAP]) + moved


def _keep_impulse(row: Any, wanted: float) -> float:
    before = float(row[IMPULSE])
    row[IMPULSE] = max(wanted, 0.0)
    row[GREATEST] = max(row[GREATEST], row[IMPULSE])
    return float(row[IMPULSE]) - before


def _apply(row: Any, speed: Any, at: tuple[int, int, int], change: float, slide: Vector) -> None:
    """Apply an impulse along the normal and one of friction to the bodies that move."""
    a, b, moving = at
    normal = _vector(row, NORMAL)
    twist = cross(normal, slide)
    for body, side, arm in ((a, -1.0, float(row[ARM_A])), (b, 1.0, float(row[ARM_B]))):
        if body < moving:
            for axis in range(3):
                speed[body, V + axis] += side * speed[body, SCALE] * (change * normal[axis] + slide[axis])
                speed[body, W + axis] -= arm * twist[axis]

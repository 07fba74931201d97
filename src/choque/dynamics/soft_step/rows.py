"""The row of a manifold, and its passes on vectors of four: the four points side by side.

Points are solved one after another: with the matrix of how an impulse at one point changes the speed at the others, a
point costs one multiplication of a vector. Points that are not there have no mass and stay at 0. Each pass is written
twice, as plain Python in float64 and as LLVM code on vectors; `four` says how. Products and sums are not fused, so that
processors agree. Rows and arithmetic are in float32: half as wide, without conversions on the way, and seven digits are
more than a spring needs. Bodies are in float64, and both bodies of a contact get the same impulse, so momentum is kept
to the last bits of float64.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from choque._core.lane_code import Array, Code, Int, Pointer, operation
from choque.dynamics.soft_step.four import AT_ONCE, MOVED, SCALE, TURNED, Four, V, W, for_one_and_more

# Places in a row. First columns of four points: what a unit impulse does to the spin of A (12) and of B (12), the gap,
# the mass, the impulse, its greatest value, the approach, and the lever for the twist; then how an impulse at the first
# three points changes the speed at the others (12).
JA, JB, GAP, MASS, IMPULSE, GREATEST, APPROACH, LEVER, CROSS = 0, 12, 24, 28, 32, 36, 40, 44, 48
# Vectors of three, with a 0 behind: the normal, two tangents, and what friction along them and twist do to the spins.
NORMAL, T1, T2, FA1, FB1, FA2, FB2, TA, TB = 60, 64, 68, 72, 76, 80, 84, 88, 92
# Numbers: the inverse of the matrix of friction (3), friction so far, and the rest; the torque against rolling (3).
INVERSE, SLIDE1, SLIDE2, TWIST, TWIST_MASS = 96, 99, 100, 101, 102
MU, BOUNCE, PULL, DRIVE1, DRIVE2, ROLL, ROLL_LIMIT = 103, 104, 105, 106, 107, 108, 111
WIDTH = 112  # a row of 448 bytes is seven cache lines
FOUR = range(4)


class ManifoldCode(Four):
    """Writes vector code for manifolds and their bodies: the four lanes are the four points, or x, y, z and a 0."""

    width = WIDTH

    def sums(self, one: Any, two: Any, three: Any) -> Any:
        """Return the sums of three vectors, and a 0."""
        even, odd = [0, 2, 4, 6], [1, 3, 5, 7]
        zero = ir.Constant(one.type, [0.0] * self.kind.count)
        x = self.add(self.order(one, two, even), self.order(one, two, odd))
        y = self.add(self.order(three, zero, even), self.order(three, zero, odd))
        return self.add(self.order(x, y, even), self.order(x, y, odd))

    def at_points(self, linear: Any, turning: list[Any]) -> Any:
        """Return the speed along the normal at the four points, or the way: ``linear`` is what `between` returns."""
        parts = [
            self.mul(self.four(place + 4 * axis), self.lane(spin, axis))
            for place, spin in zip((JA, JB), turning, strict=True)
            for axis in range(3)
        ]
        parts.append(self.total(self.mul(self.four(NORMAL), linear)))
        while len(parts) > 1:  # by halves: in a chain of sums each waits for the one before
            parts = [self.add(*parts[at : at + 2]) for at in range(0, len(parts), 2)]
        return parts[0]

    def turned(self, place: int, impulse: Any) -> Any:
        """Return what impulses at the points do to the spin of a body."""
        return self.sums(*(self.mul(self.four(place + 4 * axis), impulse) for axis in range(3)))

    def solve(self, closing: Any, start: Any, mass: Any) -> Any:
        """Solve the points one after another; return the changes of their impulses."""
        before = self.four(IMPULSE)
        for point in range(3):
            now = self.most(self.sub(start, self.mul(mass, closing)), self.zero)
            change = self.lane(self.sub(now, before), point)
            closing = self.add(closing, self.mul(change, self.four(CROSS + 4 * point)))
        now = self.most(self.sub(start, self.mul(mass, closing)), self.zero)
        now = self.put(now, IMPULSE, 4)
        self.put(self.most(now, self.four(GREATEST)), GREATEST, 4)
        return self.sub(now, before)

    def rub(self, between: Any, spins: list[Any], weights: list[Any]) -> tuple[Any, list[Any]]:
        """Write the code of twist, then of friction along both tangents; return the push, and the change of each spin.

        ``between`` and ``spins`` are as the normal impulses leave them; ``weights`` are 0 for static bodies.
        """
        impulse, mu = self.four(IMPULSE), self.get(MU)
        most = self.mul(mu, self.total(self.mul(impulse, self.four(LEVER))))
        old = self.get(TWIST)
        about = [self.four(place) for place in (TA, TB)]
        turning = self.total(self.add(*(self.mul(each, spin) for each, spin in zip(about, spins, strict=True))))
        twist = self.sub(old, self.mul(self.get(TWIST_MASS), turning))
        least = self.builder.fneg(most)
        twist = self.builder.select(self.more(twist, most), most, twist)
        twist = self.put(self.builder.select(self.more(least, twist), least, twist), TWIST)
        turns = [self.mul(self.sub(twist, old), each) for each in about]
        spins = [self.add(*each) for each in zip(spins, map(self.mul, weights, turns), strict=True)]
        slides = []
        for tangent, first, second, drive in ((T1, FA1, FB1, DRIVE1), (T2, FA2, FB2, DRIVE2)):
            slide = self.mul(self.four(tangent), between)
            slide = self.add(slide, self.mul(self.four(first), spins[0]), self.mul(self.four(second), spins[1]))
            slides.append(self.add(self.total(slide), self.get(drive)))
        k11, k12, k22 = (self.get(INVERSE + part) for part in range(3))
        before = self.get(SLIDE1), self.get(SLIDE2)
        after = [
            self.sub(before[0], self.add(self.mul(k11, slides[0]), self.mul(k12, slides[1]))),
            self.sub(before[1], self.add(self.mul(k12, slides[0]), self.mul(k22, slides[1]))),
        ]
        share = self.share(self.mul(mu, self.total(impulse)), [(each, 0) for each in after])
        after = [self.put(self.mul(each, share), at) for each, at in zip(after, (SLIDE1, SLIDE2), strict=True)]
        one, other = map(self.sub, after, before)
        push, *rubbed = (
            self.add(self.mul(one, self.four(first)), self.mul(other, self.four(second)))
            for first, second in ((T1, T2), (FA1, FA2), (FB1, FB2))
        )
        return push, list(map(self.add, turns, rubbed))


def _warm(code: Code, speed: Any, rows: Any, t: Any, a: Any, b: Any, moving: Any) -> None:
    four = ManifoldCode(code, speed, rows, (t, a, b))
    impulse = four.four(IMPULSE)
    one, two, twist = (four.get(at) for at in (SLIDE1, SLIDE2, TWIST))
    push = four.mul(four.total(impulse), four.four(NORMAL))
    push = four.add(push, four.mul(one, four.four(T1)), four.mul(two, four.four(T2)))
    spins = []
    for place, first, second, about in ((JA, FA1, FA2, TA), (JB, FB1, FB2, TB)):
        rub = four.add(four.mul(one, four.four(first)), four.mul(two, four.four(second)))
        spins.append(four.add(four.turned(place, impulse), rub, four.mul(twist, four.four(about))))
    four.change(moving, push, spins)


@operation(_warm)
def warm_row(speed: Array, rows: Array, t: Int, a: Int, b: Int, moving: Int) -> None:
    """Apply the impulses so far of manifold ``t`` to its bodies ``a`` and ``b``; those from ``moving`` on stay."""
    row = rows[t]
    impulse = row[IMPULSE : IMPULSE + 4].astype(np.float64)
    _apply_plain(row, speed, (a, b, moving), impulse, (row[SLIDE1], row[SLIDE2], row[TWIST]))


def _solve(four: ManifoldCode, moving: Any, rates: Pointer, which: Any) -> None:
    """Write the code of solving one manifold, or more."""
    select = four.builder.select
    inverse_h, push, rate, scale, keep = four.bias(rates, which)
    between, spins = four.between(four.velocities), [four.narrow(spin) for spin in four.spins]
    closing = four.at_points(between, spins)
    way, turned = ([four.of_bodies(bodies, at) for bodies in four.bodies] for at in (MOVED, TURNED))
    moved = four.at_points(four.between(way), [four.narrow(each) for each in turned])
    gap, mass, before = four.add(four.four(GAP), moved), four.four(MASS), four.four(IMPULSE)
    apart = four.more(gap, four.zero)
    near = four.most(four.mul(rate, gap), four.sub(four.zero, push))
    aim = select(apart, four.mul(gap, inverse_h), near)
    given_up = four.mul(select(apart, four.zero, keep), before)
    start = four.sub(four.sub(before, four.mul(mass, aim)), given_up)
    change = four.solve(closing, start, four.mul(mass, select(apart, four.one, scale)))
    pushed, turns = four.mul(four.total(change), four.four(NORMAL)), [four.turned(place, change) for place in (JA, JB)]
    # What friction sees: the velocities as they are now.
    weights = [four.splat(four.builder.uitofp(four.moves(side, moving), four.rows.element)) for side in (0, 1)]
    light = [four.narrow(four.mul(scale, scale)) for scale in four.scales]
    lightness = four.add(*map(four.mul, weights, light))
    spins = [four.add(*each) for each in zip(spins, map(four.mul, weights, turns), strict=True)]
    rubbed, twisted = four.rub(four.add(between, four.mul(lightness, pushed)), spins, weights)
    four.change(moving, four.add(pushed, rubbed), list(map(four.add, turns, twisted)))


_solve_one, _solve_more = for_one_and_more(ManifoldCode, _solve)


@operation(_solve_one)
def solve_row(
    speed: Array, rows: Array, ones: Array, others: Array, t: Int, moving: Int, rates: Array, which: Int
) -> None:
    """Solve the normal impulses of manifold ``t``, then twist and friction; the bias is ``rates[which:which + 5]``."""
    _solve_row_plain(speed, rows[t], (ones[t], others[t], moving), rates[which : which + 5])


@operation(_solve_more)
def solve_rows(
    speed: Array, rows: Array, ones: Array, others: Array, t: Int, moving: Int, rates: Array, which: Int
) -> None:
    """Solve `AT_ONCE` manifolds from ``t`` on, that share no body that moves."""
    for row in range(t, t + AT_ONCE):
        _solve_row_plain(speed, rows[row], (ones[row], others[row], moving), rates[which : which + 5])


# Plain Python


def _solve_row_plain(speed: Any, row: Any, at: tuple[int, int, int], bias: Any) -> None:
    a, b, moving = at
    inverse_h, push, rate, scale, keep = bias
    closing, moved = _at_points(row, speed, V, a, b), _at_points(row, speed, MOVED, a, b)
    gap, mass, before = (row[at : at + 4].astype(np.float64) for at in (GAP, MASS, IMPULSE))
    gap += moved
    aim = np.where(gap > 0, gap * inverse_h, np.maximum(rate * gap, -push))
    start = before - mass * aim - np.where(gap > 0, 0.0, keep) * before
    mass = np.where(gap > 0, mass, mass * scale)
    for point in FOUR:
        row[IMPULSE + point] = max(start[point] - mass[point] * closing[point], 0.0)
        if point < 3:
            closing = closing + (row[IMPULSE + point] - before[point]) * row[CROSS + 4 * point : CROSS + 4 * point + 4]
    impulse = row[IMPULSE : IMPULSE + 4].astype(np.float64)
    row[GREATEST : GREATEST + 4] = np.maximum(row[GREATEST : GREATEST + 4], impulse)
    _apply_plain(row, speed, (a, b, moving), impulse - before, (0.0, 0.0, 0.0))
    # Twist, then friction along both tangents.
    old = row[[TWIST, SLIDE1, SLIDE2]].astype(np.float64)
    most = row[MU] * (impulse @ row[LEVER : LEVER + 4])
    twist = old[0] - row[TWIST_MASS] * (row[TA : TA + 3] @ speed[a, W : W + 3] + row[TB : TB + 3] @ speed[b, W : W + 3])
    row[TWIST] = max(min(twist, most), -most)
    _apply_plain(row, speed, (a, b, moving), np.zeros(4), (0.0, 0.0, row[TWIST] - old[0]))
    between = speed[b, V : V + 3] * speed[b, SCALE] - speed[a, V : V + 3] * speed[a, SCALE]
    spins = np.concatenate((between, speed[a, W : W + 3], speed[b, W : W + 3]))
    slides = [
        row[drive] + np.concatenate([row[at : at + 3] for at in places]) @ spins
        for *places, drive in ((T1, FA1, FB1, DRIVE1), (T2, FA2, FB2, DRIVE2))
    ]
    wanted = old[1:] - row[[[INVERSE, INVERSE + 1], [INVERSE + 1, INVERSE + 2]]] @ slides
    size, most = float(np.linalg.norm(wanted)), row[MU] * impulse.sum()
    row[SLIDE1], row[SLIDE2] = wanted * (most / size if size > most else 1.0)
    _apply_plain(row, speed, (a, b, moving), np.zeros(4), (row[SLIDE1] - old[1], row[SLIDE2] - old[2], 0.0))


def _at_points(row: Any, speed: Any, at: int, a: int, b: int) -> Any:
    """Return the speed along the normal at the four points, or the way: velocities are ``at``, spins behind them."""
    between = speed[b, SCALE] * speed[b, at : at + 3] - speed[a, SCALE] * speed[a, at : at + 3]
    spins = speed[a, at + 4 : at + 7], speed[b, at + 4 : at + 7]
    turned = [spin @ row[place : place + 12].reshape(3, 4) for place, spin in zip((JA, JB), spins, strict=True)]
    return row[NORMAL : NORMAL + 3] @ between + turned[0] + turned[1]


def _apply_plain(row: Any, speed: Any, bodies: tuple[int, int, int], impulse: Any, friction: Any) -> None:
    """Apply impulses along the normal at four points, along both tangents, and about the normal."""
    a, b, moving = bodies
    push = impulse.sum() * row[NORMAL : NORMAL + 3] + friction[0] * row[T1 : T1 + 3] + friction[1] * row[T2 : T2 + 3]
    for body, sign, place, *turns in ((a, -1.0, JA, FA1, FA2, TA), (b, 1.0, JB, FB1, FB2, TB)):
        if body < moving:
            speed[body, V : V + 3] += sign * speed[body, SCALE] * push
            spin = row[place : place + 12].reshape(3, 4) @ impulse
            speed[body, W : W + 3] += spin + sum(
                by * row[turn : turn + 3] for by, turn in zip(friction, turns, strict=True)
            )

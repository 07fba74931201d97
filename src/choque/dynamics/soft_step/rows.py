"""The row of a manifold, and its passes on vectors of four: the four points side by side.

Points are solved one after another: with the matrix of how an impulse at one point changes the speed at the others, a
point costs one multiplication of a vector. Points that are not there have no mass and stay at 0. Each pass is written
twice, as plain Python and as LLVM code on vectors; `four` says how. Products and sums are not fused, so that
processors agree. Rows are in float32: a pass is bound by the memory that it reads, and seven digits are more than a
spring needs. All arithmetic and the bodies are in float64, and both bodies of a contact get the same
impulse along the same normal, so momentum is kept to the last bits of float64.
"""

from __future__ import annotations

import math
from typing import Any

from choque._core.lane_code import Array, Code, Int, Pointer, Real, operation
from choque.dynamics.soft_step.four import MOVED, SCALE, TURNED, Contact, Four, V, W

# Places in a row. First columns of four points: what a unit impulse does to the spin of A (12) and of B (12), the gap,
# the mass, the impulse, its greatest value, the approach, and the lever for the twist; then how an impulse at the first
# three points changes the speed at the others (12).
JA, JB, GAP, MASS, IMPULSE, GREATEST, APPROACH, LEVER, CROSS = 0, 12, 24, 28, 32, 36, 40, 44, 48
# Vectors of three, with a 0 behind: the normal, two tangents, and what friction along them and twist do to the spins.
NORMAL, T1, T2, FA1, FB1, FA2, FB2, TA, TB = 60, 64, 68, 72, 76, 80, 84, 88, 92
# Numbers: the inverse of the matrix of friction (3), friction so far, and the rest; the torque against rolling (3).
INVERSE, SLIDE1, SLIDE2, TWIST, TWIST_MASS = 96, 99, 100, 101, 102
MU, BOUNCE, PULL, DRIVE1, DRIVE2, ROLL, ROLL_LIMIT = 103, 104, 105, 106, 107, 108, 111
WIDTH = 112
"""A row of 448 bytes is seven cache lines."""

FOUR = range(4)


class _Manifold(Four):
    """Writes vector code for manifolds and their bodies: the four lanes are the four points, or x, y, z and a 0."""

    def __init__(self, code: Code, speed: Pointer, rows: Pointer, *contacts: Contact) -> None:
        super().__init__(code, WIDTH, speed, rows, *contacts)

    def sums(self, one: Any, two: Any, three: Any) -> Any:
        """Return the sums of three vectors, and a 0."""
        even, odd = [0, 2, 4, 6], [1, 3, 5, 7]
        x = self.add(self.order(one, two, even), self.order(one, two, odd))
        y = self.add(self.order(three, self.zero, even), self.order(three, self.zero, odd))
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

    def apply(self, moving: Any, push: Any, spin_a: Any, spin_b: Any) -> None:
        """Apply the impulse ``push`` to the bodies that move, and add to their spins."""
        for side, (spin, change) in enumerate(((spin_a, self.sub), (spin_b, self.add))):
            moves = self.moves(side, moving)
            velocity = change(self.velocities[side], self.mul(self.scales[side], push))
            self.velocities[side] = self.builder.select(moves, velocity, self.velocities[side])
            self.spins[side] = self.builder.select(moves, self.add(self.spins[side], spin), self.spins[side])

    def rub(self, moving: Any) -> None:
        """Write the code of twist, then of friction along both tangents."""
        impulse, mu = self.four(IMPULSE), self.get(MU)
        one, other = (self.mul(self.four(place), spin) for place, spin in zip((TA, TB), self.spins, strict=True))
        most = self.mul(mu, self.total(self.mul(impulse, self.four(LEVER))))
        old = self.get(TWIST)
        twist = self.sub(old, self.mul(self.get(TWIST_MASS), self.total(self.add(one, other))))
        least = self.builder.fneg(most)
        twist = self.builder.select(self.more(twist, most), most, twist)
        twist = self.put(self.builder.select(self.more(least, twist), least, twist), TWIST)
        turn = self.sub(twist, old)
        self.apply(moving, self.zero, self.mul(turn, self.four(TA)), self.mul(turn, self.four(TB)))
        between = self.between(self.velocities)
        slides = []
        for tangent, first, second, drive in ((T1, FA1, FB1, DRIVE1), (T2, FA2, FB2, DRIVE2)):
            slide = self.mul(self.four(tangent), between)
            slide = self.add(
                slide, self.mul(self.four(first), self.spins[0]), self.mul(self.four(second), self.spins[1])
            )
            slides.append(self.add(self.total(slide), self.get(drive)))
        k11, k12, k22 = (self.get(INVERSE + part) for part in range(3))
        before = self.get(SLIDE1), self.get(SLIDE2)
        after = [
            self.sub(before[0], self.add(self.mul(k11, slides[0]), self.mul(k12, slides[1]))),
            self.sub(before[1], self.add(self.mul(k12, slides[0]), self.mul(k22, slides[1]))),
        ]
        most = self.mul(mu, self.total(impulse))
        share = self.share(most, self.add(*(self.mul(each, each) for each in after)))
        after = [self.put(self.mul(each, share), at) for each, at in zip(after, (SLIDE1, SLIDE2), strict=True)]
        one, other = (self.sub(now, then) for now, then in zip(after, before, strict=True))
        push, turn_a, turn_b = (
            self.add(self.mul(one, self.four(first)), self.mul(other, self.four(second)))
            for first, second in ((T1, T2), (FA1, FA2), (FB1, FB2))
        )
        self.apply(moving, push, turn_a, turn_b)

    def finish(self, moving: Any) -> None:
        """Store the velocities of the bodies that move."""
        for side, bodies in enumerate(self.bodies):
            with self.builder.if_then(self.moves(side, moving)):
                self.keep(self.velocities[side], bodies, V)
                self.keep(self.spins[side], bodies, W)


def _warm(code: Code, speed: Any, rows: Any, t: Any, a: Any, b: Any, moving: Any) -> None:
    four = _Manifold(code, speed, rows, (t, a, b))
    impulse = four.four(IMPULSE)
    one, two, twist = (four.get(at) for at in (SLIDE1, SLIDE2, TWIST))
    push = four.mul(four.total(impulse), four.four(NORMAL))
    push = four.add(push, four.mul(one, four.four(T1)), four.mul(two, four.four(T2)))
    spins = []
    for place, first, second, about in ((JA, FA1, FA2, TA), (JB, FB1, FB2, TB)):
        rub = four.add(four.mul(one, four.four(first)), four.mul(two, four.four(second)))
        spins.append(four.add(four.turned(place, impulse), rub, four.mul(twist, four.four(about))))
    four.apply(moving, push, *spins)
    four.finish(moving)


@operation(_warm)
def warm_row(speed: Array, rows: Array, t: Int, a: Int, b: Int, moving: Int) -> None:
    """Apply the impulses so far of manifold ``t`` to its bodies ``a`` and ``b``; those from ``moving`` on stay."""
    row = _Row(rows[t])
    impulse = [row[IMPULSE + point] for point in FOUR]
    _apply_plain(row, speed, (a, b, moving), impulse, (row[SLIDE1], row[SLIDE2], row[TWIST]))


def _solve(four: _Manifold, moving: Any, inverse_h: Any, push: Any, rate: Any, scale: Any, keep: Any) -> None:
    """Write the code of solving one manifold, or two."""
    select = four.builder.select
    inverse_h, push, rate, scale, keep = (four.splat(each) for each in (inverse_h, push, rate, scale, keep))
    closing = four.at_points(four.between(four.velocities), four.spins)
    way, turned = ([four.of_bodies(bodies, at) for bodies in four.bodies] for at in (MOVED, TURNED))
    moved = four.at_points(four.between(way), turned)
    gap, mass, before = four.add(four.four(GAP), moved), four.four(MASS), four.four(IMPULSE)
    apart = four.more(gap, four.zero)
    near = four.most(four.mul(rate, gap), four.sub(four.zero, push))
    aim = select(apart, four.mul(gap, inverse_h), near)
    given_up = four.mul(select(apart, four.zero, keep), before)
    start = four.sub(four.sub(before, four.mul(mass, aim)), given_up)
    change = four.solve(closing, start, four.mul(mass, select(apart, four.one, scale)))
    pushed = four.mul(four.total(change), four.four(NORMAL))
    four.apply(moving, pushed, four.turned(JA, change), four.turned(JB, change))
    four.rub(moving)
    four.finish(moving)


def _solve_one(code: Code, speed: Any, rows: Any, t: Any, a: Any, b: Any, *numbers: Any) -> None:
    _solve(_Manifold(code, speed, rows, (t, a, b)), *numbers)


def _solve_two(code: Code, speed: Any, rows: Any, t: Any, a: Any, b: Any, c: Any, d: Any, *numbers: Any) -> None:
    _solve(_Manifold(code, speed, rows, (t, a, b), (code.plus(t, 1), c, d)), *numbers)


@operation(_solve_one)
def solve_row(
    speed: Array,
    rows: Array,
    t: Int,
    a: Int,
    b: Int,
    moving: Int,
    inverse_h: Real,
    push: Real,
    rate: Real,
    scale: Real,
    keep: Real,
) -> None:
    """Solve the normal impulses of manifold ``t``, then twist and friction.

    The soft bias is ``rate``, ``scale`` and ``keep``; 0, 1 and 0 are none.
    """
    _solve_row_plain(speed, rows, t, a, b, moving, inverse_h, push, rate, scale, keep)


@operation(_solve_two)
def solve_two_rows(
    speed: Array,
    rows: Array,
    t: Int,
    a: Int,
    b: Int,
    c: Int,
    d: Int,
    moving: Int,
    inverse_h: Real,
    push: Real,
    rate: Real,
    scale: Real,
    keep: Real,
) -> None:
    """Solve manifold ``t`` of ``a`` and ``b`` and the next one, of ``c`` and ``d``, that share no body that moves."""
    _solve_row_plain(speed, rows, t, a, b, moving, inverse_h, push, rate, scale, keep)
    _solve_row_plain(speed, rows, t + 1, c, d, moving, inverse_h, push, rate, scale, keep)


# Plain Python


class _Row:
    """The numbers of a row, read in float64 and rounded where they are written."""

    def __init__(self, row: Any) -> None:
        self.row = row

    def __getitem__(self, at: int) -> float:
        return float(self.row[at])

    def __setitem__(self, at: int, value: float) -> None:
        self.row[at] = value


def _solve_row_plain(
    speed: Any, rows: Any, t: int, a: int, b: int, moving: int, inverse_h: float, push: float, *bias: float
) -> None:
    rate, scale, keep = bias
    row = _Row(rows[t])
    closing, moved = _at_points(row, speed, V, a, b), _at_points(row, speed, MOVED, a, b)
    start, mass = [], []
    for point in FOUR:
        gap, own, before = row[GAP + point] + moved[point], row[MASS + point], row[IMPULSE + point]
        aim = gap * inverse_h if gap > 0 else max(rate * gap, -push)
        start.append(before - own * aim - (0.0 if gap > 0 else keep) * before)
        mass.append(own if gap > 0 else own * scale)
    _apply_plain(row, speed, (a, b, moving), _solve_plain(row, closing, start, mass), (0.0, 0.0, 0.0))
    _rub_plain(row, speed, a, b, moving)


def _at_points(row: Any, speed: Any, at: int, a: int, b: int) -> list[float]:
    """Return the speed along the normal at the four points, or the way: velocities are ``at``, spins behind them."""
    scale_a, scale_b = speed[a, SCALE], speed[b, SCALE]
    base = sum(row[NORMAL + k] * (scale_b * speed[b, at + k] - scale_a * speed[a, at + k]) for k in range(3))
    return [
        base
        + sum(
            row[JA + 4 * k + point] * speed[a, at + 4 + k] + row[JB + 4 * k + point] * speed[b, at + 4 + k]
            for k in range(3)
        )
        for point in FOUR
    ]


def _solve_plain(row: Any, closing: list[float], start: list[float], mass: list[float]) -> list[float]:
    """Solve the points one after another; return the changes of their impulses."""
    before = [row[IMPULSE + point] for point in FOUR]
    changes: list[float] = []
    for point in FOUR:
        speed = closing[point] + sum(changes[k] * row[CROSS + 4 * k + point] for k in range(point))
        now = max(start[point] - mass[point] * speed, 0.0)
        changes.append(now - before[point])
        row[IMPULSE + point] = now
        row[GREATEST + point] = max(row[GREATEST + point], row[IMPULSE + point])
    return [row[IMPULSE + point] - before[point] for point in FOUR]


def _rub_plain(row: Any, speed: Any, a: int, b: int, moving: int) -> None:
    """Solve twist, then friction along both tangents."""
    impulse = [row[IMPULSE + point] for point in FOUR]
    most = row[MU] * sum(impulse[point] * row[LEVER + point] for point in FOUR)
    spin = sum(row[TA + k] * speed[a, W + k] + row[TB + k] * speed[b, W + k] for k in range(3))
    twist = max(min(row[TWIST] - row[TWIST_MASS] * spin, most), -most)
    old = row[TWIST]
    row[TWIST] = twist
    change = row[TWIST] - old
    slides = []
    for tangent, first, second, drive in ((T1, FA1, FB1, DRIVE1), (T2, FA2, FB2, DRIVE2)):
        slide = row[drive]
        for k in range(3):
            spin_a = speed[a, W + k] + change * row[TA + k] * (a < moving)
            spin_b = speed[b, W + k] + change * row[TB + k] * (b < moving)
            slide += row[tangent + k] * (speed[b, SCALE] * speed[b, V + k] - speed[a, SCALE] * speed[a, V + k])
            slide += row[first + k] * spin_a + row[second + k] * spin_b
        slides.append(slide)
    one = row[SLIDE1] - (row[INVERSE] * slides[0] + row[INVERSE + 1] * slides[1])
    two = row[SLIDE2] - (row[INVERSE + 1] * slides[0] + row[INVERSE + 2] * slides[1])
    size, most = math.sqrt(one * one + two * two), row[MU] * sum(impulse)
    share = most / size if size > most else 1.0
    before = row[SLIDE1], row[SLIDE2]
    row[SLIDE1], row[SLIDE2] = share * one, share * two
    rub = (row[SLIDE1] - before[0], row[SLIDE2] - before[1], change)
    _apply_plain(row, speed, (a, b, moving), [0.0] * 4, rub)


def _apply_plain(
    row: Any, speed: Any, at: tuple[int, int, int], impulse: list[float], friction: tuple[float, float, float]
) -> None:
    """Apply impulses along the normal at four points, along both tangents, and about the normal."""
    a, b, moving = at
    one, two, twist = friction
    for body, scale, place, first, second, about in (
        (a, -speed[a, SCALE], JA, FA1, FA2, TA),
        (b, speed[b, SCALE], JB, FB1, FB2, TB),
    ):
        if body >= moving:
            continue
        for k in range(3):
            push = sum(impulse) * row[NORMAL + k] + one * row[T1 + k] + two * row[T2 + k]
            speed[body, V + k] += scale * push
            spin = sum(impulse[point] * row[place + 4 * k + point] for point in FOUR)
            speed[body, W + k] += spin + one * row[first + k] + two * row[second + k] + twist * row[about + k]

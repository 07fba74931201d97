"""The row of a manifold, and its passes on vectors of four: the four points side by side.

Points are solved one after another: with the matrix of how an impulse at one point changes the speed at the others, a
point costs one multiplication of a vector. Points that are not there have no mass and stay at 0. Each pass is written
twice, as plain Python and as LLVM code on vectors of four; `choque._core.lane_code` says how. Products and sums are not
fused, so that processors agree. Rows are in float32: a pass is bound by the memory that it reads, and seven digits are
more than a spring needs. All arithmetic and the bodies are in float64, and both bodies of a contact get the same
impulse along the same normal, so momentum is kept to the last bits of float64.
"""

from __future__ import annotations

import math
from typing import Any

from llvmlite import ir

from choque._core.lane_code import I32, Array, Code, Int, Pointer, Real, operation

# Places in a row. First columns of four points: what a unit impulse does to the spin of A (12) and of B (12), the gap,
# the mass, the impulse, its greatest value, the approach, and the lever for the twist; then how an impulse at the first
# three points changes the speed at the others (12).
JA, JB, GAP, MASS, IMPULSE, GREATEST, APPROACH, LEVER, CROSS = 0, 12, 24, 28, 32, 36, 40, 44, 48
# Vectors of three, with a 0 behind: the normal, two tangents, and what friction along them and twist do to the spins.
NORMAL, T1, T2, FA1, FB1, FA2, FB2, TA, TB = 60, 64, 68, 72, 76, 80, 84, 88, 92
# Numbers: the inverse of the matrix of friction (3), friction so far, and the rest.
INVERSE, SLIDE1, SLIDE2, TWIST, TWIST_MASS, MU, BOUNCE, PULL, DRIVE1, DRIVE2 = (
    96,
    99,
    100,
    101,
    102,
    103,
    104,
    105,
    106,
    107,
)
WIDTH = 112
"""A row of 448 bytes is seven cache lines."""

V, W, MOVED, TURNED, SCALE = 0, 4, 8, 12, 15
"""Places in the row of a body: velocity, spin, what it has moved and turned in this step, and 1/√m; see `bodies`."""

FOUR = range(4)


class _Four:
    """Writes vector code for one manifold and its two bodies."""

    def __init__(self, code: Code, speed: Pointer, rows: Pointer, t: Any, a: Any, b: Any) -> None:
        self.code, self.builder, self.rows, self.speed = code, code.builder, rows, speed
        self.row, self.a, self.b = code.times(t, WIDTH), code.times(a, 16), code.times(b, 16)
        self.kind = ir.VectorType(speed.element, 4)
        self.zero = ir.Constant(self.kind, [0.0] * 4)
        both = (self.a, self.b)
        self.scales = [self.splat(code.load(speed, code.plus(body, SCALE))) for body in both]
        self.velocities, self.spins = ([self.of_body(body, at) for body in both] for at in (V, W))

    def get(self, at: int) -> Any:
        """Load a number of the row."""
        return self.builder.fpext(self.code.load(self.rows, self.code.plus(self.row, at)), self.speed.element)

    def four(self, at: int) -> Any:
        """Load four numbers of the row."""
        short = self.code.load(self.rows, self.code.plus(self.row, at), ir.VectorType(self.rows.element, 4))
        return self.builder.fpext(short, self.kind)

    def put(self, value: Any, at: int) -> Any:
        """Store a number or four in the row, and return what was stored."""
        is_number = value.type == self.speed.element
        short = self.builder.fptrunc(value, self.rows.element if is_number else ir.VectorType(self.rows.element, 4))
        self.code.store(short, self.rows, self.code.plus(self.row, at))
        return self.builder.fpext(short, value.type)

    def of_body(self, body: Any, at: int) -> Any:
        """Load four numbers of a body."""
        return self.code.load(self.speed, self.code.plus(body, at), self.kind)

    def splat(self, scalar: Any) -> Any:
        none = ir.Constant(self.kind, ir.Undefined)
        return self.lane(self.builder.insert_element(none, scalar, I32(0)), 0)

    def lane(self, vector: Any, lane: int) -> Any:
        return self.code.shuffle(vector, vector, [lane] * 4)

    def first(self, vector: Any) -> Any:
        return self.builder.extract_element(vector, I32(0))

    def add(self, one: Any, *others: Any) -> Any:
        for other in others:
            one = self.builder.fadd(one, other)
        return one

    def sub(self, one: Any, other: Any) -> Any:
        return self.builder.fsub(one, other)

    def mul(self, one: Any, other: Any) -> Any:
        return self.builder.fmul(one, other)

    def more(self, one: Any, other: Any) -> Any:
        return self.builder.fcmp_ordered(">", one, other)

    def most(self, one: Any, other: Any) -> Any:
        return self.builder.select(self.more(one, other), one, other)

    def sums(self, one: Any, two: Any, three: Any) -> Any:
        """Return the sums of three vectors, and a 0."""
        shuffle, even, odd = self.code.shuffle, [0, 2, 4, 6], [1, 3, 5, 7]
        x = self.add(shuffle(one, two, even), shuffle(one, two, odd))
        y = self.add(shuffle(three, self.zero, even), shuffle(three, self.zero, odd))
        return self.add(shuffle(x, y, even), shuffle(x, y, odd))

    def total(self, vector: Any) -> Any:
        """Return the sum of a vector in every lane."""
        pair = self.add(vector, self.code.shuffle(vector, vector, [1, 0, 3, 2]))
        return self.add(pair, self.code.shuffle(pair, pair, [2, 3, 0, 1]))

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

    def between(self, velocities: list[Any]) -> Any:
        """Return how the velocity of B differs from that of A, or the way."""
        return self.sub(self.mul(self.scales[1], velocities[1]), self.mul(self.scales[0], velocities[0]))

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
        now = self.put(now, IMPULSE)
        self.put(self.most(now, self.four(GREATEST)), GREATEST)
        return self.sub(now, before)

    def apply(self, moving: Any, push: Any, spin_a: Any, spin_b: Any) -> None:
        """Apply the impulse ``push`` to the bodies that move, and add to their spins."""
        for one, (body, spin, change) in enumerate(((self.a, spin_a, self.sub), (self.b, spin_b, self.add))):
            moves = self.moves(body, moving)
            velocity = change(self.velocities[one], self.mul(self.scales[one], push))
            self.velocities[one] = self.builder.select(moves, velocity, self.velocities[one])
            self.spins[one] = self.builder.select(moves, self.add(self.spins[one], spin), self.spins[one])

    def moves(self, body: Any, moving: Any) -> Any:
        """Tell whether a body is not static."""
        return self.builder.icmp_signed("<", body, self.code.times(moving, 16))

    def finish(self, moving: Any) -> None:
        """Store the velocities of the bodies that move."""
        for body, velocity, spin in zip((self.a, self.b), self.velocities, self.spins, strict=True):
            with self.builder.if_then(self.moves(body, moving)):
                self.code.store(velocity, self.speed, self.code.plus(body, V))
                self.code.store(spin, self.speed, self.code.plus(body, W))


def _warm(code: Code, speed: Any, rows: Any, t: Any, a: Any, b: Any, moving: Any) -> None:
    four = _Four(code, speed, rows, t, a, b)
    impulse = four.four(IMPULSE)
    one, two, twist = (four.splat(four.get(at)) for at in (SLIDE1, SLIDE2, TWIST))
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


def _solve(
    code: Code,
    speed: Any,
    rows: Any,
    t: Any,
    a: Any,
    b: Any,
    moving: Any,
    inverse_h: Any,
    push: Any,
    rate: Any,
    scale: Any,
    keep: Any,
) -> None:
    four = _Four(code, speed, rows, t, a, b)
    one = ir.Constant(four.kind, [1.0] * 4)
    closing = four.at_points(four.between(four.velocities), four.spins)
    way, turned = ([four.of_body(body, at) for body in (four.a, four.b)] for at in (MOVED, TURNED))
    moved = four.at_points(four.between(way), turned)
    gap, mass, before = four.add(four.four(GAP), moved), four.four(MASS), four.four(IMPULSE)
    apart = four.more(gap, four.zero)
    near = four.most(four.mul(four.splat(rate), gap), four.sub(four.zero, four.splat(push)))
    aim = code.builder.select(apart, four.mul(gap, four.splat(inverse_h)), near)
    given_up = four.mul(code.builder.select(apart, four.zero, four.splat(keep)), before)
    start = four.sub(four.sub(before, four.mul(mass, aim)), given_up)
    change = four.solve(closing, start, four.mul(mass, code.builder.select(apart, one, four.splat(scale))))
    push = four.mul(four.total(change), four.four(NORMAL))
    four.apply(moving, push, four.turned(JA, change), four.turned(JB, change))
    _rub(four, code, moving)
    four.finish(moving)


@operation(_solve)
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


def _rub(four: _Four, code: Code, moving: Any) -> None:
    """Write the code of twist, then of friction along both tangents."""
    builder, number = code.builder, four.speed.element
    impulse, mu = four.four(IMPULSE), four.get(MU)
    spin_a, spin_b = four.spins
    spin = four.first(four.total(four.add(four.mul(four.four(TA), spin_a), four.mul(four.four(TB), spin_b))))
    most = four.mul(mu, four.first(four.total(four.mul(impulse, four.four(LEVER)))))
    old = four.get(TWIST)
    twist = four.sub(old, four.mul(four.get(TWIST_MASS), spin))
    least = builder.fneg(most)
    twist = builder.select(four.more(twist, most), most, twist)
    twist = builder.select(four.more(least, twist), least, twist)
    twist = four.put(twist, TWIST)
    turn = four.splat(four.sub(twist, old))
    by_a, by_b = four.mul(turn, four.four(TA)), four.mul(turn, four.four(TB))
    four.apply(moving, four.zero, by_a, by_b)
    spin_a, spin_b = four.spins
    between = four.between(four.velocities)
    slides = []
    for tangent, first, second in ((T1, FA1, FB1), (T2, FA2, FB2)):
        slide = four.mul(four.four(tangent), between)
        slides.append(four.add(slide, four.mul(four.four(first), spin_a), four.mul(four.four(second), spin_b)))
    both = four.sums(slides[0], slides[1], four.zero)
    x = four.add(builder.extract_element(both, I32(0)), four.get(DRIVE1))
    y = four.add(builder.extract_element(both, I32(1)), four.get(DRIVE2))
    k11, k12, k22 = (four.get(INVERSE + part) for part in range(3))
    old1, old2 = four.get(SLIDE1), four.get(SLIDE2)
    new1 = four.sub(old1, four.add(four.mul(k11, x), four.mul(k12, y)))
    new2 = four.sub(old2, four.add(four.mul(k12, x), four.mul(k22, y)))
    most = four.mul(mu, four.first(four.total(impulse)))
    size = four.add(four.mul(new1, new1), four.mul(new2, new2))
    root = code.call("llvm.sqrt.f64", number, [size])
    over = four.more(root, most)
    one = ir.Constant(number, 1.0)
    share = builder.select(over, builder.fdiv(most, builder.select(over, root, one)), one)
    new1, new2 = four.put(four.mul(new1, share), SLIDE1), four.put(four.mul(new2, share), SLIDE2)
    one, two = four.splat(four.sub(new1, old1)), four.splat(four.sub(new2, old2))
    push = four.add(four.mul(one, four.four(T1)), four.mul(two, four.four(T2)))
    turn_a = four.add(four.mul(one, four.four(FA1)), four.mul(two, four.four(FA2)))
    turn_b = four.add(four.mul(one, four.four(FB1)), four.mul(two, four.four(FB2)))
    four.apply(moving, push, turn_a, turn_b)


# Plain Python


class _Row:
    """The numbers of a row, read in float64 and rounded where they are written."""

    def __init__(self, row: Any) -> None:
        self.row = row

    def __getitem__(self, at: int) -> float:
        return float(self.row[at])

    def __setitem__(self, at: int, value: float) -> None:
        self.row[at] = value


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

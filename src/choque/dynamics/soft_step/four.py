"""Vector code for contacts and their bodies: four lanes for each contact, one contact or four at a time.

Bodies are in float64, rows of contacts in float32, and so is the arithmetic between them: what two velocities differ by
is found in float64 and then rounded, and an impulse in float32 changes both bodies in float64. Numbers of a contact are
in all of its four lanes. Four contacts that share no body are solved at once: a contact is a long chain of operations
that wait for each other, and four chains side by side take hardly longer than one. Results are the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from llvmlite import ir

from choque._core.kernel import helper
from choque._core.lane_code import I32, I64, Array, Code, Int, Pointer, Real, operation
from choque._core.types import Integer

V, W, MOVED, TURNED, SCALE = 0, 4, 8, 12, 15
"""Places in the row of a body: velocity, spin, what it has moved and turned in this step, and 1/√m; see `bodies`."""

TOUCHED, SPEED, HELD = 8, 9, 13  # places in a row of `Kept.held`, and the width of it

FREE, SOFT, STATIC = 0, 5, 10
"""Places in the array of rates: without a bias, with that of two moving bodies, and with that of a static body.

Five numbers each: 1/h, the greatest speed at which bodies are pushed apart, the speed for each unit of overlap, how
much of a change of speed is demanded at once, and how much of the impulse so far is given up.
"""

AT_ONCE = 4  # contacts that are solved at once, if they share no body that moves
Contact: TypeAlias = tuple[Any, Any, Any]  # the row of a contact, and the rows of its bodies A and B


@helper
def group_contacts(first: Integer, last: Integer, ones: Any, others: Any, moving: Integer, group: Any) -> None:
    """Write to ``group`` how many of the contacts from each one on are solved at once: `AT_ONCE` or 1.

    Those share no body that moves, and of all of them the same body is static, or none.
    """
    t = first
    while t < last:
        a_moves, b_moves = ones[t] < moving, others[t] < moving
        fits = t + AT_ONCE <= last
        for u in range(t + 1, t + AT_ONCE if fits else t):
            a, b = ones[u], others[u]
            fits &= (a < moving) == a_moves and (b < moving) == b_moves
            for v in range(t, u):
                fits &= not (a_moves and (a == ones[v] or a == others[v]))
                fits &= not (b_moves and (b == ones[v] or b == others[v]))
        group[t] = AT_ONCE if fits else 1
        t += group[t]


def _begin(code: Code, speed: Pointer, given: Pointer, pull: Pointer, row: Any, h: Any, is_later: Any) -> None:
    builder, at, eight = code.builder, code.times(row, 16), ir.VectorType(speed.element, 8)
    four, none = ir.VectorType(speed.element, 4), ir.Constant(eight, [0.0] * 8)
    now, known, last = (code.load(*where, eight) for where in ((speed, at), (given, at), (given, code.plus(at, 8))))
    so_far = builder.select(
        builder.icmp_signed(">", is_later, I64(0)), builder.fadd(known, builder.fsub(now, last)), none
    )
    pulls = code.load(pull, code.times(row, 4), four)
    pulls = code.shuffle(pulls, ir.Constant(four, [0.0] * 4), list(range(8)))
    steps = builder.insert_element(none, h, I32(0))
    after = builder.fadd(builder.fadd(now, so_far), builder.fmul(code.shuffle(steps, steps, [0] * 8), pulls))
    code.store(so_far, given, at)
    code.store(after, given, code.plus(at, 8))
    code.store(after, speed, at)


@operation(_begin)
def begin_row(speed: Array, given: Array, pull: Array, row: Int, h: Real, is_later: Int) -> None:
    """Begin a sub-step of a body: its acceleration for ``h`` seconds, and all impulses of the sub-steps before."""
    so_far = given[row, :8] + (speed[row, :8] - given[row, 8:]) if is_later else np.zeros(8)
    speed[row, :8] += so_far
    speed[row, :4] += h * pull[row]
    given[row, :8], given[row, 8:] = so_far, speed[row, :8]


class Four:
    """Writes the code; ``width`` is that of a row."""

    width: ClassVar[int]

    def __init__(self, code: Code, speed: Pointer, rows: Pointer, *contacts: Contact) -> None:
        self.code, self.builder, self.rows, self.speed = code, code.builder, rows, speed
        self.starts = [code.times(t, self.width) for t, _, _ in contacts]
        self.bodies = [[code.times(contact[side], 16) for contact in contacts] for side in (1, 2)]
        self.quarters = range(0, 4 * len(contacts), 4)
        self.kind = ir.VectorType(rows.element, 4 * len(contacts))
        self.zero, self.one = (ir.Constant(self.kind, [number] * self.kind.count) for number in (0.0, 1.0))
        self.scales = [self.lane(self.of_bodies(bodies, SCALE - 3), 3) for bodies in self.bodies]
        self.velocities, self.spins = ([self.of_bodies(bodies, at) for bodies in self.bodies] for at in (V, W))

    # Loading and storing

    def four(self, at: int, sources: list[Pointer] | None = None) -> Any:
        """Load four numbers of each row, which may be in arrays of their own, as wide as the rows."""
        short = ir.VectorType(self.rows.element, 4)
        return self.joined(
            self.code.load(source, self.code.plus(start, at), short)
            for start, source in zip(self.starts, sources or [self.rows] * len(self.starts), strict=True)
        )

    def get(self, at: int) -> Any:
        """Load a number of each row into all of its lanes."""
        return self.lane(self.four(at - at % 4), at % 4)

    def put(self, value: Any, at: int, count: int = 1) -> Any:
        """Store the first ``count`` lanes of each row, 1 or 4; return ``value``."""
        for start, lane in zip(self.starts, self.quarters, strict=True):
            lanes, first = list(range(lane, lane + 4)), I32(lane)
            own = self.code.shuffle(value, value, lanes) if count > 1 else self.builder.extract_element(value, first)
            self.code.store(own, self.rows, self.code.plus(start, at))
        return value

    def narrow(self, value: Any) -> Any:
        """Return a vector in float32."""
        return self.builder.fptrunc(value, self.kind)

    def of_bodies(self, bodies: list[Any], at: int) -> Any:
        """Load four numbers of each body."""
        short = ir.VectorType(self.speed.element, 4)
        return self.joined(self.code.load(self.speed, self.code.plus(body, at), short) for body in bodies)

    def change(self, moving: Any, push: Any, spins: list[Any]) -> None:
        """Add to the velocities and ``spins`` of the bodies that move: A is pushed by −``push``, B by ``push``."""
        wide = ir.VectorType(self.speed.element, self.kind.count)
        push = self.builder.fpext(push, wide)
        for side, change in enumerate((self.sub, self.add)):
            after = [change(self.velocities[side], self.mul(self.scales[side], push))]
            after += [self.add(self.spins[side], self.builder.fpext(spin, wide)) for spin in spins[side : side + 1]]
            with self.builder.if_then(self.moves(side, moving), likely=True):
                for at, value in zip((V, W), after, strict=False):
                    for body, lane in zip(self.bodies[side], self.quarters, strict=True):
                        own = self.code.shuffle(value, value, list(range(lane, lane + 4)))
                        self.code.store(own, self.speed, self.code.plus(body, at))

    def moves(self, side: int, moving: Any) -> Any:
        """Tell whether the bodies of this side are not static."""
        return self.builder.icmp_signed("<", self.bodies[side][0], self.code.times(moving, 16))

    def joined(self, parts: Iterable[Any]) -> Any:
        """Return vectors of four one behind the other."""
        found = list(parts)
        while len(found) > 1:
            lanes = list(range(2 * found[0].type.count))
            found = [self.code.shuffle(found[at], found[at + 1], lanes) for at in range(0, len(found), 2)]
        return found[0]

    def bias(self, rates: Pointer, which: Any) -> list[Any]:
        """Load the five numbers of a bias, each into all lanes: see `FREE`."""
        return [self.splat(self.code.load(rates, self.code.plus(which, place))) for place in range(5)]

    # Lanes

    def order(self, one: Any, other: Any, lanes: list[int]) -> Any:
        """Return lanes of two vectors, for each contact those of its own: 0 to 3 and 4 to 7."""
        count = self.kind.count
        return self.code.shuffle(
            one, other, [lane % 4 + at + count * (lane // 4) for at in self.quarters for lane in lanes]
        )

    def lane(self, vector: Any, lane: int) -> Any:
        """Return one lane in all lanes of its contact."""
        return self.order(vector, vector, [lane] * 4)

    def splat(self, scalar: Any) -> Any:
        """Return a number in all lanes."""
        first = self.builder.insert_element(ir.Constant(self.kind, ir.Undefined), scalar, I32(0))
        return self.code.shuffle(first, first, [0] * self.kind.count)

    def three(self, vector: Any) -> Any:
        """Return a vector with a 0 in the fourth lane."""
        return self.order(vector, ir.Constant(vector.type, [0.0] * self.kind.count), [0, 1, 2, 4])

    def total(self, vector: Any) -> Any:
        """Return the sum of four lanes in each of them."""
        pair = self.add(vector, self.order(vector, vector, [1, 0, 3, 2]))
        return self.add(pair, self.order(pair, pair, [2, 3, 0, 1]))

    def cross(self, one: Any, other: Any) -> Any:
        """Return the cross product of vectors of three."""
        turned = [self.order(each, each, [1, 2, 0, 3]) for each in (one, other)]
        found = self.sub(self.mul(one, turned[1]), self.mul(turned[0], other))
        return self.order(found, found, [1, 2, 0, 3])

    # Arithmetic

    def add(self, one: Any, *others: Any) -> Any:
        """Return the sum."""
        for other in others:
            one = self.builder.fadd(one, other)
        return one

    def sub(self, one: Any, other: Any) -> Any:
        """Return the difference."""
        return self.builder.fsub(one, other)

    def mul(self, one: Any, other: Any) -> Any:
        """Return the product."""
        return self.builder.fmul(one, other)

    def more(self, one: Any, other: Any) -> Any:
        """Tell where the first is the greater one."""
        return self.builder.fcmp_ordered(">", one, other)

    def most(self, one: Any, other: Any) -> Any:
        """Return the greater one."""
        return self.builder.select(self.more(one, other), one, other)

    def share(self, most: Any, parts: list[tuple[Any, int]]) -> Any:
        """Return by what a vector of lanes ``parts`` is multiplied so that it is no longer than ``most``.

        In float64: the squares of impulses of very heavy or light bodies are not in the range of float32.
        """
        short = ir.VectorType(self.speed.element, max(2, len(self.starts)))  # LLVM 22 fails on vectors of one
        starts = [at % self.kind.count for at in range(0, 4 * short.count, 4)]
        most, *own = (
            self.builder.fpext(self.code.shuffle(each, each, [lane + at for at in starts]), short)
            for each, lane in ((most, 0), *parts)
        )
        one, square = ir.Constant(short, [1.0] * short.count), self.add(*(self.mul(each, each) for each in own))
        is_over = self.more(square, self.mul(most, most))
        root = self.code.call(f"llvm.sqrt.v{short.count}f64", short, [self.builder.select(is_over, square, one)])
        found = self.builder.select(is_over, self.builder.fdiv(most, root), one)
        found = self.builder.fptrunc(found, ir.VectorType(self.rows.element, short.count))
        return self.code.shuffle(found, found, [lane // 4 for lane in range(self.kind.count)])

    def between(self, velocities: list[Any]) -> Any:
        """Return how the velocity of B differs from that of A, or the way."""
        return self.narrow(self.sub(self.mul(self.scales[1], velocities[1]), self.mul(self.scales[0], velocities[0])))


def for_one_and_more(made: type[Four], write: Callable[..., None]) -> list[Callable[..., None]]:
    """Return writers of an operation on contact ``t``, and on `AT_ONCE` from there on; ``write`` writes either."""

    def writer(count: int) -> Callable[..., None]:
        def of_rows(code: Code, speed: Any, rows: Any, ones: Any, others: Any, t: Any, *rest: Any) -> None:
            contacts = [
                (row, *(code.builder.sext(code.load(each, row), I64) for each in (ones, others)))
                for row in (code.plus(t, at) for at in range(count))
            ]
            write(made(code, speed, rows, *contacts), *rest)

        return of_rows

    return [writer(1), writer(AT_ONCE)]

"""Vector code for contacts and their bodies: four lanes for each contact, one contact or two at a time.

Rows of contacts are in float32, bodies and all arithmetic in float64. Numbers of a contact are in all of its four
lanes. Two contacts that share no body are solved at once: a contact is a long chain of operations that wait for each
other, and two chains side by side take hardly longer than one. Results are the same bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

import numpy as np
from llvmlite import ir

from choque._core.kernel import forceinline
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

Contact: TypeAlias = tuple[Any, Any, Any]  # the row of a contact, and the rows of its bodies A and B


@forceinline
def are_apart(a: Integer, b: Integer, c: Integer, d: Integer, moving: Integer) -> bool:
    """Tell whether the contacts of ``a`` and ``b`` and of ``c`` and ``d`` can be solved at once.

    They share no body that moves, and of both the same body is static, or none.
    """
    alike: bool = (a < moving) == (c < moving) and (b < moving) == (d < moving)
    shares = a == d or b == c or (a == c and a < moving) or (b == d and b < moving)
    return alike and not shares


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
        self.kind = ir.VectorType(speed.element, 4 * len(contacts))
        self.zero, self.one = (ir.Constant(self.kind, [number] * self.kind.count) for number in (0.0, 1.0))
        self.scales = [self.lane(self.of_bodies(bodies, SCALE - 3), 3) for bodies in self.bodies]
        self.velocities, self.spins = ([self.of_bodies(bodies, at) for bodies in self.bodies] for at in (V, W))

    # Loading and storing

    def four(self, at: int, sources: list[Pointer] | None = None) -> Any:
        """Load four numbers of each row, which may be in arrays of their own, as wide as the rows."""
        short = ir.VectorType(self.rows.element, 4)
        found = [
            self.code.load(source, self.code.plus(start, at), short)
            for start, source in zip(self.starts, sources or [self.rows] * len(self.starts), strict=True)
        ]
        return self.builder.fpext(self._joined(found), self.kind)

    def get(self, at: int) -> Any:
        """Load a number of each row into all of its lanes."""
        return self.lane(self.four(at - at % 4), at % 4)

    def put(self, value: Any, at: int, count: int = 1) -> Any:
        """Store the first ``count`` lanes of each row, 1 or 4; return what was stored, rounded to float32."""
        short = self.builder.fptrunc(value, ir.VectorType(self.rows.element, self.kind.count))
        for start, lane in zip(self.starts, self.quarters, strict=True):
            lanes = range(lane, lane + 4)
            own = self.code.shuffle(short, short, list(lanes)) if count > 1 else None
            own = self.builder.extract_element(short, I32(lane)) if own is None else own
            self.code.store(own, self.rows, self.code.plus(start, at))
        return self.builder.fpext(short, self.kind)

    def of_bodies(self, bodies: list[Any], at: int) -> Any:
        """Load four numbers of each body."""
        short = ir.VectorType(self.speed.element, 4)
        return self._joined([self.code.load(self.speed, self.code.plus(body, at), short) for body in bodies])

    def keep(self, value: Any, bodies: list[Any], at: int) -> None:
        """Store four numbers of each body."""
        for body, lane in zip(bodies, self.quarters, strict=True):
            own = self.code.shuffle(value, value, list(range(lane, lane + 4)))
            self.code.store(own, self.speed, self.code.plus(body, at))

    def moves(self, side: int, moving: Any) -> Any:
        """Tell whether the bodies of this side are not static."""
        return self.builder.icmp_signed("<", self.bodies[side][0], self.code.times(moving, 16))

    def _joined(self, parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else self.code.shuffle(parts[0], parts[1], list(range(8)))

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
        return self.order(vector, self.zero, [0, 1, 2, 4])

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

    def share(self, most: Any, square: Any) -> Any:
        """Return by what a vector of length √``square`` is multiplied so that it is no longer than ``most``."""
        two = ir.VectorType(self.speed.element, 2)
        ends = [0, self.kind.count - 4]
        most, square = (self.code.shuffle(each, each, ends) for each in (most, square))
        one = ir.Constant(two, [1.0, 1.0])
        is_over = self.more(square, self.mul(most, most))
        root = self.code.call("llvm.sqrt.v2f64", two, [self.builder.select(is_over, square, one)])
        found = self.builder.select(is_over, self.builder.fdiv(most, root), one)
        return self.code.shuffle(found, found, [lane // 4 for lane in range(self.kind.count)])

    def between(self, velocities: list[Any]) -> Any:
        """Return how the velocity of B differs from that of A, or the way."""
        return self.sub(self.mul(self.scales[1], velocities[1]), self.mul(self.scales[0], velocities[0]))


def for_one_and_two(made: type[Four], write: Callable[..., None]) -> tuple[Callable[..., None], Callable[..., None]]:
    """Return writers of an operation on one contact, and on a contact and the next one; ``write`` writes either."""

    def one(code: Code, speed: Any, rows: Any, t: Any, a: Any, b: Any, *others: Any) -> None:
        write(made(code, speed, rows, (t, a, b)), *others)

    def two(code: Code, speed: Any, rows: Any, t: Any, a: Any, b: Any, c: Any, d: Any, *others: Any) -> None:
        write(made(code, speed, rows, (t, a, b), (code.plus(t, 1), c, d)), *others)

    return one, two

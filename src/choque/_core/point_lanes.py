"""Operations on eight points at once: which are near, and which is farthest. See `choque._core.lanes` for the rules."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from choque._core.lane_code import I1, I32, I64, LANES, V8I, Array, Code, Int, Real, operation


def _near_eight(code: Code, x: Any, y: Any, z: Any, at: Any, *given: Any, by_axis: bool = False) -> Any:
    builder = code.builder
    square = None
    for column, value in zip((x, y, z), given[:3], strict=True):
        step = builder.fsub(code.eight(column, at), code.splat(value))
        part = builder.fmul(step, step)
        if square is None:
            square = part
        elif by_axis:
            square = builder.select(builder.fcmp_ordered("<", square, part), part, square)
        else:
            square = builder.fadd(square, part)
    inner, outer = (code.bits(builder.fcmp_ordered("<", square, code.splat(limit))) for limit in given[3:])
    return builder.or_(inner, builder.shl(outer, I64(8)))


@operation(_near_eight)
def near_eight(
    x: Array, y: Array, z: Array, at: Int, own_x: Real, own_y: Real, own_z: Real, inner: Real, outer: Real
) -> int:
    """Return which of the eight points from ``at`` on are near a point, by the squares of two distances.

    Bits 0 to 7 are set for squares less than ``inner``, bits 8 to 15 for squares less than ``outer``.
    """
    mask = 0
    for lane in range(LANES):
        square = (x[at + lane] - own_x) ** 2 + (y[at + lane] - own_y) ** 2 + (z[at + lane] - own_z) ** 2
        mask |= bool(square < inner) << lane | bool(square < outer) << (8 + lane)
    return mask


@operation(lambda *given: _near_eight(*given, by_axis=True))
def near_eight_by_axis(
    x: Array, y: Array, z: Array, at: Int, own_x: Real, own_y: Real, own_z: Real, inner: Real, outer: Real
) -> int:
    """Return the bits of `near_eight` where a distance is the largest of those along the axes."""
    mask = 0
    for lane in range(LANES):
        square = max((x[at + lane] - own_x) ** 2, (y[at + lane] - own_y) ** 2, (z[at + lane] - own_z) ** 2)
        mask |= bool(square < inner) << lane | bool(square < outer) << (8 + lane)
    return mask


def _farthest_row(code: Code, points: Any, first: Any, last: Any, *direction: Any) -> Any:
    builder = code.builder
    axes, last_eight = [code.splat(value) for value in direction], builder.sub(last, I64(LANES))

    def compare(held: list[Any]) -> tuple[list[Any], Any]:
        row, highest, best = held
        eight, height = code.load(points, code.times(row, 3), ir.VectorType(points.element, 3 * LANES)), None
        for axis in range(3):
            part = builder.fmul(code.shuffle(eight, eight, list(range(axis, 3 * LANES, 3))), axes[axis])
            height = part if height is None else builder.fadd(height, part)
        is_higher = builder.fcmp_ordered(">", height, highest)
        place = code.splat(builder.trunc(builder.sub(row, first), I32))
        place = builder.add(place, ir.Constant(V8I, list(range(LANES))))
        following = code.plus(row, LANES)
        following = builder.select(builder.icmp_signed("<", following, last_eight), following, last_eight)
        new = [following, builder.select(is_higher, height, highest), builder.select(is_higher, place, best)]
        return new, builder.icmp_signed("<", row, last_eight)

    lowest = ir.Constant(points.vector, [-float("inf")] * LANES)
    _, tops, places = code.repeat([first, lowest, ir.Constant(V8I, [0] * LANES)], I1(1), compare)
    top = tops
    for distance in (4, 2, 1):
        other = code.shuffle(top, top, [lane ^ distance for lane in range(LANES)])
        top = builder.select(builder.fcmp_ordered(">", top, other), top, other)
    is_top, none = builder.fcmp_ordered("==", tops, top), ir.Constant(V8I, [2**31 - 1] * LANES)
    found = code.call("llvm.vector.reduce.smin.v8i32", I32, [builder.select(is_top, places, none)])
    return code.plus(first, builder.zext(found, I64))


@operation(_farthest_row)
def farthest_row(points: Array, first: Int, last: Int, x: Real, y: Real, z: Real) -> int:
    """Return the first of the rows first … last − 1 of ``points`` (n, 3) that is farthest along (x, y, z).

    There are at least eight rows. The heights are x·p₀ + y·p₁ + z·p₂ in this order.
    """
    best, highest = first, -np.inf
    for row in range(first, last):
        height = points[row, 0] * x + points[row, 1] * y + points[row, 2] * z
        if height > highest:
            best, highest = row, height
    return int(best)

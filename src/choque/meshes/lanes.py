"""Sixteen boxes of a tree against a box that is turned: which of them meet it, and how far they are at least.

A query is an array of float32. First the bounds around the turned box; then four rows u, low, high, the turned box
lying where low ≤ u · x ≤ high: three for its sides, one for the slab beside it; then its middle and its half sides.
With the sides this is six of the fifteen axes of the full test of two boxes (Gottschalk, Lin & Manocha, "OBBTree",
1996). The slabs of the lanes are compared with the extent of the turned box along their normals n; with m the normal
of its own slab, n · x = (n · m) (m · x) + (n − (n · m) m) · x, and the slab bounds the first term, the box the second.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from llvmlite import ir

from choque._core.lane_code import I64, Array, Code, Int, Real, operation

SLAB, MIDDLE, SIDES, LOOSE, QUERY = 21, 26, 29, 38, 39
"""Places in a query: the row of the slab, the middle, the half sides, what rounding may lose; and its size."""

Bits: TypeAlias = Any  # a number whose bits are the answers for eight lanes


class _Lanes:
    """Writes LLVM code for half a block: eight lanes and a query."""

    def __init__(self, code: Code, lanes: Any, slabs: Any, block: Any, query: Any, half: int) -> None:
        self.code, self._lanes, self._slabs, self._query = code, lanes, slabs, query
        self._start = code.plus(code.times(block, 96), 8 * half)
        self._slab_start = code.plus(code.times(block, 80), 8 * half)

    def splat(self, place: int) -> Any:
        """Return a number of the query in all lanes."""
        return self.code.splat(self.code.load(self._query, place))

    def bound(self, number: int) -> Any:
        """Return one of the six bounds."""
        return self.code.eight(self._lanes, self.code.plus(self._start, 16 * number))

    def projected(self, row: int) -> tuple[Any, Any]:
        """Return the least and the greatest u · x of the boxes, for one row of the query."""
        code, builder = self.code, self.code.builder
        shares, near, far = [], [], []
        for axis in range(3):
            share = code.load(self._query, 6 + 5 * row + axis)
            is_up = builder.fcmp_ordered(">", share, share.type(0.0))
            start = code.plus(self._start, 16 * axis)
            up, down = builder.select(is_up, I64(48), I64(0)), builder.select(is_up, I64(0), I64(48))
            shares.append(code.splat(share))
            near.append(code.eight(self._lanes, code.plus(start, down)))
            far.append(code.eight(self._lanes, code.plus(start, up)))
        return self._dot(near, shares), self._dot(far, shares)

    def extents(self) -> tuple[Any, Any, Any, Any]:
        """Return the slabs of the lanes, low and high, and the extent of the turned box along their normals."""
        builder = self.code.builder
        columns = [self.code.eight(self._slabs, self.code.plus(self._slab_start, 16 * k)) for k in range(5)]
        normal, own = columns[:3], [self.splat(SLAB + k) for k in range(3)]
        share = self._dot(normal, own)
        rest = [_less(builder, normal[k], share, own[k]) for k in range(3)]
        ends = [builder.fmul(share, self.splat(SLAB + k), flags=_FUSED) for k in (3, 4)]
        is_up = builder.fcmp_ordered("<", *ends)
        middle, half = self._dot(rest, [self.splat(MIDDLE + k) for k in range(3)]), self.splat(LOOSE)
        for k in range(3):
            side = self._dot(rest, [self.splat(SIDES + 3 * k + i) for i in range(3)])
            half = builder.fadd(half, self.code.call("llvm.fabs.v8f32", side.type, [side]))
        begin = builder.fsub(builder.fadd(builder.select(is_up, *ends), middle), half)
        end = builder.fadd(builder.fadd(builder.select(is_up, *reversed(ends)), middle), half)
        return columns[3], columns[4], begin, end

    def toward(self, *, is_point: bool) -> list[Any]:
        """Return lower bounds of squared distances along the lines from the middles of the lanes to that of the box.

        Along a line the box and its slab reach as far as their shares say, as in `extents`; a point reaches nowhere.
        """
        builder = self.code.builder

        def size(value: Any) -> Any:
            return self.code.call("llvm.fabs.v8f32", value.type, [value])

        def reach(line: list[Any], normal: list[Any], ends: list[Any], sides: list[list[Any]]) -> Any:
            share = self._dot(line, normal)
            rest = [_less(builder, line[k], share, normal[k]) for k in range(3)]
            low, high = (builder.fmul(share, end) for end in ends)
            total = builder.select(builder.fcmp_ordered(">", low, high), low, high)
            for side in sides:
                total = builder.fadd(total, size(self._dot(rest, side)))
            return total

        half, zero = (self.code.splat(ir.FloatType()(value)) for value in (0.5, 0.0))
        middle = [builder.fmul(half, builder.fadd(self.bound(k), self.bound(k + 3))) for k in range(3)]
        sides = [builder.fmul(half, builder.fsub(self.bound(k + 3), self.bound(k))) for k in range(3)]
        target = [self.splat(MIDDLE + k) for k in range(3)]
        line = [builder.fsub(target[k], middle[k]) for k in range(3)]
        columns = [self.code.eight(self._slabs, self.code.plus(self._slab_start, 16 * k)) for k in range(5)]
        level = self._dot(columns[:3], middle)
        own = [[sides[k] if k == i else zero for i in range(3)] for k in range(3)]
        near = reach(line, columns[:3], [builder.fsub(end, level) for end in columns[3:]], own)
        length = self._dot(line, line)
        loose = builder.fmul(self.splat(LOOSE), builder.fadd(builder.fadd(*map(size, line[:2])), size(line[2])))
        gap = builder.fsub(builder.fsub(length, near), loose)
        if not is_point:
            normal = [self.splat(SLAB + k) for k in range(3)]
            level = self._dot(normal, target)
            ends = [builder.fsub(level, self.splat(SLAB + k)) for k in (3, 4)]
            far = reach(line, normal, ends, [[self.splat(SIDES + 3 * k + i) for i in range(3)] for k in range(3)])
            gap = builder.fsub(gap, far)
        bound = builder.fmul(gap, builder.fdiv(gap, length))  # a fourth power could leave the range of float32
        return [builder.select(builder.fcmp_ordered(">", gap, zero), bound, zero)]

    def _dot(self, one: list[Any], two: list[Any]) -> Any:
        builder = self.code.builder
        total = builder.fmul(one[0], two[0], flags=_FUSED)
        for k in (1, 2):
            total = builder.fadd(total, builder.fmul(one[k], two[k], flags=_FUSED), flags=_FUSED)
        return total

    # Whether lanes may meet the box

    def in_bounds(self) -> Bits:
        """Compare the bounds around the box."""
        sides = [self.bound(number) for number in range(6)]
        return self.code.meeting([self.splat(number) for number in range(6)], sides[:3], sides[3:])

    def in_rows(self) -> Bits:
        """Compare along the sides of the box and the normal of its slab."""
        rows = ((*self.projected(row), self.splat(9 + 5 * row), self.splat(10 + 5 * row)) for row in range(4))
        return self._meeting(*rows)

    def in_slabs(self) -> Bits:
        """Compare along the normals of the lanes."""
        return self._meeting(self.extents())

    def _meeting(self, *intervals: Any) -> Bits:
        builder, found = self.code.builder, None
        for low, high, least, most in intervals:
            near = builder.and_(builder.fcmp_ordered("<=", low, most), builder.fcmp_ordered(">=", high, least))
            found = near if found is None else builder.and_(found, near)
        return self.code.bits(found)


_FUSED = ("contract",)  # a product and a sum may be one instruction, rounded once


def _less(builder: Any, value: Any, one: Any, two: Any) -> Any:
    """Return value − one · two."""
    return builder.fsub(value, builder.fmul(one, two, flags=_FUSED), flags=_FUSED)


def _narrowed(code: Code, bits: Bits, further: Callable[[], Bits]) -> Bits:
    """Return the bits that ``further`` leaves; its code is skipped where none is set."""
    before = code.builder.block
    with code.builder.if_then(code.builder.icmp_unsigned("!=", bits, I64(0))):
        left = code.builder.and_(bits, further())
        inside = code.builder.block
    answer = code.builder.phi(I64)
    answer.add_incoming(bits, before)
    answer.add_incoming(left, inside)
    return answer


def _turned_hits(code: Code, lanes: Any, slabs: Any, block: Any, query: Any) -> Any:
    found = None
    for half in range(2):
        here = _Lanes(code, lanes, slabs, block, query, half)
        bits = _narrowed(code, _narrowed(code, here.in_bounds(), here.in_slabs), here.in_rows)
        found = bits if found is None else code.builder.or_(found, code.builder.shl(bits, I64(8)))
    return found


@operation(_turned_hits)
def turned_hits(lanes: Array, slabs: Array, block: Int, query: Array) -> int:
    """Return the bits of the sixteen boxes of a block that may meet the box of a query; touching counts."""
    mask = 0
    for lane in range(16):
        low, high = _corners(lanes, block, lane)
        meets = bool((low <= query[3:6]).all() and (high >= query[:3]).all())
        for row in range(4):
            u, least, most = query[6 + 5 * row : 9 + 5 * row], query[9 + 5 * row], query[10 + 5 * row]
            near, far = np.where(u > 0, low, high) @ u, np.where(u > 0, high, low) @ u
            meets = meets and bool(near <= most and far >= least)
        least, most, begin, end = _plain_extents(slabs, block, lane, query)
        mask |= (meets and bool(least <= end and most >= begin)) << lane
    return mask


def _gap(code: Code, low: Any, high: Any, least: Any, most: Any) -> Any:
    """Return the square of the gap between two intervals; NaN of unused lanes stays."""
    builder = code.builder
    before, after = builder.fsub(low, most), builder.fsub(least, high)
    gap = builder.select(builder.fcmp_ordered(">", before, after), before, after)
    zero = gap.type([0.0] * 8)
    gap = builder.select(builder.fcmp_ordered("<", gap, zero), zero, gap)
    return builder.fmul(gap, gap)


def _write_gaps(code: Code, kind: str, lanes: Any, slabs: Any, block: Any, query: Any, gaps: Any, limit: Any) -> Any:
    builder, limit, found = code.builder, code.splat(limit), None
    for half in range(2):
        here = _Lanes(code, lanes, slabs, block, query, half)
        total = None
        for axis in range(3):
            gap = _gap(code, here.bound(axis), here.bound(axis + 3), here.splat(axis), here.splat(axis + 3))
            total = gap if total is None else builder.fadd(total, gap)
        if kind == "point":
            total = _raised(code, total, limit, partial(here.toward, is_point=True))
        elif kind == "turned":
            total = _greatest(code, total, *here.toward(is_point=False))
            total = _raised(code, total, limit, partial(_side_gaps, code, here))
        code.store(total, gaps, 8 * half)
        bits = code.bits(builder.fcmp_ordered("<", total, limit))
        found = bits if found is None else builder.or_(found, builder.shl(bits, I64(8)))
    return found


def _raised(code: Code, total: Any, limit: Any, further: Callable[[], list[Any]]) -> Any:
    """Return the greatest of ``total`` and the bounds of ``further``, whose code is skipped if no lane needs it."""
    builder, before = code.builder, code.builder.block
    is_any = builder.icmp_unsigned("!=", code.bits(builder.fcmp_ordered("<", total, limit)), I64(0))
    with builder.if_then(is_any):
        inner, inside = _greatest(code, total, *further()), builder.block
    answer = builder.phi(total.type)
    answer.add_incoming(total, before)
    answer.add_incoming(inner, inside)
    return answer


def _side_gaps(code: Code, here: _Lanes) -> list[Any]:
    """Return squared gaps along the sides of the turned box, the normal of its slab, and the normals of the lanes."""
    rows = [_gap(code, *here.projected(row), here.splat(9 + 5 * row), here.splat(10 + 5 * row)) for row in range(4)]
    sides = code.builder.fadd(code.builder.fadd(rows[0], rows[1]), rows[2])
    return [sides, rows[3], _gap(code, *here.extents())]


def _greatest(code: Code, value: Any, *others: Any) -> Any:
    """Return the greatest numbers of vectors; NaN where the first one is NaN."""
    for other in others:
        value = code.builder.select(code.builder.fcmp_ordered(">", other, value), other, value)
    return value


@operation(lambda code, *rest: _write_gaps(code, "turned", *rest))
def turned_gaps(lanes: Array, slabs: Array, block: Int, query: Array, gaps: Array, limit: Real) -> int:
    """Write to ``gaps`` (16,) lower bounds of the squared distances of the boxes of a block from that of a query.

    The gaps along the sides of either box, those along the normals of either slab, and those along the lines between
    the middles give one bound each, and the greatest one counts, or the first one that is no less than ``limit``. NaN
    for unused lanes. Returns the bits of the lanes whose bounds are less than ``limit``.
    """
    mask = 0
    for lane in range(16):
        low, high = _corners(lanes, block, lane)
        gaps[lane] = _squared(low, high, query[:3], query[3:6])
        rows = query[6:26].reshape(4, 5)
        near = [np.where(u > 0, low, high) @ u for u in rows[:, :3]]
        far = [np.where(u > 0, high, low) @ u for u in rows[:, :3]]
        bounds = [_squared(np.array(near[part]), np.array(far[part]), rows[part, 3], rows[part, 4]) for part in _PARTS]
        bounds += [_squared(*(np.array([x]) for x in _plain_extents(slabs, block, lane, query)))]
        for bound in (*bounds, _plain_toward(lanes, slabs, block, lane, query)):
            gaps[lane] = bound if bound > gaps[lane] else gaps[lane]
        mask |= bool(gaps[lane] < limit) << lane
    return mask


@operation(lambda code, *rest: _write_gaps(code, "point", *rest))
def point_gaps(lanes: Array, slabs: Array, block: Int, query: Array, gaps: Array, limit: Real) -> int:
    """Write to ``gaps`` (16,) lower bounds of the squared distances of the boxes of a block from a point.

    A query has the point rounded down, rounded up, and rounded (`MIDDLE`), what rounding may lose (`LOOSE`), and zeros.
    Bounds and answer are as for `turned_gaps`.
    """
    mask = 0
    for lane in range(16):
        gaps[lane] = _squared(*_corners(lanes, block, lane), query[:3], query[3:6])
        bound = _plain_toward(lanes, slabs, block, lane, query)
        gaps[lane] = bound if bound > gaps[lane] else gaps[lane]
        mask |= bool(gaps[lane] < limit) << lane
    return mask


@operation(lambda code, lanes, block, *rest: _write_gaps(code, "box", lanes, None, block, *rest))
def box_gaps(lanes: Array, block: Int, query: Array, gaps: Array, limit: Real) -> int:
    """Write to ``gaps`` (16,) the squared distances of the boxes of a block from the bounds of a query.

    Returns the bits of the lanes whose distances are less than ``limit``.
    """
    mask = 0
    for lane in range(16):
        gaps[lane] = _squared(*_corners(lanes, block, lane), query[:3], query[3:6])
        mask |= bool(gaps[lane] < limit) << lane
    return mask


_PARTS = (slice(0, 3), slice(3, 4))  # the rows of a query: of the sides, of the slab


def _plain_extents(slabs: Any, block: int, lane: int, query: Any) -> tuple[Any, Any, Any, Any]:
    nx, ny, nz, low, high = slabs[80 * block + lane : 80 * (block + 1) : 16]
    normal, own = np.array([nx, ny, nz]), query[SLAB : SLAB + 3]
    share = normal @ own
    rest = normal - share * own
    half = query[LOOSE] + np.abs(query[SIDES : SIDES + 9].reshape(3, 3) @ rest).sum()
    ends = share * query[SLAB + 3 : SLAB + 5]
    middle = rest @ query[MIDDLE : MIDDLE + 3]
    return low, high, ends.min() + middle - half, ends.max() + middle + half


def _plain_toward(lanes: Any, slabs: Any, block: int, lane: int, query: Any) -> Any:
    low, high = _corners(lanes, block, lane)
    nx, ny, nz, *ends = slabs[80 * block + lane : 80 * (block + 1) : 16]
    normal, own, middle, target = np.array([nx, ny, nz]), query[SLAB : SLAB + 3], (low + high) / 2, query[MIDDLE:SIDES]
    line = target - middle
    gap = line @ line - query[LOOSE] * np.abs(line).sum()
    for n, both, sides in (
        (normal, np.array(ends) - normal @ middle, np.diag(high - low) / 2),
        (own, own @ target - query[SLAB + 3 : SLAB + 5], query[SIDES : SIDES + 9].reshape(3, 3)),
    ):
        gap -= ((line @ n) * both).max() + np.abs(sides @ (line - (line @ n) * n)).sum()
    return gap * (gap / (line @ line)) if gap > 0 else gap * 0


def _corners(lanes: Any, block: int, lane: int) -> tuple[Any, Any]:
    bounds = lanes[96 * block + lane : 96 * (block + 1) : 16][:6]
    return bounds[:3], bounds[3:]


def _squared(low: Any, high: Any, least: Any, most: Any) -> Any:
    gap = np.maximum(np.maximum(low - most, least - high), 0)  # NaN stays
    return (gap * gap).sum()

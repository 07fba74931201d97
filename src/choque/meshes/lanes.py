"""Sixteen boxes of a tree against a box that is turned: which of them meet it, and how far they are at least.

A query is an array of float32. First the bounds around the turned box; then four rows u, low, high, the turned box
lying where low ≤ u · x ≤ high: three for its sides, one for the slab beside it; then its middle and its half sides.
With the sides this is six of the fifteen axes of the full test of two boxes (Gottschalk, Lin & Manocha, "OBBTree",
1996). The slabs of the lanes are compared with the extent of the turned box along their normals n; with m the normal
of its own slab, n · x = (n · m) (m · x) + (n − (n · m) m) · x, and the slab bounds the first term, the box the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.lane_code import I64, Array, Code, Int, operation

SLAB, MIDDLE, SIDES, LOOSE, QUERY = 21, 26, 29, 38, 39
"""Places in a query: the row of the slab, the middle, the half sides, what rounding may lose; and its size."""


def _projected(code: Code, lanes: Any, start: Any, query: Any, row: int) -> tuple[Any, Any]:
    """Return the least and the greatest u · x of eight boxes, for one row of a query."""
    low = high = None
    for axis in range(3):
        share = code.load(query, 6 + 5 * row + axis)
        is_up = code.builder.fcmp_ordered(">", share, share.type(0.0))
        up, down = code.builder.select(is_up, I64(48), I64(0)), code.builder.select(is_up, I64(0), I64(48))
        share = code.splat(share)
        near = code.builder.fmul(share, code.eight(lanes, code.plus(code.plus(start, 16 * axis), down)))
        far = code.builder.fmul(share, code.eight(lanes, code.plus(code.plus(start, 16 * axis), up)))
        low = near if low is None else code.builder.fadd(low, near)
        high = far if high is None else code.builder.fadd(high, far)
    return low, high


def _extents(code: Code, slabs: Any, start: Any, query: Any) -> tuple[Any, Any, Any, Any]:
    """Return the slabs of eight lanes, low and high, and the extent of the turned box along their normals."""
    builder = code.builder

    def dot(vector: list[Any], place: int) -> Any:
        parts = [builder.fmul(vector[k], code.splat(code.load(query, place + k))) for k in range(3)]
        return builder.fadd(builder.fadd(parts[0], parts[1]), parts[2])

    def size(vector: Any) -> Any:
        return code.call("llvm.fabs.v8f32", vector.type, [vector])

    normal = [code.eight(slabs, code.plus(start, 16 * column)) for column in range(3)]
    low, high = (code.eight(slabs, code.plus(start, 16 * column)) for column in (3, 4))
    share = dot(normal, SLAB)
    rest = [builder.fsub(normal[k], builder.fmul(share, code.splat(code.load(query, SLAB + k)))) for k in range(3)]
    least, most = (code.splat(code.load(query, SLAB + k)) for k in (3, 4))
    one_end, other_end = builder.fmul(share, least), builder.fmul(share, most)
    is_up = builder.fcmp_ordered("<", one_end, other_end)
    middle, half = dot(rest, MIDDLE), code.splat(code.load(query, LOOSE))
    for k in range(3):
        half = builder.fadd(half, size(dot(rest, SIDES + 3 * k)))
    begin = builder.fsub(builder.fadd(builder.select(is_up, one_end, other_end), middle), half)
    end = builder.fadd(builder.fadd(builder.select(is_up, other_end, one_end), middle), half)
    return low, high, begin, end


def _turned_hits(code: Code, lanes: Any, slabs: Any, block: Any, query: Any) -> Any:
    builder = code.builder
    box = [code.splat(code.load(query, bound)) for bound in range(6)]
    found = None
    for half in range(2):
        start = code.plus(code.times(block, 96), 8 * half)
        sides = [code.eight(lanes, code.plus(start, 16 * bound)) for bound in range(6)]
        bits = code.meeting(box, sides[:3], sides[3:])
        low, high, begin, end = _extents(code, slabs, code.plus(code.times(block, 80), 8 * half), query)
        near = builder.and_(builder.fcmp_ordered("<=", low, end), builder.fcmp_ordered(">=", high, begin))
        bits = builder.and_(bits, code.bits(near))
        for row in range(4):
            low, high = _projected(code, lanes, start, query, row)
            least, most = (code.splat(code.load(query, 9 + 5 * row + k)) for k in range(2))
            near = builder.and_(builder.fcmp_ordered("<=", low, most), builder.fcmp_ordered(">=", high, least))
            bits = builder.and_(bits, code.bits(near))
        found = bits if found is None else builder.or_(found, builder.shl(bits, I64(8)))
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


def _write_gaps(code: Code, lanes: Any, slabs: Any, block: Any, query: Any, gaps: Any) -> None:
    builder = code.builder
    for half in range(2):
        start = code.plus(code.times(block, 96), 8 * half)
        total = other = None
        for axis in range(3):
            low, high = (code.eight(lanes, code.plus(start, 16 * (axis + k))) for k in (0, 3))
            least, most = (code.splat(code.load(query, axis + k)) for k in (0, 3))
            gap = _gap(code, low, high, least, most)
            total = gap if total is None else builder.fadd(total, gap)
        if slabs is not None:
            extents = _extents(code, slabs, code.plus(code.times(block, 80), 8 * half), query)
            bounds = [_gap(code, *extents)]
            for row in range(4):
                low, high = _projected(code, lanes, start, query, row)
                least, most = (code.splat(code.load(query, 9 + 5 * row + k)) for k in range(2))
                gap = _gap(code, low, high, least, most)
                if row < 3:
                    other = gap if other is None else builder.fadd(other, gap)
                else:
                    bounds += [other, gap]
            for bound in bounds:
                total = builder.select(builder.fcmp_ordered(">", bound, total), bound, total)
        code.store(total, gaps, 8 * half)


@operation(_write_gaps)
def turned_gaps(lanes: Array, slabs: Array, block: Int, query: Array, gaps: Array) -> None:
    """Write to ``gaps`` (16,) lower bounds of the squared distances of the boxes of a block from that of a query.

    The gaps along the sides of either box, and those along the normals of either slab, give one bound each, and the
    greatest one counts. NaN for unused lanes.
    """
    for lane in range(16):
        low, high = _corners(lanes, block, lane)
        gaps[lane] = _squared(low, high, query[:3], query[3:6])
        rows = query[6:26].reshape(4, 5)
        near = [np.where(u > 0, low, high) @ u for u in rows[:, :3]]
        far = [np.where(u > 0, high, low) @ u for u in rows[:, :3]]
        bounds = [_squared(np.array(near[part]), np.array(far[part]), rows[part, 3], rows[part, 4]) for part in _PARTS]
        for bound in (*bounds, _squared(*(np.array([x]) for x in _plain_extents(slabs, block, lane, query)))):
            gaps[lane] = bound if bound > gaps[lane] else gaps[lane]


@operation(lambda code, lanes, block, query, gaps: _write_gaps(code, lanes, None, block, query, gaps))
def box_gaps(lanes: Array, block: Int, query: Array, gaps: Array) -> None:
    """Write to ``gaps`` (16,) the squared distances of the boxes of a block from the bounds of a query."""
    for lane in range(16):
        gaps[lane] = _squared(*_corners(lanes, block, lane), query[:3], query[3:6])


_PARTS = (slice(0, 3), slice(3, 4))
"""The rows of a query: of the sides, of the slab."""


def _plain_extents(slabs: Any, block: int, lane: int, query: Any) -> tuple[Any, Any, Any, Any]:
    nx, ny, nz, low, high = slabs[80 * block + lane : 80 * (block + 1) : 16]
    normal, own = np.array([nx, ny, nz]), query[SLAB : SLAB + 3]
    share = normal @ own
    rest = normal - share * own
    half = query[LOOSE] + np.abs(query[SIDES : SIDES + 9].reshape(3, 3) @ rest).sum()
    ends = share * query[SLAB + 3 : SLAB + 5]
    middle = rest @ query[MIDDLE : MIDDLE + 3]
    return low, high, ends.min() + middle - half, ends.max() + middle + half


def _corners(lanes: Any, block: int, lane: int) -> tuple[Any, Any]:
    bounds = lanes[96 * block + lane : 96 * (block + 1) : 16][:6]
    return bounds[:3], bounds[3:]


def _squared(low: Any, high: Any, least: Any, most: Any) -> Any:
    gap = np.maximum(np.maximum(low - most, least - high), 0)  # NaN stays
    return (gap * gap).sum()

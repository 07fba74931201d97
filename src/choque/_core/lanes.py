"""Operations on eight numbers at once, for kernels whose loops Numba does not turn into vector instructions.

They read and write whole groups of eight, also behind the last item that counts: arrays must be that long. Indices are
not checked. What an operation does is its plain Python body; `choque._core.lane_code` says how both forms are made.

A kernel that uses them must make no array, not even a view, inside a hot loop: counting its references doubles the
time of such a loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir

from choque._core.lane_code import I1, I8, I32, I64, LANES, V8I, Array, Code, Int, Real, Word, operation

BLOCK = 24  # numbers that `survey_lanes` takes at once: a whole number of boxes, with their corners apart or in records

# Bits and memory


@operation(lambda code, mask: code.builder.ctpop(mask))
def bit_count(mask: Int) -> int:
    """Return how many bits of ``mask`` are set."""
    return (int(mask) & (1 << 64) - 1).bit_count()


@operation(lambda code, mask: code.builder.cttz(mask, I1(1)))
def lowest_bit(mask: Int) -> int:
    """Return the number of the lowest bit set; ``mask`` is not 0."""
    return (int(mask) & -int(mask)).bit_length() - 1


def _prefetch(code: Code, array: Any, index: Any) -> None:
    place = code.builder.bitcast(code.builder.gep(array.start, [index]), I8.as_pointer())
    code.call("llvm.prefetch.p0", ir.VoidType(), [place, I32(0), I32(3), I32(1)])


@operation(_prefetch)
def prefetch(array: Array, index: Int) -> None:
    """Ask for the cache line of an element that is read soon; ``index`` may lie outside.

    In a loop over ``order``, before items[order[k]] is read: prefetch(items, order[min(k + 16, last - 1)] * width).
    """


# Boxes in columns: the six bounds and the id of a box lie ``stride`` elements apart


def _overlap_eight(code: Code, columns: Any, own: Any, own_stride: Any, at: Any, stride: Any) -> Any:
    box = [code.splat(code.load(columns, code.plus(own, code.times(own_stride, bound)))) for bound in range(6)]
    sides = [code.eight(columns, code.plus(at, code.times(stride, bound))) for bound in range(6)]
    return code.meeting(box, sides[:3], sides[3:])


@operation(_overlap_eight)
def overlap_eight(columns: Array, own: Int, own_stride: Int, at: Int, stride: Int) -> int:
    """Return the bits of the eight boxes from ``at`` on that overlap the box at ``own``; touching counts."""
    mask = 0
    for lane in range(LANES):
        meets = True
        for axis in range(3):
            low, high = columns[at + axis * stride + lane], columns[at + (axis + 3) * stride + lane]
            meets &= bool(low <= columns[own + (axis + 3) * own_stride])
            meets &= bool(high >= columns[own + axis * own_stride])
        mask |= meets << lane
    return mask


def _compare_eight(code: Code, columns: Any, at: Any, stride: Any, asked: Any, own: Any, own_stride: Any) -> Any:
    box = [code.splat(code.load(asked, code.plus(own, code.times(own_stride, bound)))) for bound in range(6)]
    sides = [code.eight(columns, code.plus(at, code.times(stride, bound))) for bound in range(6)]
    touching = code.meeting(box, sides[:3], sides[3:])
    sharing = code.meeting(box, sides[:3], sides[3:], or_equal=False)
    return code.builder.or_(touching, code.builder.shl(sharing, I64(8)))


@operation(_compare_eight)
def compare_eight(columns: Array, at: Int, stride: Int, asked: Array, own: Int, own_stride: Int) -> int:
    """Return which of the eight boxes from ``at`` on overlap the box at ``own`` of the columns ``asked``.

    Bits 0 to 7 are set where they touch at least, bits 8 to 15 where they do if equal bounds do not count.
    """
    mask = 0
    for lane in range(LANES):
        touches = shares = True
        for axis in range(3):
            low, high = columns[at + axis * stride + lane], columns[at + (axis + 3) * stride + lane]
            own_low, own_high = asked[own + axis * own_stride], asked[own + (axis + 3) * own_stride]
            touches &= bool(low <= own_high and high >= own_low)
            shares &= bool(low < own_high and high > own_low)
        mask |= touches << lane | shares << (8 + lane)
    return mask


def _append_pairs(
    code: Code, chunk: Any, written: Any, words: Any, at: Any, own: Any, mask: Any, last: Any = None
) -> Any:
    others, own = code.eight_words(words, at), code.splat(own)
    if code.has_avx2:
        others = code.packed(others, mask, "for_keys")
    compare, zero = code.builder.icmp_unsigned, I64(0)
    goes_first = compare("<", others, own) if last is None else compare("!=", last, zero)
    first, second = code.builder.select(goes_first, others, own), code.builder.select(goes_first, own, others)
    code.write_keys(first, second, mask, chunk, written)
    return code.builder.ctpop(mask)


@operation(_append_pairs)
def append_pairs(chunk: Array, written: Int, words: Array, at: Int, own: Word, mask: Int) -> int:
    """Write the pairs of ``own`` and words[at + k], smaller first, for all bits k of ``mask``; return how many.

    Keys go to chunk[written], chunk[written + 1] …; eight places are written.
    """
    count = 0
    for lane in range(LANES):
        if mask >> lane & 1:
            a, b = sorted((int(words[at + lane]) & 0xFFFFFFFF, int(own)))
            chunk[written + count] = np.uint64(a << 32 | b)
            count += 1
    return count


@operation(_append_pairs)
def append_answers(chunk: Array, written: Int, words: Array, at: Int, own: Word, mask: Int, last: Int) -> int:
    """Write own << 32 | words[at + k] for all bits k of ``mask``, or the other way round if ``last`` is not 0.

    Like `append_pairs`, but the order in a pair does not depend on the numbers.
    """
    count = 0
    for lane in range(LANES):
        if mask >> lane & 1:
            a, b = int(own), int(words[at + lane]) & 0xFFFFFFFF
            chunk[written + count] = np.uint64(b << 32 | a if last else a << 32 | b)
            count += 1
    return count


def _list_bits(code: Code, out: Any, listed: Any, first: Any, mask: Any) -> Any:
    numbers = code.builder.add(code.splat(first), ir.Constant(V8I, list(range(LANES))))
    if code.has_avx2:
        code.store(code.packed(numbers, mask, "in_order"), out, listed)
    else:
        for lane in range(LANES):
            code.store(code.builder.extract_element(numbers, I32(lane)), out, listed)
            listed = code.plus(listed, code.builder.and_(code.builder.lshr(mask, I64(lane)), I64(1)))
    return code.builder.ctpop(mask)


@operation(_list_bits)
def list_bits(out: Array, listed: Int, first: Word, mask: Int) -> int:
    """List first + k for all bits k of ``mask`` from out[listed] on; return how many. Eight places are written."""
    lanes = [lane for lane in range(LANES) if mask >> lane & 1]
    for place, lane in enumerate(lanes):
        out[listed + place] = int(first) + lane
    return len(lanes)


def _list_marked(code: Code, words: Any, at: Any, need: Any, first: Any, out: Any, listed: Any) -> Any:
    need = code.splat(need)
    have = code.builder.and_(code.eight_words(words, at), need)
    mask = code.bits(code.builder.icmp_unsigned("==", have, need))
    return _list_bits(code, out, listed, first, mask)


@operation(_list_marked)
def list_marked(words: Array, at: Int, need: Word, first: Word, out: Array, listed: Int) -> int:
    """List the numbers first + k of those of eight words[at + k] that have all bits of ``need``; return how many.

    They go to out[listed], out[listed + 1] …; eight places are written.
    """
    mask = sum((int(words[at + lane]) & int(need) == int(need)) << lane for lane in range(LANES))
    plain = getattr(list_bits, "plain", list_bits)
    return int(plain(out, listed, first, mask))


# Blocks of sixteen boxes of the wide tree: (blocks, 6, 16)


def _block_hits(code: Code, lanes: Any, block: Any, *box: Any) -> Any:
    splats = [code.splat(bound) for bound in box]
    start = code.times(block, 96)
    halves = []
    for half in range(2):
        sides = [code.eight(lanes, code.plus(start, 16 * bound + 8 * half)) for bound in range(6)]
        halves.append(code.meeting(splats, sides[:3], sides[3:]))
    return code.builder.or_(halves[0], code.builder.shl(halves[1], I64(8)))


@operation(_block_hits)
def block_hits(lanes: Array, block: Int, x0: Real, y0: Real, z0: Real, x1: Real, y1: Real, z1: Real) -> int:
    """Return the bits of the sixteen boxes of a block that overlap the box given; touching counts."""
    mask = 0
    own, box = lanes.reshape(-1, 6, 16)[block], (x0, y0, z0, x1, y1, z1)
    for lane in range(16):
        meets = True
        for axis in range(3):
            meets &= bool(own[axis, lane] <= box[axis + 3])
            meets &= bool(own[axis + 3, lane] >= box[axis])
        mask |= meets << lane
    return mask


def _lane_hits(code: Code, lanes: Any, block: Any, other: Any, lane: Any) -> Any:
    start = code.plus(code.times(other, 96), lane)
    return _block_hits(code, lanes, block, *(code.load(lanes, code.plus(start, 16 * bound)) for bound in range(6)))


@operation(_lane_hits)
def lane_hits(lanes: Array, block: Int, other: Int, lane: Int) -> int:
    """Return the bits of the sixteen boxes of a block that overlap the box in a ``lane`` of the block ``other``."""
    box = lanes.reshape(-1, 6, 16)[other, :, lane]
    plain = getattr(block_hits, "plain", block_hits)
    return int(plain(lanes, block, *box))


# Boxes in seven columns: six bounds and the area


def _covering_eight(code: Code, columns: Any, stride: Any, at: Any, own: Any, limit: Any, is_smaller: Any) -> Any:
    builder = code.builder

    def either(order: str, first: Any, second: Any) -> Any:
        return builder.select(builder.fcmp_ordered(order, first, second), first, second)

    others = [code.eight(columns, code.plus(at, code.times(stride, column))) for column in range(7)]
    box = [code.splat(code.load(columns, code.plus(own, code.times(stride, column)))) for column in range(7)]
    zero, inner = ir.Constant(columns.vector, [0.0] * LANES), None
    for axis in range(3):
        edge = builder.fsub(either("<", others[axis + 3], box[axis + 3]), either(">", others[axis], box[axis]))
        edge = either(">", edge, zero)
        inner = edge if inner is None else builder.fmul(inner, edge)
    union = builder.fsub(builder.fadd(others[6], box[6]), inner)
    is_least = builder.icmp_unsigned("!=", is_smaller, I64(0))
    whole = builder.select(is_least, either("<", box[6], others[6]), union)  # NaN if the area of the other is NaN
    return code.bits(builder.fcmp_ordered(">", builder.fdiv(inner, whole), code.splat(limit)))


@operation(_covering_eight)
def covering_eight(columns: Array, stride: Int, at: Int, own: Int, limit: Real, is_smaller: Int) -> int:
    """Return the bits of the eight boxes from ``at`` on that have more than ``limit`` in common with the box ``own``.

    That is intersection over union or, if ``is_smaller`` is not 0, over the smaller box. Columns lie ``stride`` apart.
    """
    mask = 0
    kind = columns.dtype.type
    for lane in range(LANES):
        inner = kind(1)
        for axis in range(3):
            low = max(columns[at + axis * stride + lane], columns[own + axis * stride])
            high = min(columns[at + (axis + 3) * stride + lane], columns[own + (axis + 3) * stride])
            inner = inner * max(high - low, kind(0))
        areas = columns[at + 6 * stride + lane], columns[own + 6 * stride]
        whole = min(areas) if is_smaller else areas[0] + areas[1] - inner
        mask |= bool(whole > 0 and inner / whole > kind(limit)) << lane
    return mask


# Records of eight elements, and columns made of them


def _put_record(code: Code, target: Any, at: Any, lower: Any, upper: Any, start: Any, row: Any, word: Any) -> None:
    four, number = ir.VectorType(lower.element, 4), ir.IntType(32 if lower.element == ir.FloatType() else 64)
    parts = []
    for corners, value in ((lower, row), (upper, word)):
        bounds = code.load(corners, start, four)
        bits = value if number == I32 else code.builder.zext(value, number)
        parts.append(code.builder.insert_element(bounds, code.builder.bitcast(bits, lower.element), I32(3)))
    code.store(code.shuffle(parts[0], parts[1], list(range(8))), target, code.times(at, 8))


@operation(_put_record)
def put_record(target: Array, at: Int, lower: Array, upper: Array, start: Int, row: Word, word: Word) -> None:
    """Set eight elements of ``target`` to (x0, y0, z0, row, x1, y1, z1, word) of the box that begins at ``start``.

    Row and word are written as bits. Reads one number past each corner.
    """
    words = target.view(np.uint32 if target.itemsize == 4 else np.uint64)
    for axis in range(3):
        target[8 * at + axis], target[8 * at + 4 + axis] = lower[start + axis], upper[start + axis]
    words[8 * at + 3], words[8 * at + 7] = row, word


def _columns_of_eight(code: Code, records: Any, order: Any, at: Any, columns: Any, base: Any, stride: Any) -> None:
    rows = []
    for lane in range(LANES):
        record = code.builder.zext(code.load(order, code.plus(at, lane)), I64)
        rows.append(code.eight(records, code.times(record, 8)))

    def twos(first: Any, second: Any, is_high: int) -> Any:
        return code.shuffle(first, second, [lane + 2 * is_high + off for lane in (0, 1, 4, 5) for off in (0, 8)])

    def fours(first: Any, second: Any, is_high: int) -> Any:
        return code.shuffle(first, second, [lane + 2 * is_high + off for lane in (0, 4) for off in (0, 1, 8, 9)])

    found: list[Any] = [None] * 8
    for is_high in range(2):
        pairs = [twos(rows[2 * k], rows[2 * k + 1], is_high) for k in range(4)]
        for is_odd in range(2):
            first, second = fours(pairs[0], pairs[1], is_odd), fours(pairs[2], pairs[3], is_odd)
            found[2 * is_high + is_odd] = code.shuffle(first, second, [0, 1, 2, 3, 8, 9, 10, 11])
            found[2 * is_high + is_odd + 4] = code.shuffle(first, second, [4, 5, 6, 7, 12, 13, 14, 15])
    for column, source in enumerate((0, 1, 2, 4, 5, 6, 3)):
        code.store(found[source], columns, code.plus(base, code.times(stride, column)))


@operation(_columns_of_eight)
def columns_of_eight(records: Array, order: Array, at: Int, columns: Array, base: Int, stride: Int) -> None:
    """Write the records order[at : at + 8] as eight lanes of seven columns from ``base`` on: six bounds and the row."""
    for lane in range(LANES):
        for column, source in enumerate((0, 1, 2, 4, 5, 6, 3)):
            columns[base + column * stride + lane] = records[8 * int(order[at + lane]) + source]


# Passes over flat arrays


def _survey_lanes(code: Code, lower: Any, upper: Any, first: Any, blocks: Any, out: Any) -> Any:
    builder, vector = code.builder, lower.vector
    infinite = float("inf")
    start = [ir.Constant(vector, [value] * LANES) for value in (infinite,) * 3 + (-infinite,) * 3 + (0.0,) * 3]

    def survey(held: list[Any]) -> tuple[list[Any], Any]:
        step, *new, wrong = held
        at = code.plus(first, code.times(step, BLOCK))
        for part in range(3):
            here = code.plus(at, LANES * part)
            low, high = code.eight(lower, here), code.eight(upper, here)
            edge = builder.fsub(high, low)
            for place, order, one in ((part, "<", low), (3 + part, ">", low), (6 + part, ">", edge)):
                new[place] = builder.select(builder.fcmp_ordered(order, one, new[place]), one, new[place])
            wrong = builder.or_(wrong, builder.sext(builder.fcmp_unordered(">", low, high), V8I))
        following = code.plus(step, 1)
        return [following, *new, wrong], builder.icmp_signed("<", following, blocks)

    enters = builder.icmp_signed(">", blocks, I64(0))
    _, *found, wrong = code.repeat([I64(0), *start, ir.Constant(V8I, [0] * LANES)], enters, survey)
    for place in range(9):
        code.store(found[place], out, LANES * place)
    every = ir.IntType(32 * LANES)
    return builder.zext(builder.icmp_unsigned("!=", builder.bitcast(wrong, every), every(0)), I64)


@operation(_survey_lanes)
def survey_lanes(lower: Array, upper: Array, first: Int, blocks: Int, out: Array) -> int:
    """Survey blocks of 24 numbers of two flat arrays from element ``first`` on.

    Writes to ``out`` (72,), for each of 24 lanes, the least and the greatest ``lower``, and the greatest ``upper`` -
    ``lower``. Returns 0 if ``lower <= upper`` throughout, which NaN never is.
    """
    out[:24], out[24:48], out[48:72] = np.inf, -np.inf, 0
    wrong = 0
    for k in range(BLOCK * blocks):
        lane, low, high = k % BLOCK, lower[first + k], upper[first + k]
        edge = high - low
        out[lane] = low if low < out[lane] else out[lane]
        out[24 + lane] = low if low > out[24 + lane] else out[24 + lane]
        out[48 + lane] = edge if edge > out[48 + lane] else out[48 + lane]
        wrong |= not low <= high
    return int(wrong)


def _rank_of_eight(code: Code, values: Any, at: Any, own: Any, count: Any) -> Any:
    is_less = code.bits(code.builder.icmp_unsigned("<", code.eight(values, at), code.splat(own)))
    inside = code.builder.sub(code.builder.shl(I64(1), count), I64(1))
    return code.builder.ctpop(code.builder.and_(is_less, inside))


@operation(_rank_of_eight)
def rank_of_eight(values: Array, at: Int, own: Word, count: Int) -> int:
    """Return how many of the ``count`` (at most 8) words from ``at`` on are less than ``own``: sorting by rank."""
    return sum(int(values[at + k]) < int(own) for k in range(count))

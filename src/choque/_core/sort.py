"""Order: packed pairs to a sorted (m, 2) array, and sort keys to an order, both by counting, in linear time."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import llvmlite.binding
import numpy as np
from numpy.typing import DTypeLike, NDArray

from choque._core import memory, threads
from choque._core.kernel import forceinline, helper, kernel
from choque._core.lanes import prefetch, rank_of_eight
from choque._core.pair_keys import unpack_pairs
from choque._core.types import I64, U32, Integer, Keys, Pairs

PART_BITS = 10  # a part of the answer holds the pairs of 1,024 first numbers, few enough to be sorted within the cache
MAX_PARTS_BITS = 11  # there are at most 2,048 parts: as many places can be written to in turn without a miss for each

PART_PAIRS = 1 << 17
"""Pairs of a part that NumPy sorts at once, about: more leave the second-level cache, fewer cost more to deal out."""

SMALLEST_PART = 2_048
"""Pairs of a part, in the mean, below which making keys of 32 bits costs more than these save."""

MAX_WHOLE = 300_000  # up to this number of keys, NumPy's vector sort on one thread is faster than digits on two

LINE = 16
"""Keys of 32 bits in a cache line: that of the next keys of a part is asked for while the present one is filled."""

_DIGIT_BITS = 11
MAX_RANKED = 64  # pairs of one first number that are sorted by rank; more are sorted by digits


def sorted_pairs(
    chunks: list[Keys], row_count: int, thread_count: int, partner_count: int | None = None, *, repeats: bool = False
) -> Pairs:
    """Return all packed pairs of ``chunks`` as one sorted (m, 2) array.

    First numbers are below ``row_count``, second ones below ``partner_count`` or, if that is None, ``row_count`` too.
    With ``repeats`` equal pairs may occur and stay next to each other; without, all pairs must be distinct. ``chunks``
    is emptied, so that its memory can be used again.

    Pairs are dealt into parts by their first number. Where NumPy has vector instructions for it, it sorts the parts, in
    O(m log m) time, as keys of 32 bits where a part has so few numbers, which takes half the time. Elsewhere a part is
    sorted by counting on the first number, and the pairs of one first number by rank, eight comparisons at once, or by
    digits if they are many: O(m). The result does not depend on the number of threads. 4 or 8 bytes a pair beside the
    answer.
    """
    total = sum(chunk.size for chunk in chunks)
    by_numpy = _numpy_has_lanes()
    if by_numpy and total < SMALLEST_PART and len(chunks) == 1:
        chunks[0].sort()
        return unpack_pairs(chunks.pop())
    thread_count = threads.streams(thread_count, total)
    first_bits, second_bits = _bits_below(row_count), _bits_below(row_count if partner_count is None else partner_count)
    bits, key_bits = max(PART_BITS, first_bits - MAX_PARTS_BITS), 32
    dtype: type[np.unsignedinteger[Any]] = np.uint64
    if by_numpy:
        bits = max(bits, first_bits - max(total // PART_PAIRS, 1).bit_length() + 1)
        part_count = 1 << max(first_bits + second_bits - 32, 0)  # if keys of 32 bits hold a part
        if part_count <= min(1 + total // SMALLEST_PART, 1 << MAX_PARTS_BITS):
            bits, dtype, key_bits = min(bits, 32 - second_bits), np.uint32, second_bits
    parts = _Parts(np.uint64(32 + bits), np.uint64(key_bits))
    keys, starts = _dealt(chunks, total, parts, ((max(row_count, 1) - 1) >> bits) + 1, thread_count, dtype)
    chunks.clear()
    pairs: Pairs = memory.empty((total, 2), np.int32)
    borders = threads.even_borders(starts, thread_count)
    if by_numpy:
        threads.run(
            lambda share: _sort_slices(borders[share], borders[share + 1], starts, keys, parts, pairs), thread_count
        )
    else:
        passes = -(-second_bits // 8)
        threads.run(
            lambda share: _sort_parts(
                borders[share], borders[share + 1], starts, keys, parts.shift, (passes, repeats), pairs
            ),
            thread_count,
        )
    return pairs


def _sort_slices(first: int, last: int, starts: I64, keys: NDArray[Any], parts: _Parts, pairs: Pairs) -> None:
    """Sort the parts ``first`` to ``last`` - 1 of ``keys`` and write them as pairs."""
    for begin, end in pairwise(starts[first : last + 1].tolist()):
        keys[begin:end].sort()
    _write_pairs(first, last, starts, keys, parts, pairs)


@cache
def _numpy_has_lanes() -> bool:
    """Return whether NumPy sorts numbers of 64 bits by vectors: from 2.0 on, with AVX2."""
    return int(np.__version__.partition(".")[0]) >= 2 and bool(llvmlite.binding.get_host_cpu_features().get("avx2"))


class _Parts(NamedTuple):
    """How pairs are dealt into parts, and their keys made: the lower bits of the first number above the second one."""

    # what a packed pair is shifted by to have the number of its part: 32, and the bits of first numbers in a part
    shift: np.uint64
    key_bits: np.uint64  # the bits of the second number in a key: 32 for a packed pair itself


def _dealt(
    chunks: list[Keys], total: int, parts: _Parts, part_count: int, thread_count: int, dtype: DTypeLike
) -> tuple[NDArray[Any], I64]:
    """Return the keys of all packed pairs by part, and where each part begins (parts + 1,)."""
    keys = memory.empty(total, dtype)
    if part_count == 1:
        if len(chunks) == 1 and dtype == chunks[0].dtype:
            keys = chunks[0]
        else:
            _deal_parts(chunks, parts, np.zeros(1, np.int64), keys)
        return keys, np.array([0, total])
    shares = [chunks[share::thread_count] for share in range(thread_count)]
    # Two threads that count in one cache line take longer than one alone.
    places = np.zeros((thread_count, part_count + LINE), np.int64)[:, :part_count]
    threads.run(lambda share: _count_parts(shares[share], parts.shift, places[share]), thread_count)
    starts = np.append(to_places(places), total)
    threads.run(lambda share: _deal_parts(shares[share], parts, places[share], keys), thread_count)
    return keys, starts


def _count_parts(chunks: list[Keys], shift: np.uint64, counts: I64) -> None:
    for chunk in chunks:
        _count_digits(chunk, 0, chunk.size, shift, counts, np.uint64(0xFFFFFFFF))


def _deal_parts(chunks: list[Keys], parts: _Parts, places: I64, target: NDArray[Any]) -> None:
    for chunk in chunks:
        _place_keys(chunk, parts, places, target)


def _bits_below(count: int) -> int:
    """Return how many bits the numbers below ``count`` have."""
    return max(1, (count - 1).bit_length())


def to_places(counts: I64) -> I64:
    """Turn (parts, digits) counts into where each part's items of a digit go, in place; where each digit starts."""
    by_digit = np.ascontiguousarray(counts.T).ravel()
    places = (by_digit.cumsum() - by_digit).reshape(counts.shape[1], counts.shape[0])
    counts[:] = places.T
    return places[:, 0].copy()


def without_duplicates(pairs: Pairs) -> Pairs:
    """The distinct rows of sorted ``pairs``; the same array when all are distinct."""
    kept = _compact_distinct(pairs)
    return pairs if kept == len(pairs) else pairs[:kept].copy()


def rows_by_key(keys: Keys, bit_count: int, thread_count: int) -> U32:
    """Return the rows in the order of ``keys``, (n,) code << 32 | row with codes of ``bit_count`` bits; may reuse them.

    The rows of equal codes ascend.
    """
    if _numpy_has_lanes() and (thread_count == 1 or keys.size < MAX_WHOLE):
        keys.sort()
    else:
        keys = radix_sort(keys, 32, bit_count, thread_count)
    return keys.astype(np.uint32)  # the low half


def radix_sort(keys: Keys, lowest_bit: int, bit_count: int, thread_count: int) -> Keys:
    """``keys`` sorted by ``bit_count`` bits from ``lowest_bit`` on; equal ones keep their order. May reuse ``keys``.

    Least significant digit first, the digits as wide as makes the passes fewest at no more than 11 bits; each
    thread counts and places its own share. O(passes · n) time and one further array of keys.
    """
    pass_count = max(1, -(-bit_count // _DIGIT_BITS))
    width = -(-bit_count // pass_count)
    shares = threads.ranges(keys.size, threads.streams(thread_count, keys.size))
    source, target = keys, memory.empty(keys.size, np.uint64)
    for number in range(pass_count):
        shift = np.uint64(lowest_bit + number * width)
        offsets = np.zeros((len(shares), 1 << min(width, bit_count - number * width)), np.int64)
        _pass(shares, source, target, shift, offsets)
        source, target = target, source
    return source


def _pass(shares: list[tuple[int, int]], source: Keys, target: Keys, shift: np.uint64, offsets: I64) -> None:
    mask = np.uint64(offsets.shape[1] - 1)
    threads.run(lambda k: _count_digits(source, *shares[k], shift, offsets[k], mask), len(shares))
    to_places(offsets)
    threads.run(lambda k: _place_digits(source, *shares[k], shift, offsets[k], target, mask), len(shares))


@helper
def first_from(values: Any, value: Any) -> int:
    """Return the first place of ascending ``values`` that is not below ``value``; their number if all are."""
    low, high = 0, values.size
    while low < high:
        middle = (low + high) // 2
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _compact_distinct(pairs: Pairs) -> int:
    kept = 0
    for k in range(pairs.shape[0]):
        if kept == 0 or pairs[k, 0] != pairs[kept - 1, 0] or pairs[k, 1] != pairs[kept - 1, 1]:
            pairs[kept, 0] = pairs[k, 0]
            pairs[kept, 1] = pairs[k, 1]
            kept += 1
    return kept


@kernel
def _count_digits(keys: Keys, first: int, last: int, shift: np.uint64, counts: I64, mask: np.uint64) -> None:
    for k in range(first, last):
        counts[(keys[k] >> shift) & mask] += 1


@kernel
def _place_digits(
    keys: Keys, first: int, last: int, shift: np.uint64, offsets: I64, target: Keys, mask: np.uint64
) -> None:
    for k in range(first, last):
        digit = (keys[k] >> shift) & mask
        target[np.uint64(offsets[digit])] = keys[k]
        offsets[digit] += 1


@kernel
def _place_keys(chunk: Keys, parts: _Parts, places: I64, target: NDArray[Any]) -> None:
    """Write the keys of packed pairs to their parts; ``places``: where the next one of each part goes."""
    if places.size == 1:
        begin = places[0]
        for k in range(chunk.size):
            target[begin + k] = target.dtype.type(_key_of(chunk[k], parts.key_bits))
        places[0] += chunk.size
    else:
        for k in range(chunk.size):
            part = chunk[k] >> parts.shift
            at = places[part]
            prefetch(target, at + LINE)
            target[np.uint64(at)] = target.dtype.type(_key_of(chunk[k], parts.key_bits))
            places[part] = at + 1


@forceinline
def _key_of(pair: Any, key_bits: Any) -> Any:
    """Return the numbers of a packed pair, the second in the lowest ``key_bits`` bits."""
    return ((pair >> np.uint64(32)) << key_bits) | (pair & np.uint64(0xFFFFFFFF))


@kernel
def _write_pairs(first: int, last: int, starts: I64, keys: NDArray[Any], parts: _Parts, pairs: Pairs) -> None:
    """Write the sorted keys of the parts ``first`` to ``last`` - 1 as pairs, to the same places."""
    bits = parts.shift - np.uint64(32)
    first_mask, second_mask = (np.uint64(1) << bits) - np.uint64(1), (np.uint64(1) << parts.key_bits) - np.uint64(1)
    for part in range(first, last):
        base = np.uint64(part) << bits
        for k in range(starts[part], starts[part + 1]):
            key = np.uint64(keys[np.uint64(k)])
            pairs[np.uint64(k), 0] = np.int32(base | ((key >> parts.key_bits) & first_mask))
            pairs[np.uint64(k), 1] = np.int32(key & second_mask)


@kernel
def _sort_parts(
    first: int, last: int, starts: I64, keys: Keys, shift: np.uint64, options: tuple[int, bool], pairs: Pairs
) -> None:
    """Sort the parts ``first`` to ``last`` - 1 by both numbers, and write them as pairs.

    ``options``: the passes over digits of eight bits that second numbers take, and whether pairs may be equal.
    """
    half = np.uint64(32)
    id_count = np.int64(1) << np.int64(shift - half)
    low = np.uint64(id_count - 1)
    largest = np.int64(0)
    for part in range(first, last):
        largest = max(largest, starts[part + 1] - starts[part])
    ends = np.empty(id_count + 1, np.uint32)
    second, owner = np.empty(largest + 8, np.uint32), np.empty(largest, np.uint32)
    ranks, counts = np.empty(largest, np.uint32), np.empty(256, np.int64)
    for part in range(first, last):
        begin, size = starts[part], starts[part + 1] - starts[part]
        for k in range(id_count + 1):
            ends[k] = 0
        for k in range(begin, begin + size):
            ends[((keys[k] >> half) & low) + np.uint64(1)] += np.uint32(1)
        total = np.uint32(0)
        for k in range(id_count + 1):
            total += ends[k]
            ends[k] = total
        for k in range(begin, begin + size):
            name = (keys[k] >> half) & low
            at = np.uint64(ends[name])
            ends[name] += np.uint32(1)
            second[at] = np.uint32(keys[k])
            owner[at] = np.uint32(name)
        # Now ends[name] is where the pairs of that number end and those of the next begin.
        base = np.uint32(part * id_count)
        begin_run: Integer = np.int64(0)
        while begin_run < size:
            stop = np.int64(ends[np.uint64(owner[begin_run])])
            if stop - begin_run <= 8 and not options[1]:
                for j in range(begin_run, stop):
                    ranks[j] = begin_run + rank_of_eight(second, begin_run, second[j], stop - begin_run)
            elif stop - begin_run <= MAX_RANKED:
                _rank_run(second, begin_run, stop, ranks)
            else:
                _sort_run(second, begin_run, stop, options[0], ranks, counts)
                for j in range(begin_run, stop):
                    ranks[j] = j
            begin_run = stop
        for k in range(size):
            at = begin + np.int64(ranks[k])
            pairs[at, 0] = base + owner[k]
            pairs[at, 1] = second[k]


@forceinline
def _rank_run(values: Any, first: Integer, last: Integer, ranks: Any) -> None:
    """Write where each of values[first:last] goes when they are sorted; equal ones keep their order."""
    for k in range(first, last):
        rank = first
        for j in range(first, last):
            rank += (values[j] < values[k]) | ((values[j] == values[k]) & (j < k))
        ranks[k] = rank


@forceinline
def _sort_run(values: Any, first: Integer, last: Integer, pass_count: int, scratch: Any, counts: Any) -> None:
    """Sort values[first:last] by digits of eight bits, the least significant first."""
    for number in range(pass_count):
        shift = np.uint32(8 * number)
        for digit in range(256):
            counts[digit] = 0
        for k in range(first, last):
            counts[np.uint64((values[k] >> shift) & np.uint32(255))] += 1
        total = np.int64(first)
        for digit in range(256):
            own = counts[digit]
            counts[digit] = total
            total += own
        for k in range(first, last):
            own_digit = np.uint64((values[k] >> shift) & np.uint32(255))
            scratch[np.uint64(counts[own_digit])] = values[k]
            counts[own_digit] += 1
        for k in range(first, last):
            values[k] = scratch[k]

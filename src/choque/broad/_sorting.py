"""Order: packed pairs to a sorted (m, 2) array, and sort keys to an order, both by counting, in linear time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from choque import threads
from choque._types import Index, Keys, Pairs
from choque.kernel import kernel

_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
BUCKET_BITS = 12


def sorted_pairs(chunks: list[Keys], row_count: int, thread_count: int) -> Pairs:
    """All packed pairs of ``chunks`` as one sorted (m, 2) array; equal pairs stay, next to each other.

    The keys are first dealt into buckets of 4,096 rows, so that the counting sort of each bucket stays in the cache;
    then each row's partners are sorted on their own. The result does not depend on the number of threads. O(m + n)
    time for rows of bounded length; 8 bytes a pair beside the answer.
    """
    pair_count = sum(chunk.size for chunk in chunks)
    pairs: Pairs = np.empty((pair_count, 2), np.int32)
    if not pair_count:
        return pairs
    thread_count = threads.streams(thread_count, pair_count)
    bucket_count = max(1, -(-row_count >> BUCKET_BITS))
    if bucket_count == 1:
        keys = chunks[0] if len(chunks) == 1 else np.concatenate(chunks)
        starts = np.array([0, pair_count])
    else:
        keys, starts = _deal(chunks, bucket_count, thread_count)
    draw = threads.block_supply(bucket_count, -(-bucket_count // (8 * thread_count)))

    def work(_: int) -> None:
        counts = np.empty(1 << BUCKET_BITS, np.int64)
        while (span := draw()) is not None:
            _sort_buckets(*span, keys, starts, counts, pairs)

    threads.run(work, thread_count)
    return pairs


def _deal(chunks: list[Keys], bucket_count: int, thread_count: int) -> tuple[Keys, NDArray[np.int64]]:
    """The keys of all chunks in the order of their buckets, and where each bucket starts."""
    keys: Keys = np.empty(sum(chunk.size for chunk in chunks), np.uint64)
    offsets = np.zeros((len(chunks), bucket_count), np.int64)
    shift = np.uint64(32 + BUCKET_BITS)
    _for_each(len(chunks), thread_count, lambda k: _count_digits(chunks[k], 0, chunks[k].size, shift, offsets[k]))
    starts = to_places(offsets)
    _for_each(len(chunks), thread_count, lambda k: _place_digits(chunks[k], 0, chunks[k].size, shift, offsets[k], keys))
    return keys, np.append(starts, keys.size)


def _for_each(count: int, thread_count: int, task: Callable[[int], None]) -> None:
    draw = threads.block_supply(count, 1)

    def work(_: int) -> None:
        while (span := draw()) is not None:
            task(span[0])

    threads.run(work, min(thread_count, count))


def to_places(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Turn (parts, digits) counts into where each part's items of a digit go, in place; where each digit starts."""
    by_digit = np.ascontiguousarray(counts.T).ravel()
    places = (by_digit.cumsum() - by_digit).reshape(counts.shape[1], counts.shape[0])
    counts[:] = places.T
    return places[:, 0].copy()


def without_duplicates(pairs: Pairs) -> Pairs:
    """The distinct rows of sorted ``pairs``; the same array when all are distinct."""
    kept = _compact_distinct(pairs)
    return pairs if kept == len(pairs) else pairs[:kept].copy()


def pack_pairs(pairs: Pairs) -> Keys:
    """The packed keys of ``pairs`` (m, 2), in the same order."""
    first = pairs[:, 0].astype(np.uint64)
    keys: Keys = (first << _HALF) | pairs[:, 1].astype(np.uint64)
    return keys


def unpack_pairs(keys: Keys) -> Pairs:
    """The (m, 2) pairs of packed ``keys``, in the same order."""
    pairs: Pairs = np.empty((keys.size, 2), np.int32)
    pairs[:, 0] = keys >> _HALF
    pairs[:, 1] = keys & _LOW
    return pairs


def radix_sort(keys: Keys, lowest_bit: int, bit_count: int, thread_count: int) -> Keys:
    """``keys`` sorted by ``bit_count`` bits from ``lowest_bit`` on; equal ones keep their order. May reuse ``keys``.

    Least significant digit first, the digits as wide as makes the passes fewest at no more than 11 bits; each
    thread counts and places its own share. O(passes · n) time and one further array of keys.
    """
    pass_count = max(1, -(-bit_count // 11))
    width = -(-bit_count // pass_count)
    shares = threads.ranges(keys.size, threads.streams(thread_count, keys.size))
    source, target = keys, np.empty_like(keys)
    for number in range(pass_count):
        shift = np.uint64(lowest_bit + number * width)
        offsets = np.zeros((len(shares), 1 << min(width, bit_count - number * width)), np.int64)
        _pass(shares, source, target, shift, offsets)
        source, target = target, source
    return source


def _pass(
    shares: list[tuple[int, int]], source: Keys, target: Keys, shift: np.uint64, offsets: NDArray[np.int64]
) -> None:
    threads.run(lambda k: _count_digits(source, *shares[k], shift, offsets[k]), len(shares))
    to_places(offsets)
    threads.run(lambda k: _place_digits(source, *shares[k], shift, offsets[k], target), len(shares))


@kernel
def _sort_buckets(
    first: int, last: int, keys: Keys, starts: NDArray[np.int64], counts: NDArray[np.int64], pairs: Pairs
) -> None:
    """Sort the pairs of the buckets first … last − 1: count rows, place partners, sort those of each row."""
    for bucket in range(first, last):
        begin, end = starts[bucket], starts[bucket + 1]
        mine = keys[begin:end]
        first_row = bucket * counts.size
        counts[:] = 0
        for k in range(mine.size):
            counts[np.int64(mine[k] >> np.uint64(32)) - first_row] += 1
        place = begin
        for row in range(counts.size):
            place += counts[row]
            counts[row] = place
        for k in range(mine.size):
            own = np.int64(mine[k] >> np.uint64(32)) - first_row
            counts[own] -= 1
            pairs[counts[own], 1] = np.int32(mine[k] & np.uint64(0xFFFFFFFF))
        for row in range(counts.size - 1, -1, -1):
            start = counts[row]
            if end - start > 1:
                _sort_partners(pairs, start, end)
            for k in range(start, end):
                pairs[k, 0] = first_row + row
            end = start


@kernel
def _sort_partners(pairs: Pairs, start: Index, end: Index) -> None:
    """Shell's sort, 1959, whose last pass is an insertion sort: most rows are short, long ones stay subquadratic."""
    gap = (end - start) // 2 if end - start > 16 else 1
    while gap > 0:
        for k in range(start + gap, end):
            value = pairs[k, 1]
            place = k
            while place - gap >= start and pairs[place - gap, 1] > value:
                pairs[place, 1] = pairs[place - gap, 1]
                place -= gap
            pairs[place, 1] = value
        gap = 1 if 1 < gap < 3 else gap * 5 // 11


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
def _digit_mask(size: int) -> np.uint64:
    mask = 1
    while mask < size:
        mask *= 2
    return np.uint64(mask - 1)


@kernel
def _count_digits(keys: Keys, first: int, last: int, shift: np.uint64, counts: NDArray[np.int64]) -> None:
    """Digits are the low bits from ``shift`` on; a count that is no power of two must cover every value there is."""
    mask = _digit_mask(counts.size)
    for k in range(first, last):
        counts[np.int64((keys[k] >> shift) & mask)] += 1


@kernel
def _place_digits(
    keys: Keys, first: int, last: int, shift: np.uint64, offsets: NDArray[np.int64], target: Keys
) -> None:
    mask = _digit_mask(offsets.size)
    for k in range(first, last):
        digit = np.int64((keys[k] >> shift) & mask)
        target[offsets[digit]] = keys[k]
        offsets[digit] += 1

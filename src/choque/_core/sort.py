"""Radix sort of packed pairs and keys, in linear time; the result does not depend on the number of threads."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.kernel import kernel
from choque._core.pair_keys import unpack_range
from choque._core.types import Keys, Pairs

LIBRARY_BELOW = 200_000
"""Below this, NumPy sorts faster on one thread: 0.2 ms against 0.5 for 14,331 keys, 2.5 against 3.2 for 146,306."""

LIBRARY_BELOW_IN_ONE_PASS = 20_000
"""The same if both numbers of a pair are sorted in one pass each: NumPy took 0.8 ms against 0.5 for 73,000 keys."""

_DIGIT_BITS = 11


def sorted_pairs(chunks: list[Keys], row_count: int, thread_count: int, partner_count: int | None = None) -> Pairs:
    """Return all packed pairs of ``chunks`` as one sorted (m, 2) array; duplicates are kept.

    First numbers are below ``row_count``, second ones below ``partner_count`` or, if that is None, ``row_count`` too.
    ``chunks`` is emptied, so that its memory can be reused.

    NumPy sorts few keys. Many are sorted by radix, by the second and then by the first number: all threads share the
    work, and no branch depends on the data, which is faster than sorting each row. O(m) time; 16 bytes a pair beside
    the answer.
    """
    keys: Keys = memory.empty(sum(chunk.size for chunk in chunks), np.uint64)
    if keys.size:
        np.concatenate(chunks, out=keys)
    chunks.clear()
    first_bits, second_bits = _bits_below(row_count), _bits_below(row_count if partner_count is None else partner_count)
    few = LIBRARY_BELOW_IN_ONE_PASS if max(first_bits, second_bits) <= _DIGIT_BITS else LIBRARY_BELOW
    if threads.streams(thread_count, keys.size) == 1 and keys.size < few:
        keys.sort()
    else:
        keys = radix_sort(keys, 0, second_bits, thread_count)
        keys = radix_sort(keys, 32, first_bits, thread_count)
    pairs: Pairs = memory.empty((keys.size, 2), np.int32)
    threads.over_ranges(unpack_range, keys.size, thread_count, keys, pairs)
    return pairs


def _bits_below(count: int) -> int:
    """Return the number of bits of the numbers below ``count``."""
    return max(1, (count - 1).bit_length())


def to_places(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Replace counts (parts, digits) by the first place of each part and digit; return where each digit starts."""
    by_digit = np.ascontiguousarray(counts.T).ravel()
    places = (by_digit.cumsum() - by_digit).reshape(counts.shape[1], counts.shape[0])
    counts[:] = places.T
    return places[:, 0].copy()


def without_duplicates(pairs: Pairs) -> Pairs:
    """Return the distinct rows of sorted ``pairs``; the same array if all are distinct."""
    kept = _compact_distinct(pairs)
    return pairs if kept == len(pairs) else pairs[:kept].copy()


def radix_sort(keys: Keys, lowest_bit: int, bit_count: int, thread_count: int) -> Keys:
    """Return ``keys`` sorted by ``bit_count`` bits from ``lowest_bit`` on, stably. May overwrite ``keys``.

    Least significant digit first, in as few passes as digits of at most 11 bits allow; each thread counts and places
    its own share. O(passes · n) time and one further array of keys.
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


def _pass(
    shares: list[tuple[int, int]], source: Keys, target: Keys, shift: np.uint64, offsets: NDArray[np.int64]
) -> None:
    threads.run(lambda k: _count_digits(source, *shares[k], shift, offsets[k]), len(shares))
    to_places(offsets)
    threads.run(lambda k: _place_digits(source, *shares[k], shift, offsets[k], target), len(shares))


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
def _count_digits(keys: Keys, first: int, last: int, shift: np.uint64, counts: NDArray[np.int64]) -> None:
    mask = np.uint64(counts.size - 1)
    for k in range(first, last):
        counts[np.int64((keys[k] >> shift) & mask)] += 1


@kernel
def _place_digits(
    keys: Keys, first: int, last: int, shift: np.uint64, offsets: NDArray[np.int64], target: Keys
) -> None:
    mask = np.uint64(offsets.size - 1)
    for k in range(first, last):
        digit = np.int64((keys[k] >> shift) & mask)
        target[offsets[digit]] = keys[k]
        offsets[digit] += 1

"""Pairs of rows as one 64-bit key: the first row in the high half, the second in the low half.

Keys sort as pairs do, one after another by the first row and then by the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core import memory
from choque._core.kernel import helper, kernel
from choque._core.types import Integer, Keys, Pairs


@helper
def pair_key(first: Integer, second: Integer) -> Any:
    """Return the key of the pair (first, second), in this order; both are from 0 to 2³² − 1."""
    return (np.uint64(first) << np.uint64(32)) | np.uint64(second)


@helper
def ordered_key(a: Integer, b: Integer) -> Any:
    """Return the key of the pair of two different rows, the smaller first."""
    return pair_key(min(a, b), max(a, b))


@helper
def key_first(key: Any) -> Any:
    """Return the first row of a key, int64."""
    return np.int64(key >> np.uint64(32))


@helper
def key_second(key: Any) -> Any:
    """Return the second row of a key, int64."""
    return np.int64(key & np.uint64(0xFFFFFFFF))


def pack_pairs(pairs: Pairs) -> Keys:
    """Return the keys (m,) of ``pairs`` (m, 2) of rows that are not negative."""
    first: Keys = pairs[:, 0].astype(np.uint64)
    return (first << np.uint64(32)) | pairs[:, 1].astype(np.uint64)


def unpack_pairs(keys: Keys) -> Pairs:
    """Return the pairs (m, 2), int32, of ``keys`` (m,)."""
    pairs: Pairs = memory.empty((keys.size, 2), np.int32)
    unpack_range(0, keys.size, keys, pairs)
    return pairs


@kernel
def unpack_range(first: int, last: int, keys: Keys, pairs: Pairs) -> None:
    """Write the pairs of ``keys[first:last]`` to the same places of ``pairs`` (m, 2)."""
    for k in range(first, last):
        pairs[k, 0] = np.int32(keys[k] >> np.uint64(32))
        pairs[k, 1] = np.int32(keys[k] & np.uint64(0xFFFFFFFF))

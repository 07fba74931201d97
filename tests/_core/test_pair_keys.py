"""A key holds a pair, and keys sort as pairs do."""

from __future__ import annotations

import numpy as np

from choque._core.pair_keys import key_first, key_second, ordered_key, pack_pairs, pair_key, unpack_pairs

PAIRS = np.array([[0, 1], [0, 2**31 - 1], [1, 0], [7, 7], [2**31 - 1, 2**31 - 2]], np.int32)


def test_packing_and_unpacking_are_inverse() -> None:
    keys = pack_pairs(PAIRS)
    assert keys.dtype == np.uint64
    np.testing.assert_array_equal(unpack_pairs(keys), PAIRS)
    np.testing.assert_array_equal(keys, np.sort(keys))


def test_single_keys_agree_with_packed_arrays() -> None:
    for (first, second), key in zip(PAIRS.tolist(), pack_pairs(PAIRS), strict=True):
        assert pair_key(first, second) == key
        assert (key_first(key), key_second(key)) == (first, second)
        assert ordered_key(first, second) == pair_key(min(first, second), max(first, second))

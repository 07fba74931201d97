"""Pairs of rows as one 64-bit key, and the filter that says which of them are allowed.

A key has the first row in the high half, the second in the low half: keys sort as pairs do, by the first row and then
by the second. Groups, masks and static flags are applied to keys while pairs are found.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check, memory
from choque._core.kernel import helper, kernel
from choque._core.types import U32, Bools, Integer, Keys, Pairs, Rows


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


def pack_pairs(pairs: NDArray[np.integer[Any]]) -> Keys:
    """Return the keys (m,) of ``pairs`` (m, 2) of rows that are not negative."""
    first: Keys = pairs[:, 0].astype(np.uint64)
    return (first << np.uint64(32)) | pairs[:, 1].astype(np.uint64)


def halves(keys: Keys) -> tuple[Keys, Keys]:
    """Return the first and the second row of each of ``keys`` (m,), uint64."""
    return keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)


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


# Which pairs are allowed

EVERY_GROUP = 0xFFFFFFFF


@dataclass(frozen=True)
class PairFilter:
    """Bodies i and j may be a pair when each is in a group that the other's mask admits, and not both are static.

    Attributes
    ----------
    groups, masks
        (n,) uint32 bit fields: ``groups[i] & masks[j]`` and ``groups[j] & masks[i]`` must both be non-zero.
    static
        (n,) bool.
    """

    groups: U32
    masks: U32
    static: Bools

    @classmethod
    def make(
        cls, count: int, groups: ArrayLike | None, masks: ArrayLike | None, static: ArrayLike | None
    ) -> PairFilter | None:
        """Check the three arrays of ``count`` bodies; None when all three are None: everything may meet."""
        if groups is None and masks is None and static is None:
            return None
        return cls(
            bit_field("groups", groups, count, 1),
            bit_field("masks", masks, count, EVERY_GROUP),
            check.flags(False if static is None else static, "static", count),
        )

    @classmethod
    def open_to_all(cls, count: int) -> PairFilter:
        """Return the filter of ``count`` moving bodies in group 1 that meet everything."""
        return cls(np.full(count, 1, np.uint32), np.full(count, EVERY_GROUP, np.uint32), np.zeros(count, np.bool_))

    def take(self, rows: Rows) -> PairFilter:
        """Return the filter of these rows only."""
        return PairFilter(self.groups[rows], self.masks[rows], self.static[rows])

    def join(self, other: PairFilter) -> PairFilter:
        """Return the rows of this filter, then those of the other."""
        columns: Any = (self.groups, other.groups), (self.masks, other.masks), (self.static, other.static)
        return PairFilter(*map(np.concatenate, columns))

    def put(self, rows: Rows, other: PairFilter | None) -> None:
        """Write the rows of ``other``, or those of a filter open to all, in place of these ``rows``."""
        arriving = other or PairFilter.open_to_all(len(rows))
        self.groups[rows], self.masks[rows], self.static[rows] = arriving.groups, arriving.masks, arriving.static

    def keep_allowed(self, keys: Keys) -> int:
        """Move the allowed keys to the front of ``keys``, in order, and return how many there are."""
        return keep_allowed(keys, self.groups, self.masks, self.static)


@kernel
def keep_allowed(keys: Keys, groups: U32, masks: U32, static: Bools) -> int:
    """Compact ``keys`` in place to those that the filter allows; returns their number."""
    kept = 0
    for k in range(keys.size):
        key = keys[k]
        i = key_first(key)
        j = key_second(key)
        allowed = (groups[i] & masks[j]) != 0 and (groups[j] & masks[i]) != 0 and not (static[i] and static[j])
        keys[kept] = key
        kept += allowed
    return kept


def bit_field(name: str, given: ArrayLike | None, count: int, default: int) -> U32:
    """Return (count,) whole numbers of 32 bits, from one for all or one for each; None for the ``default``."""
    return check.whole_numbers(default if given is None else given, name, count, 0, EVERY_GROUP).astype(np.uint32)

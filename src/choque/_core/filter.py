"""Which bodies may be a pair: groups, masks and static flags, applied while pairs are found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.kernel import kernel
from choque._core.pair_keys import key_first, key_second
from choque._core.types import Keys, Rows
from choque.errors import InvalidInput

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

    groups: NDArray[np.uint32]
    masks: NDArray[np.uint32]
    static: NDArray[np.bool_]

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
        return PairFilter(
            np.concatenate((self.groups, other.groups)),
            np.concatenate((self.masks, other.masks)),
            np.concatenate((self.static, other.static)),
        )

    def put(self, rows: Rows, other: PairFilter | None) -> None:
        """Write the rows of ``other``, or those of a filter open to all, in place of these ``rows``."""
        arriving = other or PairFilter.open_to_all(len(rows))
        self.groups[rows], self.masks[rows], self.static[rows] = arriving.groups, arriving.masks, arriving.static

    def keep_allowed(self, keys: Keys) -> int:
        """Move the allowed keys to the front of ``keys``, in order, and return how many there are."""
        return keep_allowed(keys, self.groups, self.masks, self.static)


@kernel
def keep_allowed(keys: Keys, groups: NDArray[np.uint32], masks: NDArray[np.uint32], static: NDArray[np.bool_]) -> int:
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


def bit_field(name: str, given: ArrayLike | None, count: int, default: int) -> NDArray[np.uint32]:
    """Return (count,) whole numbers of 32 bits, from one for all or one for each; None for the ``default``."""
    if given is None:
        return np.full(count, default, np.uint32)
    bits = check.integers(given, name, 0, EVERY_GROUP)
    if bits.shape not in ((), (count,)):
        raise InvalidInput(f"{name} has the shape {bits.shape}; give one bit field for all bodies, or ({count},).")
    return np.broadcast_to(bits, (count,)).astype(np.uint32)

"""Sets of pairs as sorted arrays: their difference, and a change applied to one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choque._core.kernel import kernel
from choque._core.pair_keys import PairFilter, pack_pairs, unpack_pairs
from choque._core.types import Keys, Pairs

ENDED = np.uint64(1 << 63)  # marks a packed pair as one that ended; rows are below 2³¹, so the bit is free


@dataclass(frozen=True)
class Change:
    """What a change of the bodies did to the set of pairs: two sorted (k, 2) arrays."""

    began: Pairs
    ended: Pairs

    def __len__(self) -> int:
        return len(self.began) + len(self.ended)

    def __bool__(self) -> bool:
        return True


def no_pairs() -> Pairs:
    """Return the empty set of pairs."""
    return np.empty((0, 2), np.int32)


def change_from_log(log: list[Keys], pair_filter: PairFilter | None) -> Change:
    """Return the net change from logged keys: ended pairs carry `ENDED`; a key that occurs twice counts once."""
    keys = np.concatenate(log) if log else np.empty(0, np.uint64)
    if not keys.size:
        return Change(no_pairs(), no_pairs())
    keys.sort()
    keys = keys[np.append(True, keys[1:] != keys[:-1])]
    border = int(np.searchsorted(keys, ENDED))
    sides = []
    for side in (keys[:border], keys[border:] ^ ENDED):
        allowed = side if pair_filter is None else side[: pair_filter.keep_allowed(side)]
        sides.append(unpack_pairs(allowed))
    return Change(*sides)


def difference(before: Pairs, after: Pairs) -> Change:
    """Return the pairs added to and removed from ``before`` to give ``after``; both sorted. O(m)."""
    return Change(_only_in_first(after, before), _only_in_first(before, after))


def apply_change(pairs: Pairs, change: Change) -> Pairs:
    """Return the sorted set after ``change``. O(m)."""
    kept = _only_in_first(pairs, change.ended) if len(change.ended) else pairs
    if not len(change.began):
        return kept
    keys = np.concatenate((pack_pairs(kept), pack_pairs(change.began)))
    keys.sort(kind="stable")  # two sorted runs: merged in one pass
    return unpack_pairs(keys)


def merge_changes(changes: Sequence[Change]) -> Change:
    """Return the net effect of ``changes``, one after another, on a set of pairs. O(k log k) for k pairs in all."""
    if len(changes) == 1:
        return changes[0]
    sides = [side for change in changes for side in (change.began, change.ended)]
    keys = np.concatenate([pack_pairs(side) for side in sides])
    is_end = np.repeat(np.arange(len(sides)) % 2 == 1, [len(side) for side in sides])
    order = np.argsort(keys, kind="stable")
    keys, is_end = keys[order], is_end[order]
    differs = keys[1:] != keys[:-1]
    first, last = np.append(True, differs)[: len(keys)], np.append(differs, True)[: len(keys)]
    # Beginnings and ends of a pair alternate: it has changed if the first and the last are of one kind.
    is_net = is_end[first] == is_end[last]
    keys, ended = keys[first][is_net], is_end[first][is_net]
    return Change(unpack_pairs(keys[~ended]), unpack_pairs(keys[ended]))


def _only_in_first(first: Pairs, second: Pairs) -> Pairs:
    result: Pairs = np.empty_like(first)
    count = _subtract(_plain(first), _plain(second), result)
    return result[:count].copy() if count < len(first) // 2 else result[:count]


def _plain(pairs: Pairs) -> Pairs:
    """Writable and contiguous, as the kernel was compiled for."""
    return pairs if pairs.flags.writeable and pairs.flags.c_contiguous else pairs.copy()


@kernel
def _subtract(first: Pairs, second: Pairs, result: Pairs) -> int:
    count = 0
    j = 0
    for i in range(first.shape[0]):
        a, b = first[i, 0], first[i, 1]
        while j < second.shape[0] and (second[j, 0] < a or (second[j, 0] == a and second[j, 1] < b)):
            j += 1
        if j == second.shape[0] or second[j, 0] != a or second[j, 1] != b:
            result[count, 0] = a
            result[count, 1] = b
            count += 1
    return count

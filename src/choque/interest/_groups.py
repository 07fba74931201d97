"""Keys that come owner by owner, put in the order of the owners."""

from __future__ import annotations

import numpy as np

from choque import memory, threads
from choque._types import Index, Keys, Pairs, Rows
from choque.broad._pair_sets import Change
from choque.kernel import kernel


def sorted_groups(chunks: list[Keys], row_count: int, thread_count: int) -> tuple[Pairs, Rows]:
    """Packed (owner, other) keys as sorted (m, 2) rows, and where each owner's rows start, (row_count + 1,).

    The keys of an owner must follow each other in one chunk, as an emission kernel writes them whose unit is an owner.
    Then a whole group is placed at once, which is cheaper than the general sort. The result does not depend on the
    number of threads. O(m + n) time for groups of bounded length.
    """
    starts: Rows = np.zeros(row_count + 1, np.int64)
    _over_chunks(_count_groups, chunks, thread_count, starts)
    np.cumsum(starts, out=starts)
    pairs: Pairs = memory.empty((int(starts[-1]), 2), np.int32)
    _over_chunks(_place_groups, chunks, thread_count, starts, pairs)
    return pairs, starts


def change_from_groups(chunks: list[Keys], row_count: int, thread_count: int) -> Change:
    """The change that keys tell, each once and owner by owner; those that left have the highest bit set."""
    entered: list[Keys] = []
    left: list[Keys] = []
    for chunk in chunks:
        gone = np.empty_like(chunk)
        gone_count = _part(chunk, gone)
        entered.append(chunk[: chunk.size - gone_count])
        left.append(gone[:gone_count])
    return Change(*(sorted_groups(side, row_count, thread_count)[0] for side in (entered, left)))


def _over_chunks(task: object, chunks: list[Keys], thread_count: int, *arrays: object) -> None:
    """Run ``task(chunk, *arrays)`` for all chunks: they hold different owners, so threads never write to one place."""
    draw = threads.block_supply(len(chunks), 1)

    def work(_: int) -> None:
        while (span := draw()) is not None:
            task(chunks[span[0]], *arrays)  # type: ignore[operator]

    threads.run(work, max(1, min(threads.streams(thread_count, sum(chunk.size for chunk in chunks)), len(chunks))))


@kernel
def _count_groups(chunk: Keys, starts: Rows) -> None:
    for k in range(chunk.size):
        starts[np.int64(chunk[k] >> np.uint64(32)) + 1] += 1


@kernel
def _place_groups(chunk: Keys, starts: Rows, pairs: Pairs) -> None:
    short = np.empty(32, np.int32)
    k = 0
    while k < chunk.size:
        owner = np.int64(chunk[k] >> np.uint64(32))
        begin, end = starts[owner], starts[owner + 1]
        size = end - begin
        group = pairs[begin:end]
        members = chunk[k : k + size]
        if size <= short.size:
            for place in range(size):
                short[place] = np.int32(members[place] & np.uint64(0xFFFFFFFF))
            for place in range(size):
                # The place of a member is the number of smaller ones: no branch depends on the data.
                rank = 0
                for other in range(size):
                    rank += short[other] < short[place]
                group[rank, 0] = owner
                group[rank, 1] = short[place]
        else:
            for place in range(size):
                group[place, 0] = owner
                group[place, 1] = np.int32(members[place] & np.uint64(0xFFFFFFFF))
            _sort_members(group)
        k += size


@kernel
def _sort_members(group: Pairs) -> None:
    """Shell's sort, 1959: long groups stay subquadratic."""
    size = group.shape[0]
    gap = size // 2
    while gap > 0:
        for k in range(gap, size):
            value = group[k, 1]
            place = k
            while place >= gap and group[place - gap, 1] > value:
                group[place, 1] = group[place - gap, 1]
                place -= gap
            group[place, 1] = value
        gap = 1 if gap == 2 else gap * 5 // 11


@kernel
def _part(chunk: Keys, gone: Keys) -> Index:
    """Move the keys with the highest bit, without it, to ``gone``, and the others to the front; the number gone."""
    kept: Index = 0
    count: Index = 0
    for k in range(chunk.size):
        key = chunk[k]
        is_gone = np.int64(key >> np.uint64(63))
        gone[count] = key & np.uint64(0x7FFFFFFFFFFFFFFF)
        count += is_gone
        chunk[kept] = key
        kept += 1 - is_gone
    return count

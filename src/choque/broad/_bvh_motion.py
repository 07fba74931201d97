"""Some boxes of a tree move: what that changes in the set of pairs, at the cost of what moved.

The movers are first entered with the box around their old and their new place, and the blocks above grow to hold it;
one search with that same box then meets everything that a mover touched before or touches now, other movers included.
Blocks grow with a margin and never shrink here, so that a body which stays inside its fattened block costs nothing
above it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.records import boxes_meet
from choque._core.tree_pairs import mark_hits
from choque._core.tree_stack import block_of, entry_of, level_of, push_marked
from choque._core.types import Index, Keys, Rows

FATTENING = 0.1
"""How far a block grows beyond a box that left it, in edges of that box."""


@kernel
def enter_movers(
    rows: Rows,
    previous: Any,
    records: Any,
    places: NDArray[np.int32],
    slots: NDArray[np.int32],
    lanes: Any,
    level_first: NDArray[np.int64],
) -> None:
    """Enter every mover with the box around both its places, and grow the blocks above it as needed."""
    for m in range(rows.size):
        row = rows[m]
        slots[row] = m
        place = np.int64(places[row])
        for bound in range(3):
            lanes[place // 16, bound, place % 16] = min(previous[m, bound], records[row, bound])
            lanes[place // 16, bound + 3, place % 16] = max(previous[m, bound + 3], records[row, bound + 3])
        child = place // 16
        for level in range(1, level_first.size - 1):
            block, lane = level_first[level] + child // 16, child % 16
            grew = False
            for bound in range(3):
                low = min(previous[m, bound], records[row, bound])
                high = max(previous[m, bound + 3], records[row, bound + 3])
                margin = max(high - low, 0) * FATTENING
                if low < lanes[block, bound, lane]:
                    lanes[block, bound, lane] = low - margin
                    grew = True
                if high > lanes[block, bound + 3, lane]:
                    lanes[block, bound + 3, lane] = high + margin
                    grew = True
            if not grew:
                break
            child //= 16


@kernel
def settle_movers(rows: Rows, records: Any, places: NDArray[np.int32], slots: NDArray[np.int32], lanes: Any) -> None:
    """Enter every mover with its new box alone."""
    for m in range(rows.size):
        row = rows[m]
        slots[row] = -1
        place = np.int64(places[row])
        for bound in range(6):
            lanes[place // 16, bound, place % 16] = records[row, bound]


@kernel
def emit_changes(
    first: int,
    last: int,
    chunk: Keys,
    movers: Rows,
    previous: Any,
    records: Any,
    slots: NDArray[np.int32],
    lanes: Any,
    rows: NDArray[np.uint32],
    level_first: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a mover. Keys that ended have the highest bit set, those that began do not."""
    mask = np.empty(16, np.uint8)
    words = mask.view(np.uint64)
    top = level_first.size - 2
    stack = np.empty(16 * level_first.size, np.int64)
    written: Index = 0
    tests = 0
    for m in range(first, last):
        begin = written
        i = movers[m]
        x0, y0, z0 = (
            min(previous[m, 0], records[i, 0]),
            min(previous[m, 1], records[i, 1]),
            min(previous[m, 2], records[i, 2]),
        )
        x1, y1, z1 = (
            max(previous[m, 3], records[i, 3]),
            max(previous[m, 4], records[i, 4]),
            max(previous[m, 5], records[i, 5]),
        )
        stack[0] = entry_of(top, 0)
        depth: Index = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            mark_hits(lanes, level_first[level] + block, x0, y0, z0, x1, y1, z1, mask)
            tests += 16
            if words[0] | words[1] == 0:
                continue
            if level > 0:
                depth = push_marked(stack, depth, level, block, 0, mask)
                continue
            if written + 16 > chunk.size:
                return m, begin, tests
            for k in range(16):
                if mask[k] == 0:
                    continue
                j = np.int64(rows[block * 16 + k])
                n = np.int64(slots[j])
                if j == i or (n >= 0 and j < i):
                    continue  # itself, or a mover that sees this pair from its own side
                after = boxes_meet(records, i, records, j)
                before = boxes_meet(previous, m, previous, n) if n >= 0 else boxes_meet(previous, m, records, j)
                key = (np.uint64(min(i, j)) << np.uint64(32)) | np.uint64(max(i, j))
                chunk[written] = key if after else key | (np.uint64(1) << np.uint64(63))
                written += before != after
    return last, written, tests

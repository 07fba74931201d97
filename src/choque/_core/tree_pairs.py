"""All overlapping pairs of the boxes of one tree: each block of sixteen against the blocks after it."""

from __future__ import annotations

import numpy as np

from choque._core.kernel import kernel
from choque._core.overlap import lanes_meet
from choque._core.tree import Tree
from choque._core.tree_stack import block_of, entry_of, level_of, push_marked
from choque._core.types import Index, Keys


@kernel
def emit_blocks(first: int, last: int, chunk: Keys, tree: Tree) -> tuple[int, int, int]:
    """Emission kernel; a unit is a block of boxes, which is tested against itself and the blocks after it."""
    lanes, rows, level_first = tree.lanes, tree.rows, tree.level_first
    near, own_near, mask = np.empty(16, np.uint8), np.empty(16, np.uint8), np.empty(16, np.uint8)
    near_words, mask_words = near.view(np.uint64), mask.view(np.uint64)
    top = level_first.size - 2
    stack = np.empty(16 * level_first.size, np.int64)
    written: Index = 0
    tests = 0
    for own in range(first, last):
        begin = written
        own_count = min(16, rows.size - own * 16)
        parent, lane = level_first[1] + own // 16, own % 16
        x0, y0, z0 = lanes[parent, 0, lane], lanes[parent, 1, lane], lanes[parent, 2, lane]
        x1, y1, z1 = lanes[parent, 3, lane], lanes[parent, 4, lane], lanes[parent, 5, lane]
        stack[0] = entry_of(top, 0)
        depth: Index = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            place = level_first[level] + block
            tests += 16
            lanes_meet(lanes, place, (x0, y0, z0, x1, y1, z1), near)
            if near_words[0] | near_words[1] == 0:
                continue
            # Blocks before the own one have met it already.
            start = max((own >> (4 * (level - 1))) - block * 16, 0)
            if level > 1:
                depth = push_marked(stack, depth, level, block, start, near)
                continue
            for k in range(start, 16):
                if near[k] == 0:
                    continue
                if written + 256 > chunk.size:
                    return own, begin, tests
                other = block * 16 + k
                # First the own boxes that reach the other block at all, then each of them against its boxes.
                u0, v0, w0 = lanes[place, 0, k], lanes[place, 1, k], lanes[place, 2, k]
                u1, v1, w1 = lanes[place, 3, k], lanes[place, 4, k], lanes[place, 5, k]
                lanes_meet(lanes, own, (u0, v0, w0, u1, v1, w1), own_near)
                tests += 16
                other_count = min(16, rows.size - other * 16)
                for i in range(own_count):
                    if own_near[i] == 0:
                        continue
                    a0, b0, c0 = lanes[own, 0, i], lanes[own, 1, i], lanes[own, 2, i]
                    a1, b1, c1 = lanes[own, 3, i], lanes[own, 4, i], lanes[own, 5, i]
                    lanes_meet(lanes, other, (a0, b0, c0, a1, b1, c1), mask)
                    tests += 16
                    if mask_words[0] | mask_words[1] == 0:
                        continue
                    own_row = np.uint64(rows[own * 16 + i])
                    for j in range(i + 1 if own == other else 0, other_count):
                        other_row = np.uint64(rows[other * 16 + j])
                        chunk[written] = (min(own_row, other_row) << np.uint64(32)) | max(own_row, other_row)
                        written += np.int64(mask[j])
    return last, written, tests

"""A flat, 16-wide tree of boxes over a given order: no pointers, built and refitted in one pass.

Sixteen consecutive boxes make a block; sixteen blocks, by the boxes around them, make a block of the next level; and
so on to a single block, so that there are at least two levels. Blocks of all levels lie in one array ``lanes``
(blocks, 6, 16): six bounds, sixteen lanes each, so that one test of a box against a block is a handful of vector
instructions. Lane k of block b stands for block 16 b + k one level below. Unused lanes are NaN, with which no
comparison holds. The wide layout follows Wald, Benthin & Boulos, "Getting rid of packets", 2008.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from choque._core import memory, threads
from choque._core.kernel import helper, inline, kernel
from choque._core.lanes import lowest_bit, prefetch
from choque._core.types import I64, U32, Floats, Integer

WIDTH = 16
AHEAD = 24  # places ahead at which records are asked for: they lie anywhere in memory


class Tree(NamedTuple):
    """A tree over boxes in some order; kernels take it whole."""

    lanes: Floats  # (blocks, 6, 16) bounds, in the float type of the records
    rows: U32  # (n,) uint32: the row of the box at each place of the order
    level_first: I64  # (levels + 1,) int64: the first block of each level, the boxes themselves being level 0

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self.lanes.nbytes + self.rows.nbytes + self.level_first.nbytes


def make_tree(records: Floats, rows: U32, thread_count: int) -> Tree:
    """Return the tree over ``records`` (n, 6) in the order ``rows``, every block fitted to its contents. O(n)."""
    block_counts = [max(1, -(-len(rows) // WIDTH))]
    while block_counts[-1] > 1 or len(block_counts) == 1:
        block_counts.append(-(-block_counts[-1] // WIDTH))
    level_first = np.concatenate(([0], np.cumsum(block_counts)))
    lanes: Floats = memory.empty((int(level_first[-1]), 6, WIDTH), records.dtype)
    threads.over_ranges(_fill_boxes, block_counts[0], thread_count, records, rows, lanes)
    for level in range(1, len(block_counts)):
        below, above = (lanes[level_first[k] : level_first[k + 1]] for k in (level - 1, level))
        share = thread_count if block_counts[level] > 1_000 else 1
        threads.over_ranges(_fill_blocks, block_counts[level], share, below, above)
    return Tree(lanes, rows, level_first)


def surface_of(tree: Tree) -> float:
    """Return how loose the tree is: the summed finite edges of the boxes around all lowest blocks."""
    lowest = tree.lanes[tree.level_first[1] : tree.level_first[2]]
    with np.errstate(invalid="ignore", over="ignore"):
        edges = lowest[:, 3:].astype(np.float64) - lowest[:, :3]
        return float(edges[np.isfinite(edges)].sum())


@kernel
def _fill_boxes(first: int, last: int, records: Any, rows: U32, lanes: Any) -> None:
    count = rows.size
    for block in range(first, last):
        for lane in range(WIDTH):
            place = block * WIDTH + lane
            if place < count:
                prefetch(records, 6 * np.int64(rows[min(place + AHEAD, count - 1)]))
                row = np.int64(rows[place])
                for bound in range(6):
                    lanes[block, bound, lane] = records[row, bound]
            else:
                for bound in range(6):
                    lanes[block, bound, lane] = np.nan


@kernel
def _fill_blocks(first: int, last: int, below: Any, above: Any) -> None:
    for block in range(first, last):
        for lane in range(WIDTH):
            child = block * WIDTH + lane
            if child < below.shape[0]:
                fit_lane(below[child], above[block], lane)
            else:
                for bound in range(6):
                    above[block, bound, lane] = np.nan


@helper
def fit_lane(child: Any, block: Any, lane: int) -> None:
    """Set one lane of ``block`` to the bounds around all lanes of ``child``; NaN lanes count for nothing."""
    for bound in range(3):
        low, high = child[bound, 0], child[bound + 3, 0]  # lane 0 of a block is always in use
        for k in range(1, WIDTH):
            low = child[bound, k] if child[bound, k] < low else low
            high = child[bound + 3, k] if child[bound + 3, k] > high else high
        block[bound, lane] = low
        block[bound + 3, lane] = high


# The stack of a walk

Stack = I64  # blocks that are yet to be looked at, block b of level l as l << 56 | b


@inline
def entry_of(level: Integer, block: Integer) -> Integer:
    """Return the number of a block."""
    return (level << 56) | block


@inline
def level_of(entry: Integer) -> Integer:
    """Return the level of a block; the boxes themselves are in the blocks of level 0."""
    return entry >> 56


@inline
def block_of(entry: Integer) -> Integer:
    """Return the place of a block in its level."""
    return entry & 0xFFFFFFFFFFFFFF


@inline
def push_bits(stack: Stack, depth: Integer, level: Integer, block: Integer, bits: Integer) -> Integer:
    """Put the children of a block whose ``bits`` are set on the stack; return its new depth."""
    while bits != 0:
        stack[depth] = entry_of(level - 1, block * WIDTH + lowest_bit(bits))
        depth += 1
        bits &= bits - 1
    return depth

"""Finds bodies by place: the wide tree of the broad phases, with spheres below its lowest blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import forceinline, kernel
from choque._core.morton import morton_order
from choque._core.tree import Tree, make_tree
from choque._core.tree_pairs import mark_hits
from choque._core.types import Index
from choque.interest._together import gather

NO_STARTS, NO_FRAME, NO_SHAPE = np.empty(0, np.uint32), np.empty((0, 9)), np.empty((0, 4), np.int64)


@dataclass(frozen=True)
class BodyTree:
    """A tree over the boxes around bodies.

    Attributes
    ----------
    tree
        Its upper levels are searched; its order is a Z-curve, in which neighbours are near in space.
    placed
        (n, 4) float64: the position and radius of the body at each place of that order, sixteen to a lowest block.
    """

    tree: Tree
    placed: NDArray[np.float64]

    @property
    def rows(self) -> NDArray[np.uint32]:
        """(n,) the row of the body at each place."""
        return self.tree.rows

    def search_arrays(self) -> tuple[Any, ...]:
        """What `choque.interest._emission.emit_members` takes last: no cells, and this tree."""
        placed, rows, *tree = self.tree_arrays()
        return placed, rows, NO_STARTS, NO_FRAME, NO_SHAPE, *tree

    def tree_arrays(self) -> tuple[Any, ...]:
        """What kernels that search trees alone take last."""
        return self.placed, self.tree.rows, self.tree.lanes, self.tree.level_first


def make_body_tree(spheres: NDArray[np.float64], records: NDArray[np.float64], thread_count: int) -> BodyTree:
    """The tree over ``spheres`` (n, 4), around which lie the boxes ``records`` (n, 6). O(n)."""
    tree = make_tree(records, morton_order(records, thread_count), thread_count)
    return BodyTree(tree, spheres[tree.rows])


@kernel
def find_leaves(
    box: NDArray[np.float64],
    lanes: Any,
    level_first: NDArray[np.int64],
    stack: NDArray[np.int64],
    mask: NDArray[np.uint8],
    found: NDArray[np.int64],
) -> int:
    """Write the lowest blocks whose boxes meet ``box`` (6,) to ``found``, which has room for all; their number."""
    x0, y0, z0, x1, y1, z1 = box[0], box[1], box[2], box[3], box[4], box[5]
    words = mask.view(np.uint64)
    stack[0] = (level_first.size - 2) << 56  # block b of level l as l << 56 | b
    depth: Index = 1
    count = 0
    while depth > 0:
        depth -= 1
        level, block = stack[depth] >> 56, stack[depth] & 0xFFFFFFFFFFFFFF
        mark_hits(lanes, level_first[level] + block, x0, y0, z0, x1, y1, z1, mask)
        if words[0] | words[1] == 0:
            continue
        if level > 1:
            for k in range(16):
                stack[depth] = ((level - 1) << 56) | (block * 16 + k)
                depth += np.int64(mask[k])
        else:
            for k in range(16):
                if mask[k]:
                    found[count] = block * 16 + k
                    count += 1
    return count


@forceinline
def gather_from_leaves(
    box: NDArray[np.float64],
    placed: NDArray[np.float64],
    lanes: Any,
    level_first: NDArray[np.int64],
    stack: NDArray[np.int64],
    mask: NDArray[np.uint8],
    leaves: NDArray[np.int64],
    found: NDArray[np.int64],
) -> tuple[Index, Index]:
    """Write the places of the bodies that touch ``box`` to ``found``; how many there are, and how many were tested."""
    count: Index = np.int64(0)
    tested: Index = np.int64(0)
    for k in range(find_leaves(box, lanes, level_first, stack, mask, leaves)):
        run = leaves[k] * 16
        run_end = min(run + 16, placed.shape[0])
        tested += run_end - run
        count = gather(run, run_end, placed, box, found, count)
    return count, tested

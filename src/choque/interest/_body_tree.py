"""Finds bodies by place: the wide tree of the broad phases, with spheres instead of boxes in its lowest blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque import threads
from choque._types import Index, Keys
from choque.broad._bvh_pairs import mark_hits
from choque.broad._bvh_tree import WIDTH, Tree, make_tree
from choque.broad._morton import morton_order
from choque.interest._touch import half_edge, touches
from choque.kernel import inlined, kernel


@dataclass(frozen=True)
class BodyTree:
    """A tree over the boxes around bodies.

    Attributes
    ----------
    tree
        Its upper levels are searched; its order is a Z-curve, in which neighbours are near in space.
    leaves
        (blocks, 4, 16) float64: positions and radii of sixteen bodies side by side, NaN where there are fewer.
    """

    tree: Tree
    leaves: NDArray[np.float64]

    def search_arrays(self) -> tuple[Any, ...]:
        """What the kernels that search it take last."""
        return self.leaves, self.tree.lanes, self.tree.rows, self.tree.level_first


def make_body_tree(spheres: NDArray[np.float64], records: NDArray[np.float64], thread_count: int) -> BodyTree:
    """The tree over ``spheres`` (n, 4), around which lie the boxes ``records`` (n, 6). O(n)."""
    tree = make_tree(records, morton_order(records, thread_count), thread_count)
    leaves = np.empty((max(1, -(-len(spheres) // WIDTH)), 4, WIDTH))
    threads.over_ranges(_fill_leaves, len(leaves), thread_count, spheres, tree.rows, leaves)
    return BodyTree(tree, leaves)


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


@kernel
def emit_from_tree(
    first: int,
    last: int,
    chunk: Keys,
    places: NDArray[np.uint32],
    reach: NDArray[np.float64],
    slack: float,
    is_box: bool,
    leaves: NDArray[np.float64],
    lanes: Any,
    rows: NDArray[np.uint32],
    level_first: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a place whose body has an area, paired with all that touch it and ``slack`` around it.

    ``reach`` is in the order of the rows.
    """
    stack = np.empty(16 * level_first.size, np.int64)
    mask = np.empty(16, np.uint8)
    words = mask.view(np.uint64)
    found = np.empty(leaves.shape[0], np.int64)
    box = np.empty(6)
    written = 0
    tests = 0
    for unit in range(first, last):
        place = np.int64(places[unit])
        i = np.int64(rows[place])
        own_leaf = leaves[place // 16]
        x, y, z = own_leaf[0, place % 16], own_leaf[1, place % 16], own_leaf[2, place % 16]
        own_reach = reach[i] + slack
        for axis in range(3):
            center = own_leaf[axis, place % 16]
            half = half_edge(center, own_reach)
            box[axis], box[axis + 3] = center - half, center + half
        found_count = find_leaves(box, lanes, level_first, stack, mask, found)
        if written + 16 * found_count > chunk.size:
            return unit, written, tests
        tests += 16 * found_count
        own = np.uint64(i) << np.uint64(32)
        for k in range(found_count):
            block = found[k]
            _mark_members(leaves, block, x, y, z, own_reach, is_box, mask)
            if words[0] | words[1] == 0:
                continue
            for lane in range(min(16, rows.size - block * 16)):
                j = rows[block * 16 + lane]
                chunk[written] = own | np.uint64(j)
                written += (mask[lane] != 0) & (j != i)
    return last, written, tests


@inlined
def _mark_members(
    leaves: Any, block: Index, x: float, y: float, z: float, reach: float, is_box: bool, mask: NDArray[np.uint8]
) -> None:
    """Set ``mask`` (16,) to 1 where a body of the block touches the area, else to 0."""
    for k in range(16):
        dx, dy, dz = leaves[block, 0, k] - x, leaves[block, 1, k] - y, leaves[block, 2, k] - z
        mask[k] = touches(dx, dy, dz, reach + leaves[block, 3, k], is_box)


@kernel
def _fill_leaves(
    first: int, last: int, spheres: NDArray[np.float64], rows: NDArray[np.uint32], leaves: NDArray[np.float64]
) -> None:
    for block in range(first, last):
        for lane in range(16):
            place = block * 16 + lane
            for column in range(4):
                leaves[block, column, lane] = spheres[rows[place], column] if place < rows.size else np.nan

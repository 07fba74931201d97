"""Finds bodies by place: the wide tree of the broad phases, with spheres below its lowest blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._types import Index, Keys
from choque.broad._bvh_pairs import mark_hits
from choque.broad._bvh_tree import Tree, make_tree
from choque.broad._morton import morton_order
from choque.interest._together import STRETCH, gather, make_space, share_box, write_members
from choque.kernel import kernel


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
        """What the kernels that search it take last."""
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


@kernel
def emit_from_tree(
    first: int,
    last: int,
    chunk: Keys,
    places: NDArray[np.uint32],
    reach: NDArray[np.float64],
    slack: float,
    is_box: bool,
    sizes: NDArray[np.int64],
    placed: NDArray[np.float64],
    rows: NDArray[np.uint32],
    lanes: Any,
    level_first: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a stretch of `STRETCH` of the ``places`` whose bodies have areas.

    Writes all bodies that touch an area and ``slack`` around it. ``reach`` is in the order of the ``places``, and so
    are the numbers of members that go to ``sizes``.
    """
    stack = np.empty(16 * level_first.size, np.int64)
    lane_mask = np.empty(16, np.uint8)
    leaves = np.empty((rows.size + 15) // 16, np.int64)
    box = np.empty(6)
    found = np.empty(rows.size, np.int64)
    space = make_space(rows.size)
    written: Index = 0
    tests: Index = 0
    for unit in range(first, last):
        begin, tested = written, np.int64(0)
        head, end = unit * STRETCH, min((unit + 1) * STRETCH, places.size)
        while head < end:
            following = share_box(head, end, places, reach, slack, placed, box)
            count: Index = np.int64(0)
            for k in range(find_leaves(box, lanes, level_first, stack, lane_mask, leaves)):
                run = leaves[k] * 16
                run_end = min(run + 16, rows.size)
                tested += run_end - run
                count = gather(run, run_end, placed, box, found, count)
            tested += count * (following - head)
            near = found[:count]
            written = write_members(
                head, following, places, reach, slack, is_box, placed, rows, near, space, sizes, chunk, written
            )
            if written < 0:
                return unit, begin, tests
            head = following
        tests += tested
    return last, written, tests

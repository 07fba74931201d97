"""Bodies in a search structure: the cells of the broad phase ``grid``, or the wide tree of ``bvh``, over spheres."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.cells import cell_along, lay_out, sort_into_levels
from choque._core.kernel import forceinline, kernel
from choque._core.morton import morton_order
from choque._core.overlap import lanes_meet
from choque._core.tree import WIDTH, block_of, entry_of, level_of, make_tree, push_marked
from choque._core.types import Integer
from choque.interest._bodies import Bodies
from choque.interest._together import gather

CELLS_PER_BODY = 2.0
"""Half as many cells as for pairs of boxes: areas that are searched together look into several."""


class BodyIndex(NamedTuple):
    """Bodies in the order of a grid or of a tree, in which neighbours are near in space.

    Either the cells or the tree are empty. One type for both: kernels are compiled once.
    """

    placed: NDArray[np.float64]
    """(n, 4) the position and radius of the body at each place."""
    rows: NDArray[np.uint32]
    """(n,) the row of the body at each place."""
    starts: NDArray[np.uint32]
    """(cells + 2,) the place of the first body of each cell; bodies that fit no grid come last."""
    frame: NDArray[np.float64]
    """(levels, 9) a grid for each class of sizes, see `choque._core.cells`."""
    shape: NDArray[np.int64]
    """(levels, 4) the numbers of cells of each grid."""
    lanes: Any
    """(blocks, 6, 16) the blocks of the tree, see `choque._core.tree`; sixteen places to a lowest block."""
    level_first: NDArray[np.int64]
    """(levels + 1,) the first block of each level of the tree."""


def make_body_grid(bodies: Bodies, thread_count: int) -> BodyIndex:
    """Return a stack of grids, one for each class of sizes, over the bodies. O(n)."""
    levels, keys = sort_into_levels(bodies.records(thread_count), thread_count, CELLS_PER_BODY)
    placed, rows, starts = lay_out(bodies.spheres, keys, levels.cell_count, thread_count)
    return BodyIndex(placed, rows, starts, levels.frame, levels.shape, np.empty((0, 6, WIDTH)), np.empty(0, np.int64))


def make_body_tree(bodies: Bodies, thread_count: int) -> BodyIndex:
    """Return a wide tree in the order of a Z-curve over the bodies. O(n)."""
    records = bodies.records(thread_count)
    tree = make_tree(records, morton_order(records, thread_count), thread_count)
    no_cells = np.empty(0, np.uint32), np.empty((0, 9)), np.empty((0, 4), np.int64)
    return BodyIndex(bodies.spheres[tree.rows], tree.rows, *no_cells, tree.lanes, tree.level_first)


@forceinline
def gather_from_cells(box: NDArray[np.float64], index: BodyIndex, found: NDArray[np.int64]) -> tuple[Integer, Integer]:
    """Write the places of the bodies that touch ``box`` to ``found``. Return how many there are, and the tests.

    A body is in the cell of its lower corner, so cells before the box are searched too, as far as the largest body of a
    level is long. Consecutive cells along x are one run.
    """
    placed, starts, frame, shape = index.placed, index.starts, index.frame, index.shape
    count: Integer = np.int64(0)
    tested: Integer = np.int64(0)
    for level in range(frame.shape[0] + 1):
        first_x, first_y, first_z = np.int64(0), np.int64(0), np.int64(0)
        last_x, last_y, last_z = np.int64(0), np.int64(0), np.int64(0)
        cells_x, cells_y, base = np.int64(1), np.int64(1), np.int64(starts.size - 2)
        if level < frame.shape[0]:
            f = frame[level]
            cells_x, cells_y, cells_z, base = shape[level, 0], shape[level, 1], shape[level, 2], shape[level, 3]
            first_x = cell_along(box[0] - f[6], f[0], f[3], cells_x)
            first_y = cell_along(box[1] - f[7], f[1], f[4], cells_y)
            first_z = cell_along(box[2] - f[8], f[2], f[5], cells_z)
            last_x = cell_along(box[3], f[0], f[3], cells_x)
            last_y = cell_along(box[4], f[1], f[4], cells_y)
            last_z = cell_along(box[5], f[2], f[5], cells_z)
        for cell_z in range(first_z, last_z + 1):
            for cell_y in range(first_y, last_y + 1):
                row = base + (cell_z * cells_y + cell_y) * cells_x
                run: Integer = np.int64(starts[row + first_x])
                run_end: Integer = np.int64(starts[row + last_x + 1])
                tested += run_end - run
                count = gather(run, run_end, placed, box, found, count)
    return count, tested


@kernel
def find_leaves(
    box: NDArray[np.float64],
    lanes: Any,
    level_first: NDArray[np.int64],
    stack: NDArray[np.int64],
    mask: NDArray[np.uint8],
    found: NDArray[np.int64],
) -> int:
    """Write the lowest blocks whose boxes meet ``box`` (6,) to ``found``, large enough for all. Return their number."""
    x0, y0, z0, x1, y1, z1 = box[0], box[1], box[2], box[3], box[4], box[5]
    words = mask.view(np.uint64)
    stack[0] = entry_of(level_first.size - 2, 0)
    depth: Integer = 1
    count = 0
    while depth > 0:
        depth -= 1
        level, block = level_of(stack[depth]), block_of(stack[depth])
        lanes_meet(lanes, level_first[level] + block, (x0, y0, z0, x1, y1, z1), mask)
        if words[0] | words[1] == 0:
            continue
        if level > 1:
            depth = push_marked(stack, depth, level, block, 0, mask)
        else:
            for k in range(WIDTH):
                if mask[k]:
                    found[count] = block * WIDTH + k
                    count += 1
    return count


@forceinline
def gather_from_leaves(
    box: NDArray[np.float64],
    index: BodyIndex,
    stack: NDArray[np.int64],
    mask: NDArray[np.uint8],
    leaves: NDArray[np.int64],
    found: NDArray[np.int64],
) -> tuple[Integer, Integer]:
    """Write the places of the bodies that touch ``box`` to ``found``. Return how many there are, and the tests."""
    placed = index.placed
    count: Integer = np.int64(0)
    tested: Integer = np.int64(0)
    for k in range(find_leaves(box, index.lanes, index.level_first, stack, mask, leaves)):
        run = leaves[k] * WIDTH
        run_end = min(run + WIDTH, placed.shape[0])
        tested += run_end - run
        count = gather(run, run_end, placed, box, found, count)
    return count, tested

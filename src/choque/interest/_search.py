"""Search which bodies are near which area: in cells, or in a tree where cells would be crowded.

`find_members` answers for areas of given radii, `fitting_reach` finds the radius that holds a given number of bodies.
Cells are those of `choque.neighbors`; the tree is that of the broad phase ``bvh``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from choque._core import memory, threads
from choque._core.emission import KernelKeeper, Sink
from choque._core.kernel import kernel
from choque._core.morton import morton_order
from choque._core.pair_keys import key_first, key_second
from choque._core.sort import sorted_pairs
from choque._core.tree import WIDTH, Tree, block_of, entry_of, level_of, make_tree
from choque._core.tree_query import emit_queries, push_nearest
from choque._core.types import F64, I32, I64, U32, Integer, Keys, Rows
from choque.interest._bodies import AreaBodies, half_edge
from choque.neighbors.lists import empty_lists, offsets_of
from choque.neighbors.search import Group, Pass, count_pass, fill_pass, prepare_areas, touches

MAX_WASTE = 20.0
"""Cells that take more tests than this for each member found, beyond `FREE_TESTS`, are replaced by a tree."""

FREE_TESTS = 64  # tests granted to every area: eight take as long as one
SAMPLES = 256  # number of areas that show whether cells are crowded
MAX_EXTENT = 1e150  # bodies further away than this are searched in a tree: squares of their distances are infinite
SHORT = 32  # up to this many members are sorted by counting the smaller ones of each


class BodyIndex(NamedTuple):
    """Bodies in the order of cells or of a tree, for single questions. Either the cells or the tree are empty.

    One type for both: kernels are compiled once.
    """

    rows: U32  # (n,) the row of the body at each place
    starts: I64  # (cells + 1,) the place of the first body of each cell
    frame: F64
    shape: I64  # (2, 3) and (3,): the cells, see `choque._core.cells.choose_frame`
    lanes: Any
    level_first: I64  # the blocks of the tree over the boxes around bodies, see `choque._core.tree`


def find_members(
    bodies: AreaBodies, slack: float, is_box: bool, thread_count: int
) -> tuple[I32, Rows, int, BodyIndex | None]:
    """Find all bodies that touch an area widened by ``slack``.

    Return the rows of the members of each area, ascending, one area after the other (m,); where those of each owner
    start (n + 1,); the number of tests; and the search structure, None if no body has an area.
    """
    has_area = bodies.reach >= 0
    if not has_area.any():
        return np.empty(0, np.int32), np.zeros(bodies.total + 1, np.int64), 0, None
    area = np.where(has_area, bodies.reach + slack, bodies.reach)
    cells = _cells_over(bodies, area, is_box, thread_count)
    if cells is None or _is_crowded(cells):
        return _find_in_tree(bodies, area, is_box, thread_count)
    counts = np.zeros(bodies.total, np.int64)
    tests = count_pass(cells, counts, thread_count)
    starts = offsets_of(counts)
    lists = empty_lists(int(starts[-1]), "j")
    fill_pass(cells, starts[:-1].copy(), lists, thread_count)
    threads.over_ranges(_sort_lists, bodies.total, thread_count, starts, lists.j)
    points, no_tree = cells.points, (np.empty((0, 6, WIDTH)), np.empty(0, np.int64))
    index = BodyIndex(points.group.atom.view(np.uint32), points.starts, points.frame, points.shape, *no_tree)
    return lists.j, starts, tests, index


def _cells_over(bodies: AreaBodies, area: F64, is_box: bool, thread_count: int) -> Pass | None:
    """Return the bodies in cells for areas of the median size; None if lengths are too large or zero."""
    position, radius = memory.empty((len(area), 3), np.float64), np.ascontiguousarray(bodies.spheres[:, 3])
    position[...] = bodies.spheres[:, :3]
    owned = area[area >= 0]
    reach = float(np.median(owned[:: max(1, len(owned) // 1_000)]) + radius.max())
    if not (0 < reach < MAX_EXTENT and np.abs(position).max() < MAX_EXTENT):
        return None
    group = Group(position, np.arange(len(area), dtype=np.int32), radius)
    return prepare_areas(group, area, reach, is_box, thread_count)


def _is_crowded(cells: Pass) -> bool:
    """Return whether a few owners, spread over the cells, meet many more bodies in their cells than in their areas."""
    chosen = cells.rows[:: max(1, len(cells.rows) // SAMPLES)]
    counts = np.zeros(len(cells.points.group.atom), np.int64)
    tests = count_pass(cells._replace(rows=chosen), counts, 1)
    return tests > MAX_WASTE * int(counts.sum()) + FREE_TESTS * len(chosen)


def _find_in_tree(bodies: AreaBodies, area: F64, is_box: bool, thread_count: int) -> tuple[I32, Rows, int, BodyIndex]:
    """Find members as `find_members` does, by a tree over the boxes around bodies."""
    count, tree = bodies.total, _tree_over(bodies, thread_count)
    records = memory.empty((count, 6), np.float64)
    threads.over_ranges(_box_areas, count, thread_count, bodies.spheres, area, records)
    sink = Sink(8 * count, thread_count, KernelKeeper(_keep_touching, bodies.spheres, area, is_box))
    emit_queries(sink, tree, records, tree.rows[area[tree.rows] >= 0], False)
    pairs = sorted_pairs(sink.chunks, count, thread_count)
    no_cells = np.empty(0, np.int64), np.empty((2, 3)), np.empty(0, np.int64)
    index = BodyIndex(tree.rows, *no_cells, tree.lanes, tree.level_first)
    return pairs[:, 1].copy(), offsets_of(np.bincount(pairs[:, 0], minlength=count)), sink.tests, index


def _tree_over(bodies: AreaBodies, thread_count: int) -> Tree:
    """Return a wide tree in the order of a Z-curve over the bodies. O(n)."""
    records = bodies.records(thread_count)
    return make_tree(records, morton_order(records, thread_count), thread_count)


@kernel
def _keep_touching(keys: Keys, spheres: F64, area: F64, is_box: bool) -> int:
    """Keep the pairs of an owner and another body that touches its area, in order; return how many there are."""
    kept = 0
    for k in range(keys.size):
        key = keys[k]
        i, j = np.uint64(key_first(key)), np.uint64(key_second(key))
        dx, dy, dz = spheres[j, 0] - spheres[i, 0], spheres[j, 1] - spheres[i, 1], spheres[j, 2] - spheres[i, 2]
        keys[kept] = key
        kept += (i != j) & touches(dx, dy, dz, area[i] + spheres[j, 3], is_box)
    return kept


@kernel
def _box_areas(first: int, last: int, spheres: F64, area: F64, records: F64) -> None:
    for i in range(first, last):
        for axis in range(3):
            half = half_edge(spheres[i, axis], max(area[i], 0.0))
            records[i, axis], records[i, axis + 3] = spheres[i, axis] - half, spheres[i, axis] + half


@kernel
def _sort_lists(first: int, last: int, starts: Rows, others: I32) -> None:
    """Sort the others of each row."""
    short = np.empty(SHORT, np.int32)
    for i in range(first, last):
        values = others[starts[i] : starts[i + 1]]
        size = values.size
        if size > SHORT:
            _sort(values)
            continue
        lanes = (size + 7) // 8 * 8
        for k in range(lanes):
            short[k] = values[k] if k < size else 0x7FFFFFFF
        for k in range(size):
            # The place of a member is the number of smaller ones: no branch on data.
            rank = np.int32(0)
            for other in range(lanes):
                rank += np.int32(short[other] < short[k])
            values[rank] = short[k]


@kernel
def _sort(values: I32) -> None:
    """Sort in place (Shell, "A high-speed sorting procedure", 1959)."""
    gap: Integer = values.size // 2
    while gap > 0:
        for k in range(gap, values.size):
            value = values[k]
            place = k
            while place >= gap and values[place - gap] > value:
                values[place] = values[place - gap]
                place -= gap
            values[place] = value
        gap = 1 if gap == 2 else gap * 5 // 11


class Fit(NamedTuple):
    """The number of bodies wanted in each area, and the limits of its radius."""

    target: int
    smallest: F64  # (n,)
    largest: F64  # (n,)
    blur: float  # gaps closer than this count as equal
    is_box: bool


def fitting_reach(bodies: AreaBodies, target: int, smallest: F64, largest: F64, is_box: bool, thread_count: int) -> F64:
    """Return the reach (n,) with which every area holds ``target`` bodies, between the two limits.

    It lies halfway between the gap to the ``target``-th nearest body and the gap to the next one. If both are equal
    there is no such reach, and the area holds fewer bodies. A search nearest first (Roussopoulos, Kelley and Vincent,
    1995): O(log n + target) for each owner, O(target) memory.
    """
    tree = _tree_over(bodies, thread_count)
    owners, placed = tree.rows[bodies.reach[tree.rows] >= 0], bodies.spheres[tree.rows]
    sizes = bodies.spheres[:, 3]
    # What the subtraction of a radius from a distance may lose.
    blur = 1e-12 * float(sizes[np.isfinite(sizes)].max(initial=0.0))
    reach = bodies.reach.copy()
    fit = Fit(target, smallest, largest, blur, is_box)
    threads.over_shares(_fit, len(owners), thread_count, owners, bodies.spheres, placed, fit, tree, reach)
    return reach


@kernel
def _fit(first: int, last: int, owners: U32, spheres: F64, placed: F64, fit: Fit, tree: Tree, reach: F64) -> None:
    target, smallest, is_box = fit.target, fit.smallest, fit.is_box
    lanes, rows, level_first = tree
    gaps = np.empty(target + 1)
    stack = np.empty(WIDTH * level_first.size, np.int64)
    keys = np.empty(WIDTH * level_first.size)
    for unit in range(first, last):
        i = np.int64(owners[unit])
        largest = fit.largest[i]
        gaps[:] = np.inf
        stack[0] = entry_of(level_first.size - 2, 0)
        keys[0] = 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            if keys[depth] > min(gaps[target], largest):
                continue
            level, block = level_of(stack[depth]), block_of(stack[depth])
            if level > 0:
                place = level_first[level] + block
                floor = depth
                for k in range(WIDTH):
                    if np.isnan(lanes[place, 0, k]):
                        break  # unused lanes come last
                    gap = _box_gap(spheres[i], lanes[place], k, is_box)
                    if gap <= min(gaps[target], largest):
                        depth = push_nearest(stack, keys, floor, depth, entry_of(level - 1, block * WIDTH + k), gap)
                continue
            for place in range(block * WIDTH, min(block * WIDTH + WIDTH, rows.size)):
                if rows[place] != i:
                    _insert(gaps, _gap(spheres[i], placed[place], is_box))
        reach[i] = min(max(_between(gaps, fit.blur), smallest[i]), largest)


@kernel
def _between(gaps: F64, blur: float) -> float:
    """Return the radius that holds as many of the bodies at these sorted ``gaps`` as possible, but not the last."""
    count = gaps.size - 1
    if gaps[count] == np.inf:
        return np.inf
    while count > 0 and gaps[count] - gaps[count - 1] <= 1e-9 * gaps[count] + blur:
        count -= 1
    return float(0.5 * (gaps[count - 1] + gaps[count]) if count > 0 else 0.5 * gaps[0])


@kernel
def _length(dx: Any, dy: Any, dz: Any, is_box: bool) -> float:
    return max(abs(dx), abs(dy), abs(dz)) if is_box else float(np.sqrt(dx * dx + dy * dy + dz * dz))


@kernel
def _gap(own: F64, other: F64, is_box: bool) -> float:
    """Return the radius that an area needs to touch another body."""
    length = _length(other[0] - own[0], other[1] - own[1], other[2] - own[2], is_box)
    return float(max(length - other[3], 0.0))


@kernel
def _box_gap(own: F64, block: Any, k: int, is_box: bool) -> float:
    """Return a lower bound of the distance to box ``k`` of a block, and so to every body in it."""
    dx = max(block[0, k] - own[0], own[0] - block[3, k], 0.0)
    dy = max(block[1, k] - own[1], own[1] - block[4, k], 0.0)
    dz = max(block[2, k] - own[2], own[2] - block[5, k], 0.0)
    return _length(dx, dy, dz, is_box) * (1 - 1e-12)


@kernel
def _insert(gaps: F64, gap: float) -> None:
    """Insert into the smallest ``gaps``, sorted."""
    place = gaps.size - 1
    if gap >= gaps[place]:
        return
    while place > 0 and gaps[place - 1] > gap:
        gaps[place] = gaps[place - 1]
        place -= 1
    gaps[place] = gap

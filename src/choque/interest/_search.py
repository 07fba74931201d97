"""Search which bodies are near which area: in cells, or in a tree where cells would be crowded.

`find_members` answers for areas of given radii, `fitting_reach` finds the radius that holds a given number of bodies.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.kernel import kernel
from choque._core.pair_keys import key_first, key_second
from choque._core.tree import WIDTH, block_of, entry_of, level_of
from choque._core.tree_query import push_nearest
from choque._core.types import Integer, Keys, Pairs, Rows
from choque.broad import Sink
from choque.interest._bodies import Bodies
from choque.interest._together import STRETCH, Owners, make_scratch, share_box, write_members
from choque.interest.body_index import BodyIndex, gather_from_cells, gather_from_leaves, make_body_grid, make_body_tree

MAX_WASTE = 12.0
"""Cells that take more tests than this for each member found, beyond `FREE_TESTS`, are replaced by a tree."""

FREE_TESTS = 16
"""Tests granted to every area."""

SAMPLES = 16
"""Number of samples that show whether cells are crowded, and number of neighbours in each."""


def find_members(
    bodies: Bodies, slack: float, is_box: bool, thread_count: int
) -> tuple[Pairs, Rows, int, BodyIndex | None]:
    """Find all bodies that touch an area widened by ``slack``.

    Returns
    -------
    near
        (m, 2) int32, sorted: (owner, other) rows.
    starts
        (n + 1,) int64: where the others of each owner start.
    tests
        The number of tests.
    index
        The search structure; None if no body has an area.
    """
    index: BodyIndex | None = None
    starts: Rows = np.zeros(len(bodies) + 1, np.int64)
    sink = Sink(8 * len(bodies), thread_count, None)
    if (bodies.reach >= 0).any():
        index = make_body_grid(bodies, thread_count)
        owners = _owners(bodies, index.rows, slack, is_box)
        if _is_crowded(index, owners):
            index = make_body_tree(bodies, thread_count)
            owners = _owners(bodies, index.rows, slack, is_box)
        sink.run(_emit_members, owners.stretch_count, owners, index)
        starts[owners.rows.astype(np.int64) + 1] = owners.sizes
    np.cumsum(starts, out=starts)
    near: Pairs = memory.empty((int(starts[-1]), 2), np.int32)
    _place_all(sink.chunks, thread_count, starts, near)
    return near, starts, sink.tests, index


def _owners(bodies: Bodies, order: NDArray[np.uint32], slack: float, is_box: bool) -> Owners:
    """Return the bodies that have areas, in an ``order`` of all rows."""
    reach = bodies.reach[order]
    places = np.arange(len(order), dtype=np.uint32)
    if reach.min() < 0:
        places = np.flatnonzero(reach >= 0).astype(np.uint32)
        order, reach = order[places], reach[places]
    return Owners(places, order, reach, np.empty(len(places), np.int64), slack, is_box)


def _is_crowded(index: BodyIndex, owners: Owners) -> bool:
    """Return whether a few owners, spread over the order, meet many more bodies in their cells than in their areas."""
    count = len(owners.places)
    heads = np.arange(SAMPLES) * max(0, count - SAMPLES) // SAMPLES
    chosen = np.unique(np.minimum(heads[:, None] + np.arange(SAMPLES), count - 1))
    sample = owners._replace(
        places=owners.places[chosen], rows=owners.rows[chosen], reach=owners.reach[chosen], sizes=owners.sizes[chosen]
    )
    sink = Sink(len(chosen), 1, None, keep=False)
    sink.run(_emit_members, sample.stretch_count, sample, index)
    return sink.tests > MAX_WASTE * (sink.pair_count + FREE_TESTS * len(chosen))


def _place_all(chunks: list[Keys], thread_count: int, *arrays: Any) -> None:
    """Put the keys of all chunks in the order of the owners; no two chunks hold the same owner."""
    draw = threads.block_supply(len(chunks), 1)

    def work(_: int) -> None:
        while (span := draw()) is not None:
            _place(chunks[span[0]], *arrays)

    threads.run(work, max(1, min(threads.streams(thread_count, sum(chunk.size for chunk in chunks)), len(chunks))))


@kernel
def _place(chunk: Keys, starts: Rows, near: Pairs) -> None:
    """Copy keys, grouped by owner and ascending within each group, to where the rows of the owners start."""
    k = 0
    while k < chunk.size:
        owner = key_first(chunk[k])
        group = near[starts[owner] : starts[owner + 1]]
        keys = chunk[k : k + group.shape[0]]
        for place in range(keys.size):
            group[place, 0] = owner
            group[place, 1] = np.int32(key_second(keys[place]))
        k += keys.size


@kernel
def _emit_members(first: int, last: int, chunk: Keys, owners: Owners, index: BodyIndex) -> tuple[int, int, int]:
    """Emission kernel; a unit is a stretch of `STRETCH` owners.

    Writes all bodies that touch an area widened by the slack, and the number of members of each area.
    """
    rows, level_first = index.rows, index.level_first
    stack = np.empty(WIDTH * level_first.size, np.int64)
    mask = np.empty(WIDTH, np.uint8)
    leaves = np.empty(-(-rows.size // WIDTH), np.int64)
    box = np.empty(6)
    found = np.empty(rows.size, np.int64)
    scratch = make_scratch(rows.size)
    written: Integer = 0
    tests: Integer = 0
    for unit in range(first, last):
        begin, tested = written, np.int64(0)
        head, end = unit * STRETCH, min((unit + 1) * STRETCH, owners.places.size)
        while head < end:
            following = share_box(head, end, owners, index.placed, box)
            if index.starts.size > 0:
                count, gathered = gather_from_cells(box, index, found)
            else:
                count, gathered = gather_from_leaves(box, index, stack, mask, leaves, found)
            tested += gathered + count * (following - head)
            near = found[:count]
            written = write_members(head, following, owners, index, near, scratch, chunk, written)
            if written < 0:
                return unit, begin, tests
            head = following
        tests += tested
    return last, written, tests


class Fit(NamedTuple):
    """The number of bodies wanted in each area, and the limits of its radius."""

    target: int
    smallest: NDArray[np.float64]
    """(n,)"""
    largest: NDArray[np.float64]
    """(n,)"""
    blur: float
    """Gaps closer than this count as equal."""
    is_box: bool


def fitting_reach(
    bodies: Bodies,
    target: int,
    smallest: NDArray[np.float64],
    largest: NDArray[np.float64],
    is_box: bool,
    thread_count: int,
) -> NDArray[np.float64]:
    """Return the reach (n,) with which every area holds ``target`` bodies, between the two limits.

    It lies halfway between the gap to the ``target``-th nearest body and the gap to the next one. If both are equal
    there is no such reach, and the area holds fewer bodies. A search nearest first (Roussopoulos, Kelley and Vincent,
    1995): O(log n + target) for each owner, O(target) memory.
    """
    index = make_body_tree(bodies, thread_count)
    owners = index.rows[bodies.reach[index.rows] >= 0]
    sizes = bodies.spheres[:, 3]
    # What the subtraction of a radius from a distance may lose.
    blur = 1e-12 * float(sizes[np.isfinite(sizes)].max(initial=0.0))
    reach = bodies.reach.copy()
    shares = threads.ranges(len(owners), thread_count)
    fit = Fit(target, smallest, largest, blur, is_box)
    threads.run(lambda part: _fit(*shares[part], owners, bodies.spheres, fit, index, reach), len(shares))
    return reach


@kernel
def _fit(
    first: int,
    last: int,
    owners: NDArray[np.uint32],
    spheres: NDArray[np.float64],
    fit: Fit,
    index: BodyIndex,
    reach: NDArray[np.float64],
) -> None:
    target, smallest, is_box = fit.target, fit.smallest, fit.is_box
    placed, rows, lanes, level_first = index.placed, index.rows, index.lanes, index.level_first
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
def _between(gaps: NDArray[np.float64], blur: float) -> float:
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
def _gap(own: NDArray[np.float64], other: NDArray[np.float64], is_box: bool) -> float:
    """Return the radius that an area needs to touch another body."""
    length = _length(other[0] - own[0], other[1] - own[1], other[2] - own[2], is_box)
    return float(max(length - other[3], 0.0))


@kernel
def _box_gap(own: NDArray[np.float64], block: Any, k: int, is_box: bool) -> float:
    """Return a lower bound of the distance to box ``k`` of a block, and so to every body in it."""
    dx = max(block[0, k] - own[0], own[0] - block[3, k], 0.0)
    dy = max(block[1, k] - own[1], own[1] - block[4, k], 0.0)
    dz = max(block[2, k] - own[2], own[2] - block[5, k], 0.0)
    return _length(dx, dy, dz, is_box) * (1 - 1e-12)


@kernel
def _insert(gaps: NDArray[np.float64], gap: float) -> None:
    """Insert into the smallest ``gaps``, sorted."""
    place = gaps.size - 1
    if gap >= gaps[place]:
        return
    while place > 0 and gaps[place - 1] > gap:
        gaps[place] = gaps[place - 1]
        place -= 1
    gaps[place] = gap

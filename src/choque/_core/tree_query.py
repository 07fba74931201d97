"""Questions to a tree of boxes: which of them meet other boxes, points and rays, and which are nearest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check, threads
from choque._core.emission import Sink
from choque._core.kernel import forceinline, helper, kernel
from choque._core.lanes import block_hits, lowest_bit
from choque._core.pair_keys import pair_key
from choque._core.records import FLAT, Questions, of_type
from choque._core.sort import sorted_pairs
from choque._core.tree import WIDTH, Tree, block_of, entry_of, level_of, push_bits
from choque._core.types import F64, I32, I64, U32, Floats, Integer, Keys, Pairs
from choque.errors import InvalidInput


@dataclass(frozen=True)
class RayHits:
    """Which box was found for each question, −1 for none, and how far it is, infinite for none."""

    ids: I32
    distance: F64


def query_boxes(tree: Tree, records: Floats, thread_count: int) -> Pairs:
    """Return which of ``records`` (k, 6) overlap which boxes of the tree: sorted (m, 2) rows of (record, row)."""
    sink = Sink(len(records), thread_count, None)
    emit_queries(sink, tree, records, np.arange(len(records), dtype=np.uint32), False)
    return sorted_pairs(sink.chunks, len(records), thread_count, tree.rows.size)


def emit_queries(sink: Sink, tree: Tree, records: Floats, order: U32, rows_first: bool) -> None:
    """Write which of ``records`` (k, 6) overlap which boxes of the tree to ``sink``, those of ``order`` one by one.

    Keys are (record, row), or (row, record) with ``rows_first``.
    """
    if tree.rows.size:
        questions = Questions(of_type(records, tree.lanes.dtype), order, int(rows_first))
        sink.run(list_queries, len(order), questions, tree)


def query_points(tree: Tree, points: ArrayLike, dimension: int, thread_count: int) -> Pairs:
    """Return which points lie in which boxes; a point on the upper side of a half-open box is outside."""
    given = _vectors("points", points, dimension)
    return query_boxes(tree, np.concatenate((given, given), axis=1), thread_count)


def query_rays(
    tree: Tree, origin: ArrayLike, direction: ArrayLike, longest: float, dimension: int, thread_count: int
) -> Pairs:
    """Return all boxes that each ray meets, in float64, touching included: sorted (m, 2) rows of (ray, row)."""
    rays = _rays(origin, direction, longest, dimension)
    sink = Sink(len(rays), thread_count, None)
    if tree.rows.size:
        sink.run(_emit_rays, len(rays), rays, float(longest), tree)
    return sorted_pairs(sink.chunks, len(rays), thread_count, tree.rows.size)


def cast_rays(
    tree: Tree, origin: ArrayLike, direction: ArrayLike, longest: float, dimension: int, thread_count: int
) -> RayHits:
    """Return the first box that each ray meets; at equal distances the one with the smaller row."""
    rays = _rays(origin, direction, longest, dimension)
    hits = RayHits(np.full(len(rays), -1, np.int32), np.full(len(rays), np.inf))
    if tree.rows.size:
        threads.over_shares(_cast, len(rays), thread_count, rays, float(longest), tree, hits.ids, hits.distance)
    return hits


def nearest_boxes(tree: Tree, points: ArrayLike, count: int, dimension: int, thread_count: int) -> RayHits:
    """Return the ``count`` boxes nearest to each point, nearest first."""
    count = check.whole_number(count, "count", 1)
    given = _vectors("points", points, dimension)
    hits = RayHits(np.full((len(given), count), -1, np.int32), np.full((len(given), count), np.inf))
    if tree.rows.size:
        threads.over_shares(_nearest, len(given), thread_count, given, tree, hits.ids, hits.distance)
        np.sqrt(hits.distance, out=hits.distance)
    return hits


def _vectors(name: str, given: ArrayLike, dimension: int, third: float = FLAT / 2) -> F64:
    """Return (k, 3) float64; a 2D point gets the middle of the third axis of 2D boxes."""
    array = check.vectors(given, name, dimension, infinite=True)
    return array if dimension == 3 else np.concatenate((array, np.full((len(array), 1), third)), axis=1)


def _rays(origin: ArrayLike, direction: ArrayLike, longest: float, dimension: int) -> F64:
    start, along = _vectors("origin", origin, dimension), _vectors("direction", direction, dimension, third=0.0)
    if len(start) != len(along):
        raise InvalidInput(
            f"{len(start)} origins and {len(along)} directions were given; give one direction for each origin."
        )
    check.number(longest, "longest", 0, infinite=True)
    still = ~(along != 0).any(axis=1) | ~np.isfinite(along).all(axis=1) | ~np.isfinite(start).all(axis=1)
    if still.any():
        raise InvalidInput(
            f"Ray {int(np.argmax(still))} has a direction of zero or an infinite coordinate; it must go somewhere."
        )
    return np.concatenate((start, along), axis=1)


@kernel
def list_queries(first: int, last: int, chunk: Keys, questions: Questions, tree: Tree) -> tuple[int, int, int]:
    """Emission kernel; a unit is a record."""
    records, order, rows_first = questions
    lanes, rows, level_first = tree
    stack = np.empty(WIDTH * level_first.size, np.int64)
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    for unit in range(first, last):
        begin = written
        i = np.int64(order[unit])
        x0, y0, z0 = records[i, 0], records[i, 1], records[i, 2]
        x1, y1, z1 = records[i, 3], records[i, 4], records[i, 5]
        stack[0] = entry_of(level_first.size - 2, 0)
        depth: Integer = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            hits = block_hits(lanes, level_first[level] + block, x0, y0, z0, x1, y1, z1)
            tests += WIDTH
            if level > 0:
                depth = push_bits(stack, depth, level, block, hits)
                continue
            if written + WIDTH > chunk.size:
                return unit, begin, tests
            while hits != 0:
                row = np.int64(rows[block * WIDTH + lowest_bit(hits)])
                chunk[written] = pair_key(row, i) if rows_first else pair_key(i, row)
                written += 1
                hits &= hits - 1
    return last, written, tests


@forceinline
def _ray_hits(ends: Any, lanes: Any, block: Integer, rays: Any, i: Integer, longest: float) -> Any:
    """Return the bits of the boxes of a block that ray ``i`` meets; write where it enters and leaves them to ``ends``.

    ``ends``: (2, 16), in units of the direction (Kay, Kajiya, 1986). Lanes take the same steps, which makes vectors.
    """
    for k in range(WIDTH):
        ends[0, k], ends[1, k] = 0.0, longest
    for axis in range(3):
        start, along = rays[i, axis], rays[i, axis + 3]
        first, second = (axis, axis + 3) if along >= 0.0 else (axis + 3, axis)
        for k in range(WIDTH):
            low, high = np.float64(lanes[block, first, k]) - start, np.float64(lanes[block, second, k]) - start
            if along == 0.0:
                near, far = 0.0, ends[1, k] if (low <= 0.0) & (high >= 0.0) else -np.inf
            else:
                near, far = low / along, high / along
            ends[0, k] = near if near > ends[0, k] else ends[0, k]
            far = far if far < ends[1, k] else ends[1, k]
            ends[1, k] = far if near <= far else -np.inf  # also of an unused lane, whose bounds are NaN
    hits = np.int64(0)
    for k in range(WIDTH):
        hits |= np.int64(ends[0, k] <= ends[1, k]) << k
    return hits


@kernel
def _emit_rays(first: int, last: int, chunk: Keys, rays: Any, longest: float, tree: Tree) -> tuple[int, int, int]:
    """Emission kernel; a unit is a ray."""
    lanes, rows, level_first = tree
    stack, ends = np.empty(WIDTH * level_first.size, np.int64), np.empty((2, WIDTH))
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    for i in range(first, last):
        begin = written
        stack[0] = entry_of(level_first.size - 2, 0)
        depth: Integer = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            tests += WIDTH
            if level == 0 and written + WIDTH > chunk.size:
                return i, begin, tests
            hits = _ray_hits(ends, lanes, level_first[level] + block, rays, i, longest)
            if level > 0:
                depth = push_bits(stack, depth, level, block, hits)
                continue
            while hits != 0:
                chunk[written] = pair_key(i, rows[block * WIDTH + lowest_bit(hits)])
                written += 1
                hits &= hits - 1
    return last, written, tests


@kernel
def _cast(first: int, last: int, rays: Any, longest: float, tree: Tree, found: I32, distance: F64) -> None:
    lanes, rows, level_first = tree
    stack, keys = np.empty(WIDTH * level_first.size, np.int64), np.empty(WIDTH * level_first.size)
    ends = np.empty((2, WIDTH))
    for i in range(first, last):
        stack[0], keys[0] = entry_of(level_first.size - 2, 0), 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            if keys[depth] > distance[i]:
                continue
            level, block = level_of(stack[depth]), block_of(stack[depth])
            floor = depth
            hits = _ray_hits(ends, lanes, level_first[level] + block, rays, i, longest)
            while hits != 0:
                k = lowest_bit(hits)
                hits &= hits - 1
                if ends[0, k] > distance[i]:
                    continue
                if level > 0:
                    depth = push_nearest(stack, keys, floor, depth, entry_of(level - 1, block * WIDTH + k), ends[0, k])
                    continue
                row = np.int32(rows[block * WIDTH + k])
                if ends[0, k] < distance[i] or found[i] < 0 or row < found[i]:
                    distance[i], found[i] = ends[0, k], row


@helper
def push_nearest(stack: I64, keys: F64, floor: int, depth: int, entry: int, key: float) -> int:
    """Put ``entry`` on the stack so that those above ``floor`` fall in ``key``: the nearest is next."""
    place = depth
    while place > floor and keys[place - 1] < key:
        stack[place], keys[place] = stack[place - 1], keys[place - 1]
        place -= 1
    stack[place], keys[place] = entry, key
    return depth + 1


@forceinline
def _gap(before: Any, after: Any) -> Any:
    """Return the greater of two numbers, or 0; NaN of unused lanes stays."""
    gap = after if after > before else before
    return 0.0 if gap < 0.0 else gap


@forceinline
def _gap_hits(squares: Any, lanes: Any, block: Integer, points: Any, i: Integer, limit: float) -> Any:
    """Write the squared distances (16,) of point ``i`` to the boxes of a block; return the bits of those in reach."""
    x, y, z = points[i, 0], points[i, 1], points[i, 2]
    for k in range(WIDTH):
        dx = _gap(np.float64(lanes[block, 0, k]) - x, x - np.float64(lanes[block, 3, k]))
        dy = _gap(np.float64(lanes[block, 1, k]) - y, y - np.float64(lanes[block, 4, k]))
        dz = _gap(np.float64(lanes[block, 2, k]) - z, z - np.float64(lanes[block, 5, k]))
        squares[k] = dx * dx + dy * dy + dz * dz
    hits = np.int64(0)
    for k in range(WIDTH):
        hits |= np.int64(squares[k] <= limit) << k
    return hits


@kernel
def _nearest(first: int, last: int, points: Any, tree: Tree, found: I32, distance: F64) -> None:
    """Branch and bound, nearest block first (Roussopoulos, Kelley & Vincent, 1995); distances are squared."""
    lanes, rows, level_first = tree
    farthest = found.shape[1] - 1
    stack, keys = np.empty(WIDTH * level_first.size, np.int64), np.empty(WIDTH * level_first.size)
    squares = np.empty(WIDTH)
    for i in range(first, last):
        stack[0], keys[0] = entry_of(level_first.size - 2, 0), 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            if keys[depth] > distance[i, farthest]:
                continue
            level, block = level_of(stack[depth]), block_of(stack[depth])
            floor = depth
            hits = _gap_hits(squares, lanes, level_first[level] + block, points, i, distance[i, farthest])
            while hits != 0:
                k = lowest_bit(hits)
                hits &= hits - 1
                if level > 0:
                    depth = push_nearest(stack, keys, floor, depth, entry_of(level - 1, block * WIDTH + k), squares[k])
                else:
                    _insert(found, distance, i, np.int32(rows[block * WIDTH + k]), squares[k])


@kernel
def _insert(found: I32, distance: F64, i: int, row: Integer, squared: float) -> None:
    """Keep the nearest boxes of point ``i`` in order of distance, then of row."""
    place = found.shape[1]
    while place > 0 and (
        found[i, place - 1] < 0
        or distance[i, place - 1] > squared
        or (distance[i, place - 1] == squared and found[i, place - 1] > row)
    ):
        place -= 1
        if place + 1 < found.shape[1]:
            found[i, place + 1] = found[i, place]
            distance[i, place + 1] = distance[i, place]
    if place < found.shape[1]:
        found[i, place] = row
        distance[i, place] = squared

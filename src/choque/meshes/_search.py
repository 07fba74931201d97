"""All pairs of triangles that meet: of two meshes, and of one with itself.

The walks are helpers, which count no references and decide most pairs by float64; what they list is decided exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choque._core import threads
from choque._core.emission import Sink
from choque._core.kernel import helper, kernel
from choque._core.lanes import block_hits, lowest_bit
from choque._core.tree import WIDTH, Tree, block_of, entry_of, level_of, push_bits
from choque._core.tree_query import query_boxes
from choque._core.types import F32, F64, I32, I64, U8, Integer, Keys
from choque.meshes.frames import placed_triangle
from choque.meshes.poses import RigidPoses
from choque.meshes.surface import Surface, box_around, float_above, float_below, triangle_at
from choque.meshes.triangles import (
    are_surely_apart_neighbors,
    intersection_of,
    is_surely_apart,
    neighbors_kind,
    normal_axis,
    triangles_kind,
)

_HALF = 31  # bits of a face in a key: two faces, and two bits for how they meet
CANDIDATES = 1_024  # pairs that a walk lists at once


class Scratch(NamedTuple):
    """Working memory of a search for a block of triangles."""

    stack: I64
    points: F64
    boxes: F32
    candidates: I64


def meeting_pairs(one: Surface, two: Surface, pose: RigidPoses, thread_count: int) -> tuple[I32, U8]:
    """Return all pairs (m, 2) of faces that meet, sorted, and their kinds (m,)."""
    sink = Sink(len(two.rows), thread_count, None)
    if len(one.rows) and len(two.rows):
        sink.run(_emit_meeting, -(-len(two.rows) // WIDTH), one, two, pose)
    return _unpacked(sink)


def own_pairs(surface: Surface, thread_count: int) -> tuple[I32, U8]:
    """Return all pairs (m, 2) of faces of one mesh that meet outside shared corners, sorted, and their kinds (m,)."""
    sink = Sink(len(surface.rows), thread_count, None)
    if len(surface.rows):
        sink.run(_emit_own, -(-len(surface.rows) // WIDTH), surface)
    return _unpacked(sink)


def shared_segments(one: Surface, two: Surface, pose: RigidPoses, pairs: I32, thread_count: int) -> F64:
    """Return the segments (m, 2, 3) that pairs of faces share; NaN where they lie in one plane."""
    segments = np.empty((len(pairs), 6))
    places = []
    for surface, column in ((one, 0), (two, 1)):
        place = np.empty(len(surface.rows), np.int64)
        place[surface.rows] = np.arange(len(place))
        places.append(place[pairs[:, column]])
    places_of_both = np.stack(places, axis=1)
    threads.over_ranges(_segments, len(pairs), thread_count, one, two, pose, places_of_both, segments)
    return segments.reshape(-1, 2, 3)


def faces_near(surface: Surface, boxes: F64, thread_count: int) -> I32:
    """Return (m, 2) rows of ``boxes`` (k, 6) and the faces whose boxes overlap them, sorted."""
    records = np.empty((len(boxes), 6), np.float32)
    _fill_records(boxes, surface.middle, records)
    tree = Tree(surface.lanes.reshape(-1, 6, WIDTH), surface.rows, surface.level_first)
    return query_boxes(tree, records, thread_count)


def _unpacked(sink: Sink) -> tuple[I32, U8]:
    keys = np.concatenate([*sink.chunks, np.empty(0, np.uint64)])
    keys.sort()
    mask = np.uint64((1 << _HALF) - 1)
    pairs = np.empty((len(keys), 2), np.int32)
    pairs[:, 0] = keys >> np.uint64(_HALF + 2)
    pairs[:, 1] = (keys >> np.uint64(2)) & mask
    return pairs, (keys & np.uint64(3)).astype(np.uint8)


@kernel
def _emit_meeting(
    first: int, last: int, chunk: Keys, one: Surface, two: Surface, poses: RigidPoses
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a block of triangles of ``two``, which is searched for in the tree of ``one``."""
    scratch = Scratch(
        np.empty(WIDTH * one.level_first.size, np.int64),
        np.empty((WIDTH, 9)),
        np.empty((WIDTH + 1, 6), np.float32),
        np.empty((CANDIDATES, 2), np.int64),
    )
    written: Integer = 0
    tests = 0
    for own in range(first, last):
        begin = written
        _fill_block(one, two, poses, own, scratch)
        scratch.stack[0] = entry_of(one.level_first.size - 2, 0)
        depth: Integer = 1
        while depth > 0:
            count, depth = _list_near(one, two, own, depth, scratch)
            if written + count > chunk.size:
                return own, begin, tests
            tests += count
            for k in range(count):
                place, other = scratch.candidates[k, 0], scratch.candidates[k, 1]
                kind = triangles_kind(triangle_at(one, place), placed_triangle(two, poses, 0, other))
                if kind > 0:
                    chunk[written] = _key(one.rows[place], two.rows[other], kind)
                    written += 1
    return last, written, tests


@kernel
def _fill_records(boxes: F64, middle: F64, records: F32) -> None:
    """Write boxes as those of lanes: relative to ``middle``, in float32, rounded outward."""
    for row in range(boxes.shape[0]):
        for axis in range(3):
            records[row, axis] = float_below(boxes[row, axis] - middle[axis])
            records[row, axis + 3] = float_above(boxes[row, axis + 3] - middle[axis])


@helper
def _key(a: Integer, b: Integer, kind: Integer) -> Integer:
    return (np.uint64(a) << np.uint64(_HALF + 2)) | (np.uint64(b) << np.uint64(2)) | np.uint64(kind)


@helper
def _fill_block(one: Surface, two: Surface, poses: RigidPoses, own: Integer, scratch: Scratch) -> None:
    """Write the corners of a block of triangles in the pose, their boxes, and as the last row the box around all."""
    boxes = scratch.boxes
    for bound in range(3):
        boxes[WIDTH, bound], boxes[WIDTH, bound + 3] = np.float32(np.inf), np.float32(-np.inf)
    for i in range(min(WIDTH, two.rows.size - own * WIDTH)):
        triangle = placed_triangle(two, poses, 0, own * WIDTH + i)
        box = box_around(triangle, one.middle)
        for axis in range(3):
            for corner in range(3):
                scratch.points[i, 3 * corner + axis] = triangle[corner][axis]
            boxes[i, axis], boxes[i, axis + 3] = box[axis], box[axis + 3]
            boxes[WIDTH, axis] = min(boxes[WIDTH, axis], box[axis])
            boxes[WIDTH, axis + 3] = max(boxes[WIDTH, axis + 3], box[axis + 3])


@helper
def _list_near(one: Surface, two: Surface, own: Integer, depth: Integer, scratch: Scratch) -> tuple[Integer, Integer]:
    """Walk on through the tree of ``one`` and list pairs that may meet, until the list is full or the walk ends."""
    lanes, level_first, stack, boxes, points = one.lanes, one.level_first, scratch.stack, scratch.boxes, scratch.points
    x0, y0, z0 = boxes[WIDTH, 0], boxes[WIDTH, 1], boxes[WIDTH, 2]
    x1, y1, z1 = boxes[WIDTH, 3], boxes[WIDTH, 4], boxes[WIDTH, 5]
    own_count = min(WIDTH, two.rows.size - own * WIDTH)
    count: Integer = 0
    while depth > 0 and count + WIDTH * WIDTH <= CANDIDATES:
        depth -= 1
        level, block = level_of(stack[depth]), block_of(stack[depth])
        hits = block_hits(lanes, level_first[level] + block, x0, y0, z0, x1, y1, z1)
        if level > 0:
            depth = push_bits(stack, depth, level, block, hits)
            continue
        for i in range(own_count if hits != 0 else 0):
            near = block_hits(
                lanes, block, boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3], boxes[i, 4], boxes[i, 5]
            )
            if near == 0:
                continue
            triangle = (
                (points[i, 0], points[i, 1], points[i, 2]),
                (points[i, 3], points[i, 4], points[i, 5]),
                (points[i, 6], points[i, 7], points[i, 8]),
            )
            while near != 0:
                place = block * WIDTH + lowest_bit(near)
                near &= near - 1
                if not is_surely_apart(triangle_at(one, place), triangle):
                    scratch.candidates[count, 0], scratch.candidates[count, 1] = place, own * WIDTH + i
                    count += 1
    return count, depth


@kernel
def _emit_own(first: int, last: int, chunk: Keys, surface: Surface) -> tuple[int, int, int]:
    """Emission kernel; a unit is a block of triangles, which is tested against itself and the blocks after it."""
    rows = surface.rows
    stack = np.empty(WIDTH * surface.level_first.size, np.int64)
    candidates = np.empty((CANDIDATES, 2), np.int64)
    written: Integer = 0
    tests = 0
    for own in range(first, last):
        begin = written
        stack[0] = entry_of(surface.level_first.size - 2, 0)
        depth: Integer = 1
        while depth > 0:
            count, depth = _list_own(surface, own, depth, stack, candidates)
            if written + count > chunk.size:
                return own, begin, tests
            tests += count
            for k in range(count):
                one, two = triangle_at(surface, candidates[k, 0]), triangle_at(surface, candidates[k, 1])
                kind = neighbors_kind(one, two)
                if kind > 0 and normal_axis(one[0], one[1], one[2]) < 3 and normal_axis(two[0], two[1], two[2]) < 3:
                    a, b = rows[candidates[k, 0]], rows[candidates[k, 1]]
                    chunk[written] = _key(min(a, b), max(a, b), kind)
                    written += 1
    return last, written, tests


@helper
def _list_own(surface: Surface, own: Integer, depth: Integer, stack: I64, candidates: I64) -> tuple[Integer, Integer]:
    """Walk on through the tree and list pairs of a block and later ones that may meet, as `_list_near` does."""
    lanes, level_first = surface.lanes, surface.level_first
    x = (level_first[1] + own // WIDTH) * 96 + own % WIDTH
    own_count = min(WIDTH, surface.rows.size - own * WIDTH)
    count: Integer = 0
    while depth > 0 and count + WIDTH * WIDTH <= CANDIDATES:
        depth -= 1
        level, block = level_of(stack[depth]), block_of(stack[depth])
        if level > 0:
            place = level_first[level] + block
            hits = block_hits(
                lanes, place, lanes[x], lanes[x + 16], lanes[x + 32], lanes[x + 48], lanes[x + 64], lanes[x + 80]
            )
            # Earlier blocks have met this one already.
            start = max((own >> (4 * (level - 1))) - block * WIDTH, 0)
            hits = (hits >> start) << start
            depth = push_bits(stack, depth, level, block, hits)
            continue
        for i in range(own_count):
            y = own * 96 + i
            near = block_hits(
                lanes, block, lanes[y], lanes[y + 16], lanes[y + 32], lanes[y + 48], lanes[y + 64], lanes[y + 80]
            )
            if own == block:
                near = (near >> (i + 1)) << (i + 1)
            if near == 0:
                continue
            triangle = triangle_at(surface, own * WIDTH + i)
            while near != 0:
                place = block * WIDTH + lowest_bit(near)
                near &= near - 1
                if not are_surely_apart_neighbors(triangle, triangle_at(surface, place)):
                    candidates[count, 0], candidates[count, 1] = own * WIDTH + i, place
                    count += 1
    return count, depth


@kernel
def _segments(first: int, last: int, one: Surface, two: Surface, poses: RigidPoses, places: I64, segments: F64) -> None:
    for row in range(first, last):
        start, end = intersection_of(triangle_at(one, places[row, 0]), placed_triangle(two, poses, 0, places[row, 1]))
        for axis in range(3):
            segments[row, axis], segments[row, axis + 3] = start[axis], end[axis]

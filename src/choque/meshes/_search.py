"""All pairs of triangles that meet: of two meshes, and of one with itself."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.lanes import block_hits, lowest_bit
from choque._core.tree_stack import block_of, entry_of, level_of
from choque._core.types import Integer, Keys
from choque.meshes.poses import Poses, placed
from choque.meshes.surface import WIDTH, Surface, box_around, triangle_at, vertex
from choque.meshes.triangles import intersection_of, neighbors_kind, normal_axis, triangles_kind

_HALF = 31
"""Bits of a face in a key: two faces, and two bits for how they meet."""


def meeting_pairs(
    one: Surface, two: Surface, pose: Poses, thread_count: int
) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return all pairs (m, 2) of faces that meet, sorted, and their kinds (m,)."""
    sink = Sink(len(two.rows), thread_count, None)
    if len(one.rows) and len(two.rows):
        sink.run(_emit_meeting, -(-len(two.rows) // WIDTH), one, two, pose.rotation, pose.translation)
    return _unpacked(sink)


def own_pairs(surface: Surface, thread_count: int) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    """Return all pairs (m, 2) of faces of one mesh that meet outside shared corners, sorted, and their kinds (m,)."""
    sink = Sink(len(surface.rows), thread_count, None)
    if len(surface.rows):
        flat = np.zeros(len(surface.rows), np.uint8)
        threads.over_ranges(_mark_flat, len(flat), thread_count, surface, flat)
        sink.run(_emit_own, -(-len(surface.rows) // WIDTH), surface, flat)
    return _unpacked(sink)


def shared_segments(
    one: Surface, two: Surface, pose: Poses, pairs: NDArray[np.int32], thread_count: int
) -> NDArray[np.float64]:
    """Return the segments (m, 2, 3) that pairs of faces share; NaN where they lie in one plane."""
    segments = np.empty((len(pairs), 6))
    places = []
    for surface, column in ((one, 0), (two, 1)):
        place = np.empty(len(surface.rows), np.int64)
        place[surface.rows] = np.arange(len(place))
        places.append(place[pairs[:, column]])
    threads.over_ranges(
        _segments, len(pairs), thread_count, one, two, pose.rotation, pose.translation, *places, segments
    )
    return segments.reshape(-1, 2, 3)


def _unpacked(sink: Sink) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
    keys = np.concatenate([*sink.chunks, np.empty(0, np.uint64)])
    keys.sort()
    mask = np.uint64((1 << _HALF) - 1)
    pairs = np.empty((len(keys), 2), np.int32)
    pairs[:, 0] = keys >> np.uint64(_HALF + 2)
    pairs[:, 1] = (keys >> np.uint64(2)) & mask
    return pairs, (keys & np.uint64(3)).astype(np.uint8)


@kernel
def _emit_meeting(
    first: int,
    last: int,
    chunk: Keys,
    one: Surface,
    two: Surface,
    rotation: NDArray[np.float64],
    translation: NDArray[np.float64],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a block of triangles of ``two``, which is searched for in the tree of ``one``."""
    points, boxes, around = np.empty((WIDTH, 9)), np.empty((WIDTH, 6), np.float32), np.empty(6, np.float32)
    lanes, level_first = one.lanes, one.level_first
    stack = np.empty(WIDTH * level_first.size, np.int64)
    written: Integer = 0
    tests = 0
    for own in range(first, last):
        begin = written
        own_count = min(WIDTH, two.rows.size - own * WIDTH)
        for bound in range(3):
            around[bound], around[bound + 3] = np.float32(np.inf), np.float32(-np.inf)
        for i in range(own_count):
            place = own * WIDTH + i
            a = placed(rotation, translation, 0, vertex(two, place, 0))
            b = placed(rotation, translation, 0, vertex(two, place, 1))
            c = placed(rotation, translation, 0, vertex(two, place, 2))
            box = box_around((a, b, c), one.middle)
            for axis in range(3):
                points[i, axis], points[i, axis + 3], points[i, axis + 6] = a[axis], b[axis], c[axis]
            for bound in range(3):
                boxes[i, bound], boxes[i, bound + 3] = box[bound], box[bound + 3]
                around[bound] = min(around[bound], box[bound])
                around[bound + 3] = max(around[bound + 3], box[bound + 3])
        stack[0] = entry_of(level_first.size - 2, 0)
        depth: Integer = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            place = level_first[level] + block
            hits = block_hits(lanes, place, around[0], around[1], around[2], around[3], around[4], around[5])
            if level > 0:
                while hits != 0:
                    stack[depth] = entry_of(level - 1, block * WIDTH + lowest_bit(hits))
                    depth += 1
                    hits &= hits - 1
                continue
            if hits == 0:
                continue
            if written + WIDTH * WIDTH > chunk.size:
                return own, begin, tests
            for i in range(own_count):
                x0, y0, z0, x1, y1, z1 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3], boxes[i, 4], boxes[i, 5]
                near = block_hits(lanes, place, x0, y0, z0, x1, y1, z1)
                while near != 0:
                    other = block * WIDTH + lowest_bit(near)
                    near &= near - 1
                    tests += 1
                    triangle = (
                        (points[i, 0], points[i, 1], points[i, 2]),
                        (points[i, 3], points[i, 4], points[i, 5]),
                        (points[i, 6], points[i, 7], points[i, 8]),
                    )
                    kind = triangles_kind(triangle_at(one, other), triangle)
                    if kind > 0:
                        chunk[written] = (
                            (np.uint64(one.rows[other]) << np.uint64(_HALF + 2))
                            | (np.uint64(two.rows[own * WIDTH + i]) << np.uint64(2))
                            | np.uint64(kind)
                        )
                        written += 1
    return last, written, tests


@kernel
def _emit_own(first: int, last: int, chunk: Keys, surface: Surface, flat: NDArray[np.uint8]) -> tuple[int, int, int]:
    """Emission kernel; a unit is a block of triangles, which is tested against itself and the blocks after it."""
    lanes, level_first, rows = surface.lanes, surface.level_first, surface.rows
    stack = np.empty(WIDTH * level_first.size, np.int64)
    written: Integer = 0
    tests = 0
    for own in range(first, last):
        begin = written
        own_count = min(WIDTH, rows.size - own * WIDTH)
        x = (level_first[1] + own // WIDTH) * 96 + own % WIDTH
        stack[0] = entry_of(level_first.size - 2, 0)
        depth: Integer = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            place = level_first[level] + block
            if level > 0:
                hits = block_hits(
                    lanes, place, lanes[x], lanes[x + 16], lanes[x + 32], lanes[x + 48], lanes[x + 64], lanes[x + 80]
                )
                # Blocks before the own one have met it already.
                start = max((own >> (4 * (level - 1))) - block * WIDTH, 0)
                hits = (hits >> start) << start
                while hits != 0:
                    stack[depth] = entry_of(level - 1, block * WIDTH + lowest_bit(hits))
                    depth += 1
                    hits &= hits - 1
                continue
            if written + WIDTH * WIDTH > chunk.size:
                return own, begin, tests
            for i in range(own_count):
                if flat[own * WIDTH + i] != 0:
                    continue
                y = own * 96 + i
                near = block_hits(
                    lanes, place, lanes[y], lanes[y + 16], lanes[y + 32], lanes[y + 48], lanes[y + 64], lanes[y + 80]
                )
                if own == block:
                    near = (near >> (i + 1)) << (i + 1)
                if near == 0:
                    continue
                triangle = triangle_at(surface, own * WIDTH + i)
                while near != 0:
                    other = block * WIDTH + lowest_bit(near)
                    near &= near - 1
                    tests += 1
                    kind = neighbors_kind(triangle, triangle_at(surface, other)) if flat[other] == 0 else 0
                    if kind > 0:
                        a, b = np.uint64(rows[own * WIDTH + i]), np.uint64(rows[other])
                        chunk[written] = (
                            (min(a, b) << np.uint64(_HALF + 2)) | (max(a, b) << np.uint64(2)) | np.uint64(kind)
                        )
                        written += 1
    return last, written, tests


@kernel
def _mark_flat(first: int, last: int, surface: Surface, flat: NDArray[np.uint8]) -> None:
    for place in range(first, last):
        a, b, c = triangle_at(surface, place)
        flat[place] = normal_axis(a, b, c) == 3


@kernel
def _segments(
    first: int,
    last: int,
    one: Surface,
    two: Surface,
    rotation: NDArray[np.float64],
    translation: NDArray[np.float64],
    places: NDArray[np.int64],
    others: NDArray[np.int64],
    segments: NDArray[np.float64],
) -> None:
    for row in range(first, last):
        a = placed(rotation, translation, 0, vertex(two, others[row], 0))
        b = placed(rotation, translation, 0, vertex(two, others[row], 1))
        c = placed(rotation, translation, 0, vertex(two, others[row], 2))
        start, end = intersection_of(triangle_at(one, places[row]), (a, b, c))
        for axis in range(3):
            segments[row, axis], segments[row, axis + 3] = start[axis], end[axis]

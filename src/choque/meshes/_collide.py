"""Whether two meshes meet, for many poses: both trees are walked at once, and the walk ends at the first hit."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.kernel import forceinline, helper, kernel
from choque._core.lanes import block_hits, lowest_bit
from choque._core.types import Integer
from choque.meshes.frames import FRAME, Motions, copy_box, fill_frames, fill_query, placed_triangle
from choque.meshes.lanes import QUERY, turned_hits
from choque.meshes.surface import WIDTH, Surface, box_around, triangle_at
from choque.meshes.triangles import is_surely_apart, triangles_kind

BATCH = 64
"""Poses that a thread takes at once; a hit is looked for again in the next pose of the batch first."""


class Room(NamedTuple):
    """Working memory of a walk."""

    stack: NDArray[np.int64]
    far: NDArray[np.float64]
    frames: NDArray[np.float64]
    box: NDArray[np.float64]
    query: NDArray[np.float32]
    hint: NDArray[np.int64]
    candidates: NDArray[np.int64]


def meet_anywhere(one: Surface, two: Surface, motions: Motions, thread_count: int) -> NDArray[np.bool_]:
    """Return for each pose (k,) whether a triangle of ``one`` and a triangle of ``two`` share a point."""
    hits = np.zeros(len(motions.rotation), np.bool_)
    if len(one.rows) and len(two.rows):
        over_batches(len(hits), thread_count, lambda first, last: _meet_anywhere(first, last, one, two, motions, hits))
    return hits


def over_batches(count: int, thread_count: int, task: Callable[[int, int], None]) -> None:
    """Call ``task(first, last)`` for batches of poses, on several threads."""
    draw = threads.block_supply(count, BATCH)

    def work(_: int) -> None:
        while (span := draw()) is not None:
            task(*span)

    threads.run(work, max(1, min(thread_count, -(-count // BATCH))))


@kernel
def _meet_anywhere(
    first: int, last: int, one: Surface, two: Surface, motions: Motions, hits: NDArray[np.bool_]
) -> None:
    size = WIDTH * (one.level_first.size + two.level_first.size)
    room = Room(
        np.empty((size, 4), np.int64),
        np.empty(size),
        np.empty((2, FRAME)),
        np.empty(11),
        np.empty(QUERY, np.float32),
        np.full(2, -1, np.int64),
        np.empty((WIDTH * WIDTH, 2), np.int64),
    )
    for row in range(first, last):
        if room.hint[0] >= 0:
            other = placed_triangle(two, motions, row, room.hint[1])
            if triangles_kind(triangle_at(one, room.hint[0]), other) > 0:
                hits[row] = True
                continue
        hits[row] = _walk(one, two, motions, row, room)


@kernel
def _walk(one: Surface, two: Surface, motions: Motions, row: int, room: Room) -> bool:
    """Walk both trees; True at the first pair of triangles that meets, which becomes the hint."""
    fill_frames(one, two, motions, row, room.frames)
    room.stack[0, 0], room.stack[0, 1] = one.level_first.size - 2, two.level_first.size - 2
    room.stack[0, 2], room.stack[0, 3] = 0, 0
    depth: Integer = 1
    while depth > 0:
        count, depth = _list_near(one, two, motions, row, depth, room)
        for k in range(count):
            place, other = room.candidates[k, 0], room.candidates[k, 1]
            if triangles_kind(triangle_at(one, place), placed_triangle(two, motions, row, other)) > 0:
                room.hint[0], room.hint[1] = place, other
                return True
    return False


@forceinline
def _make_place(
    lanes: NDArray[np.float32],
    block: Integer,
    lane: Integer,
    query: NDArray[np.float32],
    room: Room,
    floor: Integer,
    depth: Integer,
) -> Integer:
    """Make place for a child on the stack, so that the one whose middle is nearest to that of the query is next."""
    far = 0.0
    start = 96 * block + lane
    for axis in range(3):
        step = lanes[start + 16 * axis] + lanes[start + 16 * (axis + 3)] - (query[axis] + query[axis + 3])
        far += step * step
    place = depth
    while place > floor and room.far[place - 1] < far:
        room.far[place] = room.far[place - 1]
        for column in range(4):
            room.stack[place, column] = room.stack[place - 1, column]
        place -= 1
    room.far[place] = far
    return place


@helper
def _list_near(
    one: Surface, two: Surface, motions: Motions, row: Integer, depth: Integer, room: Room
) -> tuple[Integer, Integer]:
    """Walk on through pairs of blocks, the one of the higher level split, to two blocks with pairs that may meet.

    List these pairs, and return how many there are and what is left on the stack.
    """
    stack, frames, box, query = room.stack, room.frames, room.box, room.query
    while depth > 0:
        depth -= 1
        level, other_level = stack[depth, 0], stack[depth, 1]
        block, other = stack[depth, 2], stack[depth, 3]
        if level >= other_level and level > 0:
            copy_box(two, other_level, other, box)
            fill_query(frames, 0, box, query)
            place = one.level_first[level] + block
            hits = turned_hits(one.lanes, one.slabs, place, query)
            floor = depth
            while hits != 0:
                lane = lowest_bit(hits)
                hits &= hits - 1
                at = _make_place(one.lanes, place, lane, query, room, floor, depth)
                stack[at, 0], stack[at, 1] = level - 1, other_level
                stack[at, 2], stack[at, 3] = block * WIDTH + lane, other
                depth += 1
            continue
        copy_box(one, level, block, box)
        fill_query(frames, 1, box, query)
        place = two.level_first[other_level] + other
        hits = turned_hits(two.lanes, two.slabs, place, query)
        if other_level > 0:
            floor = depth
            while hits != 0:
                lane = lowest_bit(hits)
                hits &= hits - 1
                at = _make_place(two.lanes, place, lane, query, room, floor, depth)
                stack[at, 0], stack[at, 1] = level, other_level - 1
                stack[at, 2], stack[at, 3] = block, other * WIDTH + lane
                depth += 1
            continue
        if hits == 0:
            continue
        copy_box(two, 0, other, box)
        fill_query(frames, 0, box, query)
        near = turned_hits(one.lanes, one.slabs, block, query)
        count: Integer = 0
        while hits != 0 and near != 0:
            place = other * WIDTH + lowest_bit(hits)
            hits &= hits - 1
            triangle = placed_triangle(two, motions, row, place)
            x0, y0, z0, x1, y1, z1 = box_around(triangle, one.middle)
            found = block_hits(one.lanes, block, x0, y0, z0, x1, y1, z1) & near
            while found != 0:
                own = block * WIDTH + lowest_bit(found)
                found &= found - 1
                if not is_surely_apart(triangle_at(one, own), triangle):
                    room.candidates[count, 0], room.candidates[count, 1] = own, place
                    count += 1
        if count > 0:
            return count, depth
    return 0, 0

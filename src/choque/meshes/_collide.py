"""Whether two meshes meet, for many poses: both trees are walked at once, and the walk ends at the first hit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from choque._core import threads
from choque._core.kernel import helper, kernel
from choque._core.lanes import block_hits, lowest_bit
from choque._core.tree import WIDTH, block_of, entry_of, level_of
from choque._core.types import F32, F64, I64, Integer
from choque.meshes.frames import FRAME, copy_box, fill_frames, fill_query, placed_triangle
from choque.meshes.lanes import QUERY, turned_hits
from choque.meshes.poses import RigidPoses
from choque.meshes.surface import Surface, box_around, triangle_at
from choque.meshes.triangles import is_surely_apart, triangles_kind

BATCH = 64  # poses that a thread takes at once; a hit is looked for again in the next pose of the batch first


class Scratch(NamedTuple):
    """Working memory of a walk: the stack of pairs of blocks and how far their middles are, and one step of it."""

    stack: I64
    far: F32
    frames: F64
    box: F64
    query: F32
    candidates: I64


def meeting_places(one: Surface, two: Surface, poses: RigidPoses, thread_count: int) -> I64:
    """Return for each pose (k, 2) the places in their trees of two triangles that share a point; −1 if none do."""
    places = np.full((len(poses), 2), -1, np.int64)
    if len(one.rows) and len(two.rows):
        over_batches(len(places), thread_count, lambda first, last: _meet(first, last, one, two, poses, places))
    return places


def over_batches(count: int, thread_count: int, task: Callable[[int, int], None], size: int = BATCH) -> None:
    """Call ``task(first, last)`` for batches of poses or points, on several threads."""
    draw = threads.block_supply(count, size)

    def work(_: int) -> None:
        while (span := draw()) is not None:
            task(*span)

    threads.run(work, max(1, min(thread_count, -(-count // size))))


@kernel
def _meet(first: int, last: int, one: Surface, two: Surface, poses: RigidPoses, places: I64) -> None:
    size = WIDTH * (one.level_first.size + two.level_first.size)
    scratch = Scratch(
        np.empty((size, 2), np.int64),
        np.empty(size, np.float32),
        np.empty((2, FRAME)),
        np.empty(11),
        np.empty(QUERY, np.float32),
        np.empty((WIDTH * WIDTH, 2), np.int64),
    )
    place, other = np.int64(-1), np.int64(-1)
    for row in range(first, last):
        if place < 0 or triangles_kind(triangle_at(one, place), placed_triangle(two, poses, row, other)) == 0:
            depth, is_found = _start(one, two, poses, row, scratch), False
            while depth > 0 and not is_found:
                count, depth = _list_near(one, two, poses, row, depth, scratch)
                for k in range(count):
                    place, other = scratch.candidates[k, 0], scratch.candidates[k, 1]
                    if triangles_kind(triangle_at(one, place), placed_triangle(two, poses, row, other)) > 0:
                        is_found = True
                        break
            if not is_found:
                continue
        places[row, 0], places[row, 1] = place, other


@helper
def _start(one: Surface, two: Surface, poses: RigidPoses, row: Integer, scratch: Scratch) -> Integer:
    """Begin the walk of a pose at both roots, and return the depth of the stack."""
    fill_frames(one, two, poses, row, scratch.frames)
    scratch.stack[0, 0] = entry_of(one.level_first.size - 2, 0)
    scratch.stack[0, 1] = entry_of(two.level_first.size - 2, 0)
    return 1


@helper
def _list_near(
    one: Surface, two: Surface, poses: RigidPoses, row: Integer, depth: Integer, scratch: Scratch
) -> tuple[Integer, Integer]:
    """Walk on through pairs of blocks, the one of the higher level split, to two blocks with pairs that may meet.

    List these pairs, and return how many there are and what is left on the stack.
    """
    stack, frames, box, query = scratch.stack, scratch.frames, scratch.box, scratch.query
    while depth > 0:
        depth -= 1
        level, other_level = level_of(stack[depth, 0]), level_of(stack[depth, 1])
        block, other = block_of(stack[depth, 0]), block_of(stack[depth, 1])
        if level >= other_level and level > 0:
            copy_box(two, other_level, other, box)
            fill_query(frames, 0, box, query)
            place = one.level_first[level] + block
            hits = turned_hits(one.lanes, one.slabs, place, query)
            depth = _push(one.lanes, place, hits, (level, block), 0, depth, scratch)
            continue
        copy_box(one, level, block, box)
        fill_query(frames, 1, box, query)
        place = two.level_first[other_level] + other
        hits = turned_hits(two.lanes, two.slabs, place, query)
        if other_level > 0:
            depth = _push(two.lanes, place, hits, (other_level, other), 1, depth, scratch)
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
            triangle = placed_triangle(two, poses, row, place)
            x0, y0, z0, x1, y1, z1 = box_around(triangle, one.middle)
            found = block_hits(one.lanes, block, x0, y0, z0, x1, y1, z1) & near
            while found != 0:
                own = block * WIDTH + lowest_bit(found)
                found &= found - 1
                if not is_surely_apart(triangle_at(one, own), triangle):
                    scratch.candidates[count, 0], scratch.candidates[count, 1] = own, place
                    count += 1
        if count > 0:
            return count, depth
    return 0, 0


@helper
def _push(
    lanes: F32, place: Integer, hits: Integer, node: tuple[Any, Any], side: Integer, depth: Integer, scratch: Scratch
) -> Integer:
    """Put the children of a block whose bits are set on the stack, in place of it; return its new depth.

    The child whose middle is nearest to that of the query is the next one. ``side`` is the column of the block's tree.
    """
    stack, far, query = scratch.stack, scratch.far, scratch.query
    level, block = node
    kept = stack[depth, 1 - side]
    floor = depth
    while hits != 0:
        lane = lowest_bit(hits)
        hits &= hits - 1
        start = 96 * place + lane
        x = lanes[start] + lanes[start + 48] - (query[0] + query[3])
        y = lanes[start + 16] + lanes[start + 64] - (query[1] + query[4])
        z = lanes[start + 32] + lanes[start + 80] - (query[2] + query[5])
        own = x * x + y * y + z * z
        at = depth
        while at > floor and far[at - 1] < own:
            far[at], stack[at, side] = far[at - 1], stack[at - 1, side]
            at -= 1
        far[at], stack[at, side] = own, entry_of(level - 1, block * WIDTH + lane)
        stack[depth, 1 - side] = kept
        depth += 1
    return depth

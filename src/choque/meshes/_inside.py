"""Whether points lie inside closed meshes: by the parity of the triangles above them. Exact."""

from __future__ import annotations

import numpy as np

from choque._core import threads
from choque._core.kernel import helper, kernel
from choque._core.lanes import block_hits, lowest_bit
from choque._core.parts import parts_of
from choque._core.predicates import line_side, plane_side
from choque._core.tree import WIDTH, block_of, entry_of, level_of
from choque._core.types import F64, I32, I64, U8, Integer
from choque._core.vector import Vector, point_of
from choque.meshes.frames import placed_triangle
from choque.meshes.poses import RigidPoses
from choque.meshes.surface import Surface, float_above, float_below
from choque.meshes.triangles import Triangle, normal_axis, seen, segment_meets

OUTSIDE, INSIDE, ON = 0, 1, 2


def places_of(points: F64, surface: Surface, poses: RigidPoses, row: int, thread_count: int) -> U8:
    """Return `OUTSIDE`, `INSIDE` or `ON` for points (n, 3) and a closed mesh in pose ``row``."""
    answers = np.zeros(len(points), np.uint8)
    if len(surface.rows):
        threads.over_shares(_place_points, len(points), thread_count, points, surface, poses, row, answers)
    return answers


@kernel
def _place_points(
    first: int, last: int, points: F64, surface: Surface, poses: RigidPoses, row: int, answers: U8
) -> None:
    stack = np.empty(WIDTH * surface.level_first.size, np.int64)
    for k in range(first, last):
        answers[k] = place_point(point_of(points, k), surface, poses, row, stack)


@helper
def place_point(point: Vector, surface: Surface, poses: RigidPoses, row: int, stack: I64) -> int:
    """Return where a point lies: count the triangles that a ray along z from a point beside it passes.

    The ray starts at (x + ε, y + ε², z) for an ε that is smaller than any difference of coordinates, so that it meets
    no edge and no corner (Edelsbrunner & Mücke, "Simulation of Simplicity", 1990).
    """
    stack[0] = entry_of(surface.level_first.size - 2, 0)
    depth: Integer = 1
    parity = 0
    is_still = True
    for i in range(3):
        is_still &= poses.translation[row, i] == 0.0
        for k in range(3):
            is_still &= poses.rotation[row, i, k] == (1.0 if i == k else 0.0)
    while depth > 0:
        depth -= 1
        level, block = level_of(stack[depth]), block_of(stack[depth])
        place = surface.level_first[level] + block
        hits = _blocks_below(point, surface, poses, row, place, is_still)
        while hits != 0:
            lane = lowest_bit(hits)
            hits &= hits - 1
            if level > 0:
                stack[depth] = entry_of(level - 1, block * WIDTH + lane)
                depth += 1
                continue
            passed = _passes(point, placed_triangle(surface, poses, row, block * WIDTH + lane))
            if passed == ON:
                return ON
            parity ^= passed
    return parity


@helper
def _blocks_below(
    point: Vector, surface: Surface, poses: RigidPoses, row: Integer, place: Integer, is_still: bool
) -> Integer:
    """Return the bits of the lanes of a block whose boxes the ray along z from a point may meet."""
    hits: Integer = 0
    if is_still:
        x, y, z = point[0] - surface.middle[0], point[1] - surface.middle[1], point[2] - surface.middle[2]
        x0, y0, z0, x1, y1 = float_below(x), float_below(y), float_below(z), float_above(x), float_above(y)
        return block_hits(surface.lanes, place, x0, y0, z0, x1, y1, np.float32(np.inf))
    for lane in range(WIDTH):
        hits |= np.int64(_is_below(point, surface, poses, row, 96 * place + lane)) << lane
    return hits


@helper
def _is_below(point: Vector, surface: Surface, poses: RigidPoses, row: Integer, lane: Integer) -> bool:
    """Return whether the ray along z from a point may meet the box of a lane in the pose; not for unused lanes."""
    for axis in range(3):
        middle, half = poses.translation[row, axis], 0.0
        size = abs(middle)
        for k in range(3):
            share = poses.rotation[row, axis, k]
            low, high = float(surface.lanes[lane + 16 * k]), float(surface.lanes[lane + 16 * (k + 3)])
            centre = surface.middle[k] + 0.5 * (low + high)
            middle += share * centre
            half += abs(share) * 0.5 * (high - low)
            size += abs(share) * abs(surface.middle[k])
        half += 1e-14 * (size + half)
        is_near = point[axis] <= middle + half and (axis == 2 or point[axis] >= middle - half)
        if not is_near:  # also for NaN
            return False
    return True


@helper
def _passes(point: Vector, triangle: Triangle) -> int:
    """Return 1 if the ray from the point beside ``point`` passes a triangle, 0 if not; `ON` if the point is in it."""
    a, b, c = triangle
    if normal_axis(a, b, c) == 3:
        return ON if _is_between(point, a, b) or _is_between(point, b, c) or _is_between(point, c, a) else 0
    side = plane_side(a, b, c, point)
    if side == 0 and segment_meets(point, point, triangle):
        return ON
    turn = line_side(seen(a, 2), seen(b, 2), seen(c, 2))
    if turn == 0:
        return 0
    for start, end in ((a, b), (b, c), (c, a)):
        if _beside(start, end, point) != turn:
            return 0
    # Seen from above, the triangle lies over the point if the point is behind it.
    return 1 if side * turn < 0 else 0


@helper
def _beside(a: Vector, b: Vector, point: Vector) -> int:
    """Return on which side of the line a b, seen along z, the point (x + ε, y + ε²) lies."""
    side = line_side(seen(a, 2), seen(b, 2), seen(point, 2))
    if side != 0:
        return side
    if a[1] != b[1]:
        return 1 if a[1] > b[1] else -1
    return 1 if b[0] > a[0] else -1


@helper
def _is_between(point: Vector, a: Vector, b: Vector) -> bool:
    if normal_axis(a, b, point) < 3:
        return False
    is_between = True
    for axis in range(3):
        is_between &= min(a[axis], b[axis]) <= point[axis] <= max(a[axis], b[axis])
    return is_between


def one_of_each_part(vertices: F64, faces: I32) -> F64:
    """Return one vertex (n, 3) of each connected part of a mesh."""
    labels = parts_of(np.ascontiguousarray(faces), len(vertices))
    used = np.unique(faces)
    _, first = np.unique(labels[used], return_index=True)
    return np.ascontiguousarray(vertices[used[first]])

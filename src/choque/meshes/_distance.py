"""How far apart two meshes are, for many poses: branch and bound, nearest first."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choque._core.kernel import forceinline, helper, kernel
from choque._core.lanes import lowest_bit
from choque._core.tree import WIDTH, block_of, entry_of, level_of
from choque._core.types import F32, F64, I64, Integer
from choque._core.vector import Vector, along, cross, dot, scaled, store, subtract
from choque.meshes._collide import meeting_places, over_batches
from choque.meshes.frames import FRAME, copy_box, fill_frames, fill_query, placed_triangle
from choque.meshes.lanes import LOOSE, MIDDLE, QUERY, SIDES, SLAB, box_gaps, turned_gaps
from choque.meshes.poses import RIGID_TOLERANCE, RigidPoses
from choque.meshes.surface import Surface, box_around, moderation, resized, triangle_at
from choque.meshes.triangles import Triangle, intersection_of

_LOWERED = 1.0 - 3.0 * RIGID_TOLERANCE
"""Bounds in the frame of a mesh are those in the other one up to this factor, for rotations that are barely rigid."""
_RAISED = 1.0001 / _LOWERED


class Scratch(NamedTuple):
    """Working memory of a walk: the stack and its bounds, queries, and the nearest pair so far.

    ``way`` is the direction between the nearest points so far, and ``reach`` how far triangles of a block reach in it.
    Near the least distance this direction separates almost all pairs that boxes do not.
    """

    stack: I64
    costs: F64
    frames: F64
    box: F64
    query: F32
    gaps: F32
    nearest: I64
    way: F64
    reach: F64
    sight: F64


class Answers(NamedTuple):
    """Distances (k,), and the nearest points (k, 3) on both meshes."""

    distance: F64
    one: F64
    two: F64


def least_distances(one: Surface, two: Surface, poses: RigidPoses, bound: float, thread_count: int) -> Answers:
    """Return the distance for each pose, infinite where it is more than ``bound``, and where it is.

    Poses in which surfaces meet are found first and exactly; the others are measured.
    """
    count = len(poses)
    answers = Answers(np.full(count, np.inf), np.full((count, 3), np.nan), np.full((count, 3), np.nan))
    places = meeting_places(one, two, poses, thread_count)
    factor = moderation(one, two, poses.translation)
    if len(one.rows) and len(two.rows):
        one, two = resized(one, factor, thread_count), resized(two, factor, thread_count)
        poses = poses if factor == 1.0 else RigidPoses(poses.rotation, poses.translation * factor)
        limit = min(float(np.nextafter(bound, np.inf)) * factor, 1e154) ** 2

        def measure(first: int, last: int) -> None:
            _measure(first, last, one, two, poses, places, limit, answers)

        over_batches(count, thread_count, measure)
    return answers if factor == 1.0 else Answers(*(part / factor for part in answers))


@kernel
def _measure(
    first: int, last: int, one: Surface, two: Surface, poses: RigidPoses, places: I64, limit: float, answers: Answers
) -> None:
    size = WIDTH * (one.level_first.size + two.level_first.size)
    scratch = Scratch(
        np.empty((size, 2), np.int64),
        np.empty(size),
        np.empty((2, FRAME)),
        np.empty(11),
        np.empty(QUERY, np.float32),
        np.empty(WIDTH, np.float32),
        np.full(2, -1, np.int64),
        np.zeros(3),
        np.empty(WIDTH),
        np.empty(4),
    )
    for row in range(first, last):
        if places[row, 0] >= 0:
            own, other = triangle_at(one, places[row, 0]), placed_triangle(two, poses, row, places[row, 1])
            p, _ = intersection_of(own, other)
            if np.isnan(p[0]):  # in one plane
                _, p, _ = triangle_distance(own, other)
            answers.distance[row] = 0.0
            store(answers.one, row, p)
            store(answers.two, row, p)
            continue
        squared = _walk(one, two, poses, row, limit, scratch)
        if squared < limit:
            own, other = triangle_at(one, scratch.nearest[0]), placed_triangle(two, poses, row, scratch.nearest[1])
            _, p, q = triangle_distance(own, other)
            answers.distance[row] = np.sqrt(squared)
            store(answers.one, row, p)
            store(answers.two, row, q)


@helper
def _walk(one: Surface, two: Surface, poses: RigidPoses, row: Integer, limit: float, scratch: Scratch) -> float:
    """Return the least squared distance, or ``limit``; the nearest triangles of the last pose are the first guess."""
    stack, costs, gaps = scratch.stack, scratch.costs, scratch.gaps
    frames, box, query = scratch.frames, scratch.box, scratch.query
    best = limit
    scratch.way[0], scratch.way[1], scratch.way[2] = 0.0, 0.0, 0.0
    if scratch.nearest[0] >= 0:
        own, placed = triangle_at(one, scratch.nearest[0]), placed_triangle(two, poses, row, scratch.nearest[1])
        squared, p, q = triangle_distance(own, placed)
        if squared < best:
            best = squared
            _turn(scratch.way, p, q, squared)
    fill_frames(one, two, poses, row, frames)
    stack[0, 0], stack[0, 1] = entry_of(one.level_first.size - 2, 0), entry_of(two.level_first.size - 2, 0)
    costs[0] = 0.0
    depth: Integer = 1
    while depth > 0:
        depth -= 1
        if costs[depth] >= best:
            continue
        level, other_level = level_of(stack[depth, 0]), level_of(stack[depth, 1])
        block, other = block_of(stack[depth, 0]), block_of(stack[depth, 1])
        if level == 0 and other_level == 0:
            best = _compare_blocks(one, two, poses, (row, block, other), best, scratch)
            continue
        side = 0 if level >= other_level else 1
        if side == 0:
            copy_box(two, other_level, other, box)
            fill_query(frames, 0, box, query)
            tree, place = (one.lanes, one.slabs), one.level_first[level] + block
        else:
            copy_box(one, level, block, box)
            fill_query(frames, 1, box, query)
            tree, place = (two.lanes, two.slabs), two.level_first[other_level] + other
            level, block = other_level, other
        near = turned_gaps(tree[0], tree[1], place, query, gaps, best * _RAISED)
        if near == 0:
            continue
        _look_along(scratch, side)
        kept, floor = stack[depth, 1 - side], depth
        while near != 0:
            lane = lowest_bit(near)
            near &= near - 1
            cost = gaps[lane] * _LOWERED
            gap = scratch.sight[3] - _reach_of(tree, place, lane, scratch.sight)
            if gap > 0.0:
                cost = max(cost, gap * gap * _LOWERED)
            if cost >= best:
                continue
            at = depth  # the nearest goes on top
            while at > floor and costs[at - 1] < cost:
                costs[at], stack[at, side] = costs[at - 1], stack[at - 1, side]
                at -= 1
            costs[at], stack[at, side] = cost, entry_of(level - 1, block * WIDTH + lane)
            stack[depth, 1 - side] = kept
            depth += 1
    return best


@helper
def _compare_blocks(
    one: Surface, two: Surface, poses: RigidPoses, at: tuple[Integer, Integer, Integer], best: float, scratch: Scratch
) -> float:
    """Measure the triangles of two blocks, and return the least squared distance so far."""
    row, block, other = at
    box, query, gaps, way = scratch.box, scratch.query, scratch.gaps, scratch.way
    copy_box(one, 0, block, box)
    fill_query(scratch.frames, 1, box, query)
    near = turned_gaps(two.lanes, two.slabs, other, query, gaps, best * _RAISED)
    if near == 0:
        return best
    slack = scratch.frames[0, 12]
    own_count = min(WIDTH, one.rows.size - block * WIDTH)
    for lane in range(own_count):
        scratch.reach[lane] = _farthest(triangle_at(one, block * WIDTH + lane), way, 1.0)
    while near != 0:
        place = other * WIDTH + lowest_bit(near)
        near &= near - 1
        triangle = placed_triangle(two, poses, row, place)
        start = -_farthest(triangle, way, -1.0) - slack
        x0, y0, z0, x1, y1, z1 = box_around(triangle, one.middle)
        query[0], query[1], query[2], query[3], query[4], query[5] = x0, y0, z0, x1, y1, z1
        found = box_gaps(one.lanes, block, query, gaps, best * _RAISED)
        while found != 0:
            lane = lowest_bit(found)
            found &= found - 1
            gap = start - scratch.reach[lane]
            if gap > 0.0 and gap * gap >= best:
                continue
            own = triangle_at(one, block * WIDTH + lane)
            if _is_farther(own, triangle, best, slack):
                continue
            squared, p, q = triangle_distance(own, triangle)
            if squared < best:
                best = squared
                scratch.nearest[0], scratch.nearest[1] = block * WIDTH + lane, place
                _turn(way, p, q, squared)
                start = -_farthest(triangle, way, -1.0) - slack
                for k in range(own_count):
                    scratch.reach[k] = _farthest(triangle_at(one, block * WIDTH + k), way, 1.0)
    return best


@helper
def _is_farther(one: Triangle, two: Triangle, best: float, slack: float) -> bool:
    """Return whether two triangles are surely farther apart than the root of ``best``, by the line of their middles."""
    x = two[0][0] + two[1][0] + two[2][0] - (one[0][0] + one[1][0] + one[2][0])
    y = two[0][1] + two[1][1] + two[2][1] - (one[0][1] + one[1][1] + one[2][1])
    z = two[0][2] + two[1][2] + two[2][2] - (one[0][2] + one[1][2] + one[2][2])
    end = max(
        x * one[0][0] + y * one[0][1] + z * one[0][2],
        x * one[1][0] + y * one[1][1] + z * one[1][2],
        x * one[2][0] + y * one[2][1] + z * one[2][2],
    )
    start = min(
        x * two[0][0] + y * two[0][1] + z * two[0][2],
        x * two[1][0] + y * two[1][1] + z * two[1][2],
        x * two[2][0] + y * two[2][1] + z * two[2][2],
    )
    gap = start - end - slack * (abs(x) + abs(y) + abs(z))
    return gap > 0.0 and gap * gap > best * (x * x + y * y + z * z)


@helper
def _look_along(scratch: Scratch, target: Integer) -> None:
    """Write to ``scratch.sight`` the direction between the nearest points as mesh ``target`` sees it, toward the other.

    The fourth number is where the box of the query begins in this direction; see `choque.meshes.lanes`.
    """
    way, frames, query, sight = scratch.way, scratch.frames, scratch.query, scratch.sight
    for i in range(3):
        sight[i] = way[i]
        if target == 1:
            sight[i] = -(frames[1, 3 * i] * way[0] + frames[1, 3 * i + 1] * way[1] + frames[1, 3 * i + 2] * way[2])
    share = 0.0
    for k in range(3):
        share += sight[k] * query[SLAB + k]
    begin = min(share * query[SLAB + 3], share * query[SLAB + 4]) - query[LOOSE]
    for k in range(3):
        begin += (sight[k] - share * query[SLAB + k]) * query[MIDDLE + k]
        side = 0.0
        for i in range(3):
            side += (sight[i] - share * query[SLAB + i]) * query[SIDES + 3 * k + i]
        begin -= abs(side)
    sight[3] = begin


@forceinline
def _reach_of(tree: tuple[F32, F32], block: Integer, lane: Integer, sight: F64) -> float:
    """Return how far what is in a lane reaches in a direction at most, by its slab and its box."""
    lanes, slabs = tree
    start, slab = 96 * block + lane, 80 * block + lane
    share = sight[0] * slabs[slab] + sight[1] * slabs[slab + 16] + sight[2] * slabs[slab + 32]
    reach: float = max(share * slabs[slab + 48], share * slabs[slab + 64])
    for axis in range(3):
        rest = sight[axis] - share * slabs[slab + 16 * axis]
        reach += max(rest * lanes[start + 16 * axis], rest * lanes[start + 16 * (axis + 3)])
    return reach


@helper
def _turn(way: F64, p: Vector, q: Vector, squared: float) -> None:
    """Set the direction from p to q, slightly shorter than 1, so that gaps along it are never too large."""
    factor = (1.0 - 1e-12) / np.sqrt(squared) if squared > 0.0 else 0.0
    for axis in range(3):
        way[axis] = (q[axis] - p[axis]) * factor


@forceinline
def _farthest(triangle: Triangle, way: F64, sign: float) -> float:
    """Return how far a triangle reaches in a direction, or against it."""
    a, b, c = triangle
    far: float = max(
        sign * (way[0] * a[0] + way[1] * a[1] + way[2] * a[2]),
        sign * (way[0] * b[0] + way[1] * b[1] + way[2] * b[2]),
        sign * (way[0] * c[0] + way[1] * c[1] + way[2] * c[2]),
    )
    return far


@helper
def triangle_distance(one: Triangle, two: Triangle) -> tuple[float, Vector, Vector]:
    """Return the squared distance of two triangles that share no point, and the nearest points; rounded.

    Two edges are nearest, or a corner and a point inside the other triangle.
    """
    best, p, q = np.inf, one[0], two[0]
    for i in range(3):
        for k in range(3):
            squared, first, second = segment_distance(one[i], one[(i + 1) % 3], two[k], two[(k + 1) % 3])
            if squared < best:
                best, p, q = squared, first, second
    for k in range(3):
        squared, first = height(two[k], one)
        if squared < best:
            best, p, q = squared, first, two[k]
        squared, first = height(one[k], two)
        if squared < best:
            best, p, q = squared, one[k], first
    return best, p, q


@helper
def height(point: Vector, triangle: Triangle) -> tuple[float, Vector]:
    """Return the squared distance of a point from its foot in the triangle; infinite if the foot is outside."""
    a, b, c = triangle
    normal = cross(subtract(b, a), subtract(c, a))
    size = dot(normal, normal)
    if size == 0.0:
        return np.inf, point
    pa, pb, pc = subtract(a, point), subtract(b, point), subtract(c, point)
    if dot(cross(pa, pb), normal) < 0.0 or dot(cross(pb, pc), normal) < 0.0 or dot(cross(pc, pa), normal) < 0.0:
        return np.inf, point
    height = dot(pa, normal) / size
    step = scaled(normal, height)
    return dot(step, step), along(point, normal, height)


@helper
def segment_distance(a: Vector, b: Vector, c: Vector, d: Vector) -> tuple[float, Vector, Vector]:
    """Return the squared distance of the segments a b and c d and the nearest points; rounded.

    Ericson, "Real-Time Collision Detection", 2005, section 5.1.9.
    """
    u, v, w = subtract(b, a), subtract(d, c), subtract(a, c)
    uu, vv, uv, uw, vw = dot(u, u), dot(v, v), dot(u, v), dot(u, w), dot(v, w)
    area = uu * vv - uv * uv
    s = 0.0
    if area > 0.0:
        s = min(max((uv * vw - uw * vv) / area, 0.0), 1.0)
    t = (uv * s + vw) / vv if vv > 0.0 else 0.0
    if t < 0.0 or vv == 0.0:
        t = 0.0
        s = min(max(-uw / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    elif t > 1.0:
        t = 1.0
        s = min(max((uv - uw) / uu, 0.0), 1.0) if uu > 0.0 else 0.0
    p, q = along(a, u, s), along(c, v, t)
    step = subtract(p, q)
    return dot(step, step), p, q

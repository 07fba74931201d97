"""How far each vertex of a mesh is from another mesh, and on which side: one walk down a tree for each vertex.

A vertex begins with the nearest triangle of the vertex before it, which is near: vertices are taken in the order of
their own tree. Boxes and slabs bound distances from below, along the line to the middle of a box as well, which is
nearly exact for patches that are seen from the front. No face passes through a ball around a vertex with its distance
as the radius; vertices whose balls overlap lie on the same side, so that few sides are found by counting faces.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from choque._core import check
from choque._core import threads as _pool
from choque._core.kernel import helper, kernel
from choque._core.lanes import lowest_bit
from choque._core.tree import WIDTH, block_of, entry_of, level_of
from choque._core.types import F32, F64, I64, Bools, Integer
from choque._core.vector import Vector, along, dot, point_of, subtract
from choque.meshes._collide import over_batches
from choque.meshes._distance import height
from choque.meshes._inside import place_point
from choque.meshes._mesh import Mesh, surfaces_of
from choque.meshes.frames import PROJECTING, ROUNDING
from choque.meshes.lanes import LOOSE, MIDDLE, QUERY, point_gaps
from choque.meshes.poses import RigidPoses, as_poses
from choque.meshes.surface import Surface, float_above, float_below, moderation, resized, triangle_at
from choque.meshes.triangles import Triangle

BATCH = 512  # points that a thread takes at once; the first one of a batch has no hint
RECENT = 8  # points before a point that may tell on which side it lies
_LOWERED = 1.0 - 1e-6  # less than what rounding in float32 can add to a squared distance
_RAISED = 1.0 + 2e-6


def clearance(a: Mesh, b: Mesh, *, pose: Any = None, bound: float = np.inf, threads: int | None = None) -> F64:
    """Return how far each vertex of ``b`` is from the surface of ``a``: (n,), negative inside ``a`` if that is closed.

    Parameters
    ----------
    a, b, threads
        As for `collide`. Of a scan, ``choque.Mesh(volume)`` is the surface of its voxels.
    pose
        Where ``b`` is, in the frame of ``a``: a rigid matrix (4, 4), or a rotation (3, 3) and a translation (3,).
    bound
        Distances greater than this are not searched for, and are infinite in the answer, −∞ inside [units].

    Notes
    -----
    Guarantee: signs are exact, distances are rounded. The least clearance is not less than `distance`, which compares
    all points of both surfaces.

    Examples
    --------
    >>> from choque.meshes import Mesh
    >>> corner = Mesh([[0, 0, 0], *4 * np.eye(3)], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> needle = Mesh([[1, 1, 0.5], [1, 1, -3], [1, 2, -3]], [[0, 1, 2]])
    >>> clearance(corner, needle).tolist()
    [-0.5, 3.0, 3.0]
    """
    one, two = surfaces_of(a, b)
    points = np.array(b.vertices if pose is None else b.moved(pose).vertices)
    count, factor = _pool.resolve_count(threads, len(points)), moderation(one, two, points)
    reach = float(np.nextafter(check.number(bound, "bound", 0, infinite=True), np.inf)) * factor
    limit = min(reach, 1e154) ** 2
    found = np.full(len(points), np.inf)
    if len(points) and len(a):
        order, has_inside = _tree_order(two), a.is_closed
        one, points = resized(one, factor, count), points * factor

        def measure(first: int, last: int) -> None:
            _measure(first, last, (points, order), one, has_inside, limit, _scratch(one), found)

        over_batches(len(points), count, measure, BATCH)
    return found / factor


def _tree_order(surface: Surface) -> I64:
    """Return the vertices of a mesh in the order in which its tree comes to them first."""
    corners = surface.corners.reshape(-1)
    first = np.full(len(surface.vertices), len(corners))
    first[corners[::-1]] = np.arange(len(corners))[::-1]  # the last one written stays
    return np.argsort(first, kind="stable")


class Scratch(NamedTuple):
    """Working memory of a search for the triangles nearest to points, and of the sides of the latest ones."""

    stack: I64
    costs: F32
    query: F32
    gaps: F32
    free: F64  # (RECENT,) the radii of balls around the latest points that no face passes through
    is_inside: Bools  # (RECENT,)
    still: RigidPoses  # one pose, in which nothing moves


def _scratch(surface: Surface) -> Scratch:
    size = WIDTH * surface.level_first.size
    search = (
        np.empty(size, np.int64),
        np.empty(size, np.float32),
        np.zeros(QUERY, np.float32),
        np.empty(WIDTH, np.float32),
    )
    return Scratch(*search, np.empty(RECENT), np.empty(RECENT, np.bool_), as_poses(None))


@kernel
def _measure(
    first: int,
    last: int,
    vertices: tuple[F64, I64],
    surface: Surface,
    has_inside: bool,
    limit: float,
    scratch: Scratch,
    distances: F64,
) -> None:
    """Write the distances of some points in their order, negative inside; those not below ``limit``, squared, stay."""
    points, order = vertices
    free, is_inside = scratch.free, scratch.is_inside
    place: Integer = -1
    for k in range(first, last):
        row = order[k]
        point = point_of(points, row)
        squared, place = _nearest(point, surface, limit, place, scratch)
        if squared < limit:
            distances[row] = np.sqrt(squared)
        if has_inside:
            own = k % RECENT
            slack = ROUNDING * (abs(point[0]) + abs(point[1]) + abs(point[2]) + surface.root[11])
            free[own] = np.sqrt(squared) * (1.0 - 1e-9) - 10.0 * slack
            is_known = False
            for other in range(max(first, k - RECENT + 1), k):
                step = subtract(point, point_of(points, order[other]))
                reach = free[own] + free[other % RECENT]
                if reach > 0.0 and dot(step, step) < reach * reach:
                    is_inside[own], is_known = is_inside[other % RECENT], True
            if not is_known:
                is_inside[own] = place_point(point, surface, scratch.still, 0, scratch.stack) > 0
            if is_inside[own]:
                distances[row] = -distances[row]


@helper
def _nearest(point: Vector, surface: Surface, limit: float, place: Integer, scratch: Scratch) -> tuple[float, Integer]:
    """Return the least squared distance, or ``limit``, and its place; the place of the last point is tried first."""
    stack, costs, query, gaps = scratch.stack, scratch.costs, scratch.query, scratch.gaps
    best = limit
    if place >= 0:
        best = min(best, _point_distance(point, triangle_at(surface, place)))
    size = 2.0 * surface.root[11]
    for axis in range(3):
        value = point[axis] - surface.middle[axis]
        query[axis], query[axis + 3], query[MIDDLE + axis] = float_below(value), float_above(value), value
        size += abs(value)
    query[LOOSE] = float_above(PROJECTING * size)
    stack[0], costs[0] = entry_of(surface.level_first.size - 2, 0), np.float32(0.0)
    depth: Integer = 1
    while depth > 0:
        depth -= 1
        if costs[depth] * _LOWERED >= best:
            continue
        level, block = level_of(stack[depth]), block_of(stack[depth])
        near = point_gaps(surface.lanes, surface.slabs, surface.level_first[level] + block, query, gaps, best * _RAISED)
        floor = depth
        while near != 0:
            lane = lowest_bit(near)
            near &= near - 1
            if level == 0:
                if gaps[lane] * _LOWERED < best:
                    squared = _point_distance(point, triangle_at(surface, block * WIDTH + lane))
                    if squared < best:
                        best, place = squared, block * WIDTH + lane
                continue
            at = depth  # the nearest goes on top
            while at > floor and costs[at - 1] < gaps[lane]:
                costs[at], stack[at] = costs[at - 1], stack[at - 1]
                at -= 1
            costs[at], stack[at] = gaps[lane], entry_of(level - 1, block * WIDTH + lane)
            depth += 1
    return best, place


@helper
def _point_distance(point: Vector, triangle: Triangle) -> float:
    """Return the squared distance of a point from a triangle; rounded."""
    best, _ = height(point, triangle)
    if best < np.inf:
        return best
    for k in range(3):
        side, away = subtract(triangle[(k + 1) % 3], triangle[k]), subtract(point, triangle[k])
        size = dot(side, side)
        share = min(max(dot(away, side) / size, 0.0), 1.0) if size > 0.0 else 0.0
        step = along(away, side, -share)
        best = min(best, dot(step, step))
    return best

"""Convex bodies as cores, the convex hull of points with a radius around it, and their support functions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choque._core import memory
from choque._core.kernel import helper, kernel
from choque._core.lane_code import LANES
from choque._core.point_lanes import farthest_row
from choque._core.threads import over_ranges
from choque._core.types import F64, I64, Floats, Integer, Pairs, Rows
from choque._core.vector import Vector
from choque.errors import InvalidInput
from choque.narrow.hulls import Hulls, Posed
from choque.narrow.pair import PoseArrays
from choque.narrow.shapes import CAPSULE, CONVEX, MESH, SPHERE, TILE, Shapes, Solids

SCAN_LIMIT = 40  # up to this many points a scan of all is faster than a climb along edges (benchmarks/narrow.py)


class Cores(NamedTuple):
    """Convex bodies: the hull of some points around a position, expanded by a radius.

    A sphere is one point, a capsule two, a tile four, a hull its vertices. Points are rotated with the body and stored
    relative to its position, so that no precision is lost far from the origin. Kernels unpack the tuple first and pass
    its arrays on, as each access to a member counts references, which is slower than the arithmetic around it.
    """

    points: F64  # (P, 3) the points of all bodies, one body after the other
    # (n, 3) the first row of each body's points, the row after its last, and where its neighbours start in ``graph``,
    # -1 if they are not known
    spans: Rows
    place: F64  # (n, 4) position, radius
    # (G,) for each hull and each of its vertices, where in this array its neighbours start; one more such number for
    # the end of the last; then the neighbours of all, numbered within their hull
    graph: Rows


POINT_COUNTS = np.array([1, 2, 4, 0, 0, 0], np.int64)
"""Number of points in the core of each kind; 0 for hulls, which have their vertices, for planes and for meshes."""


def cores_of_shapes(
    shapes: Shapes, pairs: Pairs, thread_count: int, triangles: F64 | None = None
) -> tuple[Cores, Pairs]:
    """Return the cores of the shapes that occur in ``pairs`` (k, 2), and the pairs as rows of these cores.

    Rows after those of the shapes are ``triangles`` (t, 3, 3), given by their corners in the world.
    """
    triangle_count = 0 if triangles is None else len(triangles)
    is_used = np.zeros(len(shapes) + triangle_count, np.bool_)
    is_used[pairs.reshape(-1)] = True
    bodies = np.flatnonzero(is_used[: len(shapes)])
    place_of = np.empty(len(is_used), np.int32)
    place_of[bodies] = np.arange(len(bodies), dtype=np.int32)
    place_of[len(shapes) :] = len(bodies) + np.arange(triangle_count)
    meshes = bodies[shapes.kind[bodies] == MESH]
    if len(meshes):
        raise InvalidInput(f"Shape {meshes[0]} is a mesh, which is not convex; give its triangles.")
    hulls = _library(shapes, bodies)
    hull = np.full(len(shapes), -1, np.int32) if shapes.hull is None else shapes.hull
    kind = shapes.kind[bodies]
    counts = POINT_COUNTS[kind]
    is_hull = kind == CONVEX
    counts[is_hull] = np.diff(hulls.first)[hull[bodies[is_hull]]]
    cores = _empty_cores(counts, hulls)
    solids = Solids(shapes.kind, shapes.position, shapes.rotation, shapes.size, hull, hulls.points, hulls.first)
    over_ranges(_fill_shapes, len(bodies), thread_count, bodies, solids, cores)
    if triangles is not None:
        cores = joined(cores, cores_of_points(triangles, triangles.mean(axis=1), cores.graph))
    return cores, place_of[pairs]


def cores_of_points(points: F64, center: F64, graph: Rows) -> Cores:
    """Return bodies given by their ``points`` (n, v, 3) in the world as cores around their ``center`` (n, 3)."""
    count, size = points.shape[:2]
    spans = np.full((count, 3), -1, np.int64)
    spans[:, 0] = size * np.arange(count)
    spans[:, 1] = spans[:, 0] + size
    place = np.concatenate((center, np.zeros((count, 1))), axis=1)
    return Cores((points - center[:, np.newaxis]).reshape(-1, 3), spans, place, graph)


def cores_of_hulls(posed: Posed, thread_count: int = 1, pairs: Pairs | None = None) -> Cores:
    """Return the cores of hulls in their poses; given ``pairs`` (k, 2), those in no pair have no points."""
    hulls = posed.hulls
    counts = np.diff(hulls.first)[posed.row]
    if pairs is not None:
        is_used = np.zeros(len(posed), np.bool_)
        is_used[pairs.reshape(-1)] = True
        counts *= is_used
    cores = _empty_cores(counts, hulls)
    poses = PoseArrays(posed.position, posed.rotation, posed.scale)
    over_ranges(_fill_hulls, len(posed), thread_count, posed.row, poses, hulls.points, hulls.first, cores)
    return cores


def joined(one: Cores, other: Cores) -> Cores:
    """Return the bodies of both, those of ``one`` first."""
    spans = other.spans.copy()
    spans[:, :2] += len(one.points)
    graph = one.graph
    if other.graph is not one.graph:
        has_links = spans[:, 2] >= 0
        spans[has_links, 2] += len(graph)
        graph = np.concatenate([one.graph, other.graph])
        # Starts are places in the array and move with it; neighbours are numbered within their hull.
        start_count = int(other.graph[0]) if len(other.graph) else 0
        graph[len(one.graph) : len(one.graph) + start_count] += len(one.graph)
    return Cores(
        np.concatenate([one.points, other.points]),
        np.concatenate([one.spans, spans]),
        np.concatenate([one.place, other.place]),
        graph,
    )


def _library(shapes: Shapes, bodies: Rows) -> Hulls:
    is_hull = shapes.kind[bodies] == CONVEX
    if not is_hull.any():
        return Hulls()
    hulls = shapes.hulls
    if not isinstance(hulls, Hulls) or shapes.hull is None:
        raise InvalidInput("A shape is convex and there are no hulls: give Shapes the columns hull and hulls.")
    rows = shapes.hull[bodies[is_hull]]
    wrong = np.flatnonzero((rows < 0) | (rows >= len(hulls)))
    if len(wrong):
        body = bodies[is_hull][wrong[0]]
        raise InvalidInput(f"Shape {body} has the hull {rows[wrong[0]]}; there are hulls 0 to {len(hulls) - 1}.")
    return hulls


def _empty_cores(counts: I64, hulls: Hulls) -> Cores:
    """Return cores with these numbers of points, not initialised."""
    spans = np.empty((len(counts), 3), np.int64)
    spans[:, 1] = np.cumsum(counts)
    spans[:, 0] = spans[:, 1] - counts
    total = int(counts.sum())
    return Cores(memory.empty((total, 3), np.float64), spans, np.empty((len(counts), 4)), hulls.graph)


@helper
def turn_points(
    points: Floats, first: Integer, last: Integer, rotation: Floats, scale: Floats, target: F64, at: Integer
) -> None:
    """Write ``rotation @ (scale * p)`` of the points first … last − 1 into rows of ``target`` from row ``at`` on."""
    xx, xy, xz = rotation[0, 0] * scale[0], rotation[0, 1] * scale[1], rotation[0, 2] * scale[2]
    yx, yy, yz = rotation[1, 0] * scale[0], rotation[1, 1] * scale[1], rotation[1, 2] * scale[2]
    zx, zy, zz = rotation[2, 0] * scale[0], rotation[2, 1] * scale[1], rotation[2, 2] * scale[2]
    for row in range(first, last):
        x, y, z = points[row, 0], points[row, 1], points[row, 2]
        target[at, 0] = xx * x + xy * y + xz * z
        target[at, 1] = yx * x + yy * y + yz * z
        target[at, 2] = zx * x + zy * y + zz * z
        at += 1


@kernel
def _fill_hulls(
    first: Integer, last: Integer, hull: Rows, poses: PoseArrays, hull_points: Floats, hull_first: Rows, cores: Cores
) -> None:
    """Rotate and place the bodies first … last − 1, which are all hulls, as many points as their spans have."""
    position, rotation, scale = poses
    points, spans, place, _ = cores
    for body in range(first, last):
        begin = hull_first[hull[body]]
        end = begin + spans[body, 1] - spans[body, 0]
        turn_points(hull_points, begin, end, rotation[body], scale[body], points, spans[body, 0])
        spans[body, 2] = begin
        place[body, 0], place[body, 1], place[body, 2] = position[body, 0], position[body, 1], position[body, 2]
        place[body, 3] = 0.0


@kernel
def _fill_shapes(first: Integer, last: Integer, bodies: Rows, solids: Solids, cores: Cores) -> None:
    """Rotate and place the cores of ``bodies`` first … last − 1."""
    kind, position, rotation, size, hull, hull_points, hull_first = solids
    points, spans, place, _ = cores
    for row in range(first, last):
        body = bodies[row]
        at = spans[row, 0]
        spans[row, 2] = -1
        for axis in range(3):
            place[row, axis] = position[body, axis]
        place[row, 3] = 0.0
        if kind[body] == SPHERE:
            points[at, 0] = points[at, 1] = points[at, 2] = 0.0
            place[row, 3] = size[body, 0]
        elif kind[body] == CAPSULE:
            for axis in range(3):
                half = rotation[body, axis, 2] * size[body, 1] / 2
                points[at, axis], points[at + 1, axis] = half, -half
            place[row, 3] = size[body, 0]
        elif kind[body] == TILE:
            for axis in range(3):
                one, other = rotation[body, axis, 0] * size[body, 0] / 2, rotation[body, axis, 2] * size[body, 1] / 2
                points[at, axis], points[at + 1, axis] = one + other, one - other
                points[at + 2, axis], points[at + 3, axis] = -one + other, -one - other
        elif kind[body] == CONVEX:
            begin, end = hull_first[hull[body]], hull_first[hull[body] + 1]
            turn_points(hull_points, begin, end, rotation[body], size[body], points, at)
            spans[row, 2] = begin


# Support functions


@helper
def support(points: Floats, spans: Rows, graph: Rows, body: Integer, direction: Vector, start: Integer) -> Integer:
    """Return the row of the point of ``body`` that lies farthest along ``direction``; the arrays are those of `Cores`.

    Few points are scanned, and the first of equal ones is taken. If there are many and their neighbours are known, a
    climb goes from the row ``start`` along edges to farther points (Cameron, "Enhancing GJK", 1997); on a convex body
    it ends at a farthest one.
    """
    first, last, base = spans[body, 0], spans[body, 1], spans[body, 2]
    if last - first <= SCAN_LIMIT or base < 0:
        return scan(points, first, last, direction)
    return climb(points, first, base, graph, direction, start)


@helper
def scan(points: Floats, first: Integer, last: Integer, direction: Vector) -> Integer:
    """Return the first of the rows first … last − 1 that lies farthest along ``direction``."""
    x, y, z = direction
    if last - first >= LANES:
        return farthest_row(points, first, last, x, y, z)
    best, highest = first, -np.inf
    for row in range(first, last):
        height = points[row, 0] * x + points[row, 1] * y + points[row, 2] * z
        if height > highest:
            best, highest = row, height
    return best


@helper
def climb(points: Floats, first: Integer, base: Integer, graph: Rows, direction: Vector, start: Integer) -> Integer:
    """Return the row of a farthest point of the hull whose points start at row ``first``, by climbing along edges."""
    x, y, z = direction
    best = start
    highest = points[best, 0] * x + points[best, 1] * y + points[best, 2] * z
    while True:
        here = base + best - first
        farther = best
        for link in range(graph[here], graph[here + 1]):
            row = first + graph[link]
            height = points[row, 0] * x + points[row, 1] * y + points[row, 2] * z
            if height > highest:
                farther, highest = row, height
        if farther == best:
            return best
        best = farther

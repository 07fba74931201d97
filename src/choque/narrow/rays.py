"""Rays against solids: where each ray enters a solid, and the normal there."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.threads import over_shares, resolve_count
from choque._core.types import F64, I8, I32, I64, Floats, Integer, Pairs
from choque._core.vector import Vector, cross, dot, point_of, scaled, subtract, unit
from choque.narrow.hulls import Hulls
from choque.narrow.shapes import CAPSULE, MESH, PLANE, SPHERE, TILE, Shapes


class Entries(NamedTuple):
    """Where rays enter solids."""

    # (m,) in units of the direction; 0 for a ray that starts in the solid, infinite for one that misses it
    distance: F64
    normal: F64  # (m, 3) outward unit normals of the solids; 0 where there is no surface to enter through


class _Posed(NamedTuple):
    """Solids in float64, one for each pair, and the hulls that they refer to."""

    kind: I8
    position: F64
    rotation: F64
    size: F64
    hull: I32
    points: F64
    first: I64
    triangles: I64
    triangle_first: I64


def enter_solids(
    shapes: Shapes, pairs: Pairs, origin: Floats, direction: Floats, *, threads: int | None = None
) -> Entries:
    """Return where the rays of ``pairs`` (m, 2), rows of (ray, shape), enter the shapes.

    Exact up to rounding: quadratics for spheres and capsules; rays are clipped by all faces of a hull, in its own frame
    (Cyrus, Beck, 1978), and meet all triangles of a mesh. ``origin`` and ``direction`` are (k, 3) float64. O(m), times
    the faces of hulls and meshes; the result does not depend on the number of threads.
    """
    count, rows = len(pairs), pairs[:, 1]
    library = Hulls() if shapes.hulls is None else shapes.hulls
    solids = _Posed(
        shapes.kind[rows],
        shapes.position[rows].astype(np.float64),
        shapes.rotation[rows].astype(np.float64),
        shapes.size[rows].astype(np.float64),
        np.full(count, -1, np.int32) if shapes.hull is None else shapes.hull[rows],
        library.points,
        library.first,
        library.triangles,
        library.triangle_first,
    )
    found = Entries(np.empty(count), np.zeros((count, 3)))
    rays = np.concatenate((origin[pairs[:, 0]], direction[pairs[:, 0]]), axis=1, dtype=np.float64)
    over_shares(_enter, count, resolve_count(threads, count), rays, solids, found)
    return found


@kernel
def _enter(first: Integer, last: Integer, rays: F64, solids: _Posed, found: Entries) -> None:
    """Write the entries of the pairs ``first … last − 1``."""
    kind, position, rotation, size, hull, points, starts, triangles, triangle_starts = solids
    distance, normal = found
    for pair in range(first, last):
        away = (rays[pair, 0] - position[pair, 0], rays[pair, 1] - position[pair, 1], rays[pair, 2] - position[pair, 2])
        start = _to_local(rotation, pair, away)
        way = _to_local(rotation, pair, (rays[pair, 3], rays[pair, 4], rays[pair, 5]))
        if kind[pair] == SPHERE:
            enter, local = _into_ball(start, way, size[pair, 0])
        elif kind[pair] == CAPSULE:
            enter, local = _into_capsule(start, way, size[pair, 0], 0.5 * size[pair, 1])
        elif kind[pair] == TILE:
            enter, local = _through_level(start, way)
            x, z = start[0] + enter * way[0], start[2] + enter * way[2]
            if enter < math.inf and (abs(x) > 0.5 * size[pair, 0] or abs(z) > 0.5 * size[pair, 1]):
                enter = math.inf
        elif kind[pair] == PLANE:
            enter, local = (0.0, (0.0, 0.0, 0.0)) if start[1] <= 0 else _through_level(start, way)
        else:
            scale = (size[pair, 0], size[pair, 1], size[pair, 2])
            mesh = (points, starts[hull[pair]], triangles, triangle_starts[hull[pair]], triangle_starts[hull[pair] + 1])
            enter, local = _on_mesh(start, way, mesh) if kind[pair] == MESH else _into_hull(start, way, scale, mesh)
        distance[pair] = enter
        if enter < math.inf:
            for axis in range(3):
                x, y, z = rotation[pair, axis, 0], rotation[pair, axis, 1], rotation[pair, axis, 2]
                normal[pair, axis] = x * local[0] + y * local[1] + z * local[2]


@helper
def _on_mesh(start: Vector, way: Vector, mesh: tuple[Any, Any, Any, Any, Any]) -> tuple[float, Vector]:
    """Return where a ray first meets a triangle, from either side; O(t). After Möller and Trumbore, 1997."""
    points, first, triangles, begin, end = mesh
    enter, normal = math.inf, (0.0, 0.0, 0.0)
    for row in range(begin, end):
        corner = point_of(points, first + triangles[row, 0])
        one = subtract(point_of(points, first + triangles[row, 1]), corner)
        two = subtract(point_of(points, first + triangles[row, 2]), corner)
        across = cross(way, two)
        volume, away = dot(one, across), subtract(start, corner)
        if volume == 0.0:
            continue
        u, beside = dot(away, across) / volume, cross(away, one)
        v, far = dot(way, beside) / volume, dot(two, beside) / volume
        if u >= 0.0 and v >= 0.0 and u + v <= 1.0 and 0.0 <= far < enter:
            enter, normal = far, scaled(unit(cross(one, two)), 1.0 if volume > 0.0 else -1.0)
    return enter, normal


@helper
def _to_local(rotation: Any, row: Integer, vector: Vector) -> Vector:
    x, y, z = vector
    return (
        rotation[row, 0, 0] * x + rotation[row, 1, 0] * y + rotation[row, 2, 0] * z,
        rotation[row, 0, 1] * x + rotation[row, 1, 1] * y + rotation[row, 2, 1] * z,
        rotation[row, 0, 2] * x + rotation[row, 1, 2] * y + rotation[row, 2, 2] * z,
    )


@helper
def _first_root(a: float, b: float, c: float) -> float:
    """Return the first root of a t² + 2 b t + c, c > 0, that is not negative; infinite if there is none."""
    inner = b * b - a * c
    return c / (math.sqrt(inner) - b) if b < 0 and inner >= 0 else math.inf


@helper
def _into_ball(start: Vector, way: Vector, radius: float) -> tuple[float, Vector]:
    outside = dot(start, start) - radius * radius
    if outside <= 0:
        return 0.0, (0.0, 0.0, 0.0)
    enter = _first_root(dot(way, way), dot(start, way), outside)
    if enter == math.inf:
        return enter, (0.0, 0.0, 0.0)
    x, y, z = start[0] + enter * way[0], start[1] + enter * way[1], start[2] + enter * way[2]
    return enter, (x / radius, y / radius, z / radius)


@helper
def _into_capsule(start: Vector, way: Vector, radius: float, half: float) -> tuple[float, Vector]:
    """Enter a cylinder along z between −half and half, or one of the balls at its ends."""
    x, y, z = start
    outside = x * x + y * y - radius * radius
    if outside <= 0 and abs(z) <= half:
        return 0.0, (0.0, 0.0, 0.0)
    best, normal = _into_ball((x, y, z - half), way, radius)
    other, other_normal = _into_ball((x, y, z + half), way, radius)
    if other < best:
        best, normal = other, other_normal
    if outside > 0:
        enter = _first_root(way[0] * way[0] + way[1] * way[1], x * way[0] + y * way[1], outside)
        if enter < best and abs(z + enter * way[2]) <= half:
            best, normal = enter, ((x + enter * way[0]) / radius, (y + enter * way[1]) / radius, 0.0)
    return best, normal


@helper
def _through_level(start: Vector, way: Vector) -> tuple[float, Vector]:
    """Cross the plane y = 0; the normal is on the side that the ray comes from."""
    if way[1] == 0 or start[1] * way[1] > 0:
        return math.inf, (0.0, 0.0, 0.0)
    return -start[1] / way[1], (0.0, -math.copysign(1.0, way[1]), 0.0)


@helper
def _into_hull(start: Vector, way: Vector, scale: Vector, mesh: tuple[Any, Any, Any, Any, Any]) -> tuple[float, Vector]:
    """Clip a ray by the faces of a hull; all is divided by its scale first, so that the hull is as it was given."""
    points, base, triangles, first, last = mesh
    start = (start[0] / scale[0], start[1] / scale[1], start[2] / scale[2])
    way = (way[0] / scale[0], way[1] / scale[1], way[2] / scale[2])
    enter, leave, face = 0.0, math.inf, (0.0, 0.0, 0.0)
    for row in range(first, last):
        a = point_of(points, base + triangles[row, 0])
        b, c = point_of(points, base + triangles[row, 1]), point_of(points, base + triangles[row, 2])
        normal = cross(subtract(b, a), subtract(c, a))
        height, rate = dot(normal, subtract(start, a)), dot(normal, way)
        if rate == 0:
            if height > 0:
                return math.inf, face
        elif rate < 0:
            if -height / rate > enter:
                enter, face = -height / rate, normal
        else:
            leave = min(leave, -height / rate)
        if enter > leave:
            return math.inf, face
    if enter > 0:
        face = unit((face[0] / scale[0], face[1] / scale[1], face[2] / scale[2]))
    return enter, face

"""Manifolds with triangles of meshes, whose inner edges must not stop bodies that slide across them.

A triangle that is tested alone has edges on which a body can catch, though the surface goes on beyond them. So each
triangle knows the normals of its neighbours: where a surface bends away at an edge, a contact may push along any
direction between both normals; elsewhere along the normal of the triangle alone. Directions outside belong to a
neighbour, which has a contact of its own. Known from chains of segments in 2D as ghost vertices (Catto, Box2D).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.types import F64, Integer, Rows
from choque._core.vector import Vector, along, cross, dot, length, point_of, scaled, subtract
from choque.narrow.manifolds.solids import HullFaces, PosedSolids, Scratch, center, put_point, toward, within
from choque.narrow.pair import ContactArrays
from choque.narrow.shapes import SPHERE

if TYPE_CHECKING:
    from choque.meshes import Mesh

BEYOND = 1e-3  # sine of the angle by which a direction may lie outside what an edge allows


def rims_of(mesh: Mesh) -> F64:
    """Return (m, 3, 3) the unit normal of the neighbour at each edge of each face; edge k goes from corner k to k + 1.

    NaN where a face has no neighbour, or more than one. Neighbours share places, not numbers of vertices. A neighbour
    that faces the other way counts as turned around. O(m log m).
    """
    count = len(mesh)
    _, place = np.unique(mesh.vertices, axis=0, return_inverse=True)
    corners = place.reshape(-1)[mesh.faces]
    ends = np.stack((corners, corners[:, [1, 2, 0]]), axis=2).reshape(-1, 2)
    _, edge, shared = np.unique(np.sort(ends, axis=1), axis=0, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    order = np.argsort(edge, kind="stable")
    both = order[shared[edge[order]] == 2].reshape(-1, 2)
    points = mesh.vertices[mesh.faces]
    normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    size = np.linalg.norm(normal, axis=1, keepdims=True)
    normal = np.divide(normal, size, out=np.full_like(normal, np.nan), where=size > 0)
    rims = np.full((3 * count, 3), np.nan)
    # Neighbours that face the same way run along their edge in opposite directions.
    sign = np.where(ends[both[:, 0], 0] == ends[both[:, 1], 0], -1.0, 1.0)[:, np.newaxis]
    rims[both[:, 0]], rims[both[:, 1]] = sign * normal[both[:, 1] // 3], sign * normal[both[:, 0] // 3]
    return rims.reshape(count, 3, 3)


@helper
def may_push(faces: HullFaces, hull: Integer, away: Vector, side: float) -> bool:
    """Tell whether triangle ``hull`` may push a body along ``away``, a direction in the frame of its mesh.

    ``side`` is 1 for bodies on the side of its normal, −1 for those behind it.
    """
    points, first = faces.points, faces.first[hull]
    normal = scaled(point_of(faces.normal, faces.face_first[hull]), side)
    upward = dot(away, normal)
    if upward < -BEYOND:
        return False
    row = hull - (faces.first.size - 1 - faces.rim.shape[0])
    for k in range(3):
        start, end = point_of(points, first + k), point_of(points, first + (k + 1) % 3)
        edge = subtract(end, start)
        outward = scaled(cross(edge, normal), side / length(edge))
        tilt = dot(away, outward)
        beyond = scaled((faces.rim[row, k, 0], faces.rim[row, k, 1], faces.rim[row, k, 2]), side)
        # The sine of the angle from the neighbour's normal to ``away``, seen along the edge; false for NaN.
        if tilt > BEYOND and tilt * dot(beyond, normal) - upward * dot(beyond, outward) > BEYOND:
            return False
    return True


@helper
def side_of(faces: HullFaces, hull: Integer, local: Vector) -> float:
    """Return 1 for a point in front of triangle ``hull``, or in its plane, −1 for one behind it."""
    above = dot(
        subtract(local, point_of(faces.points, faces.first[hull])), point_of(faces.normal, faces.face_first[hull])
    )
    return 1.0 if above >= 0.0 else -1.0


@kernel
def sphere_triangles(
    first: int, last: int, rows: Rows, solids: PosedSolids, found: ContactArrays, _scratch: Scratch, faces: HullFaces
) -> None:
    """Write the manifolds of the pairs ``rows[first:last]`` of a sphere and a triangle: the nearest point.

    Where they are apart, ``separations[pair, 0]`` is their distance; 0 where a neighbour has the contact.
    """
    kind, hull, pose, size, near = solids
    pairs, normal, _, separations, _, point_count = found
    for place in range(first, last):
        pair = rows[place]
        ball, triangle, sign = pairs[pair, 0], pairs[pair, 1], -1.0
        if kind[ball] != SPHERE:
            ball, triangle, sign = triangle, ball, 1.0
        own = hull[triangle]
        local = within(pose, triangle, subtract(center(pose, ball), center(pose, triangle)))
        gap = subtract(local, nearest_point(faces, own, local))
        distance = length(gap)
        side = side_of(faces, own, local)
        away = scaled(point_of(faces.normal, faces.face_first[own]), side)
        if distance > 0.0:
            away = scaled(gap, 1.0 / distance)
        apart = distance - size[ball, 0]
        separations[pair, 0] = apart
        point_count[pair] = 0
        if apart < near[ball] + near[triangle]:
            if not may_push(faces, own, away, side):
                separations[pair, 0] = 0.0
                continue
            point_count[pair] = 1
            outward = toward(pose, triangle, away)
            for axis in range(3):
                normal[pair, axis] = sign * outward[axis]
            reach = -size[ball, 0] if sign < 0 else -size[ball, 0] - apart
            put_point(found, pair, 0, along(center(pose, ball), outward, reach), apart, 0)


@helper
def nearest_point(faces: HullFaces, hull: Integer, point: Vector) -> Vector:
    """Return the point of triangle ``hull`` nearest to ``point``, in the frame of the mesh: its foot, or an edge."""
    points, first = faces.points, faces.first[hull]
    normal = point_of(faces.normal, faces.face_first[hull])
    is_inside = True
    best, nearest = np.inf, point
    for k in range(3):
        start = point_of(points, first + k)
        edge, from_start = subtract(point_of(points, first + (k + 1) % 3), start), subtract(point, start)
        if dot(cross(edge, from_start), normal) < 0.0:
            is_inside = False
        share = min(max(dot(from_start, edge) / dot(edge, edge), 0.0), 1.0)
        foot = along(start, edge, share)
        gap = subtract(point, foot)
        if dot(gap, gap) < best:
            best, nearest = dot(gap, gap), foot
    if is_inside:
        return along(point, normal, -dot(subtract(point, point_of(points, first)), normal))
    return nearest

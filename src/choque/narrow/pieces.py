"""Meshes as bodies: the triangles of a mesh near other shapes, each a convex piece, and the contacts with them.

A mesh is a surface, seen from both sides. What touches it is found triangle by triangle, by the exact tests of convex
shapes: GJK and EPA with the triangle as a core of three points. The triangles near a shape come from the mesh's tree.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from choque._core.types import F64, Floats, Rows
from choque.narrow.convex.cores import cores_of_shapes
from choque.narrow.convex.probe import CONTACT, SHALLOW, probe_pairs
from choque.narrow.pair import ContactArrays
from choque.narrow.shapes import MESH, PLANE, Shapes

if TYPE_CHECKING:
    from choque.meshes import Mesh


class NearTriangles(NamedTuple):
    """Triangles of meshes near other shapes."""

    pair: Rows  # (m,): the row of the pair that each belongs to, ascending
    face: Rows  # (m,): the face of the mesh, ascending within a pair


def mesh_of(shapes: Shapes, row: int) -> Mesh:
    """Return the mesh of the shape in row ``row``."""
    found: Mesh = shapes.hulls[int(shapes.hull[row])].mesh  # type: ignore[index]
    return found


def local_boxes(shapes: Shapes, meshes: Rows, lower: Floats, upper: Floats) -> F64:
    """Return boxes (k, 6) in the frames of the shapes ``meshes`` (k,) around boxes of the world, rounded outward."""
    turn = shapes.rotation[meshes].astype(np.float64)
    place = shapes.position[meshes].astype(np.float64)
    middle, half = 0.5 * (lower.astype(np.float64) + upper), 0.5 * (upper.astype(np.float64) - lower)
    around = np.einsum("kij,ki->kj", turn, middle - place)
    reach = np.einsum("kij,ki->kj", np.abs(turn), half)
    reach += 1e-12 * (np.abs(place) + np.abs(middle) + half).max(axis=1, initial=0.0)[:, np.newaxis]
    return np.concatenate((around - reach, around + reach), axis=1)


def pieces_near(shapes: Shapes, meshes: Rows, boxes: F64, thread_count: int) -> NearTriangles:
    """Return the triangles of the shape ``meshes[k]`` near the box ``boxes[k]`` (6,), in its frame, for all k."""
    parts = []
    for mesh in np.unique(meshes).tolist():
        rows = np.flatnonzero(meshes == mesh)
        found = mesh_of(shapes, mesh).faces_near(boxes[rows, :3], boxes[rows, 3:], threads=thread_count)
        parts.append(np.stack((rows[found[:, 0]], found[:, 1]), axis=1))
    both = np.concatenate([*parts, np.empty((0, 2), np.int64)])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    return NearTriangles(both[:, 0], both[:, 1])


def corners_of(shapes: Shapes, meshes: Rows, faces: Rows) -> F64:
    """Return the corners (m, 3, 3) in the world of one face of each of the shapes ``meshes`` (m,)."""
    corners = np.empty((len(faces), 3, 3))
    for mesh in np.unique(meshes).tolist():
        rows = np.flatnonzero(meshes == mesh)
        own = mesh_of(shapes, mesh)
        turn, place = shapes.rotation[mesh].astype(np.float64), shapes.position[mesh].astype(np.float64)
        corners[rows] = own.vertices[own.faces[faces[rows]]] @ turn.T + place
    return corners


def mesh_contacts(shapes: Shapes, found: ContactArrays, thread_count: int) -> None:
    """Write the contacts of ``found.pairs`` (k, 2), rows of ``shapes``, the second of each pair a mesh.

    Guarantees: a pair has a contact if and only if the shape overlaps a triangle, and the contact is that with the
    triangle in which it is deepest, exact up to rounding: moving the mesh by depth·normal parts the two there. Of a
    half-space the lowest vertex of the mesh counts. The result does not depend on the number of threads.
    """
    pairs = found.pairs
    found.point_count[:] = 0
    kind = shapes.kind[pairs[:, 0]]
    _plane_contacts(shapes, found, np.flatnonzero(kind == PLANE))
    solid = np.flatnonzero((kind != PLANE) & (kind != MESH))
    if len(solid):
        others, meshes = pairs[solid, 0].astype(np.int64), pairs[solid, 1].astype(np.int64)
        boxes = taken(shapes, others).boxes(threads=thread_count)
        near = pieces_near(shapes, meshes, local_boxes(shapes, meshes, boxes.lower, boxes.upper), thread_count)
        corners = corners_of(shapes, meshes[near.pair], near.face)
        _deepest(shapes, found, solid[near.pair], others[near.pair], None, corners, thread_count)
    for row in np.flatnonzero(kind == MESH).tolist():
        _mesh_mesh(shapes, found, row, thread_count)


def taken(shapes: Shapes, rows: Rows) -> Shapes:
    """Return the shapes in these rows."""
    hull = None if shapes.hull is None else shapes.hull[rows]
    position, rotation, size = (array[rows] for array in (shapes.position, shapes.rotation, shapes.size))
    return replace(shapes, kind=shapes.kind[rows], position=position, rotation=rotation, size=size, hull=hull)


def _deepest(
    shapes: Shapes, found: ContactArrays, pair: Rows, other: Rows | None, first: F64 | None, second: F64, threads: int
) -> None:
    """Write for each pair the deepest contact of its pieces.

    A piece is a triangle ``second`` (m, 3, 3) and either the shape ``other`` or a triangle ``first``; ``pair`` (m,) is
    the row of its pair.
    """
    count, total = len(second), len(shapes)
    if not count:
        return
    rows = np.empty((count, 2), np.int32)
    rows[:, 1] = total + np.arange(count)
    rows[:, 0] = total + count + np.arange(count) if other is None else other
    triangles = second if first is None else np.concatenate((second, first))
    cores, places = cores_of_shapes(shapes, rows, threads, triangles)
    probe = probe_pairs(cores, places, CONTACT, threads)
    meets = np.flatnonzero(probe.overlaps)
    order = meets[np.lexsort((meets, -probe.depth[meets], pair[meets]))]
    best = order[np.unique(pair[order], return_index=True)[1]]
    target = pair[best]
    found.point_count[target], found.features[target, 0] = 1, 0
    found.normal[target], found.points[target, 0] = probe.normal[best], probe.middle[best]
    found.separations[target, 0] = -probe.depth[best]


def _mesh_mesh(shapes: Shapes, found: ContactArrays, row: int, thread_count: int) -> None:
    """Write the contact of two meshes: the deepest of their faces that meet."""
    from choque.meshes import intersections

    one, two = (int(body) for body in found.pairs[row])
    turn, place = (array[[one, two]].astype(np.float64) for array in (shapes.rotation, shapes.position))
    pose = turn[0].T @ turn[1], turn[0].T @ (place[1] - place[0])
    faces = intersections(mesh_of(shapes, one), mesh_of(shapes, two), pose=pose, threads=thread_count).pairs
    first, second = (
        corners_of(shapes, np.full(len(faces), body), faces[:, side].astype(np.int64))
        for side, body in enumerate((one, two))
    )
    _deepest(shapes, found, np.full(len(faces), row), None, first, second, thread_count)


def _plane_contacts(shapes: Shapes, found: ContactArrays, rows: Rows) -> None:
    """Write the contacts of half-spaces with meshes, by the lowest vertex."""
    for row in rows.tolist():
        plane, body = (int(place) for place in found.pairs[row])
        up = shapes.rotation[plane, :, 1].astype(np.float64)
        mesh = mesh_of(shapes, body)
        points = mesh.vertices[np.unique(mesh.faces)] @ shapes.rotation[body].astype(np.float64).T
        offset = shapes.position[body].astype(np.float64) - shapes.position[plane]
        heights = points @ up + offset @ up
        low = int(np.argmin(heights))
        if not -heights[low] > SHALLOW * (np.abs(offset).max() + np.abs(points[low]).max()):
            continue
        found.point_count[row], found.features[row, 0] = 1, 0
        found.normal[row], found.separations[row, 0] = up, heights[low]
        found.points[row, 0] = points[low] + shapes.position[body] - 0.5 * heights[low] * up

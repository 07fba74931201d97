"""Shapes as manifold kernels take them: poses in float64, and the faces of hulls."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np

from choque._core.kernel import helper
from choque._core.types import F64, I8, I32, I64, Bools, Floats, Integer, Rows
from choque._core.vector import Vector
from choque.narrow.hulls import Hulls
from choque.narrow.pair import ContactArrays
from choque.narrow.shapes import CONVEX, KIND_COUNT

BOX, TRIANGLE = KIND_COUNT, KIND_COUNT + 1
"""The kind of convex shapes whose hull is a box, for which there is a shorter way, and that of a triangle of a mesh.

Other kinds are those of `Kind`.
"""

MAX_CORNERS = 60  # corners of a face that take part in clipping, at most


class HullFaces(NamedTuple):
    """The vertices and faces of a library of hulls; a face is a convex polygon, counter-clockwise from outside."""

    points: F64  # (V, 3) the vertices of all hulls
    first: Rows  # (h + 1,) where the vertices of each hull start
    normal: F64  # (F, 3) outward unit normals
    face_first: Rows  # (h + 1,) where the faces of each hull start
    corner_first: Rows  # (F + 1,) where the corners of each face start
    corner: Rows  # (C,) rows of ``points``
    extent: F64  # (h, 3) the greatest coordinate of a vertex along each local axis, without its sign
    is_box: Bools  # (h,) whether a hull is a box around its centre, along its axes
    rim: F64  # (t, 3, 3) the normals of the neighbours of the last t hulls, which are triangles; see `with_triangles`

    @classmethod
    def of(cls, hulls: Hulls | None) -> Self:
        """Return the faces of ``hulls``: triangles of one plane are joined. O(t) for t triangles."""
        library = Hulls() if hulls is None else hulls
        normals: list[F64] = []
        corners: list[I64] = []
        face_first, corner_first = [0], [0]
        extent = np.zeros((len(library), 3))
        is_box = np.zeros(len(library), np.bool_)
        for row in range(len(library)):
            hull = library[row]
            extent[row] = np.abs(hull.points).max(axis=0)
            if not hull.volume > 0:  # a mesh, whose triangles are added where they are needed
                face_first.append(len(normals))
                continue
            is_box[row] = len(hull.points) == 8 and np.allclose(np.abs(hull.points), extent[row], rtol=1e-12, atol=0)
            for normal, polygon in _polygons(hull.points, hull.triangles):
                normals.append(normal)
                corners.append(polygon[: MAX_CORNERS + 1] + library.first[row])
                corner_first.append(corner_first[-1] + len(corners[-1]))
            face_first.append(len(normals))
        return cls(
            library.points,
            library.first,
            np.array(normals, np.float64).reshape(-1, 3),
            np.array(face_first, np.int64),
            np.array(corner_first, np.int64),
            np.concatenate(corners).astype(np.int64) if corners else np.empty(0, np.int64),
            extent,
            is_box,
            np.empty((0, 3, 3)),
        )

    def with_triangles(self, corners: F64, rim: F64) -> Self:
        """Return these hulls and triangles after them, each a hull with a front and a back.

        ``corners`` (t, 3, 3) in the frames of their bodies; no triangle is degenerate. ``rim`` (t, 3, 3) are the unit
        normals of their neighbours, NaN where there is none.
        """
        count = len(corners)
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        point = len(self.points) + 3 * np.arange(count, dtype=np.int64)
        around = (point[:, np.newaxis] + [0, 1, 2, 0, 2, 1]).reshape(-1)
        return type(self)(
            np.concatenate((self.points, corners.reshape(-1, 3))),
            np.concatenate((self.first, point + 3)),
            np.concatenate((self.normal, np.stack((normal, -normal), axis=1).reshape(-1, 3))),
            np.concatenate((self.face_first, self.face_first[-1] + 2 * np.arange(1, count + 1))),
            np.concatenate((self.corner_first, self.corner_first[-1] + 3 * np.arange(1, 2 * count + 1))),
            np.concatenate((self.corner, around)),
            np.concatenate((self.extent, np.abs(corners).max(axis=1, initial=0.0))),
            np.concatenate((self.is_box, np.zeros(count, np.bool_))),
            rim,
        )


def _polygons(points: F64, triangles: I64) -> list[tuple[F64, I64]]:
    """Return the normal and the corners in order of each face: the outline of triangles in one plane."""
    a, b, c = (points[triangles[:, corner]] for corner in range(3))
    normals = np.cross(b - a, c - a)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    height = np.einsum("ti,ti->t", normals, a)
    scale = np.abs(points).max()
    face_of = np.full(len(triangles), -1)
    found = []
    for row in range(len(triangles)):
        if face_of[row] >= 0:
            continue
        level = np.abs(points[triangles] @ normals[row] - height[row]).max(axis=1) <= 1e-9 * scale
        same = np.flatnonzero((face_of < 0) & level & (normals @ normals[row] > 0))
        face_of[same] = row
        found.append((normals[row], _outline(triangles[same])))
    return found


def _outline(triangles: I64) -> I64:
    """Return the corners around triangles that are joined by edges, in their order."""
    following: dict[int, int] = {}
    edges = {(int(tri[k]), int(tri[(k + 1) % 3])) for tri in triangles for k in range(3)}
    for start, end in edges:
        if (end, start) not in edges:
            following[start] = end
    first = min(following)
    around = [first]
    while (corner := following[around[-1]]) != first and len(around) <= len(following):
        around.append(corner)
    return np.array(around, np.int64)


class PosedSolids(NamedTuple):
    """Solids in their poses, one row for each, and how close two of them must be to have a manifold."""

    kind: Any  # (n,) int8: a `Kind`, or `BOX`
    hull: Any  # (n,) int32: the row of a hull, -1 for other kinds
    pose: Any  # (n, 12): position, then the rotation matrix row by row
    size: Any  # (n, 3): as in `Shapes`; of a box half its edges
    near: Any  # (n,): two solids have a manifold where they are closer than the sum of these, or overlap


class Scratch(NamedTuple):
    """Working memory of one thread."""

    work: F64  # (64,): small matrices
    flat: F64  # (2, 128, 3): polygons before and after clipping: two coordinates in a plane, and the height above it
    label: Rows  # (2, 128, 2): for each corner, the edge that follows it, and the feature that it is
    sides: F64  # (64, 3): half-planes x·s₀ + y·s₁ ≤ s₂

    @classmethod
    def new(cls) -> Self:
        """Return working memory, not initialised."""
        return cls(np.empty(64), np.empty((2, 128, 3)), np.empty((2, 128, 2), np.int64), np.empty((MAX_CORNERS + 4, 3)))


@helper
def center(pose: Floats, row: Integer) -> Vector:
    """Return the position of a solid."""
    return pose[row, 0], pose[row, 1], pose[row, 2]


@helper
def axis_of(pose: Floats, row: Integer, axis: Integer) -> Vector:
    """Return where a local axis of a solid points in the world."""
    return pose[row, 3 + axis], pose[row, 6 + axis], pose[row, 9 + axis]


@helper
def toward(pose: Floats, row: Integer, local: Vector) -> Vector:
    """Return a local direction of a solid in the world."""
    x, y, z = local
    return (
        pose[row, 3] * x + pose[row, 4] * y + pose[row, 5] * z,
        pose[row, 6] * x + pose[row, 7] * y + pose[row, 8] * z,
        pose[row, 9] * x + pose[row, 10] * y + pose[row, 11] * z,
    )


@helper
def within(pose: Floats, row: Integer, world: Vector) -> Vector:
    """Return a direction of the world along the local axes of a solid."""
    x, y, z = world
    return (
        pose[row, 3] * x + pose[row, 6] * y + pose[row, 9] * z,
        pose[row, 4] * x + pose[row, 7] * y + pose[row, 10] * z,
        pose[row, 5] * x + pose[row, 8] * y + pose[row, 11] * z,
    )


@helper
def put_point(
    found: ContactArrays, pair: Integer, place: Integer, point: Vector, separation: float, feature: int
) -> None:
    """Write one point of a manifold: ``point`` lies on the first solid, and is moved to the middle of the gap."""
    _, normal, points, separations, features, _ = found
    half = 0.5 * separation
    for axis in range(3):
        points[pair, place, axis] = point[axis] + half * normal[pair, axis]
    separations[pair, place] = separation
    features[pair, place] = np.uint32(feature)


def kinds_of(kind: I8, hull: I32, faces: HullFaces) -> I8:
    """Return the kinds with `BOX` for convex shapes whose hull is a box."""
    found = kind.copy()
    is_convex = kind == CONVEX
    found[is_convex] = np.where(faces.is_box[hull[is_convex]], BOX, CONVEX)
    return found

"""A triangle mesh as two arrays, and the checks that every reader shares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput


class Mesh(NamedTuple):
    """Vertices (n, 3) and triangles (m, 3), rows of vertices counted from 0."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]

    @property
    def degenerate(self) -> NDArray[np.bool_]:
        """Which triangles have no area because two corners are the same vertex or lie at the same place: (m,)."""
        corners = self.vertices[self.faces]
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        return np.asarray((a == b).all(axis=1) | (b == c).all(axis=1) | (c == a).all(axis=1))


def check_mesh(vertices: ArrayLike, faces: ArrayLike, error: type[InvalidInput], what: str) -> Mesh:
    """Both as arrays of the right type, or an ``error`` about ``what`` that names the first offender."""
    try:
        points = np.ascontiguousarray(np.asarray(vertices, np.float64))
        corners = np.asarray(faces)
    except (TypeError, ValueError) as problem:
        raise error(f"{what} is not made of numbers: give vertices (n, 3) and triangles (m, 3).") from problem
    if corners.size == 0:
        corners = corners.reshape(0, 3).astype(np.int64)
    if points.ndim != 2 or points.shape[1] != 3 or corners.ndim != 2 or corners.shape[1] != 3:
        raise error(
            f"{what} has vertices of shape {points.shape} and faces of shape {corners.shape}; they must be "
            "(n, 3) and (m, 3)."
        )
    if corners.dtype.kind not in "iu":
        raise error(f"{what} has faces of type {corners.dtype}; they must be whole numbers, rows of vertices.")
    wrong = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if len(wrong):
        raise error(f"{what} has a vertex that is not finite, number {wrong[0]}: {points[wrong[0]].tolist()}.")
    wrong = np.flatnonzero(((corners < 0) | (corners >= len(points))).any(axis=1))
    if len(wrong):
        raise error(
            f"{what} has a face, number {wrong[0]}, with corners {corners[wrong[0]].tolist()}; "
            f"there are {len(points)} vertices."
        )
    return Mesh(points, np.ascontiguousarray(corners, np.int64))


def fans(polygons: list[list[int]]) -> NDArray[np.int64]:
    """Triangles (m, 3) of polygons, each split around its first corner."""
    rows = [(face[0], face[at], face[at + 1]) for face in polygons for at in range(1, len(face) - 1)]
    return np.array(rows, np.int64).reshape(-1, 3)

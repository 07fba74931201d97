"""Triangle meshes in files: OFF, STL, OBJ, PLY, glTF and 3MF to arrays, and arrays to OFF, STL and PLY.

Each format is one module with ``read(path)`` and, where it is written, ``write(path, vertices, faces)``.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.types import F64, I64, U8, Bools
from choque.errors import InvalidInput
from choque.files.source import check_suffix, lower_suffix, naming_damage

READERS = {f".{name}": f"choque.files.mesh_{name}" for name in ("3mf", "gltf", "obj", "off", "ply", "stl")}
READERS[".glb"] = READERS[".gltf"]
"""The module that reads each suffix."""

WRITERS = {suffix: READERS[suffix] for suffix in (".off", ".ply", ".stl")}  # the module that writes each suffix


class MeshArrays(NamedTuple):
    """A triangle mesh: vertices (n, 3), and faces (m, 3) of rows of vertices, counted from 0."""

    vertices: F64
    faces: I64

    @property
    def degenerate(self) -> Bools:
        """(m,) bool: the triangles without area because two of their corners coincide."""
        corners = self.vertices[self.faces]
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        return np.asarray((a == b).all(axis=1) | (b == c).all(axis=1) | (c == a).all(axis=1))


def read_mesh(path: str | os.PathLike[str]) -> MeshArrays:
    """Read the triangles of a mesh; faces with more corners are split into fans."""
    path = Path(path)
    suffix = lower_suffix(path)
    check_suffix(path, suffix, READERS, "meshes")
    with naming_damage(path):
        mesh: MeshArrays = import_module(READERS[suffix]).read(path)
    return mesh


def write_mesh(
    path: str | os.PathLike[str], vertices: ArrayLike, faces: ArrayLike, *, colors: U8 | None = None
) -> None:
    """Write vertices (n, 3) and triangles (m, 3) in the format of the suffix; STL holds 32-bit floats.

    ``colors`` (n, 3) of the vertices are written to PLY.
    """
    suffix = lower_suffix(path)
    if colors is not None and suffix != ".ply":
        raise InvalidInput(f"{path} cannot hold the colors of vertices; give a name that ends in .ply.")
    check.choice(suffix, "format for meshes", WRITERS)
    mesh = check_mesh(vertices, faces, InvalidInput, "The mesh")
    extra = () if colors is None else (colors,)
    import_module(WRITERS[suffix]).write(Path(path), mesh.vertices, mesh.faces, *extra)


def check_mesh(vertices: ArrayLike, faces: ArrayLike, error: type[InvalidInput], what: str) -> MeshArrays:
    """Return both as `MeshArrays`, or raise ``error`` about ``what`` that names the first invalid row."""
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
    return MeshArrays(points, np.ascontiguousarray(corners, np.int64))


def fans(corners: I64, sizes: I64) -> I64:
    """Split polygons into triangles (m, 3), each polygon around its first corner.

    ``corners`` has the corners of all polygons, one polygon after another; ``sizes`` the number of corners of each.
    """
    counts = np.maximum(sizes - 2, 0)
    first_corner = np.repeat(np.cumsum(sizes) - sizes, counts)
    place = np.arange(len(first_corner)) - np.repeat(np.cumsum(counts) - counts, counts)
    second = first_corner + place + 1
    return np.stack([corners[first_corner], corners[second], corners[second + 1]], axis=1).reshape(-1, 3)


def number_rows(rows: NDArray[Any]) -> tuple[NDArray[Any], I64]:
    """Return the different rows (n, 3) in order, and for each row its place among them.

    The same as `numpy.unique` along the first axis, several times as fast.
    """
    order = np.lexsort(rows.T[::-1])
    ordered = rows[order]
    is_new = np.ones(len(rows), np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(len(rows), np.int64)
    place[order] = np.cumsum(is_new) - 1
    return ordered[is_new], place


def welded(vertices: F64, faces: NDArray[np.integer]) -> tuple[I64, int]:
    """Return the faces (m, 3) with one number for all vertices at the same place, and the number of places."""
    points, place = number_rows(vertices)  # which takes −0 for 0
    return place[faces], len(points)

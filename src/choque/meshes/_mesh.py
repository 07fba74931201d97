"""`Mesh`: a surface of triangles, checked once, with a tree that is built once."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.predicates import LEAST
from choque._core.threads import resolve_count
from choque._core.types import F64, I32, Bools
from choque.bounds import Boxes
from choque.errors import InvalidInput, UnreadableFile
from choque.files.meshes import check_mesh, read_mesh, welded, write_mesh
from choque.meshes._inside import one_of_each_part, places_of
from choque.meshes._report import Report, edge_counts, make_report
from choque.meshes._search import faces_near, meeting_pairs, own_pairs, shared_segments
from choque.meshes.poses import as_poses, one_pose
from choque.meshes.surface import Surface, make_surface
from choque.meshes.triangles import KINDS, TOUCHING

GREATEST = 1e30  # largest coordinate [world units]: boxes are held in 32-bit floats


class Mesh:
    """Triangles in space: closed or open, clean or not.

    Parameters
    ----------
    vertices
        (n, 3) positions; or an object that has ``vertices`` and ``faces`` (trimesh), ``points`` and ``regular_faces``
        (pyvista), or ``points`` and ``cells_dict`` (meshio), or a `choque.Volume`, whose voxels have a closed surface;
        then ``faces`` is left out.
    faces
        (m, 3) rows of ``vertices``, counted from 0.

    Notes
    -----
    A mesh does not change. Its tree is built at the first question: O(m log m) time, 64 bytes a triangle. Magnitudes
    of coordinates are at most 10³⁰; those below 10⁻⁸⁵ count as 0, so that all signs are exact. A triangle whose corners
    lie on a line is the segment or the point that it looks like.

    Examples
    --------
    >>> tetrahedron = Mesh([[0, 0, 0], *np.eye(3)], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> tetrahedron
    Mesh(4 vertices, 4 faces, from (0, 0, 0) to (1, 1, 1))
    >>> tetrahedron.self_intersections().tolist()
    []
    """

    def __init__(self, vertices: Any, faces: ArrayLike | None = None) -> None:
        if faces is None:
            vertices, faces = _arrays_of(vertices)
        given = check_mesh(vertices, faces, InvalidInput, "The mesh")
        points = np.array(given.vertices)
        if len(points) and (greatest := float(np.abs(points).max())) > GREATEST:
            raise InvalidInput(f"The mesh has a coordinate of {greatest:g}; at most {GREATEST:g} is allowed. Scale it.")
        if len(given.faces) >= 2**31:
            raise InvalidInput(f"The mesh has {len(given.faces):,} faces; at most 2,147,483,647 are allowed.")
        points[np.abs(points) < LEAST] = 0.0
        self._vertices, self._faces = points, given.faces.astype(np.int32)
        points.flags.writeable = self._faces.flags.writeable = False

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Mesh:
        """Read the triangles of a file: STL, OBJ, PLY, OFF, glTF (.glb, .gltf) or 3MF.

        Faces with more corners are split into fans; parts of a scene are placed, and make one mesh.
        """
        found = read_mesh(path)
        try:
            return cls(found.vertices, found.faces)
        except InvalidInput as problem:
            raise UnreadableFile(f"In {path}: {problem}") from problem

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write STL, PLY or OFF, by the suffix of ``path``; STL holds 32-bit floats."""
        write_mesh(path, self._vertices, self._faces)

    @property
    def vertices(self) -> F64:
        """(n, 3) positions; not for writing."""
        return self._vertices

    @property
    def faces(self) -> I32:
        """(m, 3) rows of `vertices`; not for writing."""
        return self._faces

    @property
    def bounds(self) -> tuple[F64, F64]:
        """Lower and upper corner of the box around the faces; NaN for a mesh without faces."""
        if not len(self._faces):
            return np.full(3, np.nan), np.full(3, np.nan)
        lower, upper = self._box
        return lower.copy(), upper.copy()

    @cached_property
    def _box(self) -> tuple[F64, F64]:
        is_used = np.zeros(len(self._vertices), np.bool_)
        is_used[self._faces] = True
        used = self._vertices[is_used]
        return used.min(axis=0), used.max(axis=0)

    @cached_property
    def surface(self) -> Surface:
        """The triangles in a tree, for kernels; built at the first use."""
        vertices = np.array(self._vertices)  # writable, so that kernels are compiled once
        return make_surface(vertices, np.array(self._faces), resolve_count(None, len(self._faces)))

    def __len__(self) -> int:
        return len(self._faces)

    def __repr__(self) -> str:
        where = ""
        if len(self):
            corners = (", ".join(f"{x:.6g}" for x in corner) for corner in self._box)
            where = ", from ({}) to ({})".format(*corners)
        return f"Mesh({len(self._vertices):,} vertices, {len(self):,} faces{where})"

    @cached_property
    def is_closed(self) -> bool:
        """Whether every edge has an even number of faces, so that inside and outside are defined."""
        counts, _ = edge_counts(welded(self._vertices, self._faces)[0])
        return len(self) > 0 and not (counts % 2).any()

    @cached_property
    def part_points(self) -> F64:
        """(n, 3) a vertex of each connected part."""
        return one_of_each_part(self._vertices, self._faces)

    def moved(self, pose: Any) -> Mesh:
        """Return the mesh in a pose: a rigid matrix (4, 4), or a rotation (3, 3) and a translation (3,)."""
        where = one_pose(pose)
        return Mesh(self._vertices @ where.rotation[0].T + where.translation[0], self._faces)

    def deformed(self, vertices: ArrayLike) -> Mesh:
        """Return the mesh with its vertices (n, 3) at other places; a tree that is there is refitted, not built again.

        For motions that keep neighbours together. Answers never depend on the tree.
        """
        other = Mesh(vertices, self._faces)
        if len(other.vertices) != len(self._vertices):
            raise InvalidInput(f"vertices has {len(other.vertices)} rows; the mesh has {len(self._vertices)} vertices.")
        if "surface" in self.__dict__:
            count = resolve_count(None, len(self._faces))
            other.surface = make_surface(np.array(other.vertices), np.array(self._faces), count, self.surface.rows)
        return other

    def contains(self, points: ArrayLike, *, threads: int | None = None) -> Bools:
        """Return for each of ``points`` (n, 3) whether it lies inside or on the surface. The mesh must be closed.

        Guarantee: exact, by the parity of the faces above a point; where a mesh overlaps itself, a point that lies
        inside twice is outside.
        """
        given = check.vectors(points, "points")
        if not self.is_closed:
            raise InvalidInput("The mesh is open: it has no inside. See report() for where it is open.")
        count = resolve_count(threads, len(given))
        return places_of(given, self.surface, as_poses(None), 0, count) > 0

    def faces_near(self, lower: ArrayLike, upper: ArrayLike, *, threads: int | None = None) -> I32:
        """Return (m, 2) rows of boxes and the faces near them, sorted: those whose own boxes overlap or touch them.

        ``lower`` and ``upper`` (k, 3) are the corners of the boxes. A few faces that are apart by less than the
        rounding of 32-bit floats count too; none is missing.
        """
        boxes = Boxes(lower, upper)
        if boxes.lower.shape[1] != 3:
            raise InvalidInput(f"lower has the shape {boxes.lower.shape}; it must be (k, 3).")
        corners = np.concatenate((boxes.lower, boxes.upper), axis=1).astype(np.float64)
        return faces_near(self.surface, corners, resolve_count(threads, len(corners)))

    def report(self) -> Report:
        """Return what is wrong with the mesh: open edges, degenerate and repeated faces, self-intersections and more.

        Repair is left to the libraries that do it.
        """
        pairs = len(self.self_intersections())
        return make_report(self._vertices, self._faces, self.surface, pairs, len(self.part_points))

    def self_intersections(self, *, closed: bool = True, threads: int | None = None) -> I32:
        """Return the pairs of faces that meet anywhere but in the corners and edges that they share: (m, 2), sorted.

        Corners at the same place are shared, whether or not they are one vertex. Faces without interior are left out;
        see `report`.

        Parameters
        ----------
        closed
            Whether faces that only touch count; otherwise their interiors must meet.
        threads
            Number of threads; None for all.

        Notes
        -----
        Guarantee: exact by the floats given. Time is proportional to the pairs whose boxes meet.
        """
        pairs, kinds = own_pairs(self.surface, resolve_count(threads, len(self)))
        return pairs if check.boolean(closed, "closed") else pairs[kinds != TOUCHING]


@dataclass(frozen=True)
class Intersections:
    """Where two meshes meet, one row for each pair of faces, sorted."""

    pairs: I32  #: (m, 2) faces: of the first mesh, of the second.
    kinds: NDArray[np.str_]
    """(m,) how they meet: ``crossing`` if interiors meet, ``coplanar`` if they do in one plane, else ``touching``."""
    segments: F64
    """(m, 2, 3) ends of the segment that they share, in the frame of the first mesh; NaN for faces in one plane.

    Ends of a touch in a point are equal. The segments of crossing pairs make the curve in which two surfaces meet.
    """

    def __len__(self) -> int:
        return len(self.pairs)

    def __repr__(self) -> str:
        names, counts = np.unique(self.kinds, return_counts=True)
        parts = ", ".join(f"{count:,} {name}" for name, count in zip(names, counts, strict=True))
        return f"Intersections({len(self):,} pairs of faces{': ' if parts else ''}{parts})"


def intersections(a: Mesh, b: Mesh, *, pose: Any = None, threads: int | None = None) -> Intersections:
    """Return every pair of faces of two meshes that share a point, how they meet, and the curve of intersection.

    Parameters
    ----------
    a, b
        The meshes.
    pose
        Where ``b`` is, in the frame of ``a``: a rigid matrix (4, 4), or a rotation (3, 3) and a translation (3,).
    threads
        Number of threads; None for all.

    Notes
    -----
    Guarantee: pairs and kinds are exact for the coordinates of ``a`` and those of ``b`` after the pose, as floats.
    The ends of segments are rounded. The pairs are the same for any number of threads.

    Examples
    --------
    >>> flat = Mesh([[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 1, 2]])
    >>> upright = Mesh([[1, 1, -1], [1, 1, 1], [1, 3, 1]], [[0, 1, 2]])
    >>> found = intersections(flat, upright)
    >>> found
    Intersections(1 pairs of faces: 1 crossing)
    >>> sorted(found.segments[0].tolist())
    [[1.0, 1.0, 0.0], [1.0, 2.0, 0.0]]
    """
    one, two = surfaces_of(a, b)
    where = one_pose(pose)
    count = resolve_count(threads, len(a) + len(b))
    pairs, kinds = meeting_pairs(one, two, where, count)
    segments = shared_segments(one, two, where, pairs, count)
    return Intersections(pairs, np.array(KINDS)[kinds], segments)


def surfaces_of(a: Mesh, b: Mesh) -> tuple[Surface, Surface]:
    """Return the trees of two meshes; anything else is refused."""
    for name, mesh in (("a", a), ("b", b)):
        if not isinstance(mesh, Mesh):
            raise InvalidInput(f"{name} is a {type(mesh).__name__}; give a choque.Mesh, made with choque.Mesh({name}).")
    return a.surface, b.surface


def _arrays_of(given: Any) -> tuple[Any, Any]:
    """Return vertices and triangles of an object of another library."""
    if hasattr(given, "cells_dict") and hasattr(given, "points"):  # meshio
        cells = given.cells_dict
        found = [np.asarray(cells["triangle"])] if "triangle" in cells else []
        if "quad" in cells:
            quads = np.asarray(cells["quad"])
            found += [quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
        if not found:
            raise InvalidInput(f"The mesh has the cells {', '.join(cells) or 'none'}; triangles or quads are needed.")
        return given.points, np.concatenate(found)
    if hasattr(given, "regular_faces") and hasattr(given, "points"):  # pyvista
        surface = given if getattr(given, "is_all_triangles", True) else given.triangulate()
        return surface.points, surface.regular_faces
    if hasattr(given, "voxel_count") and hasattr(given, "surface"):  # a volume, whose package is above this one
        return given.surface()  # type: ignore[no-any-return]
    if hasattr(given, "vertices") and hasattr(given, "faces"):  # trimesh, and what looks like it
        return given.vertices, given.faces
    if hasattr(given, "vertices") and hasattr(given, "triangles"):  # Open3D
        return np.asarray(given.vertices), np.asarray(given.triangles)
    if isinstance(given, tuple | list) and len(given) == 2:
        return given[0], given[1]
    raise InvalidInput(
        f"A mesh cannot be made from a {type(given).__name__}; give vertices (n, 3) and faces (m, 3), a "
        "choque.Volume, or a mesh of trimesh, pyvista, meshio or Open3D."
    )

"""A library of convex hulls in packed arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations, product
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.jacobi import symmetric_eigen
from choque._core.types import F64, I64, Rows
from choque.errors import InvalidInput, UnreadableFile, require
from choque.files.meshes import READERS, read_mesh
from choque.files.source import lower_suffix, naming_damage, read_head
from choque.narrow.solids import LARGEST, SMALLEST, Faces, hull_faces, mass_of, neighbours, solid

if TYPE_CHECKING:
    from choque.meshes import Mesh

TRIMESH_SUFFIXES = (".glb", ".gltf")
PRINCIPAL = 1e-9  # axes are principal if the mixed moments are below this fraction of the largest moment


@dataclass(frozen=True, eq=False)
class Hull:
    """One convex solid around its centre of mass, along its principal axes; or a mesh as it was given."""

    points: F64  #: (v, 3).
    triangles: I64  #: (t, 3) rows of ``points``, counter-clockwise from outside.
    volume: float  #: 0 for a mesh.
    spread: F64  #: (3,) the mean of x², y² and z² over the solid.
    center: F64  #: (3,) the centre of mass in the coordinates of the given vertices.
    frame: F64  #: (3, 3) a point p of the hull was given as ``frame @ p + center``.

    @cached_property
    def mesh(self) -> Mesh:
        """The triangles with their tree, which is built at the first use."""
        from choque.meshes import Mesh

        return Mesh(self.points, self.triangles)

    @cached_property
    def rims(self) -> F64:
        """(t, 3, 3) the normals of the neighbours of each triangle; see `choque.narrow.manifolds.triangles`."""
        from choque.narrow.manifolds.triangles import rims_of

        return rims_of(self.mesh)


@dataclass(frozen=True, eq=False)
class Posed:
    """Hulls of a library in their poses, as `choque.narrow.gjk` and the other queries take them."""

    hulls: Hulls
    row: Rows  #: (n,) the hull of each body.
    position: F64  #: (n, 3).
    rotation: F64  #: (n, 3, 3).
    scale: F64  #: (n, 3) along the axes of the hull.
    is_single: bool = False  #: Whether it was made from one pose, so that results are numbers instead of arrays.

    def __len__(self) -> int:
        return len(self.row)

    def part(self, first: int, last: int) -> Self:
        """Return the bodies first … last − 1."""
        rows = slice(first, last)
        return type(self)(self.hulls, self.row[rows], self.position[rows], self.rotation[rows], self.scale[rows])


class Hulls:
    """Convex hulls, each around its centre of mass and along its principal axes; and meshes, which stay as they are.

    A solid whose axes are principal already, such as a box, is only translated; others are also rotated, by ``frame``.
    Hulls are immutable: joining libraries makes a new one.

    Attributes
    ----------
    points
        (V, 3) the vertices of all hulls, one hull after the other.
    first
        (h + 1,) where the vertices of each hull start.
    triangles, triangle_first
        (T, 3) faces, numbered within their hull, counter-clockwise from outside; (h + 1,) where those of each start.
    graph
        The neighbours of each vertex, as `choque.narrow.convex.cores.Cores` holds them.
    volume
        (h,); 0 for meshes.
    spread
        (h, 3) the mean of x², y², z² over each solid.
    radius
        (h,) the distance of its farthest vertex from its centre.
    center, frame
        (h, 3), (h, 3, 3): a point p of a hull was given as ``frame @ p + center``.

    Examples
    --------
    >>> hulls = Hulls.solids("cube", "tetrahedron")
    >>> hulls.volume.round(3).tolist()
    [8.0, 2.667]
    """

    def __init__(self, hulls: Iterable[Hull] = ()) -> None:
        self._hulls = tuple(hulls)
        counts = [len(hull.points) for hull in self._hulls]
        self.first: Rows = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)]).astype(np.int64)
        self.points: F64 = _stacked([hull.points for hull in self._hulls], (3,))
        self.triangles: I64 = _stacked([hull.triangles for hull in self._hulls], (3,)).astype(np.int64)
        sizes = [len(hull.triangles) for hull in self._hulls]
        self.triangle_first: Rows = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
        self.volume: F64 = np.array([hull.volume for hull in self._hulls], np.float64)
        self.spread: F64 = np.array([hull.spread for hull in self._hulls]).reshape(-1, 3)
        self.center: F64 = np.array([hull.center for hull in self._hulls]).reshape(-1, 3)
        self.frame: F64 = np.array([hull.frame for hull in self._hulls]).reshape(-1, 3, 3)
        reaches = [np.linalg.norm(hull.points, axis=1).max() for hull in self._hulls]
        self.radius: F64 = np.array(reaches, np.float64)
        self.graph: Rows = _pack_graph(self._hulls)

    def __len__(self) -> int:
        return len(self._hulls)

    def __getitem__(self, row: int) -> Hull:
        return self._hulls[row]

    def __repr__(self) -> str:
        return f"Hulls({len(self)} hulls, {len(self.points)} vertices)"

    @classmethod
    def from_points(cls, *clouds: ArrayLike) -> Self:
        """Return the convex hull of each cloud of points (v, 3).

        More than 32 points need the extra ``mesh``. A cloud in one plane, on one line or in one point has no volume
        and is refused.
        """
        names = ["the cloud"] if len(clouds) == 1 else [f"cloud {row}" for row in range(len(clouds))]
        return cls(_centred(hull_faces(*each)) for each in zip(clouds, names, strict=True))

    @classmethod
    def from_meshes(cls, *paths: str | os.PathLike[str]) -> Self:
        """Return the convex hull of the mesh in each file: OFF, OBJ, STL, PLY, or glTF with the extra ``mesh``.

        Only the vertices count: a mesh with holes, open or inside out, has the hull that its vertices have.
        """
        return cls(_centred(hull_faces(_read_vertices(Path(path)), f"the mesh in {path}")) for path in paths)

    @classmethod
    def meshes(cls, *meshes: Mesh) -> Self:
        """Return meshes as they are, for shapes of the kind MESH: surfaces, open or closed, without a volume."""
        from choque.meshes import Mesh

        found = []
        for mesh in meshes:
            if not isinstance(mesh, Mesh):
                raise InvalidInput(f"A mesh is a {type(mesh).__name__}; give a choque.Mesh.")
            if not len(mesh):
                raise InvalidInput("A mesh has no faces; there is nothing to touch.")
            entry = Hull(np.array(mesh.vertices), mesh.faces.astype(np.int64), 0.0, np.zeros(3), np.zeros(3), np.eye(3))
            entry.__dict__["mesh"] = mesh  # with its tree
            found.append(entry)
        return cls(found)

    @classmethod
    def solids(cls, *names: str) -> Self:
        """Return built-in solids inside the cube from −1 to 1, by name: `choque.narrow.solid_names` lists them."""
        return cls(_centred(solid(name)) for name in names)

    @classmethod
    def boxes(cls, size: ArrayLike = (1.0, 1.0, 1.0)) -> Self:
        """Return boxes with the full edge lengths ``size`` (3,) or (n, 3)."""
        edges = check.vectors(size, "size")
        check.table(edges, "size", edges.shape, SMALLEST, LARGEST)
        points, triangles = solid("cube")
        return cls(_centred(Faces(points * edge / 2, triangles)) for edge in edges)

    @classmethod
    def join(cls, *libraries: Hulls) -> Self:
        """Return one library of all hulls of several, in that order."""
        return cls(hull for library in libraries for hull in library._hulls)

    def take(self, rows: ArrayLike) -> Self:
        """Return a library of the hulls in these rows."""
        return type(self)(self._hulls[row] for row in check.rows(rows, "rows", len(self)).tolist())

    @cached_property
    def half_extent(self) -> F64:
        """(h, 3) half the extent of each hull along its own axes."""
        if not len(self):
            return np.empty((0, 3))
        upper, lower = (of.reduceat(self.points, self.first[:-1]) for of in (np.maximum, np.minimum))
        return np.asarray(0.5 * (upper - lower))

    @cached_property
    def outline(self) -> tuple[F64, Rows]:
        """Points that bound each hull, and where those of each begin: of a mesh, the corners of the box around it.

        A box around a mesh that is turned is wider than needed, and costs the same for any number of vertices.
        """
        around = [hull.points if hull.volume else _corners(hull.points) for hull in self._hulls]
        first = np.concatenate([[0], np.cumsum([len(points) for points in around], dtype=np.int64)])
        return _stacked(around, (3,)), first

    def inertia(self, row: ArrayLike, scale: ArrayLike, mass: ArrayLike) -> F64:
        """Return (n, 3) principal moments of inertia for the hulls ``row`` (n,), the ``scale`` (n, 3) and a mass.

        Scaling along principal axes leaves them principal.
        """
        spread = self.spread[check.rows(row, "row", len(self))] * np.square(np.asarray(scale, np.float64))
        moments: F64 = spread.sum(axis=1, keepdims=True) - spread
        return np.asarray(mass, np.float64)[..., None] * moments

    def at(
        self, position: ArrayLike, rotation: ArrayLike | None = None, scale: ArrayLike = 1.0, *, row: ArrayLike = 0
    ) -> Posed:
        """Return bodies with these hulls in their poses.

        Parameters
        ----------
        position
            (3,) for one body, (n, 3) for several.
        rotation
            (3, 3) or (n, 3, 3); None for no rotation.
        scale
            A number, (3,) along the axes of the hull, or (n, 3); positive.
        row
            Which hull: a number, or (n,).
        """
        places = check.vectors(position, "position")
        count = len(places)
        check.table(places, "position", (count, 3), -LARGEST, LARGEST)
        turns = check.table(np.eye(3) if rotation is None else rotation, "rotation", (count, 3, 3))
        scales = check.table(scale, "scale", (count, 3), maximum=LARGEST, above=0)
        check.orthonormal(turns, "rotation")
        rows = check.whole_numbers(row, "row", count, 0, len(self) - 1)
        return Posed(self, rows, places, turns, scales, is_single=np.ndim(position) == 1)


def _centred(faces: Faces) -> Hull:
    """Return the hull moved to its centre of mass and rotated to its principal axes."""
    mass = mass_of(faces)
    moments = mass.moments
    frame = np.eye(3)
    mixed = np.abs(moments - np.diag(np.diag(moments))).max()
    if mixed > PRINCIPAL * np.abs(moments).max():
        frame = _least_turn(symmetric_eigen(moments)[1])
        moments = frame.T @ moments @ frame
    points = np.ascontiguousarray((faces.points - mass.center) @ frame)
    return Hull(points, faces.triangles, mass.volume, np.diag(moments) / mass.volume, mass.center, frame)


def _least_turn(axes: F64) -> F64:
    """Return the smallest rotation whose columns are these ``axes`` (rows), in some order and with some signs."""
    order = max(permutations(range(3)), key=lambda rows: float(np.abs(np.diag(axes[list(rows)])).sum()))
    frame = axes[list(order)].T
    frame = frame * np.where(np.diag(frame) < 0, -1.0, 1.0)
    if np.linalg.det(frame) < 0:
        frame[:, np.argmin(np.diag(frame))] *= -1
    return frame


def _stacked(parts: list[F64] | list[I64], tail: tuple[int, ...]) -> F64:
    return np.ascontiguousarray(np.concatenate(parts)) if parts else np.empty((0, *tail))


def _corners(points: F64) -> F64:
    return np.array(list(product(*zip(points.min(axis=0), points.max(axis=0), strict=True))))


def _pack_graph(hulls: tuple[Hull, ...]) -> Rows:
    """Return the neighbours of every vertex of every convex hull in one array."""
    total = sum(len(hull.points) for hull in hulls)
    starts, lists, at = [], [], total + 1
    for hull in hulls:
        corners = hull.triangles if hull.volume > 0 else hull.triangles[:0]  # nothing climbs along a mesh
        begin, links = neighbours(corners, len(hull.points))
        starts.append(begin[:-1] + at)
        lists.append(links)
        at += len(links)
    return np.concatenate([*starts, [at], *lists]).astype(np.int64)


def _read_vertices(path: Path) -> F64:
    suffix = lower_suffix(path)
    if suffix not in TRIMESH_SUFFIXES:
        if suffix not in READERS:
            known = ", ".join(sorted([*READERS, *TRIMESH_SUFFIXES]))
            raise UnreadableFile(f"The file {path} ends in {suffix!r}; meshes are read from files that end in {known}.")
        return read_mesh(path).vertices
    read_head(path)
    trimesh = require("trimesh", extra="mesh", purpose="to read glTF meshes")
    with naming_damage(path):
        return np.array(trimesh.load(path, force="mesh").vertices, np.float64)

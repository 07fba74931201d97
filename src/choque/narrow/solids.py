"""Convex solids: the faces, edges and mass of a hull, and well-known solids by name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, permutations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.types import F64, I64
from choque.errors import InvalidInput, require

FEW_POINTS = 32  # up to this many points every triple is tried as a face, which needs no other library
FLATNESS = 1e-10  # points that deviate from a plane by less than this fraction of their extent lie on it

LARGEST, SMALLEST = 1e50, 1e-50
"""The largest coordinate and the smallest solid: products of five such lengths neither overflow nor underflow."""


class Faces(NamedTuple):
    """A closed convex surface."""

    points: F64  # (v, 3) the vertices of the hull
    triangles: I64  # (t, 3) rows of ``points``, counter-clockwise from outside


class Mass(NamedTuple):
    """A solid of density 1."""

    volume: float
    center: F64  # (3,)
    moments: F64  # (3, 3) the integral of x xᵀ around the centre


def as_cloud(points: ArrayLike, what: str) -> F64:
    """Return ``points`` as (v, 3) float64 up to `LARGEST`, v ≥ 1, or raise `InvalidInput` about ``what``."""
    cloud = check.vectors(points, what)
    if len(cloud) == 0:
        raise InvalidInput(f"{what} is empty; it needs at least one point.")
    return check.table(cloud, what, cloud.shape, -LARGEST, LARGEST)


def hull_faces(points: ArrayLike, what: str = "the hull") -> Faces:
    """Return the convex hull of a cloud of points (v, 3) that are not all in one plane.

    For up to 32 different points every triple is tried; more go to Qhull (Barber, Dobkin, Huhdanpaa, 1996).
    """
    cloud = np.unique(as_cloud(points, what), axis=0)
    extent = float(np.ptp(cloud, axis=0).max())
    if len(cloud) == 1 or extent == 0:
        raise InvalidInput(f"{what} is a single point, {cloud[0].tolist()}; a solid needs at least four.")
    if extent < SMALLEST:
        raise InvalidInput(f"{what} spans {extent:.3g} at most, less than {SMALLEST:g}; take a smaller unit of length.")
    centred = (cloud - cloud.mean(axis=0)) / extent
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    if len(cloud) < 4 or spread[2] < FLATNESS:
        shape = "line" if spread[1] < FLATNESS else "plane"
        raise InvalidInput(f"{what} is flat: its {len(cloud)} points lie on one {shape} and enclose no volume.")
    if len(cloud) <= FEW_POINTS:
        # Scaled to be as round as possible, so that the ends of a needle count as much as its sides; faces stay faces.
        rounded = (centred @ axes.T / spread) @ axes
        triangles = _try_triples(rounded, max(FLATNESS, 2.0**-49 * float(spread[0] / spread[2])))
    else:
        triangles = _ask_qhull(cloud)
    used, triangles = np.unique(triangles, return_inverse=True)
    return Faces(np.ascontiguousarray(cloud[used]), np.ascontiguousarray(triangles.reshape(-1, 3)))


def neighbours(triangles: I64, count: int) -> tuple[I64, I64]:
    """Return the neighbours of ``count`` vertices: where those of each start, (count + 1,), and all, ascending."""
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    edges = np.unique(np.concatenate([edges, edges[:, ::-1]]), axis=0)
    starts = np.searchsorted(edges[:, 0], np.arange(count + 1))
    return starts, edges[:, 1]


def mass_of(faces: Faces) -> Mass:
    """Return volume, centre and second moments, from the tetrahedra between the faces and an inner point."""
    inner = faces.points.mean(axis=0)
    corners = faces.points[faces.triangles] - inner
    volumes = np.linalg.det(corners) / 6
    volume = float(volumes.sum())
    sums = corners.sum(axis=1)
    centre = (volumes[:, None] * sums).sum(axis=0) / (4 * volume)
    squares = np.einsum("tki,tkj->tij", corners, corners) + sums[:, :, None] * sums[:, None, :]
    moments = np.einsum("t,tij->ij", volumes, squares) / 20 - volume * np.outer(centre, centre)
    return Mass(volume, inner + centre, moments)


def _try_triples(cloud: F64, slack: float) -> I64:
    """Return the hull of few points: triples with all points on one side, as fans if a face has more corners.

    Points within ``slack`` of a plane lie on it; the cloud is about as wide as 1 along every direction.
    """
    triples = np.array(list(combinations(range(len(cloud)), 3)))
    a, b, c = (cloud[triples[:, place]] for place in range(3))
    normals = np.cross(b - a, c - a)
    lengths = np.linalg.norm(normals, axis=1)
    solid = lengths > 10 * slack
    triples, normals, a = triples[solid], normals[solid] / lengths[solid, None], a[solid]
    heights = normals @ cloud.T - np.einsum("ti,ti->t", normals, a)[:, None]
    above, below = (heights > slack).any(axis=1), (heights < -slack).any(axis=1)
    on_hull = above != below
    normals[above] *= -1
    polygons: dict[tuple[int, ...], F64] = {}
    for normal, height in zip(normals[on_hull], heights[on_hull], strict=True):
        members = tuple(np.flatnonzero(np.abs(height) <= slack).tolist())
        polygons.setdefault(members, normal)
    fans = [_fan(cloud, np.array(members), normal) for members, normal in polygons.items()]
    return np.concatenate(fans)


def _fan(cloud: F64, members: I64, normal: F64) -> I64:
    """Return the triangles of one face, its corners in order around the ``normal``, without points inside or on edges.

    By gift wrapping (Jarvis, 1973): after a corner comes the farthest of the points that have no point to the right of
    the line to them.
    """
    points = cloud[members]
    first = int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))
    around = [first]
    while len(around) <= len(members):
        ways = points - points[around[-1]]
        lengths = np.linalg.norm(ways, axis=1)
        left = np.cross(ways[:, None], ways[None]) @ normal
        is_outline = (left >= -1e-9 * np.outer(lengths, lengths)).all(axis=1)
        following = int(np.argmax(np.where(is_outline, lengths, -1.0)))
        if following == first:
            break
        around.append(following)
    corners = members[around]
    return np.column_stack([np.full(len(corners) - 2, corners[0]), corners[1:-1], corners[2:]])


def _ask_qhull(cloud: F64) -> I64:
    """Return the triangles of Qhull, oriented outward."""
    spatial = require("scipy.spatial", extra="mesh", purpose="to take the convex hull of more than 32 points")
    try:
        hull = spatial.ConvexHull(cloud)
    except spatial.QhullError as problem:
        reason = str(problem).strip().splitlines()[0]
        raise InvalidInput(f"The hull of {len(cloud)} points could not be taken: {reason}") from None
    triangles: I64 = hull.simplices.astype(np.int64)
    corners = cloud[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ti,ti->t", normals, hull.equations[:, :3]) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    return triangles


# Well-known solids, each inside the cube from −1 to 1; a wedge, a stone of an arch, is 3/4 as wide below as above

THESIS_CORNER = 0.179303  # of the 24-vertex mesh that the k-DOP study drops: permutations of (±0.179303, ±0.179303, ±1)


def solid_names() -> list[str]:
    """List the names of all built-in solids."""
    return sorted(_SOLIDS)


def solid(name: str) -> Faces:
    """Return the vertices and faces of the solid called ``name``."""
    return _SOLIDS[check.choice(name, "solid", _SOLIDS)]()


def icosphere(splits: int = 1) -> Faces:
    """Return a sphere of radius 1: an icosahedron whose triangles are split into four ``splits`` times."""
    golden = (1 + 5**0.5) / 2
    start = [np.roll((0.0, one, other * golden), turn) for turn in range(3) for one in (-1, 1) for other in (-1, 1)]
    points, triangles = hull_faces(np.array(start) / np.hypot(1, golden))
    for _ in range(splits):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, edge_of = np.unique(edges, axis=0, return_inverse=True)
        middle = points[edges].sum(axis=1)
        ab, bc, ca = edge_of.reshape(-1, 3).T + len(points)
        a, b, c = triangles.T
        points = np.concatenate([points, middle / np.linalg.norm(middle, axis=1, keepdims=True)])
        quarters = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        triangles = np.concatenate([np.column_stack(corners) for corners in quarters])
    return Faces(points, triangles)


def _permuted(*corner: float) -> Faces:
    """Return the hull of all permutations and signs of one corner."""
    signs = product((-1.0, 1.0), repeat=3)
    return hull_faces(
        sorted({tuple(np.multiply(order, sign) + 0.0) for sign in signs for order in permutations(corner)})
    )


_SOLIDS: dict[str, Callable[[], Faces]] = {
    "cube": lambda: _permuted(1.0, 1.0, 1.0),
    "icosphere": icosphere,
    "octahedron": lambda: _permuted(0.0, 0.0, 1.0),
    "rhombicuboctahedron": lambda: _permuted(THESIS_CORNER, THESIS_CORNER, 1.0),
    "tetrahedron": lambda: hull_faces([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]),
    "truncated-octahedron": lambda: _permuted(0.0, 0.5, 1.0),
    "wedge": lambda: hull_faces([[x * (7 + y) / 8, y, z] for x, y, z in product((-1, 1), repeat=3)]),
}

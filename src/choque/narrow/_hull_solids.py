"""Well-known convex solids, by name, each inside the cube from −1 to 1."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product

import numpy as np

from choque.errors import UnknownName
from choque.narrow.solids import Faces, hull_faces

THESIS_CORNER = 0.179303
"""Of the 24-vertex mesh that the k-DOP study drops: permutations of (±0.179303, ±0.179303, ±1)."""


def solid_names() -> list[str]:
    """The names of all built-in solids."""
    return sorted(_SOLIDS)


def solid(name: str) -> Faces:
    """The vertices and faces of the solid called ``name``."""
    if name not in _SOLIDS:
        raise UnknownName("solid", str(name), _SOLIDS)
    return _SOLIDS[name]()


def icosphere(splits: int = 1) -> Faces:
    """The sphere of radius 1 by an icosahedron whose triangles are split in four ``splits`` times."""
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
    """The hull of all permutations and signs of one corner."""
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
}

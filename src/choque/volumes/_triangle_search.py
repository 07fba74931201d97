"""Whether triangles of two meshes really meet: a tree over the boxes of one, Möller's test for what comes near."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.bounds import Boxes
from choque.broad import create
from choque.files.meshes import Mesh
from choque.volumes._triangles import triangles_meet


class TriangleSearch:
    """The triangles of one mesh, to be asked many times which of another's they meet.

    Guarantee: the pairs are those of testing every triangle against every other, touching included, except triangles
    without area and pairs whose boxes are apart, if only by a rounding. On whole numbers no touch is missed. Time
    follows the pairs whose boxes overlap. The test is Möller's ("A fast triangle-triangle intersection test", 1997).
    """

    def __init__(self, mesh: Mesh) -> None:
        self._rows = np.flatnonzero(~mesh.degenerate)
        self._corners = _corners(mesh, self._rows)
        self._tree = create("bvh", Boxes(self._corners.min(axis=1), self._corners.max(axis=1)))

    def meeting(self, other: Mesh) -> NDArray[np.int64]:
        """(m, 2) sorted: a triangle of this mesh and one of ``other`` that share a point."""
        rows = np.flatnonzero(~other.degenerate)
        if not len(self._rows) or not len(rows):
            return np.empty((0, 2), np.int64)
        corners = _corners(other, rows)
        near = self._tree.query(Boxes(corners.min(axis=1), corners.max(axis=1)))[:, ::-1].astype(np.int64)
        hits = np.zeros(len(near), np.uint8)
        _test(self._corners, corners, np.ascontiguousarray(near), hits)
        found = near[hits != 0]
        pairs = np.column_stack((self._rows[found[:, 0]], rows[found[:, 1]]))
        return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _corners(mesh: Mesh, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.ascontiguousarray(mesh.vertices[mesh.faces[rows]], np.float64)


@kernel
def _test(
    corners: NDArray[np.float64], other: NDArray[np.float64], near: NDArray[np.int64], hits: NDArray[np.uint8]
) -> None:
    for row in range(near.shape[0]):
        if triangles_meet(corners[near[row, 0]], other[near[row, 1]]):
            hits[row] = 1

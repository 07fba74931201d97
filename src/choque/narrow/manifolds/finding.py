"""Manifolds of pairs of solids: each pair goes to the kernel for its kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.threads import ranges, run
from choque._core.types import Pairs, Rows
from choque.narrow.manifolds.boxes import box_manifolds
from choque.narrow.manifolds.rounds import round_manifolds
from choque.narrow.manifolds.solids import BOX, TRIANGLE, HullFaces, PosedSolids, Scratch
from choque.narrow.pair import MAX_POINTS, ContactArrays
from choque.narrow.shapes import CAPSULE, MESH, PLANE, SPHERE, TILE

_NONE, _BOXES, _ROUND, _PLANE, _BALL, _CONVEX = range(6)
_PARALLEL_FROM = 512  # pairs: fewer are found by the calling thread


def _ways() -> NDArray[np.int8]:
    """Return (kinds, kinds): which kernel finds the manifold of two kinds."""
    way = np.full((TRIANGLE + 1, TRIANGLE + 1), _CONVEX, np.int8)
    way[BOX, BOX] = _BOXES
    for other in (SPHERE, CAPSULE, TILE, BOX):
        way[SPHERE, other] = way[other, SPHERE] = _ROUND
    way[CAPSULE, CAPSULE] = _ROUND
    way[SPHERE, TRIANGLE] = way[TRIANGLE, SPHERE] = _BALL
    way[PLANE, :] = way[:, PLANE] = _PLANE
    way[np.ix_((PLANE, TILE, TRIANGLE), (PLANE, TILE, TRIANGLE))] = _NONE
    way[MESH, :] = way[:, MESH] = _NONE  # its triangles are there instead
    return way


_WAYS = _ways()


class ManifoldFinder:
    """Finds manifolds; keeps its working memory between calls.

    Guarantees: normals go from the first solid of a pair to the second; a manifold has at least the point in which two
    solids are closest or deepest, up to the turn of a normal to that of a face within 2.5 degrees, and at most four;
    features are the same from step to step while the same parts of the solids meet. The result does not depend on the
    number of threads. O(1) a pair, but for hulls.
    """

    def __init__(self) -> None:
        self._scratch: list[Scratch] = []

    def __reduce__(self) -> tuple[type[ManifoldFinder], tuple[()]]:
        return ManifoldFinder, ()

    def find(self, solids: PosedSolids, pairs: Pairs, faces: HullFaces, thread_count: int = 1) -> ContactArrays:
        """Return a manifold for each of ``pairs`` (m, 2), without points where two solids are apart.

        The first separation is then a lower bound of their distance.
        """
        found = ContactArrays.empty(len(pairs), np.float64, MAX_POINTS)
        found.pairs[...] = pairs
        if not len(pairs):
            return found
        while len(self._scratch) < thread_count:
            self._scratch.append(Scratch.new())
        ways = _WAYS[solids.kind[pairs[:, 0]], solids.kind[pairs[:, 1]]]
        present = np.flatnonzero(np.bincount(ways, minlength=_CONVEX + 1)).tolist()
        for way in present:
            rows = np.flatnonzero(ways == way)
            count = thread_count if len(rows) >= _PARALLEL_FROM else 1
            if way == _BOXES:
                self._share(box_manifolds, rows, count, solids, found)
            elif way == _ROUND:
                self._share(round_manifolds, rows, count, solids, found)
            elif way == _NONE:
                found.point_count[rows] = 0
                found.separations[rows, 0] = 0.0
            else:  # imported here: GJK and EPA are loaded only where they are needed
                from choque.narrow.manifolds.hulls import convex_manifolds, plane_manifolds, probe_convex
                from choque.narrow.manifolds.triangles import sphere_triangles

                if way == _CONVEX:
                    probed = probe_convex(solids, pairs[rows], faces, count)
                    self._share(convex_manifolds, rows, count, solids, found, faces, probed)
                else:
                    kernel = sphere_triangles if way == _BALL else plane_manifolds
                    self._share(kernel, rows, count, solids, found, faces)
        return found

    def _share(self, kernel: Any, rows: Rows, count: int, solids: Any, found: ContactArrays, *more: Any) -> None:
        shares = ranges(len(rows), count)
        run(lambda part: kernel(*shares[part], rows, solids, found, self._scratch[part], *more), len(shares))

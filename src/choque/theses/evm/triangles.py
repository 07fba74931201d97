"""Triangles that meet: the interval test of Möller (1997), all pairs of two meshes, and a search by a tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.bounds import Boxes
from choque.broad import create
from choque.files.meshes import MeshArrays

CROSSING = 2.0**-48
"""Upper bound for the relative rounding error of the point where an edge crosses a plane."""

Triangle = NDArray[np.float64]
"""(3, 3): corners, columns x, y, z."""


def colliding_triangles(one: MeshArrays, two: MeshArrays) -> tuple[NDArray[np.int64], int]:
    """Return all pairs of triangles that meet, (m, 2) sorted, by testing every pair; and the number of tests.

    Triangles without area meet nothing: in a closed mesh their neighbours cover them. O(n · m) time.
    """
    corners, other = one.vertices[one.faces], two.vertices[two.faces]
    pairs = np.empty((16, 2), np.int64)
    pairs = _all_pairs(np.ascontiguousarray(corners), np.ascontiguousarray(other), pairs)
    return pairs, len(corners) * len(other)


@kernel
def _all_pairs(corners: NDArray[np.float64], other: NDArray[np.float64], pairs: NDArray[np.int64]) -> NDArray[np.int64]:
    count = 0
    for row in range(corners.shape[0]):
        for column in range(other.shape[0]):
            if triangles_meet(corners[row], other[column]):
                if count == pairs.shape[0]:
                    larger = np.empty((2 * count, 2), np.int64)
                    for at in range(count):
                        larger[at, 0], larger[at, 1] = pairs[at, 0], pairs[at, 1]
                    pairs = larger
                pairs[count, 0], pairs[count, 1] = row, column
                count += 1
    return pairs[:count].copy()


@kernel
def triangles_meet(one: Triangle, two: Triangle) -> bool:
    """Return whether two triangles share a point; triangles without area never do.

    Touching counts: exactly on whole numbers whose products of three are below 2⁵³, elsewhere up to rounding.
    """
    normal, level = _plane(two)
    if normal[0] == 0.0 and normal[1] == 0.0 and normal[2] == 0.0:
        return False
    sides = np.empty(3)
    for corner in range(3):
        sides[corner] = normal[0] * one[corner, 0] + normal[1] * one[corner, 1] + normal[2] * one[corner, 2] - level
    if min(sides[0], sides[1], sides[2]) > 0.0 or max(sides[0], sides[1], sides[2]) < 0.0:
        return False
    other_normal, other_level = _plane(one)
    if other_normal[0] == 0.0 and other_normal[1] == 0.0 and other_normal[2] == 0.0:
        return False
    other_sides = np.empty(3)
    for corner in range(3):
        other_sides[corner] = (
            other_normal[0] * two[corner, 0]
            + other_normal[1] * two[corner, 1]
            + other_normal[2] * two[corner, 2]
            - other_level
        )
    if (
        min(other_sides[0], other_sides[1], other_sides[2]) > 0.0
        or max(other_sides[0], other_sides[1], other_sides[2]) < 0.0
    ):
        return False
    if sides[0] == 0.0 and sides[1] == 0.0 and sides[2] == 0.0:
        return _coplanar_meet(one, two, normal)
    # Both cross the line where their planes meet: compare the intervals that they cover of it, along its longest axis.
    line = np.empty(3)
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        line[axis] = normal[u] * other_normal[v] - normal[v] * other_normal[u]
    axis = 0
    if abs(line[1]) > abs(line[axis]):
        axis = 1
    if abs(line[2]) > abs(line[axis]):
        axis = 2
    low, high = _interval(one, sides, axis)
    other_low, other_high = _interval(two, other_sides, axis)
    size = 0.0
    for corner in range(3):
        size = max(size, abs(one[corner, axis]), abs(two[corner, axis]))
    slack = CROSSING * size
    return low <= other_high + slack and other_low <= high + slack


@kernel
def _plane(triangle: Triangle) -> tuple[NDArray[np.float64], float]:
    normal = np.empty(3)
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        normal[axis] = (triangle[1, u] - triangle[0, u]) * (triangle[2, v] - triangle[0, v]) - (
            triangle[1, v] - triangle[0, v]
        ) * (triangle[2, u] - triangle[0, u])
    return normal, normal[0] * triangle[0, 0] + normal[1] * triangle[0, 1] + normal[2] * triangle[0, 2]


@kernel
def _interval(triangle: Triangle, sides: NDArray[np.float64], axis: int) -> tuple[float, float]:
    """Return the interval along one axis where a triangle crosses the plane of the other."""
    low, high = np.inf, -np.inf
    for start in range(3):
        stop = (start + 1) % 3
        if sides[start] == 0.0:
            low, high = min(low, triangle[start, axis]), max(high, triangle[start, axis])
        if sides[start] * sides[stop] < 0.0:
            share = sides[start] / (sides[start] - sides[stop])
            at = triangle[start, axis] + share * (triangle[stop, axis] - triangle[start, axis])
            low, high = min(low, at), max(high, at)
    return low, high


@kernel
def _coplanar_meet(one: Triangle, two: Triangle, normal: NDArray[np.float64]) -> bool:
    """Return whether two triangles in one plane share a point: no edge of either separates them.

    The plane is projected along the largest component of its normal.
    """
    axis = 0
    if abs(normal[1]) > abs(normal[axis]):
        axis = 1
    if abs(normal[2]) > abs(normal[axis]):
        axis = 2
    u, v = (axis + 1) % 3, (axis + 2) % 3
    for which in range(2):
        first, second = (one, two) if which == 0 else (two, one)
        for start in range(3):
            stop = (start + 1) % 3
            across_u, across_v = first[start, v] - first[stop, v], first[stop, u] - first[start, u]
            own = across_u * (first[(start + 2) % 3, u] - first[start, u]) + across_v * (
                first[(start + 2) % 3, v] - first[start, v]
            )
            best = -np.inf
            for corner in range(3):
                side = across_u * (second[corner, u] - first[start, u]) + across_v * (
                    second[corner, v] - first[start, v]
                )
                best = max(best, side if own > 0.0 else -side)
            if best < 0.0:
                return False
    return True


class TriangleSearch:
    """The triangles of one mesh in a tree, for repeated queries with other meshes.

    Guarantee: the pairs are those of testing every triangle against every other, touching included, except triangles
    without area and pairs whose boxes are apart by a rounding error. On whole numbers no touch is missed. Time is
    proportional to the pairs whose boxes overlap. The test is Möller's ("A fast triangle-triangle intersection test",
    1997).
    """

    def __init__(self, mesh: MeshArrays) -> None:
        self._rows = np.flatnonzero(~mesh.degenerate)
        self._corners = _corners(mesh, self._rows)
        self._tree = create("bvh", Boxes(self._corners.min(axis=1), self._corners.max(axis=1)))

    def meeting(self, other: MeshArrays) -> NDArray[np.int64]:
        """Return the sorted pairs (m, 2) of a triangle of this mesh and one of ``other`` that share a point."""
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


def _corners(mesh: MeshArrays, rows: NDArray[np.intp]) -> NDArray[np.float64]:
    return np.ascontiguousarray(mesh.vertices[mesh.faces[rows]], np.float64)


@kernel
def _test(
    corners: NDArray[np.float64], other: NDArray[np.float64], near: NDArray[np.int64], hits: NDArray[np.uint8]
) -> None:
    for row in range(near.shape[0]):
        if triangles_meet(corners[near[row, 0]], other[near[row, 1]]):
            hits[row] = 1

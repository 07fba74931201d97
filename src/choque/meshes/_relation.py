"""The relation of two solids. Exact: where they only touch, faces are cut into cells in rational numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from choque._core import threads as pool
from choque._core.types import F64, I32, U8
from choque.errors import InvalidInput
from choque.meshes._inside import INSIDE, OUTSIDE, places_of
from choque.meshes._mesh import Mesh, surfaces_of
from choque.meshes._search import meeting_pairs
from choque.meshes.poses import as_poses
from choque.meshes.triangles import COPLANAR, CROSSING

Relation = Literal["apart", "touching", "overlapping", "inside", "containing", "equal"]
Point = tuple[Fraction, Fraction, Fraction]
Cell = list[Point]


def relation(a: Mesh, b: Mesh, *, pose: Any = None, threads: int | None = None) -> Relation:
    """Return the relation of two closed meshes, as solids.

    ``apart`` without a common point; ``touching`` with common points on the surfaces only; ``inside`` if all of ``a``
    lies in ``b``; ``containing`` if all of ``b`` lies in ``a``; ``equal`` if both are the same set, triangulated in any
    way; otherwise ``overlapping``.

    Parameters
    ----------
    a, b
        Closed meshes that do not meet themselves; see `Mesh.report`.
    pose, threads
        As in `intersections`.

    Notes
    -----
    Guarantee: exact by the floats given. Faces that cross, and meshes without contact, are decided by signs and parity.
    Where solids only touch, each face that touches is cut by the planes of the faces that it touches, and a point of
    each cell is placed in rational numbers: milliseconds for each such face, until the answer is certain.

    Examples
    --------
    >>> corner = Mesh([[0, 0, 0], *np.eye(3)], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    >>> relation(corner, corner), relation(corner, corner, pose=(np.eye(3), [1, 0, 0]))
    ('equal', 'touching')
    """
    surfaces_of(a, b)
    for name, mesh in (("a", a), ("b", b)):
        if not mesh.is_closed:
            raise InvalidInput(f"The mesh {name} is open: it has no inside. See {name}.report() for where it is open.")
    other = b if pose is None else b.moved(pose)
    count = pool.resolve_count(threads, len(a) + len(b))
    pairs, kinds = meeting_pairs(a.surface, other.surface, as_poses(None), count)
    if (kinds == CROSSING).any():
        return "overlapping"
    if len(pairs) and _same_faces(a, other):
        return "equal"
    found = _Found()
    still = as_poses(None)
    for mesh, target, column, is_first in ((a, other, 0, True), (other, a, 1, False)):
        free = np.ones(len(mesh), np.bool_)
        free[pairs[:, column]] = False
        points = mesh.vertices[np.unique(mesh.faces[free])] if len(pairs) else mesh.part_points
        places = places_of(np.ascontiguousarray(points), target.surface, still, 0, count)
        found.add(is_first, bool((places == INSIDE).any()), bool((places == OUTSIDE).any()))
    if len(pairs):
        for mesh, target, column, is_first in ((a, other, 0, True), (other, a, 1, False)):
            for place in _cells_of_contacts(mesh, target, pairs[:, [column, 1 - column]], kinds):
                found.add(is_first, place == "inside", place == "outside", same=place == "same")
                if found.is_settled:
                    break
    return found.answer(bool(len(pairs)))


class _Found:
    """What is known about the surfaces: whether parts of each lie inside and outside the other solid."""

    def __init__(self) -> None:
        self.inside, self.outside = [False, False], [False, False]
        self.same = False  # whether surfaces lie on each other with the solids on the same side

    def add(self, is_first: bool, inside: bool, outside: bool, same: bool = False) -> None:
        """Take the place of a part of a surface into account."""
        row = 0 if is_first else 1
        self.inside[row] |= inside
        self.outside[row] |= outside
        self.same |= same

    @property
    def is_settled(self) -> bool:
        """Whether nothing can change the answer: the interiors meet, and each solid has a part outside the other."""
        return (any(self.inside) or self.same) and self._leaves(0) and self._leaves(1)

    def _leaves(self, row: int) -> bool:
        return self.outside[row] or self.inside[1 - row]

    def answer(self, has_contact: bool) -> Relation:
        """Return the relation."""
        if not (any(self.inside) or self.same):
            return "touching" if has_contact else "apart"
        first, second = self._leaves(0), self._leaves(1)
        if first and second:
            return "overlapping"
        if first:
            return "containing"
        return "inside" if second else "equal"


def _same_faces(a: Mesh, b: Mesh) -> bool:
    """Return whether both have the same triangles, each corner a place, in any order."""
    if len(a) != len(b):
        return False
    rows = []
    for mesh in (a, b):
        corners = mesh.vertices[mesh.faces] + 0.0
        order = np.lexsort((corners[..., 2], corners[..., 1], corners[..., 0]), axis=1)
        flat = np.take_along_axis(corners, order[..., None], axis=1).reshape(-1, 9)
        rows.append(flat[np.lexsort(flat.T)])
    return np.array_equal(rows[0], rows[1])


def _cells_of_contacts(
    mesh: Mesh, target: Mesh, pairs: I32, kinds: U8
) -> Iterator[Literal["inside", "outside", "same", "opposite"]]:
    """Yield the place in ``target`` of each cell of the faces of ``mesh`` that touch it."""
    order = np.argsort(pairs[:, 0], kind="stable")
    faces, starts = np.unique(pairs[order, 0], return_index=True)
    for face, rows in zip(faces.tolist(), np.split(order, starts[1:]), strict=True):
        own = _rational(mesh.vertices[mesh.faces[face]])
        normal = _normal(own)
        if not any(normal):
            continue
        touched = [_rational(target.vertices[target.faces[k]]) for k in pairs[rows, 1].tolist()]
        flat = [other for other, kind in zip(touched, kinds[rows].tolist(), strict=True) if kind == COPLANAR]
        cells: list[Cell] = [own]
        for origin, direction in _planes(normal, own[0], touched):
            cells = [part for cell in cells for part in _split(cell, origin, direction)]
        for cell in cells:
            middle = _middle(cell)
            on = next((other for other in flat if _is_in(middle, other)), None)
            if on is not None:
                yield "same" if _dot(normal, _normal(on)) > 0 else "opposite"
            else:
                yield "inside" if _is_inside(middle, target) else "outside"


def _planes(normal: Point, origin: Point, touched: list[Cell]) -> Iterator[tuple[Point, Point]]:
    """Yield the planes that cut a face: those of the faces that touch it, or through their edges if they lie in it."""
    for other in touched:
        across = _normal(other)
        if any(_cross(normal, across)):
            yield other[0], across
        elif any(across) and _dot(normal, _minus(other[0], origin)) == 0:
            for k in range(3):
                yield other[k], _cross(normal, _minus(other[(k + 1) % 3], other[k]))


def _split(cell: Cell, origin: Point, direction: Point) -> list[Cell]:
    """Return the parts of a convex polygon on both sides of a plane that have an area."""
    sides = [_dot(direction, _minus(point, origin)) for point in cell]
    if all(side >= 0 for side in sides) or all(side <= 0 for side in sides):
        return [cell]
    parts: list[Cell] = []
    for sign in (1, -1):
        part: Cell = []
        for k, point in enumerate(cell):
            following = (k + 1) % len(cell)
            if sign * sides[k] >= 0:
                part.append(point)
            if sides[k] * sides[following] < 0:
                share = sides[k] / (sides[k] - sides[following])
                step = _minus(cell[following], point)
                part.append((point[0] + share * step[0], point[1] + share * step[1], point[2] + share * step[2]))
        parts.append(part)
    return parts


def _is_inside(point: Point, mesh: Mesh) -> bool:
    """Return whether a rational point that is not on the surface lies inside, by the parity of the faces above it."""
    x, y = float(point[0]), float(point[1])
    corners = mesh.vertices[mesh.faces]
    slack = 1e-12 * (1 + np.abs(corners[..., :2]).max())
    low, high = corners[..., :2].min(axis=1) - slack, corners[..., :2].max(axis=1) + slack
    near = np.flatnonzero(((low <= (x, y)) & (high >= (x, y))).all(axis=1))
    return sum(_passes(point, _rational(corners[face])) for face in near.tolist()) % 2 == 1


def _passes(point: Point, triangle: Cell) -> bool:
    normal = _normal(triangle)
    if normal[2] == 0:
        return False
    for k in range(3):
        a, b = triangle[k], triangle[(k + 1) % 3]
        side = (b[0] - a[0]) * (point[1] - a[1]) - (b[1] - a[1]) * (point[0] - a[0])
        beside = side or (a[1] - b[1]) or (b[0] - a[0])
        if (beside > 0) != (normal[2] > 0):
            return False
    return (_dot(normal, _minus(point, triangle[0])) < 0) == (normal[2] > 0)


def _is_in(point: Point, triangle: Cell) -> bool:
    normal = _normal(triangle)
    return _dot(normal, _minus(point, triangle[0])) == 0 and all(
        _dot(_cross(normal, _minus(triangle[(k + 1) % 3], triangle[k])), _minus(point, triangle[k])) >= 0
        for k in range(3)
    )


def _rational(corners: F64) -> Cell:
    return [(Fraction(x), Fraction(y), Fraction(z)) for x, y, z in corners.tolist()]


def _middle(cell: Cell) -> Point:
    size = len(cell)
    x, y, z = (sum((point[axis] for point in cell), Fraction(0)) / size for axis in range(3))
    return x, y, z


def _minus(a: Point, b: Point) -> Point:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def _dot(a: Point, b: Point) -> Fraction:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: Point, b: Point) -> Point:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _normal(triangle: Cell) -> Point:
    return _cross(_minus(triangle[1], triangle[0]), _minus(triangle[2], triangle[0]))

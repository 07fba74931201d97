"""Static meshes in `soft-step`: the triangles near moving bodies, each of them a static body of the solver.

A pair of a body and a mesh becomes pairs of the body and triangles, so that a ball in a valley has a contact with each
slope, and impulses stay with their triangle. The triangles within a margin of the bodies are listed again when a body
leaves the box that it had then, as candidates are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.pair_keys import halves
from choque._core.types import I64, Floats, Keys, Pairs
from choque.dynamics.response import State
from choque.errors import InvalidInput
from choque.narrow.manifolds.solids import HullFaces
from choque.narrow.pieces import local_boxes, pieces_near, taken
from choque.narrow.shapes import MESH

FIRST = 1 << 31  # the number of the first triangle: ids of bodies are less
NOTHING = np.empty(0, np.int64)
SAVED = "ids", "start", "number", "pairs", "boxes"


class TriangleNumbers(NamedTuple):
    """The numbers of triangles in keys of pairs: those of a mesh follow each other, and are never given again."""

    ids: I64  # (b,): ids of meshes, ascending
    start: I64  # (b + 1,): the first number of each; then that of the next mesh

    def ids_of(self, number: NDArray[Any]) -> I64:
        """Return the ids of bodies, and those of the meshes for triangles."""
        given = number.astype(np.int64)
        of_mesh = np.searchsorted(self.start, given, side="right") - 1
        if not len(self.ids):
            return given
        return np.where(given >= FIRST, self.ids[np.clip(of_mesh, 0, len(self.ids) - 1)], given)

    def of_pairs(self, keys: Keys) -> tuple[I64, I64]:
        """Return the ids of both bodies of pairs; for a triangle that of its mesh."""
        first, second = halves(keys)
        return self.ids_of(first), self.ids_of(second)


class SolverTriangles:
    """The triangles that the solver has."""

    def __init__(self) -> None:
        self.numbers = TriangleNumbers(NOTHING, np.array([FIRST]))  # which mesh a number belongs to
        # (p,): the number of each triangle, ascending, the row of its mesh in the world, and the face
        self.number, self.row, self.face = NOTHING, NOTHING, NOTHING
        self._given: Pairs | None = None
        self._pairs: Pairs = np.empty((0, 2), np.int32)
        self._meshed: Pairs = np.empty((0, 2), np.int32)  # body and mesh
        self._boxes = np.empty((0, 6))
        self._faces: tuple[Any, HullFaces] | None = None

    def __len__(self) -> int:
        return len(self.number)

    def follow(self, bodies: State, pairs: Pairs, skin: Callable[[State], tuple[Floats, Floats]]) -> Pairs:
        """Return the candidates with triangles instead of meshes; triangle k is row n + k of n bodies.

        ``skin`` returns how close bodies come to have contacts, and how far they may move before their triangles are
        listed again. The same array is returned as long as nothing changes.
        """
        is_mesh = bodies.kind == MESH
        if not is_mesh.any():
            self.number = self.row = self.face = NOTHING
            self._meshed, self._boxes = self._meshed[:0], self._boxes[:0]
            return pairs
        meshed, is_same = self._meshed, pairs is self._given
        if not is_same:
            meshed = pairs[(bodies.kind[pairs] == MESH).any(axis=1) & ~bodies.sensor[pairs].any(axis=1)]
            meshed = np.where(is_mesh[meshed[:, :1]], meshed[:, ::-1], meshed)
        shapes = bodies.shapes()
        body, mesh = meshed[:, 0].astype(np.int64), meshed[:, 1].astype(np.int64)
        around = taken(shapes, body).boxes(threads=1)
        boxes = local_boxes(shapes, mesh, around.lower, around.upper)
        is_saved = self._given is None and np.array_equal(meshed, self._meshed)
        within = (is_same or is_saved) and bool((boxes[:, :3] >= self._boxes[:, :3]).all())
        within = within and bool((boxes[:, 3:] <= self._boxes[:, 3:]).all())
        if not within:
            fat = skin(bodies)[1][body, np.newaxis].astype(np.float64)
            self._boxes = np.concatenate((boxes[:, :3] - fat, boxes[:, 3:] + fat), axis=1)
        if not within or not is_same:
            self._meshed, self._given = meshed, pairs
            plain = pairs[~(bodies.kind[pairs] == MESH).any(axis=1)]
            self._list(bodies, plain, skin(bodies)[0][meshed].sum(axis=1)[:, np.newaxis])
        return self._pairs

    def _list(self, bodies: State, plain: Pairs, near: Floats) -> None:
        """List the triangles as ``near`` (k, 1) to the boxes, and the pairs with them beside the ``plain`` ones."""
        shapes = bodies.shapes()
        mesh = self._meshed[:, 1].astype(np.int64)
        self.numbers = _numbered(self.numbers, bodies)
        boxes = np.concatenate((self._boxes[:, :3] - near, self._boxes[:, 3:] + near), axis=1)
        found = pieces_near(shapes, mesh, boxes, 1)
        of, face, body = mesh[found.pair], found.face, self._meshed[found.pair, 0]
        fine = np.ones(len(of), np.bool_)
        for row in np.unique(of).tolist():
            own = bodies.hulls[int(bodies.hull[row])]
            corners = own.points[own.triangles[face[of == row]]]
            normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
            fine[of == row] = (np.linalg.norm(normal, axis=1) > 0) & np.isfinite(normal).all(axis=1)
        of, face, body = of[fine], face[fine], body[fine]
        place = np.searchsorted(self.numbers.ids, bodies.ids[of])
        self.number, first, piece = np.unique(self.numbers.start[place] + face, return_index=True, return_inverse=True)
        self.row, self.face = of[first], face[first]
        extra = np.stack((body, len(bodies.ids) + piece.reshape(-1)), axis=1)
        pairs = np.concatenate((plain, extra.astype(np.int32)))
        self._pairs = np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))], np.int32)

    def faces(self, bodies: State, hulls: HullFaces) -> HullFaces:
        """Return the hulls, and after them the triangles."""
        if not len(self):
            return hulls
        if self._faces is None or self._faces[0] is not self.number:
            corners, rim = np.empty((len(self), 3, 3)), np.empty((len(self), 3, 3))
            for row in np.unique(self.row).tolist():
                own, these = bodies.hulls[int(bodies.hull[row])], np.flatnonzero(self.row == row)
                corners[these] = own.points[own.triangles[self.face[these]]]
                rim[these] = own.rims[self.face[these]]
            self._faces = self.number, hulls.with_triangles(corners, rim)
        return self._faces[1]

    # Saved worlds

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the next step depends on."""
        if not len(self.numbers.ids):
            return {}
        arrays = self.numbers.ids, self.numbers.start, self.number, self._meshed, self._boxes
        return {f"pieces.{name}": np.asarray(array) for name, array in zip(SAVED, arrays, strict=True)}

    @classmethod
    def restored(cls, state: Mapping[str, NDArray[Any]]) -> SolverTriangles:
        """Return what `state` returned; raise `InvalidInput` for arrays that cannot be from there."""
        made = cls()
        if "pieces.ids" not in state:
            return made
        ids, start, number, pairs, boxes = (state.get(f"pieces.{name}", NOTHING) for name in SAVED)
        fits = ids.dtype == start.dtype == np.int64 and ids.ndim == 1 and start.shape == (len(ids) + 1,)
        fits = fits and bool((np.diff(ids) > 0).all() and (np.diff(start) > 0).all() and start[0] >= FIRST)
        fits = fits and number.dtype == np.int64 and number.ndim == 1 and bool((np.diff(number) > 0).all())
        fits = fits and pairs.dtype == np.int32 and pairs.shape == (len(boxes), 2)
        fits = fits and boxes.dtype == np.float64 and boxes.shape == (len(boxes), 6) and not np.isnan(boxes).any()
        if not fits:
            raise InvalidInput("The memory of the response 'soft-step' is damaged: the triangles of meshes do not fit.")
        made.numbers, made.number, made._meshed, made._boxes = TriangleNumbers(ids, start), number, pairs, boxes
        return made


def _numbered(numbers: TriangleNumbers, bodies: State) -> TriangleNumbers:
    """Return numbers that the triangles of all meshes have; meshes are only added, and ids ascend."""
    rows = np.flatnonzero(bodies.kind == MESH)
    rows = rows[~np.isin(bodies.ids[rows], numbers.ids)]
    if not len(rows):
        return numbers
    counts = np.diff(bodies.hulls.triangle_first)[bodies.hull[rows]]
    start = np.concatenate((numbers.start, numbers.start[-1] + np.cumsum(counts)))
    if start[-1] > 1 << 32:
        raise InvalidInput("The meshes of this world had more than 2,147,483,648 triangles; make a new world.")
    return TriangleNumbers(np.concatenate((numbers.ids, bodies.ids[rows].astype(np.int64))), start)

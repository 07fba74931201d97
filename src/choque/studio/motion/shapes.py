"""What is drawn of moving polygons, as arrays in the plane z = 0: filled shapes, outlines, boxes, arrows, pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.studio.motion.state import MotionState
from choque.theses.kinetic import Model
from choque.theses.kinetic.shapes import area

Segments = NDArray[np.float32]
"""(m, 2, 3): two ends each."""


class PolygonFills:
    """The polygons of a model cut into triangles once; they move, but never change."""

    def __init__(self, model: Model) -> None:
        cuts = [triangulate(polygon) for polygon in model.polygons]
        self._triangles = np.concatenate([np.empty((0, 3), np.int64), *cuts])
        self._counts = np.array([len(cut) for cut in cuts], np.int64)
        self._first = np.cumsum([0, *map(len, model.polygons)])[:-1]
        self._owner = np.repeat(np.arange(len(cuts)), self._counts)

    def faces(self, chosen: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """(t, 3): the triangles of the objects ``chosen`` (n,), as rows of `points`."""
        rows = np.flatnonzero(chosen[self._owner]) if len(self._owner) else np.empty(0, np.int64)
        numbered = self._triangles[rows] + self._first[self._owner[rows], np.newaxis]
        faces: NDArray[np.uint32] = numbered.astype(np.uint32)
        return faces


def points(state: MotionState) -> NDArray[np.float32]:
    """(v, 3): the vertices of all polygons, one after the other."""
    flat = np.concatenate([np.empty((0, 2)), *state.polygons])
    return _lifted(flat)


def outlines(state: MotionState) -> Segments:
    """The edges of all polygons."""
    edges = [np.stack((polygon, np.roll(polygon, -1, axis=0)), axis=1) for polygon in state.polygons]
    return _lifted(np.concatenate([np.empty((0, 2, 2)), *edges]))


def boxes(state: MotionState) -> Segments:
    """The four sides of all boxes."""
    (left, bottom), (right, top) = state.lower.T, state.upper.T
    corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
    walk = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    return _lifted(np.stack((walk, np.roll(walk, -1, axis=1)), axis=2).reshape(-1, 2, 2))


def arrows(state: MotionState, seconds: float = 1.0) -> Segments:
    """From the middle of each box to where it will be after ``seconds``; none for what is at rest."""
    moving = (state.velocity != 0.0).any(axis=1)
    middle = (state.lower + state.upper)[moving] / 2.0
    return _lifted(np.stack((middle, middle + state.velocity[moving] * seconds), axis=1))


def links(state: MotionState) -> Segments:
    """A line between the middles of the two boxes of each pair."""
    middle = (state.lower + state.upper) / 2.0
    return _lifted(middle[state.pairs])


def frame_sides(model: Model) -> Segments:
    """The four sides of the frame that the model names."""
    (left, right), (bottom, top) = model.frame
    walk = np.array([[left, bottom], [right, bottom], [right, top], [left, top]])
    return _lifted(np.stack((walk, np.roll(walk, -1, axis=0)), axis=1))


def triangulate(polygon: NDArray[np.float64]) -> NDArray[np.int64]:
    """Cut a polygon (k, 2), convex or not, into k − 2 triangles of its vertices, by clipping ears. O(k²) and more.

    Exact cover for outlines that do not cross themselves; others get some triangles too. (Meisters, "Polygons have
    ears", 1975.)
    """
    vertices = polygon.tolist()
    left = list(range(len(vertices)))
    if area(polygon) < 0.0:
        left.reverse()
    found = []
    while len(left) > 3:
        at = next((at for at in range(len(left)) if _is_ear(vertices, left, at)), 0)
        found.append((left[at - 1], left[at], left[(at + 1) % len(left)]))
        del left[at]
    found.append((left[0], left[1], left[2]))
    return np.array(found, np.int64)


def _is_ear(vertices: list[list[float]], left: list[int], at: int) -> bool:
    before, here, after = left[at - 1], left[at], left[(at + 1) % len(left)]
    a, b, c = vertices[before], vertices[here], vertices[after]
    if _turn(a, b, c) <= 0.0:
        return False
    for other in left:
        p = vertices[other]
        if p in (a, b, c):
            continue
        if _turn(a, b, p) >= 0.0 and _turn(b, c, p) >= 0.0 and _turn(c, a, p) >= 0.0:
            return False
    return True


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _lifted(flat: NDArray[np.float64]) -> NDArray[np.float32]:
    """Points of the plane as points of space."""
    lifted = np.zeros((*flat.shape[:-1], 3), np.float32)
    lifted[..., :2] = flat
    return lifted

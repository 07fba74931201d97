"""The scene of the motion view: nodes of viser for polygons, boxes, arrows and pairs in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.studio.motion.state import MotionState
from choque.theses.kinetic import Model
from choque.theses.kinetic.shapes import area

Color = tuple[int, int, int]
Segments = NDArray[np.float32]
"""(m, 2, 3): two ends each."""

ALONE: Color = (118, 146, 190)
COLLIDING: Color = (232, 148, 62)
EDGE: Color = (228, 233, 242)
BOX: Color = (139, 152, 175)
ARROW: Color = (240, 88, 66)
LINK: Color = (255, 206, 120)
FRAME: Color = (84, 96, 120)

LAYERS = ("frame", "polygons", "edges", "boxes", "pairs", "velocities", "numbers")
"""From the lowest up; each is drawn a little above the one before."""

MAX_NUMBERED = 60
"""Maximum number of objects that are labelled with their numbers."""


class MotionDrawing:
    """The nodes of a model on the page; they are moved if possible, and made again if their number changes."""

    def __init__(self, scene: Any, model: Model) -> None:
        (left, right), (bottom, top) = model.frame
        self._scene = scene
        self._span = max(right - left, top - bottom)
        self._fills = PolygonFills(model)
        self._nodes: dict[str, Any] = {}
        count = len(model) if len(model) <= MAX_NUMBERED else 0
        self._labels = [
            scene.add_label(f"/numbers/{row}", str(row), anchor="center-center", font_screen_scale=0.9)
            for row in range(count)
        ]
        self._segments("frame", frame_sides(model), FRAME, 2.0)

    def draw(self, state: MotionState, shown: Mapping[str, bool]) -> None:
        """Show a state; ``shown`` says which of polygons, boxes, velocities, pairs and numbers."""
        colliding, corners = state.colliding, points(state)
        for name, chosen, color in (("alone", ~colliding, ALONE), ("colliding", colliding, COLLIDING)):
            self._mesh(name, corners, self._fills.faces(chosen & shown["polygons"]), color)
        self._segments("edges", outlines(state), EDGE, 1.5, shown["polygons"])
        self._segments("boxes", boxes(state), BOX, 1.5, shown["boxes"])
        self._segments("pairs", links(state), LINK, 3.0, shown["pairs"])
        self._arrows(arrows(state), shown["velocities"])
        for label, middle in zip(self._labels, (state.lower + state.upper) / 2.0, strict=False):
            label.position = (float(middle[0]), float(middle[1]), self._height("numbers"))
            label.visible = shown["numbers"]

    def _mesh(self, name: str, corners: NDArray[np.float32], faces: NDArray[np.uint32], color: Color) -> None:
        node = self._nodes.get(name)
        if node is not None:
            node.visible = bool(len(faces))
            if len(faces):
                node.vertices = corners
                if not np.array_equal(node.faces, faces):
                    node.faces = faces
        elif len(faces):
            self._nodes[name] = self._scene.add_mesh_simple(
                f"/{name}",
                corners,
                faces,
                color=color,
                opacity=0.82,
                side="double",
                cast_shadow=False,
                receive_shadow=False,
                position=(0.0, 0.0, self._height("polygons")),
            )

    def _segments(self, name: str, ends: Segments, color: Color, pixels: float, visible: bool = True) -> None:
        node = self._nodes.get(name)
        if node is not None and len(node.points) == len(ends):
            node.points, node.visible = ends, visible
            return
        if node is not None:
            self._nodes.pop(name).remove()
        if len(ends):
            self._nodes[name] = self._scene.add_line_segments(
                f"/{name}",
                ends,
                color,
                thickness=pixels,
                thickness_units="screen",
                position=(0.0, 0.0, self._height(name)),
                visible=visible,
            )

    def _arrows(self, ends: Segments, visible: bool) -> None:
        node = self._nodes.get("velocities")
        if node is not None:
            node.points, node.visible = ends, visible
        elif len(ends):
            size = 0.004 * self._span
            self._nodes["velocities"] = self._scene.add_arrows(
                "/velocities",
                ends,
                ARROW,
                shaft_radius=0.6 * size,
                head_radius=1.9 * size,
                head_length=5.0 * size,
                position=(0.0, 0.0, self._height("velocities")),
                visible=visible,
            )

    def _height(self, layer: str) -> float:
        return 1e-3 * self._span * LAYERS.index(layer)


class PolygonFills:
    """The polygons of a model cut into triangles once; they move, but never change."""

    def __init__(self, model: Model) -> None:
        cuts = [triangulate(polygon) for polygon in model.polygons]
        self._triangles = np.concatenate([np.empty((0, 3), np.int64), *cuts])
        self._counts = np.array([len(cut) for cut in cuts], np.int64)
        self._first = np.cumsum([0, *map(len, model.polygons)])[:-1]
        self._owner = np.repeat(np.arange(len(cuts)), self._counts)

    def faces(self, chosen: NDArray[np.bool_]) -> NDArray[np.uint32]:
        """Return the triangles (t, 3) of the objects ``chosen`` (n,), as rows of `points`."""
        rows = np.flatnonzero(chosen[self._owner]) if len(self._owner) else np.empty(0, np.int64)
        numbered = self._triangles[rows] + self._first[self._owner[rows], np.newaxis]
        faces: NDArray[np.uint32] = numbered.astype(np.uint32)
        return faces


def points(state: MotionState) -> NDArray[np.float32]:
    """Return the vertices (v, 3) of all polygons."""
    flat = np.concatenate([np.empty((0, 2)), *state.polygons])
    return _lifted(flat)


def outlines(state: MotionState) -> Segments:
    """Return the edges of all polygons."""
    edges = [np.stack((polygon, np.roll(polygon, -1, axis=0)), axis=1) for polygon in state.polygons]
    return _lifted(np.concatenate([np.empty((0, 2, 2)), *edges]))


def boxes(state: MotionState) -> Segments:
    """Return the four sides of all boxes."""
    (left, bottom), (right, top) = state.lower.T, state.upper.T
    corners = [(left, bottom), (right, bottom), (right, top), (left, top)]
    walk = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    return _lifted(np.stack((walk, np.roll(walk, -1, axis=1)), axis=2).reshape(-1, 2, 2))


def arrows(state: MotionState, seconds: float = 1.0) -> Segments:
    """Return a line from the center of each moving box to its position after ``seconds``."""
    moving = (state.velocity != 0.0).any(axis=1)
    middle = (state.lower + state.upper)[moving] / 2.0
    return _lifted(np.stack((middle, middle + state.velocity[moving] * seconds), axis=1))


def links(state: MotionState) -> Segments:
    """Return a line between the centers of the two boxes of each pair."""
    middle = (state.lower + state.upper) / 2.0
    return _lifted(middle[state.pairs])


def frame_sides(model: Model) -> Segments:
    """Return the four sides of the frame of the model."""
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
    """Return points of the plane as points in 3D."""
    lifted = np.zeros((*flat.shape[:-1], 3), np.float32)
    lifted[..., :2] = flat
    return lifted

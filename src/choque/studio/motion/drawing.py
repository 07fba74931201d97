"""The scene of the motion view: nodes of viser for polygons, boxes, arrows and pairs in the plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.studio.motion import shapes as motion_shapes
from choque.studio.motion.state import MotionState
from choque.theses.kinetic import Model

Color = tuple[int, int, int]

ALONE: Color = (118, 146, 190)
COLLIDING: Color = (232, 148, 62)
EDGE: Color = (228, 233, 242)
BOX: Color = (139, 152, 175)
ARROW: Color = (240, 88, 66)
LINK: Color = (255, 206, 120)
FRAME: Color = (84, 96, 120)

LAYERS = ("frame", "polygons", "edges", "boxes", "pairs", "velocities", "numbers")
"""From the lowest up; each lies a little above the one before, so that none hides another by chance."""

NUMBERED_MOST = 60
"""Up to so many objects have their numbers beside them."""


class MotionDrawing:
    """What of a model is on the page; nodes are moved where they can be and made anew where their number changes."""

    def __init__(self, scene: Any, model: Model) -> None:
        (left, right), (bottom, top) = model.frame
        self._scene = scene
        self._span = max(right - left, top - bottom)
        self._fills = motion_shapes.PolygonFills(model)
        self._nodes: dict[str, Any] = {}
        count = len(model) if len(model) <= NUMBERED_MOST else 0
        self._labels = [
            scene.add_label(f"/numbers/{row}", str(row), anchor="center-center", font_screen_scale=0.9)
            for row in range(count)
        ]
        self._segments("frame", motion_shapes.frame_sides(model), FRAME, 2.0)

    def draw(self, state: MotionState, shown: Mapping[str, bool]) -> None:
        """Show a state; ``shown`` says which of polygons, boxes, velocities, pairs and numbers."""
        colliding, corners = state.colliding, motion_shapes.points(state)
        for name, chosen, color in (("alone", ~colliding, ALONE), ("colliding", colliding, COLLIDING)):
            self._mesh(name, corners, self._fills.faces(chosen & shown["polygons"]), color)
        self._segments("edges", motion_shapes.outlines(state), EDGE, 1.5, shown["polygons"])
        self._segments("boxes", motion_shapes.boxes(state), BOX, 1.5, shown["boxes"])
        self._segments("pairs", motion_shapes.links(state), LINK, 3.0, shown["pairs"])
        self._arrows(motion_shapes.arrows(state), shown["velocities"])
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

    def _segments(
        self, name: str, ends: motion_shapes.Segments, color: Color, pixels: float, visible: bool = True
    ) -> None:
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

    def _arrows(self, ends: motion_shapes.Segments, visible: bool) -> None:
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

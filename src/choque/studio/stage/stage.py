"""Off-screen rendering by VTK, and the parts that bodies are drawn of.

Bodies are instances: one mesh of unit size for each kind of part, and for every body a position, a rotation, a scale
and a colour. A capsule is a tube and two caps, so that any proportion is round.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.errors import InvalidInput
from choque.narrow.shapes import CAPSULE, CONVEX, MESH, PLANE, SPHERE, TILE
from choque.record import BodyTable
from choque.scene import Camera
from choque.studio import meshes
from choque.studio.meshes import TILE_THICKNESS, Mesh
from choque.studio.stage.camera import VIEW_ANGLE, directions
from choque.studio.stage.graphics import add_line_layer, check_size, load_pyvista, make_plotter

BOX_COLOR, ORIENTED_COLOR = (220, 0, 220), (220, 220, 0)
"""Colours of the wireframes of axis-aligned and of oriented boxes."""

AXES = ((1.0, 0.25, 0.25), (0.3, 0.9, 0.35), (0.35, 0.5, 1.0))
AXES_LENGTH = 100.0
LIGHT = np.array([0.55, 1.0, 0.4]) / np.linalg.norm([0.55, 1.0, 0.4])
"""Direction of the main light."""

GROUND_SIDE = 400.0

FINEST = 24
"""Latitudes of round bodies that are drawn as meshes."""


class VtkStage:
    """Draws off screen what a subclass adds, and lines.

    Parameters
    ----------
    camera
        The camera; it looks at ``target``.
    size
        Width and height in pixels.
    smoothing
        Supersampling factor for smooth edges: 1 to 4.
    """

    def __init__(
        self,
        camera: Camera,
        *,
        size: tuple[int, int] = (1280, 720),
        smoothing: int = 2,
        target: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> None:
        check_size(size, smoothing, None)
        self._size, self._smoothing = size, smoothing
        self._plotter = make_plotter(max(size) * smoothing)
        self._overlay = add_line_layer(self._plotter)
        self._camera, self._target = camera, np.array(target, float)
        self._aim()

    def add_segments(self, ends: NDArray[Any], color: tuple[int, int, int] | NDArray[np.uint8]) -> None:
        """Draw line segments (m, 2, 3), in one colour or with a colour for each end (m, 2, 3)."""
        if not len(ends):
            return
        lines = np.arange(2 * len(ends)).reshape(-1, 2)
        each = color.reshape(-1, 3) if isinstance(color, np.ndarray) else None
        plain = (1.0, 1.0, 1.0) if isinstance(color, np.ndarray) else [part / 255 for part in color]
        self._draw_lines(np.asarray(ends).reshape(-1, 3), lines, plain, each)

    def _draw_lines(
        self, points: NDArray[Any], lines: NDArray[Any], color: Sequence[float], each: NDArray[np.uint8] | None = None
    ) -> None:
        """Draw ``lines`` (m, 2) between points (k, 3), with depth but without shadows.

        ``each`` has the colours (k, 3) of the points if they differ.
        """
        pyvista = load_pyvista()
        from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper

        wire = pyvista.PolyData(np.ascontiguousarray(points, np.float32))
        wire.lines = np.column_stack((np.full(len(lines), 2), lines)).ravel()
        mapper = vtkPolyDataMapper()
        if each is not None:
            wire.point_data["color"] = np.ascontiguousarray(each)
            mapper.SetScalarModeToUsePointFieldData()
            mapper.SelectColorArray("color")
            mapper.SetColorModeToDirectScalars()
        mapper.SetInputData(wire)
        actor = vtkActor()
        actor.SetMapper(mapper)
        surface = actor.GetProperty()
        surface.SetColor(*color)
        surface.SetLighting(False)
        surface.SetLineWidth(1.2 * self._smoothing)
        self._overlay.AddActor(actor)

    def picture(self) -> NDArray[np.uint8]:
        """Render: (height, width, 3) red, green and blue, the top row first."""
        self._plotter.render()
        image = self._plotter.screenshot(None, return_img=True)
        if image is None:
            raise InvalidInput("OpenGL returned no picture; check the graphics drivers, or install libosmesa6.")
        return self._framed(image)

    def close(self) -> None:
        """Release the renderer."""
        self._plotter.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _framed(self, square: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Crop the rendered square to the picture, and reduce it."""
        (width, height), factor = self._size, self._smoothing
        left, top = ((square.shape[0] - side * factor) // 2 for side in (width, height))
        cut = square[top : top + height * factor, left : left + width * factor, :3]
        if factor == 1:
            return np.ascontiguousarray(cut)
        picture: NDArray[np.uint8] = np.empty((height, width, 3), np.uint8)
        _reduce(cut, factor, picture)
        return picture

    def _aim(self) -> None:
        """Place the camera at its distance from the target; +y is up."""
        ahead, _, up = directions(self._camera)
        view = self._plotter.camera
        widened = np.tan(np.radians(VIEW_ANGLE / 2)) * max(self._size) / self._size[1]
        view.view_angle = float(2 * np.degrees(np.arctan(widened)))
        view.position = tuple(self._target - self._camera.radius * ahead)
        view.focal_point = tuple(self._target)
        view.up = tuple(up)


@kernel
def _reduce(rendered: NDArray[np.uint8], factor: int, picture: NDArray[np.uint8]) -> None:
    """Fill ``picture`` with means of ``factor`` × ``factor`` pixels."""
    for y in range(picture.shape[0]):
        for x in range(picture.shape[1]):
            for channel in range(3):
                total = 0
                for row in range(y * factor, (y + 1) * factor):
                    for column in range(x * factor, (x + 1) * factor):
                        total += rendered[row, column, channel]
                picture[y, x, channel] = total // (factor * factor)


def edges_of(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the edges (12 m, 2, 3) of boxes with these corners (m, 8, 3)."""
    ends = np.array([(a, a | 1 << axis) for axis in range(3) for a in range(8) if not a >> axis & 1])
    return corners[:, ends].reshape(-1, 2, 3)


def instances(cast: BodyTable, definition: int) -> Any:
    """Yield the parts of all drawn bodies: rows, mesh, scale (m, 3), colour (m, 3), offset along z, whether flipped."""
    size = cast.size

    def of(kind: int, also: Callable[[NDArray[np.intp]], NDArray[np.bool_]] | None = None) -> NDArray[np.intp]:
        rows = np.flatnonzero(cast.drawn & (cast.kind == kind))
        return rows if also is None else rows[also(rows)]

    rows = of(SPHERE)
    if len(rows):
        yield rows, meshes.ball(definition), np.repeat(size[rows, :1], 3, axis=1), cast.color[rows], None, False
    rows = of(CAPSULE, lambda rows: ~cast.rocket[rows])
    if len(rows):
        radius, length, color = size[rows, 0], size[rows, 1], cast.color[rows]
        round_scale = np.repeat(radius[:, np.newaxis], 3, axis=1)
        yield rows, meshes.tube(definition), np.column_stack((radius, radius, length)), color, None, False
        yield rows, meshes.cap(definition), round_scale, color, length / 2, False
        yield rows, meshes.cap(definition), round_scale, color, -length / 2, True
    rows = of(CAPSULE, lambda rows: cast.rocket[rows])
    if len(rows):
        half = size[rows, 1] / 2 + size[rows, 0]
        scale = np.column_stack((size[rows, 0], size[rows, 0], half))
        for mesh, tint in meshes.rocket(max(definition // 2, 4)):
            color = cast.color[rows] if tint is None else np.tile(np.array(tint, np.uint8), (len(rows), 1))
            yield rows, mesh, scale, color, None, False
    rows = of(TILE)
    if len(rows):
        thickness = TILE_THICKNESS * size[rows, :2].mean(axis=1)
        yield (
            rows,
            meshes.cube(),
            np.column_stack((size[rows, 0], thickness, size[rows, 1])),
            cast.color[rows],
            None,
            False,
        )
    rows = of(PLANE)
    if len(rows):
        yield rows, meshes.square(), np.full((len(rows), 3), GROUND_SIDE), cast.color[rows], None, False
    with_points = np.concatenate((of(CONVEX), of(MESH)))
    for hull in np.unique(cast.hull[with_points]).tolist():
        points, triangles = cast.hull_mesh(hull)
        rows = with_points[cast.hull[with_points] == hull]
        yield rows, Mesh(points, triangles.astype(np.uint32)), size[rows], cast.color[rows], None, False

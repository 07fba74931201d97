"""Volumes off screen: translucent meshes and lines."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import require
from choque.studio.stage.camera import MARGIN, VIEW_ANGLE, camera_at, directions
from choque.studio.stage.stage import VtkStage


class VolumeStage(VtkStage):
    """A stage for objects whose third axis points up, as in scans.

    Parameters
    ----------
    position, target
        Position of the camera, and the point it looks at [world].
    size
        Width and height in pixels.
    """

    def __init__(self, position: ArrayLike, target: ArrayLike, *, size: tuple[int, int] = (1280, 720)) -> None:
        place, aim = (upright(np.asarray(point, np.float64)) for point in (position, target))
        super().__init__(camera_at(place, aim), size=size, target=(aim[0], aim[1], aim[2]))
        pyvista = require("pyvista", extra="video", purpose="to draw volumes")
        distance = float(np.linalg.norm(place - aim))
        self._plotter.camera.clipping_range = (1e-3 * distance, 20.0 * distance)
        sun = pyvista.Light(position=tuple(aim + distance * np.array([0.5, 1.0, 0.6])), focal_point=tuple(aim))
        sun.intensity = 0.75
        self._plotter.add_light(sun)
        self._plotter.add_light(pyvista.Light(light_type="headlight", intensity=0.5))
        self._plotter.enable_depth_peeling(8)

    def add_mesh(
        self,
        vertices: NDArray[Any],
        faces: NDArray[Any],
        color: tuple[int, int, int],
        *,
        opacity: float = 1.0,
        wireframe: bool = False,
    ) -> None:
        """Draw triangles, or their edges."""
        if not len(faces):
            return
        pyvista = require("pyvista", extra="video", purpose="to draw volumes")
        mesh = pyvista.PolyData.from_regular_faces(upright(np.asarray(vertices, np.float64)), np.asarray(faces))
        self._plotter.add_mesh(
            mesh,
            color=[part / 255 for part in color],
            opacity=opacity,
            style="wireframe" if wireframe else "surface",
            line_width=float(self._smoothing),
            lighting=not wireframe,
            ambient=0.2,
            diffuse=0.85,
            reset_camera=False,
            render=False,
        )

    def add_segments(self, ends: NDArray[Any], color: tuple[int, int, int] | NDArray[np.uint8]) -> None:
        """Draw lines between two ends each (m, 2, 3)."""
        super().add_segments(upright(np.asarray(ends, np.float64)), color)


def upright(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points (…, 3) of a world whose z axis points up in the coordinates of the stage, whose y axis does."""
    return np.stack((points[..., 0], points[..., 2], -points[..., 1]), axis=-1)


def distance_to_see(corners: NDArray[np.float64], direction: NDArray[np.float64], size: tuple[int, int]) -> float:
    """Return the distance along ``direction`` at which a camera sees all ``corners`` (k, 3), relative to its target."""
    ahead, right, up = directions(camera_at(upright(direction), np.zeros(3)))
    away = upright(corners)
    upward = float(np.tan(np.radians(VIEW_ANGLE / 2.0))) / MARGIN
    sideways = upward * size[0] / size[1]
    along = away @ ahead
    return float(np.maximum(np.abs(away @ right) / sideways - along, np.abs(away @ up) / upward - along).max())

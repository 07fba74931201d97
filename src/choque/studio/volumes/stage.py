"""Volumes and meshes off screen: solid and translucent triangles, and lines, in the light of films."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.narrow.shapes import MESH
from choque.record import BodyTable, Poses
from choque.studio.stage.camera import MARGIN, VIEW_ANGLE, camera_at, directions
from choque.studio.stage.raster import RasterStage

Color = tuple[int, int, int]


class _Layer(NamedTuple):
    """A mesh to draw: vertices (v, 3), faces (t, 3), and how."""

    vertices: NDArray[np.float64]
    faces: NDArray[np.int64]
    color: Color
    opacity: float


class VolumeStage:
    """A stage for objects whose third axis points up, as in scans.

    Parameters
    ----------
    position, target
        Position of the camera, and the point it looks at [world].
    size
        Width and height in pixels.

    Notes
    -----
    Translucent meshes are drawn in pictures of their own, one for each opacity, and these are blended: what is behind
    is seen through all of them at once.
    """

    def __init__(self, position: ArrayLike, target: ArrayLike, *, size: tuple[int, int] = (1280, 720)) -> None:
        place, aim = (upright(np.asarray(point, np.float64)) for point in (position, target))
        self._stage = RasterStage(camera_at(place, aim), size=size, target=(aim[0], aim[1], aim[2]))
        self._layers: list[_Layer] = []

    def add_mesh(
        self,
        vertices: NDArray[Any],
        faces: NDArray[Any],
        color: Color,
        *,
        opacity: float = 1.0,
        wireframe: bool = False,
    ) -> None:
        """Draw triangles, or their edges."""
        if not len(faces):
            return
        if wireframe:
            edges = np.sort(np.concatenate([np.asarray(faces)[:, pair] for pair in ((0, 1), (1, 2), (2, 0))]), axis=1)
            self.add_segments(np.asarray(vertices)[np.unique(edges, axis=0)], color)
        else:
            placed = upright(np.asarray(vertices, np.float64))
            self._layers.append(_Layer(placed, np.asarray(faces, np.int64), color, opacity))

    def add_segments(self, ends: NDArray[Any], color: Color | NDArray[np.uint8]) -> None:
        """Draw lines between two ends each (m, 2, 3)."""
        if len(ends):
            self._stage.add_segments(upright(np.asarray(ends, np.float64)), color)

    def picture(self) -> NDArray[np.uint8]:
        """Render: (height, width, 3) red, green and blue, the top row first."""
        shown = self._picture(1.0)
        for opacity in sorted({each.opacity for each in self._layers if each.opacity < 1.0}, reverse=True):
            shown = opacity * self._picture(opacity) + (1.0 - opacity) * shown
        return shown.astype(np.uint8)

    def _picture(self, opacity: float) -> NDArray[np.float64]:
        """Return the picture of the meshes that are at least as opaque."""
        cast, count = _table(self._layers, opacity), len(self._layers)
        poses = Poses(np.zeros((count, 3), np.float32), np.tile(np.eye(3, dtype=np.float32), (count, 1, 1)))
        self._stage.show(cast, poses)
        return self._stage.picture().astype(np.float64)

    def __enter__(self) -> VolumeStage:
        return self

    def __exit__(self, *_: object) -> None:
        self._stage.close()


def _table(layers: list[_Layer], opacity: float) -> BodyTable:
    """Return meshes as bodies that do not move; of those that are less opaque, the corners alone: the ground stays."""
    count = len(layers)
    points = [each.vertices for each in layers]
    faces = [each.faces if each.opacity >= opacity else each.faces[:0] for each in layers]
    return BodyTable(
        ids=np.arange(count, dtype=np.int32),
        kind=np.full(count, MESH, np.int8),
        size=np.ones((count, 3), np.float32),
        color=np.array([each.color for each in layers], np.uint8).reshape(-1, 3),
        drawn=np.ones(count, np.bool_),
        rocket=np.zeros(count, np.bool_),
        static=np.ones(count, np.bool_),
        hull=np.arange(count, dtype=np.int32),
        hull_points=np.concatenate([np.empty((0, 3)), *points]).astype(np.float32),
        hull_first=np.cumsum([0, *map(len, points)]),
        hull_triangles=np.concatenate([np.empty((0, 3), np.int64), *faces]),
        hull_triangle_first=np.cumsum([0, *map(len, faces)]),
    )


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

"""Short films in space for the sections of the demo, drawn on the processor, without OpenGL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.types import Progress

if TYPE_CHECKING:
    from choque.record import BodyTable, Poses

SIZE, QUICK_SIZE = (480, 270), (160, 90)
FRAMES, QUICK_FRAMES, RATE = 48, 4, 16

Image = NDArray[np.uint8]
Solid = tuple[NDArray[np.floating], NDArray[np.integer]]
"""Points (p, 3) and triangles (t, 3)."""


class Stage:
    """Solids in space, seen by a camera that turns about them.

    Parameters
    ----------
    solids
        Meshes, each in its own frame.
    which, scale
        (n,) the mesh of each body, and (n, 3) or one number: by how much it is stretched along each axis.
    course
        (k, n, 3) places at some moments of the film: the camera sees all of them.
    pitch, yaw, turn
        Direction of the camera at the start, and by how much it turns to the end [degree].
    """

    def __init__(
        self,
        solids: Sequence[Solid],
        which: NDArray[np.integer],
        course: NDArray[np.floating],
        quick: bool,
        *,
        scale: ArrayLike = 1.0,
        pitch: float = -24.0,
        yaw: float = 25.0,
        turn: float = 60.0,
    ) -> None:
        from choque.scene import Camera
        from choque.studio.stage.camera import around_moving
        from choque.studio.stage.raster import RasterStage

        self._cast = everywhere = _table(solids, which, scale)
        for _ in course[1:]:
            everywhere = everywhere.joined(self._cast)
        direction, size = Camera(30.0, pitch, yaw), QUICK_SIZE if quick else SIZE
        self._camera, self._target = around_moving(everywhere, _poses(np.concatenate(course)), direction, size)
        self._turn = turn
        self._stage = RasterStage(self._camera, size=size, smoothing=1, target=self._target)

    def draw(self, share: float, position: NDArray[np.floating], color: NDArray[np.uint8]) -> Image:
        """Draw the bodies in these places (n, 3) and colours (n, 3) at a ``share`` of the film."""
        self._stage.aim(replace(self._camera, yaw=self._camera.yaw + share * self._turn), self._target)
        self._stage.show(self._cast, _poses(position))
        self._stage.set_colors(color)
        return self._stage.picture()


def write(path: Path, draw: Callable[[float], Image], quick: bool, progress: Progress) -> Path:
    """Make a film of pictures at shares of it from 0 to 1, or a picture of its middle where ffmpeg is missing.

    Return the file: ``path`` with its suffix.
    """
    from importlib.util import find_spec

    from choque.files.atomic import replacing
    from choque.studio.film import write_film
    from choque.studio.png import png_bytes

    if find_spec("imageio_ffmpeg") is None:
        picture = path.with_suffix(".png")
        with replacing(picture) as handle:
            handle.write(png_bytes(draw(0.5)))
        return picture
    film, count = path.with_suffix(".webp"), QUICK_FRAMES if quick else FRAMES
    images = (draw(number / (count - 1)) for number in range(count))
    write_film(film, images, QUICK_SIZE if quick else SIZE, RATE, count, progress)
    return film


def prepare() -> None:
    """Compile what draws solids."""
    stage = Stage([cube()], np.zeros(1, np.int64), np.zeros((1, 1, 3)), True)
    stage.draw(0.0, np.zeros((1, 3)), glowing(np.zeros(1, np.bool_)))


def glowing(heat: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Return quiet colours (n, 3) of bodies; they glow by their ``heat``, 0 to 1 or a boolean."""
    from choque.studio.palette import GLOW, QUIET

    share = heat.astype(np.float64)[:, np.newaxis]
    colors: NDArray[np.uint8] = (
        (1.0 - share) * QUIET[np.arange(len(heat)) % len(QUIET)] + share * np.array(GLOW)
    ).astype(np.uint8)
    return colors


def cube() -> Solid:
    """Return a cube of side 1 about the origin."""
    from choque.studio import meshes

    found = meshes.cube()
    return found.points, found.triangles


def prism(polygon: NDArray[np.floating], height: float) -> Solid:
    """Return a polygon (p, 2) of the plane, x and -z in space, as a plate of some height."""
    count, middle = len(polygon), polygon.mean(axis=0)
    flat = np.column_stack((polygon[:, 0], np.zeros(count), -polygon[:, 1]))
    center = np.array([[middle[0], height, -middle[1]]])
    points = np.concatenate((flat, flat + [0.0, height, 0.0], flat + [0.0, height, 0.0], center))
    one = np.arange(count)
    two = (one + 1) % count
    sides = np.concatenate((np.stack((one, two, two + count), 1), np.stack((one, two + count, one + count), 1)))
    top = np.stack((one + 2 * count, two + 2 * count, np.full(count, 3 * count)), 1)
    return points, np.concatenate((sides, top))


def voxel_faces(mask: NDArray[np.bool_]) -> Solid:
    """Return the faces between full and empty voxels of a mask (x, y, z), as triangles."""
    corners: list[NDArray[np.float64]] = []
    full = np.pad(mask, 1)
    for axis in range(3):
        along, across, up = np.eye(3)[[axis, (axis + 1) % 3, (axis + 2) % 3]]
        change = np.diff(full.astype(np.int8), axis=axis)
        for sign in (1, -1):  # outward is to the left of a voxel that begins, to the right of one that ends
            first = np.argwhere(change == sign) - (1.0 - along)
            around = np.array([0 * up, across, across + up, up])[::-sign]
            corners.append((first[:, np.newaxis] + around).reshape(-1, 3))
    points = np.concatenate(corners)
    starts = np.arange(0, len(points), 4)[:, np.newaxis, np.newaxis]
    return points, (starts + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3)


def _table(solids: Sequence[Solid], which: NDArray[np.integer], scale: ArrayLike) -> BodyTable:
    from choque.narrow.shapes import MESH
    from choque.record import BodyTable

    count = len(which)
    is_shown = np.ones(count, np.bool_)
    return BodyTable(
        ids=np.arange(count, dtype=np.int32),
        kind=np.full(count, MESH, np.int8),
        size=np.broadcast_to(np.asarray(scale, np.float32), (count, 3)).copy(),
        color=np.zeros((count, 3), np.uint8),
        drawn=is_shown,
        rocket=~is_shown,
        static=~is_shown,
        hull=which.astype(np.int32),
        hull_points=np.concatenate([points for points, _ in solids]).astype(np.float32),
        hull_first=np.cumsum([0, *(len(points) for points, _ in solids)]),
        hull_triangles=np.concatenate([triangles for _, triangles in solids]).astype(np.int64),
        hull_triangle_first=np.cumsum([0, *(len(triangles) for _, triangles in solids)]),
    )


def _poses(position: NDArray[np.floating]) -> Poses:
    from choque.record import Poses

    return Poses(position.astype(np.float32), np.broadcast_to(np.eye(3, dtype=np.float32), (len(position), 3, 3)))

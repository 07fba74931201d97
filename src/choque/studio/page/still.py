"""Bodies and lines as one picture, drawn without a page: what "Save a picture" and thumbnails show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.page.bodies import SEE_THROUGH
from choque.studio.page.wires import Segments
from choque.studio.stage.camera import around_moving, camera_at
from choque.studio.stage.raster import RasterStage
from choque.studio.viewpoint import Viewpoint


class Lines(NamedTuple):
    """Lines (m, 2, 3) with one colour, or a colour for each end (m, 2, 3)."""

    ends: Segments
    color: tuple[int, int, int] | NDArray[np.uint8]


def bodies_image(
    cast: BodyTable,
    poses: Poses,
    color: NDArray[np.uint8],
    lines: Iterable[Lines],
    *,
    viewpoint: Viewpoint | Camera,
    size: tuple[int, int],
    is_see_through: bool = False,
    shadows: bool = True,
    ground: bool = True,
) -> NDArray[np.uint8]:
    """Draw bodies in these colours (n, 3), and lines over them: (height, width, 3), top row first.

    A `Camera` as the viewpoint gives the direction only: the distance is chosen so that all moving bodies are visible.
    """
    if isinstance(viewpoint, Viewpoint):
        target = np.asarray(viewpoint.target, np.float64)
        camera = camera_at(target + viewpoint.away, target)
        place = (float(target[0]), float(target[1]), float(target[2]))
    else:
        camera, place = around_moving(cast, poses, viewpoint, size)
    with RasterStage(camera, size=size, target=place, shadows=shadows) as stage:
        stage.show(replace(cast, color=color), poses)
        if not ground:
            stage.hide_ground()
        for each in lines:
            stage.add_segments(each.ends, each.color)
        image = stage.picture()
        if is_see_through:
            stage.hide_bodies()
            image = (SEE_THROUGH * image + (1.0 - SEE_THROUGH) * stage.picture()).astype(np.uint8)
        return image

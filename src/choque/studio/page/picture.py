"""Pictures of bodies as the page shows them: their colours, their overlays, seen from where its camera is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.files.png import png_bytes
from choque.record import BodyTable, Poses
from choque.scene import Camera
from choque.studio.page.bodies import SEE_THROUGH
from choque.studio.page.cameras import around_moving
from choque.studio.page.wires import Segments
from choque.studio.stage.camera import camera_at
from choque.studio.stage.stage import WorldStage
from choque.studio.viewpoint import Viewpoint


class Lines(NamedTuple):
    """Lines (m, 2, 3) and their colour, or that of each end (m, 2, 3)."""

    ends: Segments
    color: tuple[int, int, int] | NDArray[np.uint8]


def bodies_png(
    cast: BodyTable,
    poses: Poses,
    color: NDArray[np.uint8],
    lines: Iterable[Lines],
    *,
    viewpoint: Viewpoint | Camera,
    size: tuple[int, int],
    is_see_through: bool = False,
) -> bytes:
    """Draw bodies in these colours (n, 3), and lines over them, as the bytes of a PNG file.

    A `Camera` in the place of an viewpoint says in which direction to look: all that moves is in sight then.
    """
    if isinstance(viewpoint, Viewpoint):
        target = np.asarray(viewpoint.target, np.float64)
        camera = camera_at(target + viewpoint.away, target)
    else:
        camera, target = around_moving(cast, poses, viewpoint, size[0] / size[1])
    with WorldStage(camera, size=size, target=(target[0], target[1], target[2])) as stage:
        stage.set_opacity(SEE_THROUGH if is_see_through else 1.0)
        stage.show(replace(cast, color=color), poses)
        for each in lines:
            stage.add_segments(each.ends, each.color)
        return png_bytes(stage.picture())

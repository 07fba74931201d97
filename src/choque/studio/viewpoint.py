"""Where a picture is seen from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SIZE = (1280, 720)
"""Default size of pictures [pixels]."""

MIN_SIDE, MAX_SIDE = 64, 4096
"""Limits of the sides of a picture of a page [pixels]."""


@dataclass(frozen=True)
class Viewpoint:
    """The position of a camera and the point it looks at [world coordinates]."""

    position: ArrayLike
    target: ArrayLike

    @property
    def away(self) -> NDArray[np.float64]:
        """Vector from the target to the position."""
        return np.asarray(self.position, np.float64) - np.asarray(self.target, np.float64)


def page_viewpoint(client: Any) -> tuple[Viewpoint, tuple[int, int]]:
    """Return the viewpoint of a browser tab, and the size of its scene [pixels], both sides even."""
    camera = client.camera
    viewpoint = Viewpoint(np.array(camera.position, np.float64), np.array(camera.look_at, np.float64))
    width, height = (
        min(max(2 * (int(side) // 2), MIN_SIDE), MAX_SIDE) for side in (camera.image_width, camera.image_height)
    )
    return viewpoint, (width, height)

"""From where a picture is seen: a point, and another to look at; such as where the camera of a page is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SIZE = (1280, 720)
"""Of pictures that nobody said a size for, in pixels."""

SMALLEST, LARGEST = 64, 4096
"""Sides of a picture of a page, in pixels, whatever size the page has."""


@dataclass(frozen=True)
class Eye:
    """Where a picture is seen from, and what is in its middle [world]."""

    position: ArrayLike
    target: ArrayLike

    @property
    def away(self) -> NDArray[np.float64]:
        """From what is looked at to where one stands."""
        return np.asarray(self.position, np.float64) - np.asarray(self.target, np.float64)


def page_eye(client: Any) -> tuple[Eye, tuple[int, int]]:
    """Where the camera of a tab is, and how large its scene is in pixels, each side even."""
    camera = client.camera
    eye = Eye(np.array(camera.position, np.float64), np.array(camera.look_at, np.float64))
    width, height = (
        min(max(2 * (int(side) // 2), SMALLEST), LARGEST) for side in (camera.image_width, camera.image_height)
    )
    return eye, (width, height)

"""What is around the bodies of a scene: the level of the ground, and walls that would hide the bodies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque.narrow.shapes import PLANE, TILE
from choque.record import BodyTable, Poses
from choque.studio.stage.camera import UPRIGHT, extent
from choque.studio.stage.extents import outline

FLOOR = 0.8
"""A tile whose normal has more than this share of the vertical is a floor, which is never left out."""

ONE_SIDE = 0.95
"""A tile is a wall if this share of the moving bodies lies on one side of it."""

BELOW = 0.02
"""Distance of the ground below the lowest body, as a share of the radius of the scene, if the scene has no ground."""


@dataclass(frozen=True)
class Surroundings:
    """Where the bodies of a scene are."""

    center: NDArray[np.float64]
    radius: float
    """A sphere around all drawn bodies but half-spaces."""
    level: float
    """Height of the ground: that of the topmost level half-space, or just below the lowest body."""
    is_solid: bool
    """Whether bodies rest on the ground. If not it is only a mark, and bodies may fall through it."""
    ground: NDArray[np.bool_]
    """(n,) which bodies are the ground."""
    facing: NDArray[np.int8]
    """(n,) for a static tile that is a wall: 1 or -1, the side of its normal on which the moving bodies are. Otherwise
    0. A wall is drawn only if the camera is on that side too, so that it never hides the bodies."""

    @classmethod
    def of(cls, cast: BodyTable, poses: Poses) -> Surroundings:
        """Find them for bodies in their first poses."""
        center, radius = extent(cast, poses)
        is_level = cast.drawn & (cast.kind == PLANE) & (poses.rotation[:, 1, 1] > UPRIGHT)
        if is_level.any():
            level = float(poses.position[is_level, 1].max())
        else:
            points, reach = outline(cast, poses)
            level = float((points[:, 1] - reach).min() if len(points) else 0.0) - BELOW * radius
        return cls(center, radius, level, bool(is_level.any()), is_level, _facing(cast, poses))

    def hidden(self, poses: Poses, eye: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which bodies (n,) are walls between ``eye`` and the moving bodies."""
        side = np.einsum("ni,ni->n", poses.rotation[:, :, 1], eye - poses.position)
        found: NDArray[np.bool_] = (self.facing != 0) & (side * self.facing < 0.0)
        return found


def _facing(cast: BodyTable, poses: Poses) -> NDArray[np.int8]:
    found = np.zeros(len(cast), np.int8)
    moving = poses.position[cast.drawn & ~cast.static]
    rows = np.flatnonzero(cast.drawn & cast.static & (cast.kind == TILE))
    if not len(moving):
        return found
    for row in rows.tolist():
        normal = poses.rotation[row, :, 1]
        above = float(np.mean((moving - poses.position[row]) @ normal > 0.0))
        side = 1 if above >= ONE_SIDE else -1 if above <= 1.0 - ONE_SIDE else 0
        if side * normal[1] <= FLOOR:
            found[row] = side
    return found

"""The shapes that a narrow phase sees: kinds, poses and sizes as arrays, one row a body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats

SPHERE, CAPSULE, TILE, CONVEX, PLANE = range(5)

KIND_NAMES = ("sphere", "capsule", "tile", "convex", "plane")
"""The names of the kinds, in the order of their numbers."""


@dataclass(frozen=True, eq=False)
class Shapes:
    """Solids in their poses.

    Attributes
    ----------
    kind
        (n,) int8: `SPHERE`, `CAPSULE`, `TILE`, `CONVEX` or `PLANE`.
    position
        (n, 3): the centre of each body.
    rotation
        (n, 3, 3): ``rotation @ local`` is the direction in the world.
    size
        (n, 3): sphere (radius, 0, 0); capsule (radius, length of its cylinder along local z, 0);
        tile (length along local x, width along local z, 0), its normal local y; convex: the scale of its hull on
        each local axis; plane: nothing, it is the half-space below local y = 0.
    hull
        (n,) int32: the row of ``hulls`` of a convex body, -1 for all others.
    hulls
        The convex hulls that bodies refer to, None where there are none.
    """

    kind: NDArray[np.int8]
    position: Floats
    rotation: Floats
    size: Floats
    hull: NDArray[np.int32] | None = None
    hulls: Any = None

    def __len__(self) -> int:
        return len(self.kind)

"""Events while one volume is moved through another: contact and separation of voxels and of triangles."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from choque.volumes.pair import PairAnswer

MAX_NOTICES = 200
"""Number of notices that are kept."""


@dataclass(frozen=True)
class Notice:
    """One line of the events panel."""

    kind: Literal["models collide", "models apart", "triangles collide", "triangles apart"]
    shift: NDArray[np.float64]
    """Translation of the moved volume [world]."""
    text: str


@dataclass
class CollisionLog:
    """Notices in the order of time; one for each change of an answer."""

    notices: list[Notice] = field(default_factory=list)
    _models: bool = False
    _triangles: bool | None = None

    def observe(self, answer: PairAnswer, shift: NDArray[np.float64]) -> list[Notice]:
        """Record an answer and return the notices that it adds: of the voxels first, then of the triangles."""
        new = []
        if answer.voxels != self._models:
            new.append(
                Notice("models collide", shift.copy(), "the voxel models collide")
                if answer.voxels
                else Notice("models apart", shift.copy(), "the voxel models are apart")
            )
        if answer.voxels and answer.triangles != self._triangles:
            new.append(
                Notice("triangles collide", shift.copy(), "triangles meet")
                if answer.triangles
                else Notice("triangles apart", shift.copy(), "no triangles meet")
            )
        self._models, self._triangles = answer.voxels, answer.triangles
        self.notices = [*self.notices, *new][-MAX_NOTICES:]
        return new

"""What happens while one volume is moved through another, told once each: contact, the triangles' verdict, parting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from choque.studio.volumes.pair import Verdict

LINES_KEPT = 200


@dataclass(frozen=True)
class Notice:
    """One line of the events panel."""

    kind: Literal["models collide", "models apart", "triangles collide", "triangles apart"]
    shift: NDArray[np.float64]
    """Where the moved volume was [world]."""
    text: str


@dataclass
class CollisionLog:
    """Notices in the order of time; a new one only when an answer changes."""

    notices: list[Notice] = field(default_factory=list)
    _models: bool = False
    _triangles: bool | None = None

    def observe(self, verdict: Verdict, shift: NDArray[np.float64]) -> list[Notice]:
        """Take note of an answer, and give the notices that it adds: of the models first, then of the triangles."""
        new = []
        if verdict.models != self._models:
            new.append(
                Notice("models collide", shift.copy(), "the voxel models collide")
                if verdict.models
                else Notice("models apart", shift.copy(), "the voxel models are apart again")
            )
        if verdict.models and verdict.triangles != self._triangles:
            new.append(
                Notice("triangles collide", shift.copy(), "the triangles really do")
                if verdict.triangles
                else Notice("triangles apart", shift.copy(), "but no triangles meet")
            )
        self._models, self._triangles = verdict.models, verdict.triangles
        self.notices = [*self.notices, *new][-LINES_KEPT:]
        return new

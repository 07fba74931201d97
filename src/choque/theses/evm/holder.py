"""A way to hold a voxel object, and the two objects that it is asked about: what volumes are compared by."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque.files.meshes import Mesh
from choque.volumes import ExtremeVertices

Mask = NDArray[np.bool_]
Shift = tuple[int, int, int]


@dataclass(frozen=True)
class Instance:
    """Two masks, where the second is placed, and the mesh that both came from, if there is one."""

    one: Mask
    two: Mask
    shifts: Sequence[Shift]
    mesh: Mesh | None = None
    voxels_per_unit: float = 1.0


class Holder(ABC):
    """A way to hold an object: make it, move it (not timed), ask two (timed), and say its bytes."""

    is_exact: ClassVar[bool] = True
    """False if it answers another question than whether voxels are full in both."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def make(self, mask: Mask) -> Any:
        """The object of a mask."""
        return ExtremeVertices.from_mask(mask)

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Both objects as the question wants them, the second moved."""
        left, right, _ = one.together(two.moved(shift))
        return left, right

    @abstractmethod
    def ask(self, one: Any, two: Any) -> bool:
        """The question."""

    def byte_count(self, made: Any) -> int:
        """What an object holds."""
        return int(made.byte_count)

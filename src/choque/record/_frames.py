"""Frames to look at, wherever they come from: a recording of Choque's, or one of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from choque.record._cast import Cast
from choque.scene.body_scene import Camera


@dataclass(frozen=True, eq=False)
class Poses:
    """Where the bodies of one frame are: ``position`` (n, 3) and ``rotation`` (n, 3, 3), float32."""

    position: NDArray[np.float32]
    rotation: NDArray[np.float32]

    def __len__(self) -> int:
        return len(self.position)


class Frames(Protocol):
    """What can be replayed, drawn and converted."""

    @property
    def name(self) -> str:
        """The name of the scene, or of the file."""

    @property
    def frame_count(self) -> int:
        """How many frames there are; the first is number 0."""

    @property
    def frames_per_second(self) -> float:
        """How many frames make a second of the world's time."""

    @property
    def camera(self) -> Camera:
        """Where the scene wants the camera."""

    def cast(self, index: int) -> Cast:
        """The bodies of frame ``index``; frames of the same cast give the same object."""

    def frame(self, index: int) -> Poses:
        """Where these bodies are in frame ``index``: the caller's to keep, not to change."""

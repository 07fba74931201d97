"""The frames of a moving scene as they lie on disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from choque.errors import InvalidInput
from choque.files.columns import BoxArrays, FloatArray, float_type


@dataclass(frozen=True, eq=False)
class FrameStore:
    """Boxes of several frames, memory-mapped: only the frame that is asked for is brought into memory.

    ``lower`` and ``upper`` are views of shape (frames, n, d), in whatever byte order and alignment the file
    has; `frame` gives copies that are native, contiguous and the caller's own.
    """

    name: str
    lower: FloatArray = field(repr=False)
    upper: FloatArray = field(repr=False)

    @property
    def frame_count(self) -> int:
        """How many frames there are, at least one."""
        return int(self.lower.shape[0])

    @property
    def box_count(self) -> int:
        """How many boxes each frame has."""
        return int(self.lower.shape[1])

    @property
    def dimension(self) -> int:
        """2 or 3."""
        return int(self.lower.shape[2])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The float type of the frames that `frame` gives."""
        kept = float_type(np.result_type(self.lower.dtype, self.upper.dtype))
        assert kept is not None
        return kept

    def frame(self, index: int) -> BoxArrays:
        """Lower and upper bounds, each (n, d), of frame ``index`` from 0."""
        checked_frame(index, self.frame_count)
        return (
            np.array(self.lower[index], dtype=self.dtype, order="C"),
            np.array(self.upper[index], dtype=self.dtype, order="C"),
        )


def checked_frame(index: int, frame_count: int) -> None:
    """Refuse a frame that is not there."""
    if isinstance(index, bool) or not isinstance(index, int | np.integer) or not 0 <= index < frame_count:
        raise InvalidInput(f"There is no frame {index!r}; the frames are 0 to {frame_count - 1}.")

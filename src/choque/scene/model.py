"""What a scene of boxes is: a name, what it was made from, and frames that are computed when asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from choque.files.box_arrays import BoxArrays, check_frame


class Motion(Protocol):
    """Where the boxes of a scene are at each frame."""

    def frame(self, index: int) -> BoxArrays:
        """Give new arrays of bounds, each (n, d), of frame ``index``, the same whatever was asked before."""


@dataclass(frozen=True, eq=False)
class BoxScene:
    """Boxes over a number of frames.

    Frames are numbered from 0 and made on request, in any order; asking in ascending order is never slower.
    The same name, box count, seed and parameters give the same frames, bit for bit, with the same version of
    NumPy's generators. ``seed`` is None for a scene that was read from a file.
    """

    name: str
    box_count: int
    dimension: int
    frame_count: int
    dtype: np.dtype[Any]
    motion: Motion = field(repr=False)
    seed: int | None = None
    parameters: Mapping[str, object] = field(default_factory=dict)

    def frame(self, index: int = 0) -> BoxArrays:
        """Give lower and upper bounds of one frame, each (n, d), C-contiguous and the caller's to change."""
        check_frame(index, self.frame_count)
        lower, upper = self.motion.frame(int(index))
        return np.ascontiguousarray(lower, dtype=self.dtype), np.ascontiguousarray(upper, dtype=self.dtype)

    def frames(self) -> Iterator[BoxArrays]:
        """Go through all frames from the first."""
        return (self.frame(index) for index in range(self.frame_count))

    def moved(self, index: int) -> NDArray[np.int64]:
        """List the boxes that are not in frame ``index`` where they were in the frame before, ascending."""
        if index == 0:
            return np.empty(0, dtype=np.int64)
        before, now = self.frame(index - 1), self.frame(index)
        return np.flatnonzero(((before[0] != now[0]) | (before[1] != now[1])).any(axis=1))

"""Larger areas that serve for several frames: no body can come from beyond them in that time."""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np

from choque._core import check
from choque._core.rounding import narrow_down, narrow_up
from choque._core.threads import Gate, one_thread
from choque._core.types import Pairs
from choque.bounds import Bounds, Boxes
from choque.broad import create
from choque.broad.broad_phase import check_bounds
from choque.errors import InvalidInput


class Skinned:
    """A broad phase that runs once in several frames; in the others only its candidates are tested. No pair is missed.

    Parameters
    ----------
    bounds
        The bodies.
    displacement
        The expected distance that a body moves in one frame.
    frames
        The number of frames that one run is to serve.
    broad
        The name of the broad-phase method.
    closed
        True: touching counts.
    options
        Options of the method.

    Notes
    -----
    The broad phase holds boxes that are larger by the travel of ``frames - 1`` steps on every side. While every body is
    in its larger box, any two that touch are among its pairs. Each update checks that by comparisons, so a body that is
    faster than expected costs a run, not a pair. `pairs` are exactly those of the bounds themselves. Memory is that of
    the method and of the candidates.

    Examples
    --------
    >>> boxes = choque.bounds.Boxes([[0, 0], [1.5, 0]], [[1, 1], [2.5, 1]])
    >>> kept = choque.interest.Skinned(boxes, displacement=0.25, frames=3)
    >>> kept.update(choque.bounds.Boxes([[0.25, 0], [1.25, 0]], [[1.25, 1], [2.25, 1]]))
    >>> kept.pairs().tolist(), kept.run_count
    ([[0, 1]], 1)
    """

    def __init__(
        self,
        bounds: Bounds,
        *,
        displacement: float,
        frames: int,
        broad: str = "auto",
        closed: bool = True,
        **options: Any,
    ) -> None:
        check_bounds(bounds)
        self._gate = Gate()
        self._margin = check.number(displacement, "displacement", 0) * (check.whole_number(frames, "frames", 1) - 1)
        self._closed = check.boolean(closed, "closed")
        self._bounds = bounds
        self._fat = self._fattened(bounds)
        self.broad = create(broad, self._fat, closed=closed, **options)  #: The broad phase over the larger boxes.
        self.frame_count = 1  #: Number of frames so far, the first included.
        self.run_count = 1  #: Number of frames in which the broad phase ran.
        self._pairs: Pairs | None = None

    def __len__(self) -> int:
        return len(self._bounds)

    def __repr__(self) -> str:
        runs = f"{self.run_count} runs of {self.broad.name!r} in {self.frame_count} frames"
        return f"<Skinned: {len(self)} bodies, {runs}>"

    @one_thread
    def update(self, bounds: Bounds) -> None:
        """Replace the bounds of every body."""
        check_bounds(bounds)
        if len(bounds) != len(self) or bounds.dimension != self._fat.dimension:
            raise InvalidInput(
                f"update was given {len(bounds)} volumes in {bounds.dimension}D for {len(self)} bodies in "
                f"{self._fat.dimension}D; give one for each."
            )
        boxes = bounds.boxes()
        before = self._fat, self.broad, self.run_count, self.frame_count, self._bounds, self._pairs
        try:
            if not ((boxes.lower >= self._fat.lower).all() and (boxes.upper <= self._fat.upper).all()):
                fat = self._fattened(bounds)
                self.broad.update(fat)
                self._fat = fat
                self.run_count += 1
            self.frame_count += 1
            self._bounds, self._pairs = bounds, None
        except BaseException:
            # The broad phase may hold the larger boxes of this update: those before serve the bounds before.
            self._fat, self.broad, self.run_count, self.frame_count, self._bounds, self._pairs = before
            self.broad.update(self._fat)
            raise

    @one_thread
    def pairs(self) -> Pairs:
        """Return all overlapping pairs now: (m, 2) int32, smaller row first, sorted."""
        if self._pairs is None:
            candidates = self.broad.pairs()
            self._pairs = candidates[self._bounds.overlap(candidates, closed=self._closed)]
        return self._pairs

    def copy(self) -> Self:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def _fattened(self, bounds: Bounds) -> Boxes:
        boxes = bounds.boxes()
        if self._margin == 0:
            return boxes
        lower, upper = boxes.lower.astype(np.float64), boxes.upper.astype(np.float64)
        with np.errstate(over="ignore"):
            lower, upper = np.nextafter(lower - self._margin, -np.inf), np.nextafter(upper + self._margin, np.inf)
        return Boxes(narrow_down(lower, boxes.dtype), narrow_up(upper, boxes.dtype))

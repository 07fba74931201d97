"""Larger areas as insurance: one search that serves several frames, because nobody can have come from beyond it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.rounding import narrow_down, narrow_up
from choque._core.types import Pairs
from choque.bounds import Bounds, Boxes
from choque.broad import create
from choque.broad._contract import check_kind
from choque.errors import InvalidInput


def skin(radius: ArrayLike, displacement: float, frames: int) -> float:
    """The factor k with which areas of k times the radius serve several frames with no pair missed.

    In ``frames - 1`` steps two bodies come closer by twice that many displacements; the area of the larger of the two
    must have grown by as much, and the smallest bodies decide. Neighbour lists call that distance the skin
    (Verlet, 1967).

    Parameters
    ----------
    radius
        The radius of every body, (n,) or one number: half the shortest edge, for boxes.
    displacement
        The farthest that any body moves in one frame.
    frames
        For how many frames one search must serve: its own and those that follow.

    Returns
    -------
    float
        The least k such that two bodies which touch in any of these frames are a pair of ``interest`` with that k in
        the first.

    Examples
    --------
    >>> round(choque.interest.skin(radius=0.5, displacement=0.01, frames=6), 6)
    1.2
    """
    sizes = np.atleast_1d(check.floats(radius, "radius")).astype(np.float64)
    if sizes.ndim != 1 or not sizes.size:
        raise InvalidInput(f"radius has the shape {sizes.shape}; it must be one number or (n,) of at least one.")
    check.not_negative(sizes, "radius")
    travel = 2.0 * _travel(displacement, frames)
    if travel == 0:
        return 1.0
    if not sizes.min() > 0:
        row = int(np.argmin(sizes))
        raise InvalidInput(f"Row {row} of radius is 0; no factor makes that larger. Use choque.interest.Skinned.")
    # A step beyond what was divided, so that no rounding of k times a radius can fall short.
    factor = 1.0 + travel / float(sizes.min()) * (1 + 2.0**-40) + 2.0**-48
    if not math.isfinite(factor):
        raise InvalidInput(
            f"radius goes down to {sizes.min():g}, too small beside a displacement of {displacement:g} for any factor. "
            "Use choque.interest.Skinned."
        )
    return factor


class Skinned:
    """Runs a broad phase once in several frames and tests its few candidates in the others; misses no pair.

    Parameters
    ----------
    bounds
        The bodies.
    displacement
        About how far a body moves in one frame.
    frames
        For how many frames one run is to serve.
    method
        The name of the broad phase.
    closed
        True: touching counts.
    options
        Those of the method.

    Notes
    -----
    The broad phase is given boxes that are larger by the travel of ``frames - 1`` steps on every side. As long as every
    body lies in its larger box, any two that touch are among its pairs; that is checked at each update by
    comparisons alone, so a body that is faster than was said costs a run and not a pair. `pairs` are those of the
    bounds themselves, exactly. Memory is that of the method and of the candidates.

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
        method: str = "auto",
        closed: bool = True,
        **options: Any,
    ) -> None:
        check_kind(bounds)
        self._margin = _travel(displacement, frames)
        self._closed = closed
        self._bounds = bounds
        self._fat = self._fattened(bounds)
        self.broad = create(method, self._fat, closed=closed, **options)
        """The broad phase over the larger boxes."""
        self.frame_count = 1
        """How many frames were seen, the first included."""
        self.run_count = 1
        """In how many of them the broad phase ran."""
        self._pairs: Pairs | None = None

    def __len__(self) -> int:
        return len(self._bounds)

    def update(self, bounds: Bounds) -> None:
        """Give every body a new volume."""
        check_kind(bounds)
        if len(bounds) != len(self) or bounds.dimension != self._fat.dimension:
            raise InvalidInput(
                f"update was given {len(bounds)} volumes in {bounds.dimension}D for {len(self)} bodies in "
                f"{self._fat.dimension}D; give one for each."
            )
        boxes = bounds.boxes()
        if not ((boxes.lower >= self._fat.lower).all() and (boxes.upper <= self._fat.upper).all()):
            self._fat = self._fattened(bounds)
            self.broad.update(self._fat)
            self.run_count += 1
        self.frame_count += 1
        self._bounds, self._pairs = bounds, None

    def pairs(self) -> Pairs:
        """All overlapping pairs now: (m, 2) int32, smaller row first, sorted."""
        if self._pairs is None:
            candidates = self.broad.pairs()
            self._pairs = candidates[self._bounds.overlap(candidates, closed=self._closed)]
        return self._pairs

    def _fattened(self, bounds: Bounds) -> Boxes:
        boxes = bounds.boxes()
        if self._margin == 0:
            return boxes
        lower, upper = boxes.lower.astype(np.float64), boxes.upper.astype(np.float64)
        with np.errstate(over="ignore"):
            lower, upper = np.nextafter(lower - self._margin, -np.inf), np.nextafter(upper + self._margin, np.inf)
        return Boxes(narrow_down(lower, boxes.dtype), narrow_up(upper, boxes.dtype))


def _travel(displacement: float, frames: int) -> float:
    """How far a body gets before the last of ``frames``."""
    if (
        isinstance(displacement, bool)
        or not isinstance(displacement, Real)
        or not (displacement >= 0 and math.isfinite(displacement))
    ):
        raise InvalidInput(f"displacement is {displacement!r}; it must be a finite number of at least 0.")
    if isinstance(frames, bool) or not isinstance(frames, Integral) or frames < 1:
        raise InvalidInput(f"frames is {frames!r}; it must be a whole number of at least 1.")
    return float(displacement) * (int(frames) - 1)

"""A frame of equal cells laid over the bulk of a scene, for sweeps that are done cell by cell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats

SAMPLE_MOST = 1024
"""So many boxes speak for all of them: a frame decides about speed alone."""

OUTLIER_SHARE = 256
"""One box in so many, at each end of an axis, may lie outside the cells: it belongs to the nearest one."""

GIANT_SHARE = 64
"""One box in so many is left out, the largest first, where a typical edge is asked for."""


@dataclass(frozen=True)
class CellFrame:
    """Cells along each axis; what lies outside belongs to the nearest cell, so any frame is right for any scene.

    Attributes
    ----------
    origin, per_unit
        (3,) float64: the lower corner of the first cell, and the cells per unit of length (finite and above zero).
    counts
        (3,) int64: the cells along each axis.
    """

    origin: NDArray[np.float64]
    per_unit: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def over(cls, lowest: NDArray[np.float64], highest: NDArray[np.float64], counts: NDArray[np.int64]) -> CellFrame:
        """``counts`` cells from ``lowest`` to ``highest``; one where an axis has no length that floats can divide."""
        with np.errstate(all="ignore"):
            per_unit = counts / (highest - lowest)
        divisible = np.isfinite(per_unit) & (per_unit > 0)
        return cls(lowest, np.where(divisible, per_unit, 1.0), np.where(divisible, counts, 1))

    @property
    def cell_count(self) -> int:
        """The number of all cells."""
        return int(self.counts.prod())


def sample_of(records: Floats) -> NDArray[np.float64]:
    """(6, k) columns of at most 1,024 ``records`` (n, 6), spread without a period that a lattice could share."""
    count = len(records)
    if count > SAMPLE_MOST:
        records = records[np.arange(SAMPLE_MOST) * 2_654_435_761 % count]
    return records.T.astype(np.float64, order="C")


def bulk_of(sample: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The corners of the box in which nearly all lower corners of the ``sample`` (6, k) lie."""
    corners = np.zeros((2, 3))
    for axis in range(3):
        values = np.sort(sample[axis])
        values = values[np.isfinite(values)]
        if values.size:
            skipped = values.size // OUTLIER_SHARE
            corners[:, axis] = values[skipped], values[-1 - skipped]
    return corners[0], corners[1]


def typical_edges(sample: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean edge on each axis of all but the largest and the infinite boxes of the ``sample`` (6, k)."""
    edges = np.zeros(3)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sort(sample[3:] - sample[:3], axis=1)
        for axis in range(3):
            finite = lengths[axis, np.isfinite(lengths[axis])]
            if finite.size:
                edges[axis] = max(finite[: finite.size - finite.size // GIANT_SHARE].mean(), 0.0)
    return edges


def within_budget(wanted: NDArray[np.float64], budget: float) -> NDArray[np.int64]:
    """Cell counts in the proportions of ``wanted`` (3,), each at least one, their product at most ``budget``."""
    budget = max(budget, 1.0)
    counts = np.clip(np.nan_to_num(wanted, nan=1.0, posinf=budget), 1.0, budget)
    for _ in range(3):  # an axis that falls to one cell leaves the rest of the cut to the others
        several = counts > 1.0
        excess = counts.prod() / budget
        if excess > 1.0:
            counts = np.maximum(np.where(several, counts / excess ** (1.0 / several.sum()), 1.0), 1.0)
    return counts.astype(np.int64)

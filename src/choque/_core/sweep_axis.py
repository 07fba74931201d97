"""The axis of a sweep: the direction of a k-DOP along which the centres of bodies spread most.

By principal components of the centres; looked for again after some updates, or when the spread along it has shrunk. The
choice affects the number of tests and never the pairs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choque._core.jacobi import jacobi
from choque._core.kernel import kernel
from choque._core.types import F64, I64, Floats, Integer

MAX_SAMPLE = 1024  # sample size for deciding whether to look for another axis

MAX_PRINCIPAL_SAMPLE = 1 << 14
"""Sample size for the principal axis, evenly taken: accurate to a small fraction of a degree."""

MIN_SPREAD = 0.5
"""Another axis is looked for when the variance along the present one falls below this fraction of the largest."""

AXIS_PERIOD = 30  # default number of updates after which the axis is looked for again


class SweepAxis:
    """One of the directions of a k-DOP, by principal components of the centres.

    After ``period`` updates it is looked for again, sooner if the centres spread little along it; None for never.
    """

    def __init__(self, period: int | None = AXIS_PERIOD) -> None:
        self.period = period
        self.slab = 0  # row of the chosen direction
        # (number of the update, axis as whole numbers) for each change of the axis
        self.changes: tuple[tuple[int, tuple[int, ...]], ...] = ()
        self._chosen_at = self._chosen_among = 0

    @property
    def direction(self) -> tuple[int, ...]:
        """The axis as whole numbers."""
        return self.changes[-1][1]

    def choose(self, records: Floats, dimension: int, along: I64, update: int) -> None:
        """Look for the axis among ``along`` (m, 3) if it is due; keep the present one if the centres do not decide.

        ``records`` (n, 6) are lower and upper corners; ``update`` is the number of the update.
        """
        if self._chosen_among == len(along) and not self._is_time(records, along, update):
            return
        if self._chosen_among != len(along):
            self.slab = 0
        self._chosen_at, self._chosen_among = update, len(along)
        vector = self._principal_direction(records, dimension)
        if vector is not None:
            self.slab = nearest_direction(vector, along)
        axis = tuple(along[self.slab].tolist())
        if not self.changes or axis != self.direction:
            self.changes = (*self.changes, (update, axis))

    def _principal_direction(self, records: Floats, dimension: int) -> F64 | None:
        return principal_direction(records, dimension)

    def _is_time(self, records: Floats, along: I64, update: int) -> bool:
        if self.period is None or update == self._chosen_at:
            return False
        is_old = update - self._chosen_at >= self.period
        return is_old or spread_share(records, self.slab, along) < MIN_SPREAD


def principal_direction(records: Floats, dimension: int, *, centred: bool = True) -> F64 | None:
    """Return the unit vector (3,) along which the centres of ``records`` (n, 6) spread most, by principal components.

    None if there is no such vector: no centre is finite, all are at one point, or their squares overflow. Without
    ``centred`` the second moments are about the origin instead of the mean.
    """
    matrix = np.zeros((3, 3))
    _second_moments(records, max(1, len(records) // MAX_PRINCIPAL_SAMPLE), centred, matrix)
    matrix[dimension:] = matrix[:, dimension:] = 0.0
    values, vectors = np.empty(3), np.empty((3, 3))
    if not np.isfinite(matrix).all() or not jacobi(matrix, values, vectors):
        return None
    widest = int(np.argmax(values))
    return vectors[widest] if values[widest] > 0 else None


def nearest_direction(vector: F64, directions: I64) -> int:
    """Return which of ``directions`` (m, d) is nearest to ``vector`` or its opposite; the first of equals."""
    units = directions / np.linalg.norm(directions, axis=1)[:, None]
    along = np.abs(units @ vector[: directions.shape[1]])
    return int(np.argmax(along > along.max() - 1e-9))


def spread_share(records: Floats, slab: int, directions: I64) -> float:
    """Return the variance of the centres along ``directions[slab]`` as a fraction of the largest, from a sample."""
    units = np.zeros((len(directions), 3))
    units[:, : directions.shape[1]] = directions / np.linalg.norm(directions, axis=1)[:, None]
    variances = np.empty(len(units))
    _sample_variances(records, units, max(1, len(records) // MAX_SAMPLE), variances)
    largest = float(variances.max())
    return float(variances[slab]) / largest if 0 < largest < np.inf else 1.0


@kernel
def _second_moments(records: Any, step: Integer, centred: bool, matrix: F64) -> None:
    """Write the mean products of the coordinates of every ``step``-th finite centre to the upper half of ``matrix``."""
    mean, centre = np.zeros(3), np.empty(3)
    for turn in range(2):  # the mean first: subtracting it afterwards loses precision far from the origin
        count = 0
        for row in range(0, records.shape[0], step):
            finite = True
            for axis in range(3):
                centre[axis] = 0.5 * np.float64(records[row, axis]) + 0.5 * np.float64(records[row, axis + 3])
                finite &= abs(centre[axis]) < np.inf
            if not finite:
                continue
            count += 1
            for axis in range(3):
                if turn == 0:
                    mean[axis] += centre[axis]
                else:
                    for other in range(axis, 3):
                        matrix[axis, other] += (centre[axis] - mean[axis]) * (centre[other] - mean[other])
        for axis in range(3):
            if turn == 0:
                mean[axis] = mean[axis] / count if centred and count > 0 else 0.0
            else:
                for other in range(axis, 3):
                    matrix[axis, other] /= max(count, 1)


@kernel
def _sample_variances(records: Any, units: F64, step: Integer, variances: F64) -> None:
    """Write the variance of every ``step``-th finite centre along each of ``units`` (m, 3)."""
    for slab in range(len(units)):
        p, q, r = units[slab, 0], units[slab, 1], units[slab, 2]
        count = 0
        origin = total = square = 0.0
        for row in range(0, records.shape[0], step):
            x = 0.5 * np.float64(records[row, 0]) + 0.5 * np.float64(records[row, 3])
            y = 0.5 * np.float64(records[row, 1]) + 0.5 * np.float64(records[row, 4])
            z = 0.5 * np.float64(records[row, 2]) + 0.5 * np.float64(records[row, 5])
            along = p * x + q * y + r * z
            if abs(along) < np.inf:
                if count == 0:
                    origin = along
                count += 1
                total += along - origin
                square += (along - origin) * (along - origin)
        variances[slab] = (square - total * total / count) / count if count > 0 else 0.0

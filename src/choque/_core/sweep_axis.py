"""The axis along which volumes are swept: where their centres spread most, looked for again from time to time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.principal import SPREAD_LEAST, nearest_direction, principal_direction, spread_share
from choque._core.types import Floats

AXIS_PERIOD = 30
"""After so many updates the axis is looked for again."""


class SweepAxis:
    """One of the directions of a k-DOP, by principal components of the centres.

    Parameters
    ----------
    period
        Updates after which it is looked for again, sooner if the centres spread little along it; None for once.
    centred
        Whether spread is about the mean of the centres, not about the origin.

    Attributes
    ----------
    slab
        The row of the chosen direction.
    changes
        (after how many updates, the axis as whole numbers) for each time that another was chosen.
    """

    def __init__(self, period: int | None = AXIS_PERIOD, centred: bool = True) -> None:
        self.period, self.centred = period, centred
        self.slab = 0
        self.changes: tuple[tuple[int, tuple[int, ...]], ...] = ()
        self._chosen_at = self._chosen_among = 0

    @property
    def direction(self) -> tuple[int, ...]:
        """The axis, as whole numbers."""
        return self.changes[-1][1]

    def choose(self, records: Floats, dimension: int, along: NDArray[np.int64], update: int) -> None:
        """Look for the axis among ``along`` (m, 3) if it is time to; one that nothing speaks for is kept.

        ``records`` (n, 6) are lower and upper corners; ``update`` is the number of the update.
        """
        if self._chosen_among == len(along) and not self._is_time(records, along, update):
            return
        if self._chosen_among != len(along):
            self.slab = 0
        self._chosen_at, self._chosen_among = update, len(along)
        vector = principal_direction(records, dimension, self.centred)
        if vector is not None:
            self.slab = nearest_direction(vector, along)
        axis = tuple(along[self.slab].tolist())
        if not self.changes or axis != self.direction:
            self.changes = (*self.changes, (update, axis))

    def _is_time(self, records: Floats, along: NDArray[np.int64], update: int) -> bool:
        if self.period is None or update == self._chosen_at:
            return False
        is_old = update - self._chosen_at >= self.period
        return is_old or spread_share(records, self.slab, along) < SPREAD_LEAST

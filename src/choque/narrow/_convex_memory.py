"""What is remembered about pairs from frame to frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Pairs


class Axes:
    """Axes that parted pairs of bodies, or nearly did."""

    def __init__(self) -> None:
        self.keys = np.empty(0, np.int64)
        """(m,) pairs as one number each, ascending."""
        self.axis = np.empty((0, 3))
        """(m, 3)."""

    def recall(self, pairs: Pairs) -> NDArray[np.float64]:
        """(k, 3) what is remembered of these pairs (k, 2), 0 where nothing is."""
        keys = _keys(pairs)
        axis = np.zeros((len(pairs), 3))
        if len(self.keys):
            place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            is_known = self.keys[place] == keys
            axis[is_known] = self.axis[place[is_known]]
        return axis

    def remember(self, pairs: Pairs, axis: NDArray[np.float64]) -> None:
        """Keep the ``axis`` (k, 3) of each of these pairs and forget all others."""
        keys = _keys(pairs)
        order: Any = slice(None)
        if len(keys) > 1 and not (keys[1:] > keys[:-1]).all():
            order = np.argsort(keys, kind="stable")
        self.keys, self.axis = keys[order], axis[order]


def _keys(pairs: Pairs) -> NDArray[np.int64]:
    wide = pairs.astype(np.int64)
    return np.asarray(wide[:, 0] << 32 | wide[:, 1])

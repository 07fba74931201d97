"""Where bodies touch, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from choque._core.types import Floats, Pairs, Rows


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts between bodies, in the order of their pairs.

    Attributes
    ----------
    pairs
        (m, 2) int32: the two bodies, smaller first, sorted.
    point
        (m, 3): in the middle of the overlap.
    normal
        (m, 3): of unit length, from the first body toward the second.
    depth
        (m,): how far they overlap along the normal, positive.
    """

    pairs: Pairs
    point: Floats
    normal: Floats
    depth: Floats

    def __len__(self) -> int:
        return len(self.pairs)

    @classmethod
    def none(cls, dtype: type[np.floating] = np.float64) -> Self:
        """No contacts at all."""
        return cls(np.empty((0, 2), np.int32), np.empty((0, 3), dtype), np.empty((0, 3), dtype), np.empty(0, dtype))

    def take(self, rows: Rows) -> Self:
        """The contacts in these rows."""
        return type(self)(self.pairs[rows], self.point[rows], self.normal[rows], self.depth[rows])

"""Which cell of a regular division of an axis holds a coordinate."""

from __future__ import annotations

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Index


@kernel
def cell_along(value: float, origin: float, per_unit: float, cells: int) -> Index:
    """The cell of ``value`` on one axis: monotone in it, which is all that correctness rests on."""
    position = (value - origin) * per_unit
    return np.int64(max(0.0, min(position, cells - 1.0)))

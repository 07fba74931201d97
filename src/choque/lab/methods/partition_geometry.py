"""The centre of a body on one axis, by which partition trees cut."""

from __future__ import annotations

import numpy as np

from choque._core.kernel import kernel

FARTHEST = 4e307
"""Middles are kept this near to zero, so that the difference of two of them is finite."""


@kernel
def middle_along(lower: float, upper: float) -> float:
    """Return the centre of a body on one axis; its finite bound if the other is infinite, NaN if both are."""
    if upper < lower:
        upper = lower  # an empty half-open body is where it begins
    middle = 0.5 * float(lower) + 0.5 * float(upper)
    if not -np.inf < middle < np.inf:
        if -np.inf < lower < np.inf:
            middle = float(lower)
        elif -np.inf < upper < np.inf:
            middle = float(upper)
        else:
            return np.nan
    if middle > FARTHEST:
        return FARTHEST
    return middle if middle > -FARTHEST else -FARTHEST

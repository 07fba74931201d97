"""Where a convex function along a segment is least, from its slope at a few places.

Half the slope of a squared distance rises linearly between a few known places. Each of them tells by the sign of the
slope on which side of it the minimum lies; between what remains the slope is linear.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from choque._core.kernel import helper

Stretch: TypeAlias = tuple[float, float, float, float, float, float]
"""Where the minimum lies, left and right, with the slope there; and from where to where the function is flat."""


@helper
def whole(half: float, left_slope: float, right_slope: float, tolerance: float) -> Stretch:
    """The stretch from −``half`` to ``half``."""
    flat_from, flat_to = math.inf, -math.inf
    if abs(left_slope) <= tolerance:
        flat_from, flat_to = -half, -half
    if abs(right_slope) <= tolerance:
        flat_from, flat_to = min(flat_from, half), half
    return -half, left_slope, half, right_slope, flat_from, flat_to


@helper
def narrowed(stretch: Stretch, place: float, slope: float, tolerance: float) -> Stretch:
    """The stretch once the slope at a ``place`` within the segment is known."""
    left, left_slope, right, right_slope, flat_from, flat_to = stretch
    if slope < 0.0 and place > left:
        left, left_slope = place, slope
    elif slope >= 0.0 and place < right:
        right, right_slope = place, slope
    if abs(slope) <= tolerance:
        flat_from, flat_to = min(flat_from, place), max(flat_to, place)
    return left, left_slope, right, right_slope, flat_from, flat_to


@helper
def lowest(stretch: Stretch) -> tuple[float, float]:
    """Where the function is least, and the middle of where it is flat: the same place unless it is."""
    left, left_slope, right, right_slope, flat_from, flat_to = stretch
    if left_slope >= 0.0:
        place = left
    elif right_slope <= 0.0:
        place = right
    else:
        place = left - left_slope * (right - left) / (right_slope - left_slope)
    return place, 0.5 * (flat_from + flat_to) if flat_from < flat_to else place

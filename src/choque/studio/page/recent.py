"""The usual value of something that is measured again and again: the median of the latest times."""

from __future__ import annotations

from collections import deque
from statistics import median

KEPT = 60
"""How many of the latest are looked at."""


class Recent:
    """Keeps the latest values of a quantity.

    The median is what a panel shows: a step in which something is loaded or compiled, or the machine was busy, takes a
    thousand times as long as others, and would be seen in a mean for minutes.
    """

    def __init__(self) -> None:
        self._values: deque[float] = deque(maxlen=KEPT)

    def note(self, value: float) -> None:
        """Add one."""
        self._values.append(value)

    @property
    def usual(self) -> float:
        """The median; 0 before the first."""
        return median(self._values) if self._values else 0.0

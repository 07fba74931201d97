"""All pairs by oriented boxes."""

from __future__ import annotations

from typing import ClassVar

from choque._core.types import Pairs
from choque.bounds import OrientedBoxes
from choque.broad._brute import Brute


class BruteObb(Brute):
    """Tests every pair of boxes, and those that overlap by their oriented boxes.

    Guarantees: equals the all-pairs test of the oriented boxes it was given (15 axes, no false negatives); any other
    bounds count as the boxes around them. n(n − 1)/2 box tests, and one oriented test for each hit; O(n) memory
    beside the answer. The box test first is no shortcut in the result: an oriented box lies inside the box around it.
    """

    name: ClassVar[str] = "brute-obb"
    keeps_bounds: ClassVar[bool] = True

    def pairs(self) -> Pairs:
        """Return the pairs whose oriented boxes overlap."""
        found = super().pairs()
        return self.meeting(found) if isinstance(self.table.bounds, OrientedBoxes) else found

"""Sweep and prune on three axes, and oriented boxes for what it leaves."""

from __future__ import annotations

from typing import ClassVar

from choque._core.pair_sets import Change, apply_change
from choque._core.types import Floats, Pairs
from choque.bounds import OrientedBoxes
from choque.broad._sap_incremental import SapIncremental


class SapObb(SapIncremental):
    """Follows the boxes around oriented boxes by exchanges of end points, and tests by 15 axes those that overlap.

    Guarantees: equals the all-pairs test of the oriented boxes it was given (no false negatives); any other bounds
    count as the boxes around them, so given `Boxes` it is ``sap-incremental``. An update costs what it costs there,
    and one oriented test for each pair of boxes when pairs are asked for: ``counters.filtered`` counts the tests,
    ``counters.filter_seconds`` times them. 8 bytes beside the sweep for each pair of boxes.

    Boxes along the axes and boxes along the bodies reject different pairs. Where C is the time of the sweep, b the
    pairs of boxes, B the time of an oriented test and o exact tests of time O are left, a frame costs C + bB + oO; the
    filter pays where O/B > b/(b − o). The sweep is that of Terdiman, "Sweep-and-prune", 2007; the test that of
    Gottschalk, Lin and Manocha, "OBBTree", 1996.
    """

    name: ClassVar[str] = "sap-obb"
    uses_tighter_bounds: ClassVar[bool] = True
    follows_moves: ClassVar[bool] = False  # a pair of boxes that stays may begin or end by its oriented boxes

    def _build(self) -> None:
        super()._build()
        self._candidates = super()._found()
        self._is_oriented = isinstance(self._bounds, OrientedBoxes)

    def _updated(self, previous: Floats) -> Change | None:
        was_oriented, self._is_oriented = self._is_oriented, isinstance(self._bounds, OrientedBoxes)
        change = super()._updated(previous)
        if change is None:
            self._candidates = super()._found()
        else:
            self._candidates = apply_change(self._candidates, change)
        return None if was_oriented or self._is_oriented else change

    def _found(self) -> Pairs:
        return self._candidates

    def _refine(self, found: Pairs) -> Pairs:
        return self._tighter(found) if self._is_oriented else found

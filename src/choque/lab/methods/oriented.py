"""Tests of oriented boxes after those of the boxes around them: by sweep and prune, and of all pairs."""

from __future__ import annotations

from typing import ClassVar

from choque._core.emission import Sink
from choque._core.pair_keys import pack_pairs
from choque._core.pair_sets import Change, apply_change
from choque._core.types import Floats, Pairs
from choque.bounds import OrientedBoxes
from choque.broad.brute import Brute
from choque.broad.index import Index
from choque.broad.sap_incremental import SapIncremental
from choque.broad.structure import Structure


class BruteObb(Brute):
    """Tests every pair of boxes, and those that overlap by their oriented boxes.

    Guarantees: equals the all-pairs test of the oriented boxes it was given (15 axes, no false negatives); any other
    bounds count as the boxes around them. n(n − 1)/2 box tests, and one oriented test for each hit; O(n) memory
    beside the answer. The box test first does not change the result: an oriented box lies inside the box around it.
    """

    name: ClassVar[str] = "brute-obb"
    keeps_bounds: ClassVar[bool] = True
    suited_bounds: ClassVar[str] = "oriented"

    def pairs(self) -> Pairs:
        """Return the pairs whose oriented boxes overlap."""
        found = super().pairs()
        return self.meeting(found) if isinstance(self.table.bounds, OrientedBoxes) else found


class SapObb(Index):
    """Follows the boxes around oriented boxes by exchanges of end points, and tests by 15 axes those that overlap.

    Guarantees: equals the all-pairs test of the oriented boxes it was given (no false negatives); any other bounds
    count as the boxes around them, so given `Boxes` it is ``sap-incremental``. An update costs what it costs there,
    and one oriented test for each pair of boxes when pairs are requested: ``counters.filtered`` counts the tests,
    ``counters.filter_seconds`` times them. 8 bytes beside the sweep for each pair of boxes.

    Boxes along the axes and boxes along the bodies reject different pairs. Where C is the time of the sweep, b the
    pairs of boxes, B the time of an oriented test and o exact tests of time O are left, a frame costs C + bB + oO; the
    filter pays where O/B > b/(b − o). The sweep is that of Terdiman, "Sweep-and-prune", 2007; the test that of
    Gottschalk, Lin and Manocha, "OBBTree", 1996.
    """

    name: ClassVar[str] = "sap-obb"
    keeps_bounds: ClassVar[bool] = True
    suited_bounds: ClassVar[str] = "oriented"

    def build(self) -> None:
        """Build the sweep and find the pairs of boxes."""
        self._sweep = SapIncremental().over(self.table, self.counters)
        self._candidates = self._sweep.pairs()
        self._is_oriented = isinstance(self.table.bounds, OrientedBoxes)

    def update(self, previous: Floats) -> Change | None:  # noqa: ARG002
        """Follow by exchanges. A pair of boxes that stays may begin or end by its oriented boxes."""
        was_oriented, self._is_oriented = self._is_oriented, isinstance(self.table.bounds, OrientedBoxes)
        self._sweep, change = self._sweep.after(self.table)
        if change is None:
            self._candidates = self._sweep.pairs()
        else:
            self._candidates = apply_change(self._candidates, change)
        return None if was_oriented or self._is_oriented else change

    def emit(self, sink: Sink) -> None:
        """Write the pairs of boxes."""
        sink.add(pack_pairs(self._candidates))

    def pairs(self) -> Pairs:
        """Return the pairs whose oriented boxes overlap."""
        return self.meeting(self._candidates) if self._is_oriented else self._candidates

    def structure(self) -> Structure:
        """Return the end points in order, and the order of a sweep of them."""
        return self._sweep.structure()

    @property
    def byte_count(self) -> int:
        """The bytes of the sweep and of the pairs of boxes."""
        return self._sweep.byte_count + self._candidates.nbytes

"""The incremental sweep of the kinetic thesis, which finds all pairs again whenever the order has changed."""

from __future__ import annotations

from typing import ClassVar

from choque._core.pair_sets import Change
from choque._core.types import Floats
from choque.broad.sap_incremental import SapIncremental


class SapRecompute(SapIncremental):
    """Keeps end points sorted, as ``sap-incremental`` does, but does not read the pairs off the exchanges.

    When an update has changed the order anywhere, all pairs are found again by a sweep; `recomputations` counts how
    often. A move follows exchanges.

    Notes
    -----
    Guarantees: exact in both topologies, in the memory of ``sap-incremental``. An update that changes the order costs
    a sweep of all boxes.
    """

    name: ClassVar[str] = "sap-recompute"

    def __init__(self) -> None:
        super().__init__()
        self.recomputations = 0

    def update(self, previous: Floats) -> Change | None:
        """Sort again by exchanges; if there were any, leave the pairs to a sweep."""
        self._values, self.ends = self._values.copy(), self.ends.copy()  # the state before keeps its own
        exchanges = self.counters.exchanges
        unchanged = self.sort_again(previous, judging=False)
        if self.counters.exchanges == exchanges:
            return unchanged
        self.recomputations += 1
        return None

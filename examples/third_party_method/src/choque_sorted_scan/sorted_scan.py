"""Sort along x, then scan each box forward for as long as the intervals overlap."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from choque._core.kernel import kernel
from choque.broad import Index, Sink


class SortedScan(Index):
    """Sweeps the first axis.

    Guarantees: exact, both topologies; O(n log n + k) for k pairs of intervals that overlap on x; O(n) memory
    beside the answer. It is the sweep of Baraff, "Dynamic Simulation of Non-Penetrating Rigid Bodies", 1992.
    """

    name: ClassVar[str] = "sorted-scan"

    def build(self) -> None:
        """Sort the boxes by where they start on x."""
        # A half-open box of no size has its upper bound one rounding step below its lower one.
        start = np.minimum(self.records[:, 0], self.records[:, 3])
        self._order = np.argsort(start, kind="stable")
        self._start = start[self._order]
        self._sorted = self.records[self._order]

    def emit(self, sink: Sink) -> None:
        """Scan each box forward."""
        sink.run(scan, len(self), self._sorted, self._start, self._order)


@kernel
def scan(first: int, last: int, chunk: Any, boxes: Any, start: Any, order: Any) -> tuple[int, int, int]:
    """Write the pairs of boxes first … last − 1 with later ones; stop before one whose pairs might not fit."""
    written = 0
    tests = 0
    for a in range(first, last):
        reach = max(boxes[a, 0], boxes[a, 3])
        end = a + 1
        while end < start.size and start[end] <= reach:
            end += 1
        if written + end - a > chunk.size:
            return a, written, tests
        tests += end - a - 1
        for b in range(a + 1, end):
            meet = True
            for axis in range(3):
                meet &= boxes[a, axis] <= boxes[b, axis + 3] and boxes[b, axis] <= boxes[a, axis + 3]
            low = min(order[a], order[b])
            high = max(order[a], order[b])
            chunk[written] = (np.uint64(low) << np.uint64(32)) | np.uint64(high)
            written += meet
    return last, written, tests

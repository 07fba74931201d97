"""A sweep along one axis: each box is tested against those that start after it and before it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.overlap import BLOCK, columns_meet, is_any, padded_columns
from choque._core.types import Floats, Keys, Rows
from choque.broad.sweep_order import Order


@dataclass(frozen=True)
class Line:
    """Boxes in the order of their lower bounds on the first axis.

    Attributes
    ----------
    columns
        (6, n + 64) lower, then upper bounds; the padding overlaps nothing.
    rows
        (n,) the row of each box.
    """

    columns: Floats
    rows: Order

    @classmethod
    def of(cls, boxes: Floats, rows: Order) -> Line:
        """Return the line of ``boxes`` (n, 6), which are in order."""
        return cls(padded_columns(boxes), rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.columns.nbytes + self.rows.nbytes

    def emit(self, sink: Sink) -> int:
        """Write the pairs of this line, and return the number of duplicates: 0."""
        self._run(sink, self, np.arange(1, len(self) + 1))
        return 0

    def emit_with(self, other: Line, sink: Sink) -> None:
        """Write the pairs of a box of this line and one of ``other``, a line in the same order."""
        # Of each pair the box that starts later is the one found; where both start together, that of ``other``.
        self._run(sink, other, self._starts_in(other, "left"))
        other._run(sink, self, other._starts_in(self, "right"))

    def _starts_in(self, other: Line, side: Literal["left", "right"]) -> Rows:
        return np.searchsorted(other.columns[0, : len(other)], self.columns[0, : len(self)], side)

    def _run(self, sink: Sink, other: Line, starts: Rows) -> None:
        sink.run(_sweep, len(self), self.columns, self.rows, other.columns, other.rows, starts)


@kernel
def _sweep(
    first: int, last: int, chunk: Keys, own: Any, own_rows: Order, other: Any, other_rows: Order, starts: Rows
) -> tuple[int, int, int]:
    """Test box i against those of ``other`` from ``starts[i]`` on that start before it ends, 64 at once."""
    count = other_rows.size
    lanes = (other[0], other[1], other[2], other[3], other[4], other[5])
    x0 = lanes[0]
    mask = np.empty(BLOCK, np.uint8)
    words = mask.view(np.uint64)
    written = 0
    tests = 0
    for i in range(first, last):
        box = (own[0, i], own[1, i], own[2, i], own[3, i], own[4, i], own[5, i])
        a1 = box[3]
        row = np.uint64(own_rows[i])
        begin = written
        tested = 0
        j = starts[i]
        while j < count and x0[j] <= a1:
            if written + BLOCK > chunk.size:
                return i, begin, tests
            columns_meet(lanes, j, box, mask)
            if is_any(words):
                for k in range(BLOCK):
                    if mask[k]:
                        found = np.uint64(other_rows[j + k])
                        chunk[written] = (min(row, found) << np.uint64(32)) | max(row, found)
                        written += 1
            tested += _count_started(x0[j:], min(BLOCK, count - j), a1)
            j += BLOCK
        tests += tested
    return last, written, tests


@kernel
def _count_started(lower: Any, count: int, end: float) -> int:
    """Return how many of the first ``count`` of the ascending ``lower`` are at most ``end``; the first one is."""
    if lower[count - 1] <= end:
        return count
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if lower[middle] <= end:
            low = middle
        else:
            high = middle
    return high

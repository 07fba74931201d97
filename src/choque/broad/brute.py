"""All pairs: by boxes, by oriented boxes, or untested."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.overlap import BLOCK, columns_meet, is_any, padded_columns
from choque._core.pair_keys import pair_key, unpack_pairs
from choque._core.types import Floats, Keys, Pairs
from choque.broad.index import Index


class Brute(Index):
    """Tests every pair of boxes.

    Guarantees: exact, both topologies; n(n − 1)/2 tests in any scene; O(n) memory beside the answer. The boxes
    are laid out in columns so that 64 are tested at once into a mask, and only blocks with a hit are looked at again:
    the layout of Terdiman, "Box pruning revisited", 2017.
    """

    name: ClassVar[str] = "brute"

    def build(self) -> None:
        """Lay the boxes out in columns."""
        self._columns = padded_columns(self.records)

    def emit(self, sink: Sink) -> None:
        """Test each box against those after it."""
        sink.run(_emit_rows, len(self), self._columns)


class BruteObb(Brute):
    """Tests every pair of boxes, and those that overlap by their oriented boxes.

    Guarantees: equals the all-pairs test of the oriented boxes it was given (15 axes, no false negatives); any other
    bounds count as the boxes around them. n(n − 1)/2 box tests, and one oriented test for each hit; O(n) memory
    beside the answer. The box test first does not change the result: an oriented box lies inside the box around it.
    """

    name: ClassVar[str] = "brute-obb"
    keeps_bounds: ClassVar[bool] = True

    def pairs(self) -> Pairs:
        """Return the pairs whose oriented boxes overlap."""
        from choque.bounds import OrientedBoxes  # not loaded for plain boxes

        found = super().pairs()
        return self.meeting(found) if isinstance(self.table.bounds, OrientedBoxes) else found


class AllPairs(Index):
    """Reports every pair that the filter allows and tests none: a narrow phase without a broad phase.

    Guarantees: contains every answer; n(n − 1)/2 pairs before filtering, no tests; memory is that of the answer.
    """

    name: ClassVar[str] = "all"

    def build(self) -> None:
        """Build nothing."""

    def emit(self, sink: Sink) -> None:
        """Write each row with those after it."""
        sink.run(_emit_all, len(self), len(self))


def list_few(records: Floats) -> Pairs:
    """Return the sorted pairs of a few boxes by one kernel, at the least cost. O(n²) memory."""
    count = len(records)
    chunk: Keys = np.empty(count * (count + 1) // 2, np.uint64)
    _, written, _ = _emit_rows(0, count, chunk, padded_columns(records))
    return unpack_pairs(chunk[:written])


@kernel
def _emit_rows(first: int, last: int, chunk: Keys, columns: Any) -> tuple[int, int, int]:
    count = columns.shape[1] - BLOCK
    lanes = (columns[0], columns[1], columns[2], columns[3], columns[4], columns[5])
    mask = np.empty(BLOCK, np.uint8)
    words = mask.view(np.uint64)
    written = 0
    tests = 0
    for i in range(first, last):
        if written + count - i > chunk.size:
            return i, written, tests
        box = (lanes[0][i], lanes[1][i], lanes[2][i], lanes[3][i], lanes[4][i], lanes[5][i])
        tests += count - i - 1
        for j in range(i + 1, count, BLOCK):
            columns_meet(lanes, j, box, mask)
            if is_any(words):
                for k in range(BLOCK):
                    if mask[k]:
                        chunk[written] = pair_key(i, j + k)
                        written += 1
    return last, written, tests


@kernel
def _emit_all(first: int, last: int, chunk: Keys, count: int) -> tuple[int, int, int]:
    written = 0
    for i in range(first, last):
        if written + count - i - 1 > chunk.size:
            return i, written, 0
        for j in range(i + 1, count):
            chunk[written] = pair_key(i, j)
            written += 1
    return last, written, 0

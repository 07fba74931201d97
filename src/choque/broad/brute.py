"""All pairs: by boxes, or untested."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.lanes import append_pairs
from choque._core.overlap import AT_ONCE, PADDING, Columns, meeting
from choque._core.pair_keys import PairFilter, pair_key, unpack_pairs
from choque._core.types import Integer, Keys, Pairs
from choque.broad.index import Index

MAX_LISTED = 256  # up to this number of boxes, one kernel that lists all pairs takes less time than preparing a search


class Brute(Index):
    """Tests every pair of boxes.

    Guarantees: exact, both topologies; n(n − 1)/2 tests in any scene; O(n) memory beside the answer. The boxes
    are laid out in columns so that 32 are tested at once into a mask, and only blocks with a hit are looked at again:
    the layout of Terdiman, "Box pruning revisited", 2017.
    """

    name: ClassVar[str] = "brute"

    def build(self) -> None:
        """Lay the boxes out in columns."""
        self._columns = Columns.of(self.records)

    def emit(self, sink: Sink) -> None:
        """Test each box against those after it."""
        sink.run(_emit_rows, len(self), self._columns)

    def pairs(self) -> Pairs:
        """Return all pairs; few boxes need neither a sink nor sorting."""
        if len(self) > MAX_LISTED or type(self) is not Brute:  # others may emit other pairs, or into another sink
            return super().pairs()
        found, tests = list_few(self._columns, self.table.pair_filter)
        self.counters.tests += tests
        self.note_bytes(found.nbytes)
        return found


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


def list_few(columns: Columns, pair_filter: PairFilter | None = None) -> tuple[Pairs, int]:
    """Return the sorted pairs of a few boxes by one kernel, at the least cost, and the tests. O(n²) memory."""
    count = columns.numbers.size - PADDING
    chunk: Keys = np.empty(count * (count + 1) // 2 + 8, np.uint64)
    _, written, tests = _emit_rows(0, count, chunk, columns)
    kept = written if pair_filter is None else pair_filter.keep_allowed(chunk[:written])
    return unpack_pairs(chunk[:kept]), tests


@kernel
def _emit_rows(first: int, last: int, chunk: Keys, columns: Columns) -> tuple[int, int, int]:
    """Emission kernel: each box against those after it, 32 at a time; a unit is a box."""
    bounds, numbers = columns.bounds, columns.numbers
    stride = numbers.size
    count = stride - PADDING
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    for i in range(first, last):
        if written + count - i + 8 > chunk.size:  # up to eight places too many are written
            return i, written, tests
        tests += count - i - 1
        for j in range(i + 1, count, AT_ONCE):
            hits = meeting(bounds, j, stride, bounds, i, stride)
            if hits != 0:
                for place in range(j, j + AT_ONCE, 8):
                    written += append_pairs(chunk, written, numbers, place, np.uint32(i), hits & 255)
                    hits >>= 8
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

"""All pairs by boxes, in blocks and without branches: the oracle's fast twin."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_keys import unpack_pairs
from choque._core.types import Floats, Keys, Pairs
from choque.broad._columns import BLOCK, is_any, mark_overlaps, padded_columns
from choque.broad.index import Index


class Brute(Index):
    """Tests every pair of boxes.

    Guarantees: exact, both topologies; n(n − 1)/2 tests whatever the scene; O(n) memory beside the answer. The boxes
    are laid out in columns so that 64 are tested at once into a mask, and only blocks with a hit are looked at again:
    the layout of Terdiman, "Box pruning revisited", 2017.
    """

    name: ClassVar[str] = "brute"

    def build(self) -> None:
        self._columns = padded_columns(self.records)

    def emit(self, sink: Sink) -> None:
        sink.run(_emit_rows, len(self), self._columns)


def list_few(records: Floats) -> Pairs:
    """The pairs of a few boxes at the least cost: one kernel, whose order is the sorted one. O(n²) memory."""
    count = len(records)
    chunk: Keys = np.empty(count * (count + 1) // 2, np.uint64)
    _, written, _ = _emit_rows(0, count, chunk, padded_columns(records))
    return unpack_pairs(chunk[:written])


@kernel
def _emit_rows(first: int, last: int, chunk: Keys, columns: Any) -> tuple[int, int, int]:
    count = columns.shape[1] - BLOCK
    x0, y0, z0, x1, y1, z1 = columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
    mask = np.empty(BLOCK, np.uint8)
    words = mask.view(np.uint64)
    written = 0
    tests = 0
    for i in range(first, last):
        if written + count - i > chunk.size:
            return i, written, tests
        a0, b0, c0, a1, b1, c1 = x0[i], y0[i], z0[i], x1[i], y1[i], z1[i]
        tests += count - i - 1
        for j in range(i + 1, count, BLOCK):
            mark_overlaps(x0, y0, z0, x1, y1, z1, j, a0, b0, c0, a1, b1, c1, mask)
            if is_any(words):
                for k in range(BLOCK):
                    if mask[k]:
                        chunk[written] = (np.uint64(i) << np.uint64(32)) | np.uint64(j + k)
                        written += 1
    return last, written, tests

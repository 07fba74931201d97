"""All pairs by boxes, in blocks and without branches: the oracle's fast twin."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from choque._types import Floats, Keys, Pairs
from choque.broad._contract import BroadPhase
from choque.broad._emission import Sink
from choque.broad._sorting import unpack_pairs
from choque.kernel import kernel

BLOCK = 64


class Brute(BroadPhase):
    """Tests every pair of boxes.

    Guarantees: exact, both topologies; n(n − 1)/2 tests whatever the scene; O(n) memory beside the answer. The boxes
    are laid out in columns so that 64 are tested at once into a mask, and only blocks with a hit are looked at again:
    the layout of Terdiman, "Box pruning revisited", 2017.
    """

    name: ClassVar[str] = "brute"

    def _build(self) -> None:
        self._columns = padded_columns(self._records)

    def _emit(self, sink: Sink) -> None:
        sink.run(_emit_rows, len(self), self._columns)


def padded_columns(records: Floats) -> Floats:
    """(6, n + BLOCK) columns of ``records``; the padding overlaps nothing."""
    count = len(records)
    columns: Floats = np.empty((6, count + BLOCK), records.dtype)
    columns[:, :count] = records.T
    columns[:, count:] = np.nan  # no comparison with it holds, not even one with infinity
    return columns


def list_few(records: Floats) -> Pairs:
    """The pairs of a few boxes at the least cost: one kernel, whose order is the sorted one. O(n²) memory."""
    count = len(records)
    chunk: Keys = np.empty(count * (count + 1) // 2, np.uint64)
    _, written, _ = _emit_rows(0, count, chunk, padded_columns(records))
    return unpack_pairs(chunk[:written])


@kernel
def _emit_rows(first: int, last: int, chunk: Keys, columns: Any) -> tuple[int, int, int]:
    count = columns.shape[1] - 64
    x0, y0, z0, x1, y1, z1 = columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
    mask = np.empty(64, np.uint8)
    words = mask.view(np.uint64)
    written = 0
    tests = 0
    for i in range(first, last):
        if written + count - i > chunk.size:
            return i, written, tests
        a0, b0, c0, a1, b1, c1 = x0[i], y0[i], z0[i], x1[i], y1[i], z1[i]
        tests += count - i - 1
        for j in range(i + 1, count, 64):
            # Slices from a range keep the index from wrapping around, so that the loop is vectorised.
            s0, t0, u0 = x0[j : j + 64], y0[j : j + 64], z0[j : j + 64]
            s1, t1, u1 = x1[j : j + 64], y1[j : j + 64], z1[j : j + 64]
            for k in range(64):
                mask[k] = (s0[k] <= a1) & (s1[k] >= a0) & (t0[k] <= b1) & (t1[k] >= b0) & (u0[k] <= c1) & (u1[k] >= c0)
            if words[0] | words[1] | words[2] | words[3] | words[4] | words[5] | words[6] | words[7]:
                for k in range(64):
                    if mask[k]:
                        chunk[written] = (np.uint64(i) << np.uint64(32)) | np.uint64(j + k)
                        written += 1
    return last, written, tests

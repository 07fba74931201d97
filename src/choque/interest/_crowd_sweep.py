"""A sweep for few bodies in a crowd, without a branch on whether two of them overlap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.types import Integer, Keys
from choque.broad._sweep_line import Line
from choque.broad.sap_direct import SapDirect


class CrowdSweep(SapDirect):
    """`SapDirect` with an emission of its own where it sweeps along one line.

    In a small arena a box overlaps many of those that start before it ends, anywhere among them, so that asking for
    each costs more than writing each and going on by what the test says.
    """

    def emit(self, sink: Sink) -> None:
        """Sweep the line without branches, or the tiles as `SapDirect` does."""
        if isinstance(self._sweep, Line):
            sink.run(_sweep_crowd, len(self), self._sweep.columns, self._sweep.rows)
        else:
            super().emit(sink)


@kernel
def _sweep_crowd(first: int, last: int, chunk: Keys, columns: Any, rows: NDArray[np.uint32]) -> tuple[int, int, int]:
    """Emission kernel; a unit is a box in the order of the lower bounds on the first axis."""
    x0, y0, z0, x1, y1, z1 = columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
    mask = np.empty(32, np.uint8)
    words = mask.view(np.uint64)
    written: Integer = 0
    tests: Integer = 0
    for i in range(first, last):
        a0, b0, c0, a1, b1, c1 = x0[i], y0[i], z0[i], x1[i], y1[i], z1[i]
        row = np.uint64(rows[i])
        begin, tested = written, np.int64(0)
        j = i + 1
        while j < rows.size and x0[j] <= a1:
            if written + 32 > chunk.size:
                return i, begin, tests
            # Slices keep the index from wrapping around, so that the loop is vectorised.
            s0, t0, u0 = x0[j : j + 32], y0[j : j + 32], z0[j : j + 32]
            s1, t1, u1 = x1[j : j + 32], y1[j : j + 32], z1[j : j + 32]
            for k in range(32):
                mask[k] = (s0[k] <= a1) & (s1[k] >= a0) & (t0[k] <= b1) & (t1[k] >= b0) & (u0[k] <= c1) & (u1[k] >= c0)
            others = rows[j : j + 32]
            tested += others.size
            if words[0] | words[1] | words[2] | words[3]:
                for k in range(others.size):
                    chunk[written] = np.uint64(others[k])
                    written += np.int64(mask[k])
            j += 32
        found = chunk[begin:written]
        for k in range(found.size):
            other = found[k]
            found[k] = (min(row, other) << np.uint64(32)) | max(row, other)
        tests += tested
    return last, written, tests

"""Every pair, untested."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.types import Keys
from choque.broad.index import Index


class AllPairs(Index):
    """Reports every pair that the filter allows and tests none: a narrow phase without a broad phase.

    Guarantees: contains every answer; n(n − 1)/2 pairs before filtering, no tests; memory is that of the answer.
    """

    name: ClassVar[str] = "all"

    def build(self) -> None:
        pass

    def emit(self, sink: Sink) -> None:
        sink.run(_emit_rows, len(self), len(self))


@kernel
def _emit_rows(first: int, last: int, chunk: Keys, count: int) -> tuple[int, int, int]:
    written = 0
    for i in range(first, last):
        if written + count - i - 1 > chunk.size:
            return i, written, 0
        for j in range(i + 1, count):
            chunk[written] = (np.uint64(i) << np.uint64(32)) | np.uint64(j)
            written += 1
    return last, written, 0

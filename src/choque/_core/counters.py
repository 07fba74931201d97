"""What a broad phase counts while it works: figures that tests may gate on, the one in seconds left out."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields


@dataclass
class Counters:
    """Totals since the broad phase was created, or since `reset`."""

    tests: int = 0  #: Overlap tests between two bodies.
    exchanges: int = 0  #: Exchanges of neighbouring end points in a sorted list.
    events: int = 0  #: Certificate failures handled by a kinetic structure.
    duplicates: int = 0
    """Pairs met again after they had been reported once (a grid or tree that lists a body in several cells)."""
    filtered: int = 0  #: Tests of tighter bounds, after the boxes around them had overlapped.
    filter_seconds: float = 0.0  #: The time that those tests took: a figure to report, not to gate on.
    peak_bytes: int = 0
    """The most bytes held at once by the structure and its working arrays, the answer itself not counted."""

    def reset(self) -> None:
        """Set every total to zero."""
        for field in fields(self):
            setattr(self, field.name, field.default)

    @contextmanager
    def filtering(self, count: int) -> Iterator[None]:
        """Account for ``count`` tests of tighter bounds, done inside the context."""
        start = time.perf_counter()
        yield
        self.filter_seconds += time.perf_counter() - start
        self.filtered += count
        self.tests += count

    def note_bytes(self, held: int) -> None:
        """Remember ``held`` if it is more than was ever held before."""
        self.peak_bytes = max(self.peak_bytes, held)

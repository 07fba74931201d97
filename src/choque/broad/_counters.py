"""What a broad phase counts while it works: the figures that tests may gate on, because no clock is in them."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass
class Counters:
    """Totals since the broad phase was created, or since `reset`."""

    tests: int = 0
    """Overlap tests between two bodies."""
    swaps: int = 0
    """Exchanges of neighbouring end points in a sorted list."""
    events: int = 0
    """Certificate failures handled by a kinetic structure."""
    duplicates: int = 0
    """Pairs met again after they had been reported once (a grid or tree that lists a body in several cells)."""
    peak_bytes: int = 0
    """The most bytes held at once by the structure and its working arrays, the answer itself not counted."""

    def reset(self) -> None:
        """Set every total to zero."""
        for field in fields(self):
            setattr(self, field.name, 0)

    def note_bytes(self, held: int) -> None:
        """Remember ``held`` if it is more than was ever held before."""
        self.peak_bytes = max(self.peak_bytes, held)

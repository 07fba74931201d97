"""Clocks that pace a run: the real one, and one that a test can turn."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What paces a run."""

    def now(self) -> float:
        """Seconds since some moment."""
        ...

    def wait_until(self, moment: float) -> None:
        """Come back when the clock shows ``moment``, or at once if it is later already."""
        ...


class WallClock:
    """The clock of the machine; waiting is sleeping."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.perf_counter()

    def wait_until(self, moment: float) -> None:
        """Sleep until ``moment``."""
        remaining = moment - time.perf_counter()
        if remaining > 0:
            time.sleep(remaining)


class VirtualClock:
    """A clock that nobody waits for: waiting moves its hands."""

    def __init__(self) -> None:
        self._now = 0.0

    def now(self) -> float:
        """Seconds since it was made."""
        return self._now

    def wait_until(self, moment: float) -> None:
        """Show ``moment`` from now on, unless it is later already."""
        self._now = max(self._now, moment)

    def pass_by(self, seconds: float) -> None:
        """Let time go by, as work does."""
        self._now += seconds

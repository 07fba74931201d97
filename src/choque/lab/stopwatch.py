"""One clock for a whole run, read between its stages, so that the stages add up to the total."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

Clock = Callable[[], float]

WALL = "wall"
CLOCKS: dict[str, Clock] = {WALL: time.perf_counter, "processor": time.process_time}
"""Seconds of waiting, or seconds that processors spend in this process, which other processes hardly change."""

TOLERANCE = 0.05
"""Maximum share of the total that may belong to no stage."""
SLACK = 5e-6
"""Seconds that reading the clock may cost, which matter only for very short runs."""


@dataclass(frozen=True)
class Reading:
    """The times of one run [s]."""

    laps: Mapping[str, tuple[float, ...]]
    """The laps of each stage."""
    total: float
    """From start to stop, less what was skipped; measured separately from the laps."""
    stages: Mapping[str, float] = field(init=False)
    """For each stage, the sum of its laps."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "stages", {stage: sum(laps) for stage, laps in self.laps.items()})

    @property
    def adds_up(self) -> bool:
        """Whether the stages add up to the total within `TOLERANCE`."""
        return abs(self.total - sum(self.stages.values())) <= max(TOLERANCE * self.total, SLACK)

    def median(self, stage: str) -> float | None:
        """Return the median lap of a stage; None for a stage that did not occur."""
        return float(np.median(self.laps[stage])) if self.laps.get(stage) else None


class Stopwatch:
    """Adds the time since it was last read to a stage, or drops it.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> structure = sorted("choque")
    >>> watch.lap("create")
    >>> question = structure[:2]  # making the question is not part of what is measured
    >>> watch.skip()
    >>> found = question in (structure, ["c", "e"])
    >>> watch.lap("pairs")
    >>> list(watch.stop().stages)
    ['create', 'pairs']
    """

    def __init__(self, clock: Clock = time.perf_counter) -> None:
        self._clock = clock
        self._laps: dict[str, list[float]] = {}
        self._skipped = 0.0
        self._begin = self._mark = clock()

    def lap(self, stage: str) -> None:
        """Add the time since the last reading to ``stage``."""
        now = self._clock()
        self._laps.setdefault(stage, []).append(now - self._mark)
        self._mark = now

    def divide(self, parts: Mapping[str, float], whole: float) -> None:
        """Divide the time since the last reading among several stages, by their shares of ``whole``.

        For work that times its own stages, on any clock. What the parts leave of the whole goes to no stage, so
        that `Reading.adds_up` still holds.
        """
        now = self._clock()
        share = (now - self._mark) / whole if whole > 0 else 0.0
        for stage, seconds in parts.items():
            self._laps.setdefault(stage, []).append(seconds * share)
        self._mark = now

    def skip(self) -> None:
        """Drop the time since the last reading: it is not part of the total either."""
        now = self._clock()
        self._skipped += now - self._mark
        self._mark = now

    def stop(self) -> Reading:
        """End the run."""
        total = self._clock() - self._begin - self._skipped
        return Reading({stage: tuple(laps) for stage, laps in self._laps.items()}, total)

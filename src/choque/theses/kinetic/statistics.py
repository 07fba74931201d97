"""What a run of a simulation found and cost, and the text file that holds it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.files.atomic import replacing

PHASES = ("init", "sort", "collision", "events", "io")
"""The parts that a run's time is split into."""


@dataclass
class Statistics:
    """One run: its circumstances, its counts, its times, and its records."""

    method: str
    header: dict[str, Any]
    """Areas, density, duration, number of objects and the like."""
    counts: dict[str, int] = field(default_factory=dict)
    """Frames, recomputations, exchanges, simple and multiple events, pairs begun and ended: what the method has."""
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    """The time of each phase."""
    total: float = 0.0
    """The time of the whole run in seconds, writing included."""
    peak_bytes: int = 0
    """The most bytes that the structures held."""
    multiple: list[tuple[float, int, int, int]] = field(default_factory=list)
    """(time, axis, first slot, last slot) of each multiple event."""
    frames: list[tuple[float, NDArray[np.int32]]] = field(default_factory=list)
    """(time, pairs) of each frame, for the methods that look at frames."""
    events: list[tuple[float, str, tuple[int, int]]] = field(default_factory=list)
    """(time, "began" or "ended", pair), for the kinetic method."""

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time of a block to a phase."""
        begin = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += perf_counter() - begin

    def text(self) -> str:
        """The statistics file: ``key: value`` lines, an empty line, then a line for each record."""
        lines = [f"method: {self.method}"]
        lines += [f"{key}: {value}" for key, value in {**self.header, **self.counts}.items()]
        lines += [f"seconds {name}: {value:.6f}" for name, value in self.seconds.items()]
        lines += [f"seconds total: {self.total:.6f}", f"peak bytes: {self.peak_bytes}"]
        lines += [f"multiple: t={time!r} axis={axis} slots={first}-{last}" for time, axis, first, last in self.multiple]
        lines.append("")
        for number, (time, pairs) in enumerate(self.frames):
            lines.append(" ".join([str(number), repr(time), *(f"{a}-{b}" for a, b in pairs.tolist())]))
        lines += [f"{time!r} {kind} {a}-{b}" for time, kind, (a, b) in self.events]
        return "\n".join(lines) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics file, whole or not at all; the time that takes counts as the phase ``io``."""
        begin = perf_counter()
        with replacing(path) as handle:
            handle.write(self.text().encode())
        taken = perf_counter() - begin
        self.seconds["io"] += taken
        self.total += taken

"""One run of a method on a model: its interface, the messages to observers, and its statistics."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque.files.atomic import replacing
from choque.theses.kinetic.model import Model

PHASES = ("init", "sort", "collision", "events", "io")
"""The phases of a run."""


@dataclass
class Statistics:
    """One run: its settings, counts, times and records."""

    method: str
    header: dict[str, Any]
    """Areas, density, duration, number of objects and the like."""
    counts: dict[str, int] = field(default_factory=dict)
    """Frames, recomputations, exchanges, simple and multiple events, pairs begun and ended, as far as they apply."""
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    """The time of each phase [s]."""
    total: float = 0.0
    """The time of the whole run [s], writing included."""
    peak_bytes: int = 0
    """The maximum size of the structures [bytes]."""
    bytes: dict[str, int] = field(default_factory=dict)
    """The size of each structure at the end [bytes], for the kinetic method."""
    multiple: list[tuple[float, int, int, int]] = field(default_factory=list)
    """(time, axis, first slot, last slot) of each multiple event."""
    frames: list[tuple[float, NDArray[np.int32]]] = field(default_factory=list)
    """(time, pairs) of each frame, for frame methods."""
    initial: list[tuple[float, str, tuple[int, int]]] = field(default_factory=list)
    """(time, "overlap", pair) of each pair that overlaps from the start, for the kinetic method."""
    events: list[tuple[float, str, tuple[int, int]]] = field(default_factory=list)
    """(time, "began" or "ended", pair), for the kinetic method."""

    def timeline(self) -> Iterator[tuple[float, str, tuple[int, int]]]:
        """Yield (time, kind, pair) in order of time: "overlap" for pairs at the start, then "began" and "ended".

        Frame methods know pairs at their frames only: a pair began at the first frame that has it, and ended at the
        first one that no longer has it.
        """
        yield from self.initial
        yield from self.events
        before: set[tuple[int, int]] = set()
        for number, (time, pairs) in enumerate(self.frames):
            now = {(a, b) for a, b in pairs.tolist()}
            changes = [(pair, "overlap" if number == 0 else "began") for pair in now - before]
            changes += [(pair, "ended") for pair in before - now]
            yield from ((time, kind, pair) for pair, kind in sorted(changes))
            before = now

    def spans(self) -> list[tuple[tuple[int, int], float | None, float | None]]:
        """Return (pair, began, ended) of every overlap, sorted; None where it lasts from the start or to the end."""
        found: list[tuple[tuple[int, int], float | None, float | None]] = []
        begun: dict[tuple[int, int], float | None] = {}
        for time, kind, pair in self.timeline():
            if kind == "ended":
                found.append((pair, begun.pop(pair), time))
            else:
                begun[pair] = time if kind == "began" else None
        found += [(pair, time, None) for pair, time in begun.items()]
        return sorted(found, key=lambda span: (span[0], -math.inf if span[1] is None else span[1]))

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Add the time of a block to a phase."""
        begin = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += perf_counter() - begin

    def text(self) -> str:
        """Return the statistics file: ``key: value`` lines, an empty line, then a line for each record."""
        lines = [f"method: {self.method}"]
        lines += [f"{key}: {value}" for key, value in {**self.header, **self.counts}.items()]
        lines += [f"seconds {name}: {value:.6f}" for name, value in self.seconds.items()]
        lines += [f"seconds total: {self.total:.6f}", f"peak bytes: {self.peak_bytes}"]
        lines += [f"bytes {name}: {count}" for name, count in self.bytes.items()]
        lines += [f"multiple: t={time!r} axis={axis} slots={first}-{last}" for time, axis, first, last in self.multiple]
        lines.append("")
        for number, (time, pairs) in enumerate(self.frames):
            lines.append(" ".join([str(number), repr(time), *(f"{a}-{b}" for a, b in pairs.tolist())]))
        lines += [f"{time!r} {kind} {a}-{b}" for time, kind, (a, b) in self.initial + self.events]
        return "\n".join(lines) + "\n"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics file; an interrupted write leaves no file. The time is added to the phase ``io``."""
        begin = perf_counter()
        with replacing(path) as handle:
            handle.write(self.text().encode())
        taken = perf_counter() - begin
        self.seconds["io"] += taken
        self.total += taken


@dataclass(frozen=True)
class Signal:
    """A message from a simulation to its observers."""

    kind: str
    """``"initial"``, ``"frame"``, ``"simple"`` and ``"multiple"`` for events, ``"began"`` and ``"ended"`` for pairs."""
    time: float
    detail: Any = None
    """The pairs of a frame, the `Meeting` of an event, the `Event` of a pair."""


Observer = Callable[[Signal], object]


class Simulation(ABC):
    """One method on one model.

    Parameters
    ----------
    model
        The polygons and the interval.
    observers
        Called with every `Signal`, in this order; results do not depend on them.
    trace
        Called with a line of text for each step, if given.
    """

    method: ClassVar[str]

    def __init__(
        self, model: Model, *, observers: Sequence[Observer] = (), trace: Callable[[str], object] | None = None
    ) -> None:
        self.model = model
        self.observers = list(observers)
        self.trace = trace
        self.statistics = Statistics(self.method, self._header())

    def run(self) -> Statistics:
        """Run from the start of the model's interval to its end, from scratch."""
        self.statistics = Statistics(self.method, self._header())
        begin = perf_counter()
        self._run(self.statistics)
        self.statistics.total = perf_counter() - begin
        return self.statistics

    def write_statistics(self, path: str | os.PathLike[str]) -> None:
        """Write the statistics file of the latest run."""
        self.statistics.write(path)

    @abstractmethod
    def _run(self, statistics: Statistics) -> None:
        """Run, and fill ``statistics``."""

    def _header(self) -> dict[str, Any]:
        model = self.model
        return {
            "scene": model.name or "-",
            "seed": "-" if model.seed is None else model.seed,
            "objects": len(model),
            "object area": model.object_area,
            "frame area": model.frame_area,
            "density": model.density,
            "duration": model.duration,
            "frames per second": model.frames_per_second,
        }

    def _notify(self, kind: str, time: float, detail: Any = None) -> None:
        for observer in self.observers:
            observer(Signal(kind, time, detail))

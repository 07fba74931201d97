"""Direct, incremental and kinetic sweep-and-prune behind one interface: one harness runs them all on one model."""

from __future__ import annotations

import inspect
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque.bounds import Boxes
from choque.broad import BroadPhase, create
from choque.errors import UnknownName
from choque.kinetic import Certificate, Event, Meeting, Sweep
from choque.theses.kinetic.direct import ThesisDirect
from choque.theses.kinetic.model import Model
from choque.theses.kinetic.selector import recommend
from choque.theses.kinetic.statistics import Statistics
from choque.theses.kinetic.trace import trace_initial, trace_instant


@dataclass(frozen=True)
class Signal:
    """What a simulation tells its observers; they see and change nothing."""

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
        What moves, and for how long.
    observers
        Called with every `Signal`, in this order; results do not depend on them.
    trace
        Called with a line of text for all that happens, if given.
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
        """Run, and note everything in ``statistics``."""

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

    def _tell(self, kind: str, time: float, detail: Any = None) -> None:
        for observer in self.observers:
            observer(Signal(kind, time, detail))


class FrameSimulation(Simulation):
    """A method that looks at the boxes frame by frame."""

    def __init__(self, model: Model, *, closing_frame: bool = False, **shared: Any) -> None:
        self.closing_frame = closing_frame
        super().__init__(model, **shared)

    def times(self) -> NDArray[np.float64]:
        """When the frames are: from the start on, the end itself only with ``closing_frame``."""
        count = self.model.frame_count
        return self.model.interval[0] + np.arange(count + self.closing_frame) / self.model.frames_per_second

    def _run(self, statistics: Statistics) -> None:
        with statistics.phase("init"):
            lower, upper = self.model.boxes()
            velocity = self.model.velocity
            self._start(Boxes(lower, upper))
        self._tell("initial", self.model.interval[0])
        for number, time in enumerate(self.times().tolist()):
            elapsed = time - self.model.interval[0]
            with statistics.phase("sort"):
                shift = velocity * elapsed
                self._sort(number, lower + shift, upper + shift)
            with statistics.phase("collision"):
                pairs = self._pairs()
            statistics.frames.append((time, pairs))
            if self.observers:
                self._tell("frame", time, pairs)
            if self.trace is not None:
                self.trace(
                    f"frame {number} t={time:g} pairs: {' '.join(f'{a}-{b}' for a, b in pairs.tolist()) or 'none'}"
                )
        statistics.counts["frames"] = len(statistics.frames)
        self._conclude(statistics)

    @abstractmethod
    def _start(self, boxes: Boxes) -> None:
        """Make the structures."""

    @abstractmethod
    def _sort(self, number: int, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        """Bring the structures to a frame."""

    @abstractmethod
    def _pairs(self) -> NDArray[np.int32]:
        """The pairs at that frame."""

    def _conclude(self, statistics: Statistics) -> None:
        """Note what the method counted."""


class BroadSimulation(FrameSimulation):
    """A frame method of `choque.broad`."""

    broad_name: ClassVar[str]
    options: ClassVar[dict[str, Any]] = {}

    def _start(self, boxes: Boxes) -> None:
        self._broad: BroadPhase = create(self.broad_name, boxes, threads=1, **self.options)

    def _sort(self, number: int, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        if number:
            self._broad.update(Boxes(lower, upper))

    def _pairs(self) -> NDArray[np.int32]:
        return self._broad.pairs()

    def _conclude(self, statistics: Statistics) -> None:
        counters = self._broad.counters
        statistics.counts.update(exchanges=counters.exchanges, tests=counters.tests)
        statistics.peak_bytes = counters.peak_bytes


class DirectSimulation(BroadSimulation):
    """Direct: sorted and swept from scratch at every frame."""

    method: ClassVar[str] = "direct"
    broad_name: ClassVar[str] = "sap-direct"


class IncrementalSimulation(BroadSimulation):
    """Incremental: the order is kept, and each exchange of neighbours changes the pairs."""

    method: ClassVar[str] = "incremental"
    broad_name: ClassVar[str] = "sap-incremental"
    options: ClassVar[dict[str, Any]] = {"variant": "delta"}


class RecomputeSimulation(BroadSimulation):
    """Incremental as the thesis wrote it: all pairs are found anew whenever the order changed anywhere."""

    method: ClassVar[str] = "incremental-recompute"
    broad_name: ClassVar[str] = "sap-incremental"
    options: ClassVar[dict[str, Any]] = {"variant": "recompute"}

    def _conclude(self, statistics: Statistics) -> None:
        super()._conclude(statistics)
        statistics.counts["recomputations"] = getattr(self._broad.index, "collision_runs", 0)


class ThesisDirectSimulation(FrameSimulation):
    """Direct as the thesis wrote it, in plain Python: sets of pairs by axis, merged."""

    method: ClassVar[str] = "direct-thesis"

    def __init__(self, model: Model, *, sort: str = "insertion", merge: str = "hash", **shared: Any) -> None:
        self.sort, self.merge = sort, merge
        super().__init__(model, **shared)

    def _start(self, boxes: Boxes) -> None:  # noqa: ARG002
        self._direct = ThesisDirect(self.sort, self.merge)

    def _sort(self, number: int, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:  # noqa: ARG002
        self._corners = lower, upper

    def _pairs(self) -> NDArray[np.int32]:
        return np.array(self._direct.pairs(*self._corners), np.int32).reshape(-1, 2)


class KineticSimulation(Simulation):
    """Kinetic: no frames, every event at its time."""

    method: ClassVar[str] = "kinetic"

    def __init__(self, model: Model, *, tolerance: float = 0.0, **shared: Any) -> None:
        self.tolerance = tolerance
        super().__init__(model, **shared)

    def _run(self, statistics: Statistics) -> None:
        with statistics.phase("init"):
            sweep = self.model.sweep(tolerance=self.tolerance)
            statistics.counts["initial pairs"] = len(sweep.pairs())
        self._tell("initial", sweep.time)
        if self.trace is not None:
            for line in trace_initial(sweep):
                self.trace(line)
        with statistics.phase("events"):
            self._step(sweep, statistics)
        self._conclude(sweep, statistics)

    def _step(self, sweep: Sweep, statistics: Statistics) -> None:
        watched = bool(self.observers) or self.trace is not None
        planned = sweep.certificates() if self.trace is not None else []
        end = self.model.interval[1]
        while sweep.next_time <= end:
            events = list(sweep.advance(end, stop="instant" if watched else "multiple"))
            meetings = list(sweep.meetings)
            statistics.multiple += [(m.time, m.axis, m.first, m.last) for m in meetings if m.is_multiple]
            statistics.events += [(event.time, event.kind, event.pair) for event in events]
            if not watched:
                continue
            for meeting in meetings:
                self._tell("multiple" if meeting.is_multiple else "simple", meeting.time, meeting)
            for event in events:
                self._tell(event.kind, event.time, event)
            if self.trace is not None:
                planned = self._trace(sweep, meetings, events, planned)
        sweep.advance(end)

    def _trace(
        self, sweep: Sweep, meetings: list[Meeting], events: list[Event], planned: list[Certificate]
    ) -> list[Certificate]:
        following = sweep.certificates()
        for line in trace_instant(meetings, events, planned, following):
            if self.trace is not None:
                self.trace(line)
        return following

    def _conclude(self, sweep: Sweep, statistics: Statistics) -> None:
        counters, audit = sweep.counters, sweep.audit()
        statistics.counts.update(
            {
                "events": counters.events,
                "simple events": audit.simple,
                "multiple events": audit.multiple,
                "exchanges": counters.exchanges,
                "external exchanges": audit.external,
                "internal exchanges": counters.exchanges - audit.external,
                "began": sum(kind == "began" for _, kind, _ in statistics.events),
                "ended": sum(kind == "ended" for _, kind, _ in statistics.events),
            }
        )
        statistics.peak_bytes = sweep.byte_count


METHODS: dict[str, type[Simulation]] = {
    kind.method: kind
    for kind in (
        DirectSimulation,
        IncrementalSimulation,
        RecomputeSimulation,
        ThesisDirectSimulation,
        KineticSimulation,
    )
}


def create_simulation(model: Model, method: str = "kinetic", **options: Any) -> Simulation:
    """The simulation of ``model`` by a method: direct, incremental, incremental-recompute, direct-thesis, kinetic.

    ``"auto"`` takes the one that `choque.theses.kinetic.recommend` names.
    """
    if method == "auto":
        method = recommend(len(model), model.density, model.frames_per_second, model.duration).method
    if method not in METHODS:
        raise UnknownName("kind of simulation", str(method), [*METHODS, "auto"])
    kind = METHODS[method]
    known = {
        name
        for base in kind.__mro__
        if issubclass(base, Simulation)
        for name, each in inspect.signature(base).parameters.items()
        if each.kind == inspect.Parameter.KEYWORD_ONLY
    }
    for name in options:
        if name not in known:
            raise UnknownName(f"option of the simulation {method!r}", name, known)
    return kind(model, **options)

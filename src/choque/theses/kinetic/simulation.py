"""Direct, incremental and kinetic sweep-and-prune behind one interface, to run them on the same model."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.bounds import Boxes
from choque.broad import BroadPhase, create
from choque.errors import UnknownName
from choque.kinetic import Event, Sweep
from choque.kinetic.results import Meeting
from choque.kinetic.structure import Certificate
from choque.theses.kinetic.base import Simulation, Statistics
from choque.theses.kinetic.model import Model
from choque.theses.kinetic.selector import recommend
from choque.theses.kinetic.trace import trace_initial, trace_instant

if TYPE_CHECKING:
    from choque.theses.kinetic.recomputing import SapRecompute


class FrameSimulation(Simulation):
    """A method that tests the boxes frame by frame."""

    def __init__(self, model: Model, *, closing_frame: bool = False, **shared: Any) -> None:
        self.closing_frame = closing_frame
        super().__init__(model, **shared)

    def times(self) -> NDArray[np.float64]:
        """Return the times of the frames, from the start; the end is included with ``closing_frame``."""
        count = self.model.frame_count
        return self.model.interval[0] + np.arange(count + self.closing_frame) / self.model.frames_per_second

    def _run(self, statistics: Statistics) -> None:
        with statistics.phase("init"):
            lower, upper = self.model.boxes()
            velocity = self.model.velocity
            self._start(Boxes(lower, upper))
        self._notify("initial", self.model.interval[0])
        for number, time in enumerate(self.times().tolist()):
            elapsed = time - self.model.interval[0]
            with statistics.phase("sort"):
                shift = velocity * elapsed
                self._sort(number, lower + shift, upper + shift)
            with statistics.phase("collision"):
                pairs = self._pairs()
            statistics.frames.append((time, pairs))
            if self.observers:
                self._notify("frame", time, pairs)
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
        """Update the structures to a frame."""

    @abstractmethod
    def _pairs(self) -> NDArray[np.int32]:
        """Return the pairs at that frame."""

    def _conclude(self, statistics: Statistics) -> None:
        """Note what the method counted."""


class BroadSimulation(FrameSimulation):
    """A frame method of `choque.broad`."""

    broad_name: ClassVar[str]

    def _start(self, boxes: Boxes) -> None:
        self._broad: BroadPhase = create(self.broad_name, boxes, threads=1)

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


class RecomputeSimulation(BroadSimulation):
    """Incremental as the thesis wrote it: all pairs are searched again whenever the order changed anywhere."""

    method: ClassVar[str] = "incremental-recompute"
    broad_name: ClassVar[str] = "sap-recompute"

    def _conclude(self, statistics: Statistics) -> None:
        super()._conclude(statistics)
        statistics.counts["recomputations"] = cast("SapRecompute", self._broad.index).recomputations


Pair: TypeAlias = tuple[int, int]
EndPoint: TypeAlias = tuple[Any, int, int]
"""(value, 1 for an upper end, body): sorted, lower ends come before upper ends at one place, so touching counts."""


def axis_pairs(ends: Iterable[EndPoint]) -> set[Pair]:
    """Return the pairs of bodies whose intervals meet, from their end points in ascending order."""
    found: set[Pair] = set()
    unfinished: set[int] = set()
    for _, is_upper, body in ends:
        if not is_upper:
            unfinished.add(body)
        else:
            unfinished.remove(body)
            found.update((min(body, other), max(body, other)) for other in unfinished)
    return found


def insertion_sorted(ends: Iterable[EndPoint]) -> list[EndPoint]:
    """Return the end points in order, by insertion sort: linear if they are nearly in order."""
    result: list[EndPoint] = []
    for end in ends:
        result.append(end)
        place = len(result) - 1
        while place > 0 and end < result[place - 1]:
            result[place] = result[place - 1]
            place -= 1
        result[place] = end
    return result


def sentinel_sorted(ends: Iterable[EndPoint]) -> list[EndPoint]:
    """Return the end points in order, by insertion sort with a sentinel instead of a test for the start."""
    result: list[EndPoint] = [(float("-inf"), -1, -1)]
    for end in ends:
        result.append(end)
        place = len(result) - 1
        while end < result[place - 1]:
            result[place] = result[place - 1]
            place -= 1
        result[place] = end
    return result[1:]


def merged_lists(sets: Sequence[set[Pair]]) -> list[Pair]:
    """Return the pairs of the smallest set that a scan finds in every other one."""
    smallest, *others = sorted(map(list, sets), key=len)
    return sorted(pair for pair in smallest if all(pair in other for other in others))


def merged_ordered(sets: Sequence[set[Pair]]) -> list[Pair]:
    """Return the pairs of the smallest set that bisection finds in every other one."""
    smallest, *others = sorted(map(sorted, sets), key=len)
    return [pair for pair in smallest if all(_is_in(pair, other) for other in others)]


def merged_hashed(sets: Sequence[set[Pair]]) -> list[Pair]:
    """Return the pairs that are in all sets, by hashing."""
    return sorted(set.intersection(*sets))


def _is_in(pair: Pair, ordered: list[Pair]) -> bool:
    place = bisect_left(ordered, pair)
    return place < len(ordered) and ordered[place] == pair


SORTS: dict[str, Callable[[Iterable[EndPoint]], list[EndPoint]]] = {
    "library": sorted,
    "insertion": insertion_sorted,
    "sentinel": sentinel_sorted,
}
MERGES: dict[str, Callable[[Sequence[set[Pair]]], list[Pair]]] = {
    "list": merged_lists,
    "ordered": merged_ordered,
    "hash": merged_hashed,
}


class ThesisDirect:
    """The overlapping pairs of closed boxes, found from scratch at each frame on lists that are kept.

    Guarantees: exact. O(n log n + k) a frame, or O(n + s + k) by insertion after s exchanges; k is the pairs of all
    axes, up to n².
    """

    def __init__(self, sort: str = "insertion", merge: str = "hash") -> None:
        if sort not in SORTS:
            raise UnknownName("sort", str(sort), SORTS)
        if merge not in MERGES:
            raise UnknownName("merge", str(merge), MERGES)
        self._sort, self._merge = SORTS[sort], MERGES[merge]
        self._orders: list[list[tuple[int, int]]] = []

    def pairs(self, lower: ArrayLike, upper: ArrayLike) -> list[Pair]:
        """Return the pairs at this frame, sorted."""
        return self.merge(self.sort(lower, upper))

    def sort(self, lower: ArrayLike, upper: ArrayLike) -> list[list[EndPoint]]:
        """Return the end points of each axis at this frame in ascending order."""
        boxes = Boxes(lower, upper)
        corners = boxes.lower.T.tolist(), boxes.upper.T.tolist()
        if not self._orders:
            self._orders = [
                [(side, row) for row in range(len(boxes)) for side in (0, 1)] for _ in range(boxes.dimension)
            ]
        found = []
        for axis, order in enumerate(self._orders):
            ends = self._sort((corners[side][axis][row], side, row) for side, row in order)
            self._orders[axis] = [(side, row) for _, side, row in ends]
            found.append(ends)
        return found

    def merge(self, ends: Iterable[list[EndPoint]]) -> list[Pair]:
        """Return the pairs that meet on every axis, sorted, from the sorted end points of each."""
        return self._merge([axis_pairs(each) for each in ends])


class ThesisDirectSimulation(FrameSimulation):
    """Direct as the thesis wrote it, in plain Python: sets of pairs by axis, merged."""

    method: ClassVar[str] = "direct-thesis"

    def __init__(self, model: Model, *, sort: str = "insertion", merge: str = "hash", **shared: Any) -> None:
        self.sort, self.merge = sort, merge
        super().__init__(model, **shared)

    def _start(self, boxes: Boxes) -> None:  # noqa: ARG002
        self._direct = ThesisDirect(self.sort, self.merge)

    def _sort(self, number: int, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:  # noqa: ARG002
        self._ends = self._direct.sort(lower, upper)

    def _pairs(self) -> NDArray[np.int32]:
        return np.array(self._direct.merge(self._ends), np.int32).reshape(-1, 2)


class KineticSimulation(Simulation):
    """Kinetic: no frames, every event at its time."""

    method: ClassVar[str] = "kinetic"

    def __init__(self, model: Model, *, tolerance: float = 0.0, **shared: Any) -> None:
        self.tolerance = tolerance
        super().__init__(model, **shared)

    def _run(self, statistics: Statistics) -> None:
        with statistics.phase("init"):
            sweep = self.model.sweep(tolerance=self.tolerance)
            initial = sweep.pairs().tolist()
            statistics.initial = [(sweep.time, "overlap", (a, b)) for a, b in initial]
            statistics.counts["initial pairs"] = len(initial)
        self._notify("initial", sweep.time)
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
                self._notify("multiple" if meeting.is_multiple else "simple", meeting.time, meeting)
            for event in events:
                self._notify(event.kind, event.time, event)
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
        statistics.bytes = sweep.byte_counts


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
    """Return the simulation of ``model`` by a method.

    Methods: direct, incremental, incremental-recompute, direct-thesis, kinetic. ``"auto"`` takes the method that
    `choque.theses.kinetic.recommend` names.
    """
    if method == "auto":
        method = recommend(len(model), model.density, model.frames_per_second, model.duration).method
    if method not in METHODS:
        raise UnknownName("kind of simulation", str(method), [*METHODS, "auto"])
    known = option_names(method)
    for name in options:
        if name not in known:
            raise UnknownName(f"option of the simulation {method!r}", name, known)
    return METHODS[method](model, **options)


def option_names(method: str) -> set[str]:
    """Return the options that `create_simulation` takes for a method; those of all methods for ``"auto"``."""
    return {
        name
        for base in METHODS.get(method, Simulation).__mro__
        if issubclass(base, Simulation)
        for name, each in inspect.signature(base).parameters.items()
        if each.kind == inspect.Parameter.KEYWORD_ONLY
    }

"""Collision detection by one choice of methods: bounds, broad phase, narrow phase, kept between frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque import broad
from choque._core import threads
from choque._core.counters import Counters
from choque._core.emission import Sink
from choque._core.pair_keys import unpack_pairs
from choque._core.pair_sets import difference
from choque._core.sweep_axis import AXIS_PERIOD, SweepAxis
from choque._core.types import Floats, Keys, Pairs
from choque.bounds import Bounds, Boxes, directions
from choque.broad import BroadPhase
from choque.broad.devices import HALF_SPACE, SOLID, BodySweep, Device, Solids, resolve
from choque.broad.index import Index
from choque.dynamics.response import Events, Solved
from choque.narrow.extents import slack_of
from choque.narrow.pair import Contacts
from choque.narrow.phase import KindTally, NarrowPhase
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE, Shapes
from choque.world.bodies import Bodies
from choque.world.bounds import Maker, box_bounds, find_bounds, leave, refuse_lost, slabs_of, widened
from choque.world.settings import Settings

OPTIONS = frozenset(("threads", "device", "axis_period", "tiles"))
"""Options of ``sap-kdop`` with which bodies can stay on a device; others affect the pairs."""


class BodyPoses(Bounds):
    """Bodies in their present poses, which a device bounds: position (n, 3), rotation (n, 3, 3) and the bodies."""

    position: Floats
    rotation: Floats
    bodies: Bodies

    _fields = ("position", "rotation")

    @classmethod
    def of(cls, bodies: Bodies, thread_count: int) -> BodyPoses:  # noqa: ARG003 - the signature of makers of bounds
        """Return the poses of ``bodies``, all of them finite."""
        refuse_lost(bodies)
        bodies.shapes().check_hulls()
        poses = cls.unchecked(bodies.position, bodies.rotation)
        poses.__dict__["bodies"] = bodies
        return poses

    def boxes(self) -> Boxes:
        """Return the axis-aligned boxes of the bodies."""
        return box_bounds(self.bodies, 1)

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None) -> Self:
        """Raise: poses come from bodies."""
        raise NotImplementedError

    def _moved(self, rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> Self:
        raise NotImplementedError

    def _swept(self, way: NDArray[np.float64]) -> Self:
        raise NotImplementedError

    def _operands(self) -> Any:
        raise NotImplementedError


class ResidentSweep(Index):
    """The method ``sap-kdop`` for bodies whose shapes stay on a device: each frame sends poses and returns pairs.

    Guarantees: the pairs are those of ``sap-kdop`` on the CPU, in the same order. Shapes are sent when bodies are added
    or removed or change their size, hulls when there are new ones; ``traffic`` counts the bytes. All copies of an index
    share the bodies on the device; a deep copy sends its own.
    """

    name: ClassVar[str] = "sap-kdop"
    keeps_bounds: ClassVar[bool] = True

    def __init__(self, *, device: Device, k: int, axis_period: int | None = AXIS_PERIOD) -> None:
        self._resident = _Resident(device, k, axis_period)

    @classmethod
    def for_settings(cls, settings: Settings) -> ResidentSweep | None:
        """Return an index for these settings if bodies can stay on their device, else None."""
        options = settings.method_options()
        k = slabs_of(settings.bounds, settings.broad)
        if settings.broad != cls.name or k is None or not options.keys() <= OPTIONS:
            return None
        device = resolve(options.pop("device", None))
        if device.is_cpu:
            return None
        return cls(device=device, k=k, axis_period=options.get("axis_period", AXIS_PERIOD))

    @property
    def device(self) -> str:
        """Name of the device in use."""
        return self._resident.device.name

    @property
    def axis(self) -> tuple[int, ...]:
        """The swept direction as whole numbers."""
        return self._resident.axis.direction

    @property
    def traffic(self) -> Any:
        """Bytes sent to the device and back so far; None before the first frame."""
        return None if self._resident.held is None else self._resident.held.traffic

    def pack(self, bounds: Bounds, closed: bool, thread_count: int) -> Floats:  # noqa: ARG002
        """Return records of the positions alone, which choose the axis; the device computes the bounds."""
        position = cast("BodyPoses", bounds).position
        return np.concatenate((position, position), axis=1)

    def build(self) -> None:
        """Choose the axis."""
        self._resident.choose_axis(self.records)

    def emit(self, sink: Sink) -> None:
        """Sweep on the device."""
        keys, tests = self._swept()
        sink.tests += tests
        sink.add(keys)

    def pairs(self) -> Pairs:
        """Return the pairs of the sweep on the device, which are sorted."""
        keys, tests = self._swept()
        self.counters.tests += tests
        allowed = self.table.pair_filter
        return unpack_pairs(keys if allowed is None else keys[: allowed.keep_allowed(keys)])

    def _swept(self) -> tuple[Keys, int]:
        poses = cast("BodyPoses", self.table.bounds)
        held = self._resident.informed(poses.bodies)
        return held.pairs(poses.position, poses.rotation, self._resident.axis.slab)


class _Resident:
    """The bodies on a device and the axis of their sweep; a copy is empty, since arrays on a device are not copied."""

    def __init__(self, device: Device, k: int, axis_period: int | None) -> None:
        self.device = device
        self.held: BodySweep | None = None
        self.axis = SweepAxis(axis_period)
        self._k = k
        self._update_count = -1
        self._bodies: Bodies | None = None  # those that were sent, with a copy of their shapes

    def __reduce__(self) -> tuple[type[_Resident], tuple[Device, int, int | None]]:
        return type(self), (self.device, self._k, self.axis.period)

    def choose_axis(self, records: Floats) -> None:
        """Look for the axis of the bodies at ``records`` if it is due."""
        self._update_count += 1
        self.axis.choose(records, 3, directions(self._k), self._update_count)

    def informed(self, bodies: Bodies) -> BodySweep:
        """Send what the device does not know of these bodies yet, and return the bodies there."""
        known = self._bodies
        if self.held is None:
            self.held = self.device.hold_bodies(self._k, slack_of(bodies.dtype))
        has_hulls = known is not None and known.hulls is bodies.hulls
        if not has_hulls:
            self.held.send_hulls(*bodies.shapes().solids()[-2:])
        has_shapes = known is not None and all(
            np.array_equal(getattr(known, name), getattr(bodies, name)) for name in ("kind", "size", "hull")
        )
        if not has_shapes:
            self.held.send_solids(solids_of(bodies))
        if not (has_hulls and has_shapes):
            self._bodies = _noted(bodies)
        return self.held


def solids_of(bodies: Bodies) -> Solids:
    """Return the shapes of bodies in the form that devices take.

    Spheres, capsules and tiles are rectangles with a radius. Halves are exact, so there is no rounding beside that of
    `choque.narrow.extents`.
    """
    kind, given = bodies.kind, bodies.size.astype(np.float64)
    form = np.full(len(bodies), SOLID, np.int32)
    size: NDArray[np.float64] = np.zeros((len(bodies), 3))
    is_round = (kind == SPHERE) | (kind == CAPSULE)
    size[is_round, 0] = given[is_round, 0]
    size[kind == CAPSULE, 2] = 0.5 * given[kind == CAPSULE, 1]
    size[kind == TILE, 1:] = 0.5 * given[kind == TILE, :2]
    size[kind == CONVEX] = given[kind == CONVEX]
    form[kind == CONVEX] = bodies.hull[kind == CONVEX]
    form[kind == PLANE] = HALF_SPACE
    return Solids(form, size)


def _noted(bodies: Bodies) -> Bodies:
    """Return these bodies with copies of the columns that were sent to the device and that a user may write to."""
    return replace(bodies, kind=bodies.kind.copy(), size=bodies.size.copy(), hull=bodies.hull.copy())


NO_PAIRS: Pairs = np.empty((0, 2), np.int32)


Skin: TypeAlias = "Callable[[Bodies], tuple[Floats, Floats]]"
"""Returns how much wider the bounds of bodies are, as `Response.skin` does."""


class _Outer(NamedTuple):
    """Wider boxes of all bodies, and the candidates that were found with them."""

    lower: Floats
    upper: Floats
    near: Floats
    pairs: Pairs


class Detected:
    """The candidates and contacts of one frame, in rows, and the time of each stage.

    Exact tests that were deferred are made when `contacts` or `tally` is first read, on the ``shapes`` of that frame,
    which are kept until then.

    Attributes
    ----------
    pairs
        (m, 2) the candidates.
    seconds
        The time of bounds, broad phase and narrow phase, without deferred tests [s].
    box_tests, filter_tests, filter_seconds
        As in `StepReport`.
    """

    def __init__(self, pairs: Pairs, narrow: NarrowPhase, shapes: Shapes | None) -> None:
        self.pairs = pairs
        self.seconds = (0.0, 0.0, 0.0)
        self.box_tests, self.filter_tests, self.filter_seconds = 0, 0, 0.0
        self._narrow = narrow
        self._shapes: Shapes | None = shapes
        self._contacts: Contacts
        self._tally: Callable[[], dict[str, KindTally]] = dict
        self._solved: Solved | None = None
        self._events: Events | None = None

    def take_solved(self, solved: Solved) -> None:
        """Take the contacts from a response that found them itself."""
        self._solved, self._shapes = solved, None

    @property
    def events(self) -> Events:
        """What happened in the step; nothing where the response does not know."""
        if self._events is None:
            self._events = Events.none() if self._solved is None else self._solved.events()
        return self._events

    @property
    def contact_count(self) -> int:
        """The number of contacts."""
        return len(self.contacts) if self._solved is None else self._solved.contact_count

    @property
    def contacts(self) -> Contacts:
        """The contacts among the pairs, in their order."""
        if self._solved is not None:
            return self._solved.contacts()
        self.test()
        return self._contacts

    @property
    def tally(self) -> dict[str, KindTally]:
        """Tests, contacts and seconds of the exact tests by pair of kinds."""
        self.test()
        return self._tally()

    @property
    def is_tested(self) -> bool:
        """Whether the exact tests were made."""
        return self._shapes is None

    def test(self) -> None:
        """Make the exact tests, unless they were made before."""
        if self._shapes is not None:
            self._contacts = self._narrow.find(self._shapes, self.pairs)
            self._tally = self._narrow.tally_later()
            self._shapes = None


class Detection:
    """Finds the candidates and contacts of bodies, frame by frame, without changing them.

    The broad phase is updated as long as no body is added or removed, and then built again. Two static bodies are
    never a pair. The result depends on the present poses alone, unless the index of the broad phase has a state. For
    bodies on a device, their bounds are computed there, and their time is part of the broad phase.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._resident = _resident_sweep(settings)
        self.bound = find_bounds(settings.bounds, settings.broad) if self._resident is None else _poses()
        self.narrow = NarrowPhase(settings.narrow, threads=settings.threads)
        self._counters: Counters | None = None
        self._before = (0, 0, 0.0)  # what they had counted before the present frame
        self._broad: BroadPhase | None = None
        self._restored: dict[str, NDArray[Any]] = {}
        self._ids: NDArray[np.int32] | None = None  # of the bodies in the broad phase
        self._outer: _Outer | None = None

    @property
    def broad_phase(self) -> BroadPhase | None:
        """The broad phase after the latest frame, for reading; None before the first."""
        return self._broad

    def find(self, bodies: Bodies, *, exact: bool = True, skin: Skin | None = None) -> Detected:
        """Return the candidates and contacts of ``bodies`` now.

        With ``exact`` False, exact tests are deferred. With a ``skin``, candidates are bodies whose wider bounds
        overlap, and stay the same array until a body leaves its own; then no exact tests are made.
        """
        began = perf_counter()
        thread_count = threads.resolve_count(self.settings.threads, len(bodies))
        if skin is not None:
            return self._find_within(bodies, skin, thread_count, began)
        bounds = self.bound(bodies, thread_count)
        bounded = perf_counter()
        pairs = self._candidates(bodies, bounds)
        paired = perf_counter()
        shapes = bodies.shapes()
        if exact:
            found = Detected(pairs, self.narrow, shapes)
            found.test()
        else:
            kept = replace(shapes, position=shapes.position.copy(), rotation=shapes.rotation.copy())
            found = Detected(pairs, self.narrow, kept)
        found.seconds = (bounded - began, paired - bounded, perf_counter() - paired)
        found.box_tests, found.filter_tests, found.filter_seconds = self._counted()
        return found

    def _find_within(self, bodies: Bodies, skin: Skin, thread_count: int, began: float) -> Detected:
        """Return the candidates whose wider bounds overlap."""
        boxes = box_bounds(bodies, thread_count)
        bounded = perf_counter()
        outer = self._outer
        if outer is None and "outer.lower" in self._restored:
            outer = self._outer = _restored_outer(self._restored, bodies)
            self._ids = bodies.ids
        if (
            outer is None
            or self._ids is not bodies.ids
            or leave(boxes.lower, boxes.upper, outer.near, outer.lower, outer.upper)
        ):
            outer = self._surround(bodies, boxes, skin, thread_count)
        found = Detected(outer.pairs, self.narrow, None)
        found.seconds = (bounded - began, perf_counter() - bounded, 0.0)
        found.box_tests, found.filter_tests, found.filter_seconds = self._counted()
        return found

    def _surround(self, bodies: Bodies, boxes: Boxes, skin: Skin, thread_count: int) -> _Outer:
        near, fat = (length.astype(bodies.dtype) for length in skin(bodies))
        around = cast("Boxes", widened(boxes, near + fat))
        own = self.bound(bodies, thread_count) if self.bound is not box_bounds else boxes
        pairs = self._candidates(bodies, widened(own, near + fat))
        self._outer = _Outer(around.lower, around.upper, near, pairs)
        return self._outer

    def _counted(self) -> tuple[int, int, float]:
        """Return the boxes that were tested since the last call, the pairs that were filtered, and the time of that."""
        broad_phase = self.broad_phase
        if broad_phase is None:
            return 0, 0, 0.0
        counters = broad_phase.counters
        before = self._before if counters is self._counters else (0, 0, 0.0)
        self._counters, self._before = counters, (counters.tests, counters.filtered, counters.filter_seconds)
        tests, filtered, seconds = self._before
        return tests - before[0], filtered - before[1], seconds - before[2]

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what the next answer depends on beside the poses, as arrays by name; nothing for most methods."""
        if self._broad is None:
            return self._restored
        outer = {} if self._outer is None else {f"outer.{name}": part for name, part in self._outer._asdict().items()}
        return {**self._broad.index.state(), **outer}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned, with the bodies of the next frame."""
        self._restored = dict(state)

    def mark(self) -> object:
        """Return the present state, for `return_to`."""
        broad_mark = None if self._broad is None else self._broad.mark()
        return (self._broad, self._ids, self._restored, self._counters, self._before, self._outer), broad_mark

    def return_to(self, mark: Any) -> None:
        """Return to the state of a `mark`; `find` may have been called once since."""
        before, broad_mark = mark
        self._broad, self._ids, self._restored, self._counters, self._before, self._outer = before
        if self._broad is not None:
            self._broad.return_to(broad_mark)

    def _candidates(self, bodies: Bodies, bounds: Bounds) -> Pairs:
        if not len(bodies):
            return NO_PAIRS
        if self._broad is None or self._ids is not bodies.ids:
            self._broad, self._ids, self._restored = self._created(bodies, bounds), bodies.ids, {}
        else:
            self._broad.update(bounds)
        return self._broad.held_pairs()

    def _created(self, bodies: Bodies, bounds: Bounds) -> BroadPhase:
        options = self.settings.method_options()
        if bodies.static.any():
            options["static"] = bodies.static
        if self._resident is None:
            made = broad.create(self.settings.broad, bounds, **options)
        else:  # the options are those of the index, but for ``static`` and ``threads``
            shared = {name: options[name] for name in ("static", "threads") if name in options}
            made = BroadPhase(bounds, self._resident, **shared)
        remembered = {name: part for name, part in self._restored.items() if not name.startswith("outer.")}
        if remembered:
            made.restore(remembered)
            made.update(bounds)
        return made


def _restored_outer(state: Mapping[str, NDArray[Any]], bodies: Bodies) -> _Outer | None:
    """Return the wider boxes that a file holds; None if they do not fit these bodies."""
    found = [state.get(f"outer.{name}", NO_PAIRS) for name in _Outer._fields]
    shapes = [(len(bodies), 3), (len(bodies), 3), (len(bodies),)]
    fits = all(
        array.shape == shape and array.dtype == bodies.dtype and array.flags.carray
        for array, shape in zip(found, shapes, strict=False)
    )
    pairs = found[-1]
    fits = fits and pairs.dtype == np.int32 and pairs.ndim == 2 and pairs.shape[1] == 2 and pairs.flags.carray
    return _Outer(*found) if fits and ((pairs >= 0) & (pairs < len(bodies))).all() else None


def _resident_sweep(settings: Settings) -> ResidentSweep | None:
    """Return the index for bodies that stay on a device; None if they do not."""
    if settings.device is None:
        return None
    from choque.world.detection import ResidentSweep

    return ResidentSweep.for_settings(settings)


def _poses() -> Maker:
    from choque.world.detection import BodyPoses

    return BodyPoses.of


STAGES = ("bounds", "broad", "narrow", "response", "integrate")
"""The stages of a step, in their order."""


@dataclass(frozen=True)
class StepReport:
    """One step: the time of each stage, and the amount of work.

    A response that makes exact tests itself leaves none to the narrow phase. Then ``contacts`` and ``tally`` are
    computed when they are first read, in the poses before the step, and their time belongs to no stage. Until then
    the report keeps a copy of these poses.

    Attributes
    ----------
    frame
        The number of the frame after the step.
    dt, time
        The length of the step, and the time of the world after it [s].
    seconds
        The time of each stage, in the order of the stages [s].
    total_seconds
        The time of the whole step [s].
    broad
        The broad-phase method.
    bodies, pairs, impulses
        How many bodies, candidates of the broad phase, and impulses.
    box_tests, filter_tests, filter_seconds
        How many boxes the broad phase tested, how many pairs a filter of tighter bounds tested, and the time of these
        tests, which is part of the broad phase [s]; 0 without a filter.
    has_exact_tests
        Whether the narrow phase tested the candidates within the step.
    detected
        What was found; `contacts` and `tally` are read from it.
    """

    frame: int
    dt: float
    time: float
    seconds: Mapping[str, float]
    total_seconds: float
    bodies: int
    pairs: int
    impulses: int
    broad: str
    box_tests: int
    filter_tests: int
    filter_seconds: float
    has_exact_tests: bool
    detected: Detected = field(repr=False)

    @property
    def contacts(self) -> int:
        """How many candidates touched at the start of the step."""
        return self.detected.contact_count

    @property
    def tally(self) -> Mapping[str, KindTally]:
        """Tests, contacts and seconds of the narrow phase by pair of kinds, such as ``"sphere-capsule"``."""
        return self.detected.tally

    def __str__(self) -> str:
        stages = ", ".join(f"{stage} {seconds * 1e3:.3f}" for stage, seconds in self.seconds.items())
        return (
            f"Frame {self.frame}: {self.bodies:,} bodies, {self.pairs:,} pairs, {self.contacts:,} contacts, "
            f"{self.impulses:,} impulses in {self.total_seconds * 1e3:.3f} ms ({stages})."
        )


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two choices of methods on the same bodies in one frame.

    Attributes
    ----------
    frame
        The frame whose bodies were tested.
    methods
        The names of both broad phases.
    seconds
        Time of bounds, broad phase and narrow phase together [s].
    pairs, contacts
        How many candidates and contacts each of them found.
    only_first, only_second
        (k, 2) int32 rows of bodies: candidates that only one of them found.
    contacts_differ
        Whether they found different contacts, which is always an error.
    """

    frame: int
    methods: tuple[str, str]
    seconds: tuple[float, float]
    pairs: tuple[int, int]
    contacts: tuple[int, int]
    only_first: Pairs
    only_second: Pairs
    contacts_differ: bool

    @classmethod
    def of(cls, frame: int, methods: tuple[str, str], first: Detected, second: Detected) -> Comparison:
        """Compare the results of two detections."""
        change = difference(first.pairs, second.pairs)
        return cls(
            frame=frame,
            methods=methods,
            seconds=(sum(first.seconds), sum(second.seconds)),
            pairs=(len(first.pairs), len(second.pairs)),
            contacts=(len(first.contacts), len(second.contacts)),
            only_first=change.ended,
            only_second=change.began,
            contacts_differ=not np.array_equal(first.contacts.pairs, second.contacts.pairs),
        )

    @property
    def pairs_differ(self) -> bool:
        """Whether their candidates differ: expected for different bounds, an error for equal ones."""
        return bool(len(self.only_first) or len(self.only_second))

    def __str__(self) -> str:
        first, second = self.methods
        lines = f"{first} took {self.seconds[0] * 1e3:.3f} ms, {second} {self.seconds[1] * 1e3:.3f} ms; "
        if not self.pairs_differ:
            lines += f"the same {self.pairs[0]:,} pairs."
        else:
            lines += (
                f"{self.pairs[0]:,} and {self.pairs[1]:,} pairs, of which {len(self.only_first):,} and "
                f"{len(self.only_second):,} were found by one only."
            )
        return f"{lines} CONTACTS DIFFER." if self.contacts_differ else lines

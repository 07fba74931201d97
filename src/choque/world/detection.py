"""Collision detection by one choice of methods: bounds, broad phase, narrow phase, kept between frames."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import attrgetter, ne
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.counters import Counters
from choque._core.pair_keys import EVERY_GROUP
from choque._core.pair_sets import difference
from choque._core.types import F64, I8, I32, I64, Floats, Pairs
from choque.bounds import Bounds, Boxes
from choque.broad import BroadPhase, create
from choque.broad.index import SHARED_OPTIONS
from choque.broad.join import Task, join_boxes
from choque.dynamics.response import Events, Solved
from choque.narrow.pair import MAX_POINTS, Contacts
from choque.narrow.phase import KINDS, KindTally, NarrowPhase, tally_of
from choque.narrow.shapes import SPHERE, Shapes
from choque.world import bounds as body_bounds
from choque.world.bodies import Bodies
from choque.world.settings import Settings

if TYPE_CHECKING:
    from choque.world.resident import ResidentSweep

NO_PAIRS: Pairs = np.empty((0, 2), np.int32)
NO_KINDS: I8 = np.empty(0, np.int8)
FILTERS = attrgetter("static", "sensor", "group", "mask", "size", "hull")  # where these change, pairs are found anew
# When the wider boxes of `_Outer` move with the bodies. All three constants were set by timing four scenes: others may
# be served better by other values. Which bodies touch does not depend on them.
TOGETHER = 0.2  # bodies move together if their speeds relative to the mean velocity are less than this part of them
MIN_SERVED, STAYS = 4, 16  # boxes that moved and served for fewer steps stay in that many of the next searches

Skin: TypeAlias = "Callable[[Bodies], tuple[Floats, Floats]]"
"""Returns how much wider the bounds of bodies are, as `Response.skin` does."""


class Detected:
    """The candidates and contacts of one frame, in rows, and the time of each stage.

    Exact tests that were deferred are made when `contacts` or `tally` is first read, on the ``shapes`` of that frame,
    which are kept until then.
    """

    def __init__(self, pairs: Pairs, narrow: NarrowPhase, shapes: Shapes | None) -> None:
        self.pairs = pairs  # (m, 2) the candidates
        self.seconds = (0.0, 0.0, 0.0)  # of bounds, broad phase and narrow phase, without deferred tests [s]
        # as in `choque.world.StepReport`
        self.box_tests, self.filter_tests, self.filter_seconds = 0, 0, 0.0
        self._narrow = narrow
        self._shapes: Shapes | None = shapes
        self._contacts: Contacts
        self._tally: Callable[[], dict[str, KindTally]] = dict
        self._solved: Solved | None = None
        self._kind: I8 = NO_KINDS  # of the bodies, if the response found the contacts
        self._events: Events | None = None
        self._entered = self._left = NO_PAIRS

    def take_sensed(self, before: Pairs, after: Pairs) -> Pairs:
        """Take which bodies overlapped sensors before and after the step; return the latter."""
        change = difference(before, after)
        self._entered, self._left = change.began, change.ended
        return after

    def take_solved(self, solved: Solved, kind: I8) -> None:
        """Take the contacts of bodies of these kinds (n,) from a response that found them itself."""
        self._solved, self._shapes, self._kind = solved, None, kind

    @property
    def events(self) -> Events:
        """What happened in the step; nothing where the response does not know."""
        if self._events is None:
            solved = Events.none() if self._solved is None else self._solved.events()
            self._events = replace(solved, entered=self._entered, left=self._left)
        return self._events

    @property
    def counters(self) -> Mapping[str, int]:
        """Amounts of work of the response by name; empty where it counts none."""
        return {} if self._solved is None else self._solved.counters

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
    def forces(self) -> F64:
        """The normal force at each point of the contacts (m, 4); NaN if the response does not know it."""
        return np.full((len(self.contacts), MAX_POINTS), np.nan) if self._solved is None else self._solved.forces()

    @property
    def tally(self) -> dict[str, KindTally]:
        """Tests, contacts and seconds of the exact tests by pair of kinds; no seconds where a response made them."""
        if self._solved is not None:
            return tally_of(self._kind, self.pairs, self.contacts.pairs, [0.0] * len(KINDS))
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
            self._tally = self._narrow.tally_later
            self._shapes = None


class _Outer(NamedTuple):
    """Wider boxes of all bodies, and the candidates that were found with them.

    If most bodies move together, as all do that fall, all boxes move with the mean of the bodies' positions: what
    counts is how bodies move relative to each other.
    """

    lower: Floats
    upper: Floats
    near: Floats
    pairs: Pairs
    center: F64  # (3,): where the mean was; NaN if the boxes stay where they are
    age: I64  # (2,): for how many steps they have served, and how many of the next searches let boxes stay

    def shift(self, bodies: Bodies) -> tuple[float, float, float]:
        """Return how far the boxes have moved."""
        if np.isnan(self.center[0]):
            return 0.0, 0.0, 0.0
        x, y, z = body_bounds.mean_row(bodies.position, bodies.static)
        return x - float(self.center[0]), y - float(self.center[1]), z - float(self.center[2])


class Detection:
    """Finds the candidates and contacts of bodies, frame by frame, without changing them.

    The broad phase is updated as long as no body is added or removed, and then built again. Two static bodies are
    never a pair. The result depends on the present poses alone, unless the index of the broad phase has a state. For
    bodies on a device, their bounds are computed there, and their time is part of the broad phase.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.bound: body_bounds.Maker = body_bounds.find_bounds(settings.bounds, settings.broad)
        self._resident: ResidentSweep | None = None  # the index of bodies that stay on a device
        if settings.device is not None:
            from choque.world.resident import BodyPoses, ResidentSweep

            self._resident = ResidentSweep.for_settings(settings)
            self.bound = self.bound if self._resident is None else BodyPoses.of
        self.narrow = NarrowPhase(settings.narrow, threads=settings.threads)
        self._counters: Counters | None = None
        self._before = (0, 0, 0.0)  # what they had counted before the present frame
        self._broad: BroadPhase | None = None
        self._restored: dict[str, NDArray[Any]] = {}
        self._ids: I32 | None = None  # of the bodies in the broad phase
        self._filters: tuple[NDArray[Any], ...] = ()  # and what their `FILTERS` were
        self._outer: _Outer | None = None
        self._own: tuple[I32, Boxes, BroadPhase] | None = None  # for questions: ids, boxes, their tree

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

    def structure_over(self, bodies: Bodies) -> BroadPhase:
        """Return a broad phase whose boxes hold the present bodies, for questions; its ids are rows of ``bodies``.

        That of the latest frame if every body is still within its wider box, else one that is kept for this.
        """
        thread_count = threads.resolve_count(self.settings.threads, len(bodies))
        boxes = body_bounds.box_bounds(bodies, thread_count)
        none = np.zeros(len(bodies), bodies.dtype)
        outer, own = self._outer, self._own
        is_same = self._ids is bodies.ids and self.bound is body_bounds.box_bounds and self._broad is not None
        at_rest = (0.0, 0.0, 0.0)
        if is_same and outer is not None and not body_bounds.leave(boxes, none, outer[:2], at_rest, thread_count):
            assert self._broad is not None
            return self._broad
        if own is None or own[0] is not bodies.ids:
            own = bodies.ids, boxes, create("bvh", boxes, threads=self.settings.threads)
        elif body_bounds.leave(boxes, none, (own[1].lower, own[1].upper), at_rest, thread_count):
            own[2].update(boxes)
            own = own[0], boxes, own[2]
        self._own = own
        return own[2]

    def sensed(self, bodies: Bodies) -> Pairs:
        """Return which bodies overlap which sensors now: (m, 2) ids of sensor and body, sorted."""
        sensors, others = np.flatnonzero(bodies.sensor), np.flatnonzero(~bodies.sensor)
        boxes = body_bounds.box_bounds(bodies, 1)
        near = join_boxes(Task(boxes.take(sensors), boxes.take(others), True, 1, None), "auto", {})
        rows = np.sort(np.stack((sensors[near[:, 0]], others[near[:, 1]]), axis=1), axis=1)
        pairs: Pairs = rows[np.lexsort((rows[:, 1], rows[:, 0]))].astype(np.int32)
        found = self.narrow.find(bodies.shapes(), pairs).pairs
        found = found[(bodies.group[found] & bodies.mask[found[:, ::-1]] != 0).all(axis=1)]
        found = np.where(bodies.sensor[found[:, :1]], found, found[:, ::-1])
        named: Pairs = bodies.ids[found[np.lexsort((found[:, 1], found[:, 0]))]]
        return named

    def _find_within(self, bodies: Bodies, skin: Skin, thread_count: int, began: float) -> Detected:
        """Return the candidates whose wider bounds overlap."""
        boxes = body_bounds.box_bounds(bodies, thread_count)
        bounded = perf_counter()
        outer = self._outer
        if outer is None and "outer.lower" in self._restored:
            outer = self._outer = _restored_outer(self._restored, bodies)
            self._ids, self._filters = bodies.ids, _filters(bodies)
        if (
            outer is None
            or not self._follows(bodies)
            or body_bounds.leave(boxes, outer.near, (outer.lower, outer.upper), outer.shift(bodies), thread_count)
        ):
            outer = self._surround(bodies, boxes, skin, thread_count)
        else:
            outer = self._outer = outer._replace(age=outer.age + np.array([1, 0]))
        found = Detected(outer.pairs, self.narrow, None)
        found.seconds = (bounded - began, perf_counter() - bounded, 0.0)
        found.box_tests, found.filter_tests, found.filter_seconds = self._counted()
        return found

    def _surround(self, bodies: Bodies, boxes: Boxes, skin: Skin, thread_count: int) -> _Outer:
        near, fat = (length.astype(bodies.dtype) for length in skin(bodies))
        drift, center, stay = np.zeros(3), np.full(3, np.nan), 0
        if self._outer is not None:  # what falls and is stopped leaves a box that falls on
            served, stay = self._outer.age.tolist()
            was_short = served < MIN_SERVED and not np.isnan(self._outer.center[0])
            stay = STAYS if was_short else max(0, stay - 1)
        mean = np.array(body_bounds.mean_row(bodies.velocity, bodies.static))
        if not stay and body_bounds.mean_speed(bodies.velocity, mean) < TOGETHER * body_bounds.mean_speed(
            bodies.velocity, drift
        ):
            drift, center = mean, np.array(body_bounds.mean_row(bodies.position, bodies.static))
        around = body_bounds.surrounding(boxes, bodies.velocity, (near, fat), drift, thread_count)
        if self.bound is body_bounds.box_bounds:
            pairs = self._candidates(bodies, around)
        else:
            with np.errstate(invalid="ignore"):  # planes have no end
                farther = np.maximum(boxes.lower - around.lower, around.upper - boxes.upper)
            wider = np.maximum(np.linalg.norm(np.nan_to_num(farther), axis=1).astype(bodies.dtype), near + fat)
            pairs = self._candidates(bodies, body_bounds.widened(self.bound(bodies, thread_count), wider))
        if (bodies.kind == SPHERE).any():
            known = (boxes.lower, boxes.upper, near, around.lower, around.upper)
            pairs = body_bounds.without_far_spheres(pairs, bodies.kind, known, thread_count)
        self._outer = _Outer(around.lower, around.upper, near, pairs, center, np.array([0, stay]))
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
        now = (self._broad, self._ids, self._filters, self._restored, self._counters, self._before, self._outer)
        return now, broad_mark

    def return_to(self, mark: Any) -> None:
        """Return to the state of a `mark`; `find` may have been called once since."""
        before, broad_mark = mark
        self._broad, self._ids, self._filters, self._restored, self._counters, self._before, self._outer = before
        if self._broad is not None:
            self._broad.return_to(broad_mark)

    def _candidates(self, bodies: Bodies, bounds: Bounds) -> Pairs:
        if not len(bodies):
            return NO_PAIRS
        if self._broad is None or not self._follows(bodies):
            self._broad, self._restored = self._created(bodies, bounds), {}
            self._ids, self._filters = bodies.ids, _filters(bodies)
        else:
            self._broad.update(bounds)
        return self._broad.held_pairs()

    def _follows(self, bodies: Bodies) -> bool:
        """Tell whether the broad phase has these bodies, with these flags, groups, masks and shapes."""
        if self._ids is not bodies.ids:
            return False
        return not any(map(np.count_nonzero, map(ne, self._filters, FILTERS(bodies))))  # in half the time of any()

    def _created(self, bodies: Bodies, bounds: Bounds) -> BroadPhase:
        options = self.settings.method_options()
        if bodies.static.any():
            options["static"] = bodies.static
        if (bodies.group != 1).any() or (bodies.mask != EVERY_GROUP).any():
            options |= {"groups": bodies.group, "masks": bodies.mask}
        if self._resident is None:
            made = create(self.settings.broad, bounds, **options)
        else:  # the options are those of the index, but for shared ones
            shared = {name: options[name] for name in SHARED_OPTIONS if name in options}
            made = BroadPhase(bounds, self._resident, **shared)
        remembered = {name: part for name, part in self._restored.items() if not name.startswith("outer.")}
        if remembered:
            made.restore(remembered)
            made.update(bounds)
        return made


def _filters(bodies: Bodies) -> tuple[NDArray[Any], ...]:
    return tuple(column.copy() for column in FILTERS(bodies))


def _restored_outer(state: Mapping[str, NDArray[Any]], bodies: Bodies) -> _Outer | None:
    """Return the wider boxes that a file holds; None if they do not fit these bodies."""
    found = [state.get(f"outer.{name}", NO_PAIRS) for name in _Outer._fields]
    count, kind, pairs = len(bodies), bodies.dtype, found[3]
    shapes = (count, 3), (count, 3), (count,), (*pairs.shape[:1], 2), (3,), (2,)
    kinds = kind, kind, kind, np.int32, np.float64, np.int64
    wanted = zip(found, shapes, kinds, strict=True)
    fits = all(array.shape == shape and array.dtype == kind and array.flags.carray for array, shape, kind in wanted)
    return _Outer(*found) if fits and ((pairs >= 0) & (pairs < count)).all() else None

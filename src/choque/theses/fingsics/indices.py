"""The broad phases of the Fingsics engine, as registered methods: where they depart from an exact answer.

Given the `BodyBoxes` of a world (axis-aligned and oriented boxes of bodies), they answer as the engine does. Given any
other bounds, each is the exact method that it departs from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_keys import ordered_key, pack_pairs, pair_key, unpack_pairs
from choque._core.pair_sets import ENDED, Change
from choque._core.types import Floats, Integer, Keys, Pairs
from choque.broad import find
from choque.broad.index import Index
from choque.broad.structure import Structure
from choque.errors import InvalidInput
from choque.theses.fingsics.boxes import oriented_boxes_meet
from choque.theses.fingsics.order import text_key
from choque.world.bounds import BodyBoxes

_ROOM = 1 << 14
"""Fewest entries of a log."""


@dataclass
class FingsicsSweep:
    """The lists and the set of pairs. O(n + exchanges) a frame, O(n + pairs) memory; serial."""

    values: NDArray[np.float32]
    """(3, 2n) float32: the end points of each axis in order."""
    points: NDArray[np.int32]
    """(3, 2n) int32: which they are: 2·row is the lower end of a body, 2·row + 1 its upper end."""
    places: NDArray[np.int32]
    """(3, 2n) int32: where each end point is."""
    keys: Keys
    """(m,) uint64, sorted: the pairs, packed."""

    @classmethod
    def of(cls, lower: NDArray[np.float32], upper: NDArray[np.float32], static: NDArray[np.bool_]) -> Self:
        """Sort the end points of boxes, (n, 3) each, and seed the pairs with a sweep."""
        ends = np.stack((lower.T, upper.T), axis=2).reshape(3, -1)
        points = np.argsort(ends, axis=1, kind="stable").astype(np.int32)
        places = np.empty_like(points)
        np.put_along_axis(places, points, np.arange(points.shape[1], dtype=np.int32)[None], axis=1)
        sweep = cls(np.take_along_axis(ends, points, axis=1), points, places, np.empty(0, np.uint64))
        log: Keys = np.empty(_ROOM, np.uint64)
        while (count := _seed(points, places, static, log)) > log.size:
            log = np.empty(count, np.uint64)
        sweep.keys = np.sort(log[:count])
        return sweep

    def update(self, lower: NDArray[np.float32], upper: NDArray[np.float32], static: NDArray[np.bool_]) -> int:
        """Move all end points to those of the boxes, body by body, and the pairs with them; how many were exchanged."""
        ends = np.stack((lower, upper), axis=2)
        count = len(static)
        log: Keys = np.empty(_ROOM + 12 * count, np.uint64)
        logs: list[Keys] = [log[:0]]
        body = exchanges = 0
        while body < count:
            body, logged, exchanged = _move_bodies(
                body, count, ends, static, self.values, self.points, self.places, log
            )
            logs.append(log[:logged].copy())
            exchanges += exchanged
        self.keys = _after(self.keys, np.concatenate(logs))
        return exchanges

    def pairs(self) -> Pairs:
        """Return the pairs now, in rows, sorted."""
        return unpack_pairs(self.keys)

    def copy(self) -> Self:
        """Return an independent copy, so that what follows leaves this one as it is."""
        return type(self)(*(getattr(self, field.name).copy() for field in fields(self)))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return every array by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from copies of what `state` gave for the same bodies."""
        names = [field.name for field in fields(self)]
        given = {name: np.array(state[name], getattr(self, name).dtype) for name in names if name in state}
        if len(given) < len(names) or not self._fits(**given):
            raise InvalidInput("The saved sweep is not one of these bodies: its lists are out of order or incomplete.")
        for name, array in given.items():
            setattr(self, name, array)

    def _fits(
        self, values: NDArray[np.float32], points: NDArray[np.int32], places: NDArray[np.int32], keys: Keys
    ) -> bool:
        """Return whether lists are sorted and have the right number of end points, so that no kernel leaves them."""
        shape = self.values.shape
        if not values.shape == points.shape == places.shape == shape or keys.ndim != 1:
            return False
        every = np.arange(shape[1])
        in_range = bool(((points >= 0) & (points < shape[1])).all())
        if not in_range or not (np.take_along_axis(places, points, axis=1) == every).all():
            return False
        pairs = unpack_pairs(keys)
        sorted_pairs = bool((keys[1:] > keys[:-1]).all() and (pairs[:, 0] < pairs[:, 1]).all() and (pairs >= 0).all())
        return bool((values[:, 1:] >= values[:, :-1]).all()) and sorted_pairs and bool((2 * pairs < shape[1]).all())


def _after(keys: Keys, log: Keys) -> Keys:
    """Return the set after the changes in ``log``: the latest entry of each pair counts."""
    if not log.size:
        return keys
    latest = log[::-1]
    touched, first = np.unique(latest & ~ENDED, return_index=True)
    present = touched[(latest[first] & ENDED) == 0]
    kept: Keys = np.setdiff1d(keys, touched, assume_unique=True)
    return np.sort(np.concatenate((kept, present)))


@kernel
def _overlap_elsewhere(places: NDArray[np.int32], axis: Integer, i: Integer, j: Integer) -> bool:
    """Return whether two bodies overlap on the two other axes, by the places of their end points."""
    for k in range(3):
        if k != axis and (places[k, 2 * i] > places[k, 2 * j + 1] or places[k, 2 * j] > places[k, 2 * i + 1]):
            return False
    return True


@kernel
def _seed(points: NDArray[np.int32], places: NDArray[np.int32], static: NDArray[np.bool_], log: Keys) -> int:
    """Log the pairs that overlap by places, by a sweep over open bodies; how many, also if they do not fit."""
    open_rows = np.empty(static.size, np.int64)
    where = np.full(static.size, -1, np.int64)
    open_count = 0
    found = 0
    for place in range(points.shape[1]):
        row = np.int64(points[0, place]) // 2
        if where[row] >= 0:
            open_count -= 1
            moved = open_rows[open_count]
            open_rows[where[row]] = moved
            where[moved] = where[row]
            continue
        for k in range(open_count):
            other = open_rows[k]
            if not (static[row] and static[other]) and _overlap_elsewhere(places, 0, row, other):
                if found < log.size:
                    log[found] = ordered_key(row, other)
                found += 1
        where[row] = open_count
        open_rows[open_count] = row
        open_count += 1
    return found


@kernel
def _move_bodies(
    first: Integer,
    last: Integer,
    ends: NDArray[np.float32],
    static: NDArray[np.bool_],
    values: NDArray[np.float32],
    points: NDArray[np.int32],
    places: NDArray[np.int32],
    log: Keys,
) -> tuple[int, int, int]:
    """Move the end points of bodies from ``first`` on: lower then upper end, on x, on y, on z.

    Stops before a body that might not fit into ``log``. Gives the next body, entries logged, points exchanged.
    """
    most = 6 * points.shape[1]
    logged = 0
    exchanged = 0
    for body in range(first, last):
        if logged + most > log.size:
            return body, logged, exchanged
        for axis in range(3):
            for end in range(2):
                point = 2 * body + end
                begin = np.int64(places[axis, point])
                value = ends[body, axis, end]
                place, added = _settle(
                    point, begin, value, axis, static, values[axis], points[axis], places, log[logged:]
                )
                logged += added
                exchanged += abs(place - begin)
    return last, logged, exchanged


@kernel
def _settle(
    point: Integer,
    start: Integer,
    value: np.float32,
    axis: Integer,
    static: NDArray[np.bool_],
    values: NDArray[np.float32],
    points: NDArray[np.int32],
    places: NDArray[np.int32],
    log: Keys,
) -> tuple[Any, int]:
    """Move one end point down, or up, past all that differ strictly; its new place, and entries logged."""
    place: Any = start
    logged = 0
    for step in (-1, 1):
        while 0 <= place + step < values.size:
            beside = place + step
            passes = value < values[beside] if step < 0 else value > values[beside]
            if not passes:
                break
            other = np.int64(points[beside])
            lower, upper = (point, other) if step < 0 else (other, point)
            i, j = point // 2, other // 2
            if lower % 2 == 1 and upper % 2 == 0:
                log[logged] = ordered_key(i, j) | ENDED
                logged += 1
            elif (
                lower % 2 == 0
                and upper % 2 == 1
                and i != j
                and not (static[i] and static[j])
                and _overlap_elsewhere(places, axis, i, j)
            ):
                log[logged] = ordered_key(i, j)
                logged += 1
            values[place] = values[beside]
            points[place] = other
            places[axis, other] = place
            place = beside
    values[place] = value
    points[place] = point
    places[axis, point] = place
    return place, logged


_FIRST_BUFFER = 1 << 12
"""Pairs in the first buffer of an all-pairs test."""


class FingsicsIndex(Index):
    """A method of the engine. Two static bodies are never a pair."""

    keeps_bounds: ClassVar[bool] = True

    departs_from: ClassVar[str]
    """The exact method that serves other bounds."""

    _exact: Index | None = None

    @property
    def _boxes(self) -> BodyBoxes:
        bounds = self.table.bounds
        assert isinstance(bounds, BodyBoxes)
        return bounds

    @property
    def _static(self) -> NDArray[np.bool_]:
        given = self.table.pair_filter
        return np.zeros(len(self), np.bool_) if given is None else given.static

    def build(self) -> None:
        """Start over the present bodies."""
        self._exact = None
        if isinstance(self.table.bounds, BodyBoxes):
            self._begin()
        else:
            self._exact = find(self.departs_from)().over(self.table, self.counters)

    def update(self, previous: Floats) -> Change | None:
        """Follow the bodies."""
        if self._exact is None and isinstance(self.table.bounds, BodyBoxes):
            self._go_on()
            return None
        if self._exact is None:
            return super().update(previous)
        self._exact, change = self._exact.after(self.table)
        return change

    def emit(self, sink: Sink) -> None:
        """Write the candidates."""
        if self._exact is None:
            sink.add(self._candidates())
        else:
            self._exact.emit(sink)

    def pairs(self) -> Pairs:
        """Return the candidates, sorted."""
        return super().pairs() if self._exact is None else self._exact.pairs()

    def structure(self) -> Structure:
        """Return that of the exact method, if it serves."""
        return super().structure() if self._exact is None else self._exact.structure()

    def _begin(self) -> None:
        """Start over bodies with `BodyBoxes`."""

    def _go_on(self) -> None:
        """Follow bodies with `BodyBoxes`, in new arrays."""

    def _candidates(self) -> Keys:
        """Return the candidates as sorted keys."""
        raise NotImplementedError


class FingsicsBruteObb(FingsicsIndex):
    """Tests every pair by oriented boxes, without boxes before and without an epsilon.

    Guarantees: the answer of the engine, in single precision; n(n − 1)/2 tests, O(n) memory beside the answer.
    """

    name: ClassVar[str] = "fingsics-brute-obb"
    departs_from: ClassVar[str] = "brute-obb"

    def _candidates(self) -> Keys:
        count, boxes = len(self), self._boxes
        found: Keys = np.empty(_FIRST_BUFFER, np.uint64)
        with self.counters.filtering(count * (count - 1) // 2):
            while (hits := _all_meeting(boxes.center, boxes.half, boxes.axes, self._static, found)) > found.size:
                found = np.empty(hits, np.uint64)
        return found[:hits]


class FingsicsSap(FingsicsIndex):
    """Follows boxes by the engine's sweep on three axes, kept between frames, with its order of ties.

    Guarantees: the answer of the engine, which depends on the frames before; O(n + exchanges) a frame, O(n + pairs)
    memory. See `choque.theses.fingsics.indices`.
    """

    name: ClassVar[str] = "fingsics-sap"
    departs_from: ClassVar[str] = "sap-incremental"

    _sweep: FingsicsSweep

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the sorted lists and the set of pairs."""
        return self._sweep.state() if self._exact is None else self._exact.state()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Continue from what `state` returned for the same bodies."""
        if self._exact is None and state:
            self._sweep = self._sweep.copy()
            self._sweep.restore(state)

    def _begin(self) -> None:
        self._sweep = FingsicsSweep.of(self._boxes.lower, self._boxes.upper, self._static)

    def _go_on(self) -> None:
        self._sweep = self._sweep.copy()
        self.counters.exchanges += self._sweep.update(self._boxes.lower, self._boxes.upper, self._static)

    def _candidates(self) -> Keys:
        return self._sweep.keys.copy()


class FingsicsSapObb(FingsicsSap):
    """Follows boxes by the engine's sweep, and tests the oriented boxes of what that leaves.

    Guarantees: the answer of the engine, in single precision; the body whose number comes first as a text is tested
    first. One oriented test for each pair of boxes.
    """

    name: ClassVar[str] = "fingsics-sap-obb"
    departs_from: ClassVar[str] = "sap-obb"

    def _candidates(self) -> Keys:
        pairs, boxes = self._sweep.pairs(), self._boxes
        meet = np.empty(len(pairs), np.bool_)
        with self.counters.filtering(len(pairs)):
            _test_pairs(pairs, boxes.center, boxes.half, boxes.axes, meet)
        return pack_pairs(pairs[meet])


@kernel
def _all_meeting(center: Any, half: Any, axes: Any, static: NDArray[np.bool_], found: Keys) -> int:
    """Write the pairs whose oriented boxes meet, packed and sorted; return their number, also if they do not fit."""
    turn = np.empty((3, 3), np.float32)
    count = 0
    for i in range(static.size):
        for j in range(i + 1, static.size):
            if not (static[i] and static[j]) and oriented_boxes_meet(center, half, axes, i, j, turn):
                if count < found.size:
                    found[count] = pair_key(i, j)
                count += 1
    return count


@kernel
def _test_pairs(pairs: Pairs, center: Any, half: Any, axes: Any, meet: NDArray[np.bool_]) -> None:
    turn = np.empty((3, 3), np.float32)
    for row in range(pairs.shape[0]):
        i, j = np.int64(pairs[row, 0]), np.int64(pairs[row, 1])
        if text_key(j) < text_key(i):
            i, j = j, i
        meet[row] = oriented_boxes_meet(center, half, axes, i, j, turn)

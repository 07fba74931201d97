"""The broad phases of the Fingsics engine, as registered methods: where they depart from an exact answer.

Given the `BodyBoxes` of a world (axis-aligned and oriented boxes of bodies), they answer as the engine does. Given any
other bounds, each is the exact method that it departs from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_keys import pack_pairs, pair_key
from choque._core.pair_sets import Change
from choque._core.types import Floats, Keys, Pairs
from choque.broad import find
from choque.broad.index import Index
from choque.broad.structure import Structure
from choque.theses.fingsics.boxes import oriented_boxes_meet
from choque.theses.fingsics.order import text_key
from choque.theses.fingsics.sweep import FingsicsSweep
from choque.world.bounds import BodyBoxes

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
    memory. See `choque.theses.fingsics.sweep`.
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

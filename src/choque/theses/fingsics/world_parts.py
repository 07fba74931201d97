"""The original's broad phases, for worlds that are ``legacy``.

`create_legacy` stands in for `choque.broad.create`: given the `BodyBoxes` of `legacy_bounds`, it makes the three
methods in which the original departs from an exact answer, and hands all others on. What it makes has as much of the
surface of a `BroadPhase` as a world uses: ``update``, ``held_pairs``, ``counters``; and ``state`` and ``restore``,
because a persistent sweep with ties depends on its past.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from choque import broad
from choque._core.counters import Counters
from choque._core.kernel import kernel
from choque._core.pair_keys import unpack_pairs
from choque._core.types import Keys, Pairs
from choque.bounds import Bounds
from choque.broad import BroadPhase
from choque.errors import InvalidInput
from choque.theses.fingsics.boxes import oriented_boxes_meet
from choque.theses.fingsics.order import text_key
from choque.theses.fingsics.sweep import LegacySweep
from choque.world.bounds import BodyBoxes

_ROOM = 1 << 12


class LegacyBroad(ABC):
    """One of the original's broad phases over bodies that neither come nor go. Two statics are never a pair.

    Parameters
    ----------
    bounds
        As `legacy_bounds` gives them.
    static
        (n,) bool.
    """

    name: ClassVar[str]

    def __init__(self, bounds: BodyBoxes, static: NDArray[np.bool_]) -> None:
        self.counters = Counters()
        self._bounds = bounds
        self._static = static

    def update(self, bounds: Bounds) -> None:
        """Follow the bodies to their present bounds, which `legacy_bounds` gave as those before."""
        self._bounds = cast(BodyBoxes, bounds)

    @abstractmethod
    def held_pairs(self) -> Pairs:
        """The candidates, in rows, sorted."""

    def state(self) -> dict[str, NDArray[Any]]:
        """What the next answer depends on beside the bounds, as plain arrays."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:  # noqa: B027
        """Go on from what `state` gave for the same bodies."""


class LegacyBruteObb(LegacyBroad):
    """Every pair by oriented boxes, without boxes before and without an epsilon: n(n − 1)/2 tests, O(n) memory."""

    name: ClassVar[str] = "brute-obb"

    def held_pairs(self) -> Pairs:
        """Return the candidate pairs, sorted."""
        count = len(self._static)
        found: Keys = np.empty(_ROOM, np.uint64)
        volumes = (self._bounds.center, self._bounds.half, self._bounds.axes)
        with self.counters.filtering(count * (count - 1) // 2):
            while (hits := _all_meeting(*volumes, self._static, found)) > found.size:
                found = np.empty(hits, np.uint64)
        return unpack_pairs(found[:hits])


class LegacySap(LegacyBroad):
    """The original's sweep on three axes; see `LegacySweep`."""

    name: ClassVar[str] = "sap-incremental"

    def __init__(self, bounds: BodyBoxes, static: NDArray[np.bool_]) -> None:
        super().__init__(bounds, static)
        self._sweep = LegacySweep.of(bounds.lower, bounds.upper, static)

    def update(self, bounds: Bounds) -> None:
        """Exchange the end points that passed one another."""
        super().update(bounds)
        self.counters.swaps += self._sweep.update(self._bounds.lower, self._bounds.upper, self._static)

    def held_pairs(self) -> Pairs:
        """Return the candidate pairs, sorted."""
        return self._sweep.pairs()

    def state(self) -> dict[str, NDArray[Any]]:
        """The sorted lists and the set of pairs."""
        return self._sweep.state()

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from what `state` gave for the same bodies."""
        self._sweep.restore(state)


class LegacySapObb(LegacySap):
    """The original's sweep, and its oriented boxes for what that leaves: the pairs whose texts come first first."""

    name: ClassVar[str] = "sap-obb"

    def held_pairs(self) -> Pairs:
        """Return the candidate pairs, sorted."""
        pairs = super().held_pairs()
        meet = np.empty(len(pairs), np.bool_)
        with self.counters.filtering(len(pairs)):
            _test_pairs(pairs, self._bounds.center, self._bounds.half, self._bounds.axes, meet)
        return pairs[meet]


_METHODS: dict[str, type[LegacyBroad]] = {kind.name: kind for kind in (LegacyBruteObb, LegacySap, LegacySapObb)}


def create_legacy(method: str, bounds: Bounds, **options: Any) -> LegacyBroad | BroadPhase:
    """The original's way to do ``method``; what `choque.broad.create` gives if that is exact, or bounds are others."""
    if method not in _METHODS or not isinstance(bounds, BodyBoxes):
        return broad.create(method, bounds, **options)
    static = options.pop("static", np.zeros(len(bounds), np.bool_))
    options.pop("threads", None)
    if options:
        raise InvalidInput(
            f"The original's {method!r} takes no options, and {', '.join(map(repr, options))} was given."
        )
    return _METHODS[method](bounds, static)


@kernel
def _all_meeting(center: Any, half: Any, axes: Any, static: NDArray[np.bool_], found: Keys) -> int:
    """Write the pairs whose oriented boxes meet, packed and sorted; how many there are, also if they do not fit."""
    turn = np.empty((3, 3), np.float32)
    count = 0
    for i in range(static.size):
        for j in range(i + 1, static.size):
            if not (static[i] and static[j]) and oriented_boxes_meet(center, half, axes, i, j, turn):
                if count < found.size:
                    found[count] = (np.uint64(i) << np.uint64(32)) | np.uint64(j)
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

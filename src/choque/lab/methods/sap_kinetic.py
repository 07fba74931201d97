"""Kinetic sweep-and-prune as a broad-phase method: each end point moves linearly from its old to its new value."""

from __future__ import annotations

import copy
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.pair_keys import pack_pairs, unpack_pairs
from choque._core.pair_sets import ENDED, Change
from choque._core.types import Floats, Keys
from choque.broad.exchanges import Logs
from choque.broad.index import Index
from choque.broad.sap_incremental import SapIncremental
from choque.broad.structure import Structure
from choque.kinetic.lists import Lists
from choque.kinetic.run import run

_ARRIVAL = float(np.nextafter(1.0, 0.0))
"""The motion is followed up to here; what touches on arrival is judged by the new boxes."""


class SapKinetic(Index):
    """Follows an update or a move as a motion from time 0 to time 1, exchange by exchange in the order of their times.

    Notes
    -----
    Guarantees: exact, both topologies. An update costs O(n) to plan and O(log n) for each exchange;
    ``counters.exchanges`` counts exchanges, ``counters.events`` the instants per axis at which they happen. On arrival
    the lists are put in the exact order of the new values, and each pair met on the way is judged by the boxes before
    and after, so that rounding has no effect. For frames alone `sap-incremental` does the same exchanges at less cost;
    this one takes part in every comparison. Memory: that of `sap-incremental`, and 56 bytes per end point and axis
    while an update is followed.

    After Coming and Staadt, "Kinetic Sweep and Prune for Multi-body Continuous Motion", 2006.
    """

    name: ClassVar[str] = "sap-kinetic"

    def build(self) -> None:
        """Sort the end points of each axis."""
        self._sweep = SapIncremental().over(self.table, self.counters)

    def update(self, previous: Floats) -> Change:
        """Move the end points in the order of their exchanges, and sort what is left."""
        self._sweep = copy.copy(self._sweep)
        self._sweep.table = self.table
        return self._sweep.sort_again(previous, met=[self._follow(previous)])

    def emit(self, sink: Sink) -> None:
        """Sweep the sorted lists once."""
        self._sweep.emit(sink)

    def structure(self) -> Structure:
        """Return the end points in order, and the order of a sweep of them."""
        return self._sweep.structure()

    @property
    def byte_count(self) -> int:
        """The bytes of the sweep."""
        return self._sweep.byte_count

    def _follow(self, previous: Floats) -> Logs:
        """Move the ends to shortly before their new values; return the net changes of the pairs met on the way."""
        count, dimension, ends = len(self), self.table.dimension, self._sweep.ends
        old, new = previous.astype(np.float64), self.records.astype(np.float64)
        paths = np.zeros((dimension, 2 * count, 4))
        with np.errstate(invalid="ignore", over="ignore"):
            motion = new - old
        motion[~np.isfinite(motion)] = 0.0  # from or to infinity there is no path: it jumps on arrival
        for side in range(2):
            columns = slice(3 * side, 3 * side + dimension)
            paths[:, side::2, 0], paths[:, side::2, 1] = old[:, columns].T, motion[:, columns].T
        order = np.where(ends < count, 2 * ends, 2 * (ends - np.uint32(count)) + 1).astype(np.int32)
        lists = Lists(paths, closed=True, paired=True, now=0.0, order=order)
        events, _ = run(lists, _ARRIVAL)
        ends[:] = (lists.order >> 1) + (lists.order & 1) * count
        self.note_bytes(lists.byte_count)
        self.counters.events += lists.counters.events
        met = np.unique(pack_pairs(events.pairs))
        log = self._net_changes(met, previous) if len(met) else met
        return [log], lists.counters.exchanges, 2 * len(log)

    def _net_changes(self, keys: Keys, previous: Floats) -> Keys:
        first, second = unpack_pairs(keys).T
        common = np.promote_types(self.records.dtype, previous.dtype)
        before = _overlap(self._sweep.widest(previous, common), first, second)
        after = _overlap(self._sweep.widest(self.records, common), first, second)
        keys[before & ~after] |= ENDED
        changed: Keys = keys[before != after]
        return changed


def _overlap(records: Floats, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.bool_]:
    a, b = records[first], records[second]
    return np.asarray(((a[:, :3] <= b[:, 3:]) & (b[:, :3] <= a[:, 3:])).all(axis=1))

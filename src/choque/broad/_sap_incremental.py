"""Sweep and prune that keeps its order: end points stay sorted between frames, and pairs change where end points do."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from choque._core import threads
from choque._core.emission import Sink
from choque._core.pair_sets import Change, change_from_log
from choque._core.records import PackedBoxes, widened
from choque._core.types import Floats, Keys, Rows
from choque.bounds import Bounds
from choque.broad._contract import BroadPhase
from choque.broad._sap_exchanges import EndPoints, Logs, gather_values, move_end_points, run_logged, sort_axes
from choque.broad._structure import Structure, order_of_sweep
from choque.broad._sweep_order import Order, boxes_in_order, order_of, widest_axis
from choque.broad._sweep_tiles import sweep_of
from choque.errors import UnknownName

_VARIANTS = ("delta", "recompute")

ALL_FROM_SHARE = 8
"""When one body in so many moves, one pass over all end points is cheaper than moving each on its own."""


class SapIncremental(BroadPhase):
    """Keeps the ends of all boxes sorted on every axis and repairs the order by exchanges of neighbours.

    Parameters
    ----------
    variant
        ``"delta"``: each exchange of a lower and an upper end changes the pairs, so began and ended cost nothing more.
        ``"recompute"``: when an update has changed the order anywhere, all pairs are found anew by a sweep, as some
        programs do; `collision_runs` counts how often. `move` follows exchanges in both.

    Notes
    -----
    Guarantees: exact, both topologies; 16 bytes per box and axis in float32 and 24 in float64, whatever the pairs. An
    update costs O(n) and the exchanges (``counters.swaps``): few when frames differ little, up to 2n² on each axis when
    everything changes place, and then a method that starts afresh is the one to use. A move touches only the end
    points of those that move and costs the ranks that they pass. All pairs, when first asked for, cost a direct sweep
    of the sorted lists.

    After Baraff, "Dynamic Simulation of Non-Penetrating Rigid Bodies", 1992, and Cohen, Lin, Manocha and Ponamgi,
    "I-COLLIDE: An Interactive and Exact Collision Detection System for Large-Scale Environments", 1995.
    """

    name: ClassVar[str] = "sap-incremental"
    follows_moves: ClassVar[bool] = True

    variant: str = "delta"
    collision_runs: int = 0

    def __init__(self, bounds: Bounds | PackedBoxes, *, variant: str = "delta", **shared: Any) -> None:
        if variant not in _VARIANTS:
            raise UnknownName("variant of 'sap-incremental'", str(variant), _VARIANTS)
        self.variant = variant
        super().__init__(bounds, **shared)

    def _build(self) -> None:
        shape = (self._dimension, 2 * len(self))
        self._values: Floats = np.empty(shape, self._records.dtype)
        self._ends: EndPoints = np.empty(shape, np.uint32)
        for axis in range(self._dimension):
            values = self._end_values(axis)
            self._ends[axis] = order_of(values, self._thread_count())
            self._values[axis] = values[self._ends[axis]]

    def structure(self) -> Structure:
        """The end points as they are sorted, and the order of a sweep of them."""
        return order_of_sweep(self.name, *self._swept(), self._identities.ids, self._ends)

    def _swept(self) -> tuple[int, Order]:
        """The axis that is swept, and the rows in the order of their lower ends on it."""
        axis = widest_axis(self._records)
        order = self._ends[axis]
        return axis, order[order < len(self)]  # the lower ends, which are rows

    def _emit(self, sink: Sink) -> None:
        axis, order = self._swept()
        boxes = boxes_in_order(self._records, order, axis, self._thread_count())
        sweep = sweep_of(boxes, order, None, self._thread_count())
        self._note_bytes(sweep.nbytes)
        self.counters.duplicates += sweep.emit(sink)

    def _updated(self, previous: Floats) -> Change | None:
        if self.variant == "delta":
            return self._sorted_again(previous)
        self._values, self._ends = self._values.copy(), self._ends.copy()  # the past keeps its own
        swaps = self.counters.swaps
        unchanged = self._sorted_again(previous, judging=False)
        if self.counters.swaps == swaps:
            return unchanged
        self.collision_runs += 1
        return None

    def _moved(self, rows: Rows, previous: Floats) -> Change:
        if len(rows) * ALL_FROM_SHARE > len(self):
            everything = self._records.copy()
            everything[rows] = previous
            return self._sorted_again(everything)
        lists = (self._values, self._ends)
        return self._concluded([run_logged(move_end_points, len(rows), *lists, self._records, previous, rows)])

    def _sorted_again(self, previous: Floats, judging: bool = True) -> Change:
        """Follow new records by sorting every axis; the net change, or none if exchanges are not judged."""
        records = self._records
        if self._values.dtype != records.dtype:
            self._values = np.empty(self._values.shape, records.dtype)
        common = np.promote_types(records.dtype, previous.dtype)
        judged = (self._widest(records, common), self._widest(previous, common))
        results: list[Logs] = []

        def work(_: int) -> None:
            while (span := draw()) is not None:
                values, ends = self._values[slice(*span)], self._ends[slice(*span)]
                gather_values(values, ends, records, span[0])
                results.append(run_logged(sort_axes, values.size, values, ends, *judged, judging))

        thread_count = min(self._thread_count(), self._dimension)
        draw = threads.block_supply(self._dimension, self._dimension if thread_count == 1 else 1)
        threads.run(work, thread_count)
        return self._concluded(results)

    def _concluded(self, results: list[Logs]) -> Change:
        """The net change that the logs tell, and the counters brought up to date."""
        logs: list[Keys] = []
        for log, swaps, tests in results:
            logs += log
            self.counters.swaps += swaps
            self.counters.tests += tests
        return change_from_log(logs, self._filter)

    def _end_values(self, axis: int) -> Floats:
        """The values of all end points of ``axis``, by end point."""
        return np.concatenate((self._records[:, axis], self._records[:, axis + 3]))

    def _widest(self, records: Floats, dtype: Any) -> Floats:
        return records if records.dtype == dtype else widened(records, self.closed, dtype)

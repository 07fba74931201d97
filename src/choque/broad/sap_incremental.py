"""Sweep and prune that keeps its order: end points stay sorted between frames, and pairs change where end points do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from choque._core import threads
from choque._core.emission import Sink
from choque._core.pair_sets import Change, change_from_log
from choque._core.records import widened
from choque._core.types import Floats, Keys, Rows
from choque.broad.exchanges import EndPoints, Logs, gather_values, move_end_points, run_logged, sort_axes
from choque.broad.index import Index
from choque.broad.structure import Structure, order_of_sweep
from choque.broad.sweep_order import Order, boxes_in_order, order_of, widest_axis
from choque.broad.sweep_tiles import tiled_sweep

ALL_FROM_SHARE = 8
"""If more than one body in this number moves, one pass over all end points is cheaper than moving each."""


class SapIncremental(Index):
    """Keeps the ends of all boxes sorted on every axis and repairs the order by exchanges of neighbours.

    Each exchange of a lower and an upper end begins or ends a pair, so began and ended cost nothing more.

    Notes
    -----
    Guarantees: exact in both topologies; 16 bytes per box and axis in float32 and 24 in float64, for any number of
    pairs. An update costs O(n) and the exchanges (``counters.exchanges``): few when frames differ little, up to 2n² on
    each axis when the order is reversed; a method that starts from scratch is then faster. A move touches only the end
    points of the bodies that move and costs the ranks that they pass. The first list of all pairs costs a direct sweep
    of the sorted lists.

    After Baraff, "Dynamic Simulation of Non-Penetrating Rigid Bodies", 1992, and Cohen, Lin, Manocha and Ponamgi,
    "I-COLLIDE: An Interactive and Exact Collision Detection System for Large-Scale Environments", 1995.
    """

    name: ClassVar[str] = "sap-incremental"

    def build(self) -> None:
        """Sort the end points of each axis."""
        shape = (self.table.dimension, 2 * len(self))
        self._values: Floats = np.empty(shape, self.records.dtype)
        self.ends: EndPoints = np.empty(shape, np.uint32)
        for axis in range(self.table.dimension):
            values = np.concatenate((self.records[:, axis], self.records[:, axis + 3]))  # by end point
            self.ends[axis] = order_of(values, self.thread_count())
            self._values[axis] = values[self.ends[axis]]

    def structure(self) -> Structure:
        """Return the end points in order, and the order of a sweep of them."""
        return order_of_sweep(self.name, *self._swept(), self.ends)

    def _swept(self) -> tuple[int, Order]:
        """Return the axis that is swept, and the rows in the order of their lower ends on it."""
        axis = widest_axis(self.records, self.table.dimension)
        order = self.ends[axis]
        return axis, order[order < len(self)]  # the lower ends, which are rows

    def emit(self, sink: Sink) -> None:
        """Sweep the sorted lists once."""
        axis, order = self._swept()
        boxes = boxes_in_order(self.records, order, axis, self.thread_count())
        sweep = tiled_sweep(boxes, order, thread_count=self.thread_count())
        self.note_bytes(sweep.nbytes)
        self.counters.duplicates += sweep.emit(sink)

    def update(self, previous: Floats) -> Change | None:
        """Sort again by exchanges, which give the change of the pairs."""
        return self.sort_again(previous)

    def move(self, rows: Rows, previous: Floats) -> Change:
        """Move the end points of the movers, or sort all again if they are many."""
        if len(rows) * ALL_FROM_SHARE > len(self):
            everything = self.records.copy()
            everything[rows] = previous
            return self.sort_again(everything)
        lists = (self._values, self.ends)
        return self._concluded([run_logged(move_end_points, len(rows), *lists, self.records, previous, rows)])

    def sort_again(self, previous: Floats, judging: bool = True, met: Sequence[Logs] = ()) -> Change:
        """Sort every axis by exchanges, and return the net change of the pairs from them and from the logs ``met``.

        Without ``judging`` exchanges are counted, and no pair begins or ends.
        """
        records = self.records
        if self._values.dtype != records.dtype:
            self._values = np.empty(self._values.shape, records.dtype)
        common = np.promote_types(records.dtype, previous.dtype)
        judged = (self.widest(records, common), self.widest(previous, common))
        results: list[Logs] = list(met)

        def work(_: int) -> None:
            while (span := draw()) is not None:
                values, ends = self._values[slice(*span)], self.ends[slice(*span)]
                gather_values(values, ends, records, span[0])
                results.append(run_logged(sort_axes, values.size, values, ends, *judged, judging))

        thread_count = min(self.thread_count(), self.table.dimension)
        draw = threads.block_supply(self.table.dimension, self.table.dimension if thread_count == 1 else 1)
        threads.run(work, thread_count)
        return self._concluded(results)

    def _concluded(self, results: list[Logs]) -> Change:
        """Return the net change of the pairs from the logs, and add to the counters."""
        logs: list[Keys] = []
        for log, exchanges, tests in results:
            logs += log
            self.counters.exchanges += exchanges
            self.counters.tests += tests
        return change_from_log(logs, self.table.pair_filter)

    def widest(self, records: Floats, dtype: Any) -> Floats:
        """Return ``records`` in the type ``dtype``, which is as wide or wider."""
        return records if records.dtype == dtype else widened(records, self.table.closed, dtype, self.table.dimension)

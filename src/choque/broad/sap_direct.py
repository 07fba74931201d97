"""Sweep and prune from scratch: sort once, sweep once."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from choque._core import check
from choque._core.emission import Sink
from choque._core.types import Floats
from choque.broad.index import Index
from choque.broad.structure import Structure, order_of_sweep
from choque.broad.sweep_order import Line, Order, boxes_in_order, order_of, widest_axis
from choque.broad.sweep_tiles import TileSweep, tiled_sweep


class SapDirect(Index):
    """Sorts the boxes along the axis of greatest variance and tests each against those that start before it ends.

    Parameters
    ----------
    tiles
        Whether the sweep is split into tiles on the two other axes, a few typical boxes wide. None chooses what is
        faster, which is tiles from 5,000 boxes on.

    Notes
    -----
    Guarantees: exact in both topologies; O(n) memory beside the answer, for any sizes. The sort is by counting, in
    linear time. A sweep without tiles tests each pair that overlaps on the swept axis, O(n^(5/3)) of them in an even
    scene; tiles make it nearly linear. Boxes that touch very many tiles are swept separately.

    The sweep is that of Baraff, "Dynamic Simulation of Non-Penetrating Rigid Bodies", 1992, and of Cohen, Lin, Manocha
    and Ponamgi, "I-COLLIDE", 1995. The choice of the axis and the tiles follow Liu, Harada, Lee and Kim, "Real-time
    Collision Culling of a Million Bodies on Graphics Processing Units", 2010, and Tracy, Buss and Woods, "Efficient
    Large-Scale Sweep and Prune Methods with AABB Insertion and Removal", 2009. The layout in columns follows Terdiman,
    "Box pruning revisited", 2017.
    """

    name: ClassVar[str] = "sap-direct"

    def __init__(self, *, tiles: bool | None = None) -> None:
        if tiles is not None:
            tiles = check.boolean(tiles, "tiles", otherwise="None for the faster")
        self.tiles = tiles

    def build(self) -> None:
        """Sort the boxes and lay them out for the sweep."""
        axis = widest_axis(self.records, self.table.dimension)
        values: Floats = np.ascontiguousarray(self.records[:, axis])
        self.lay_out(self.records, axis, order_of(values, self.thread_count()))

    def structure(self) -> Structure:
        """Return the axis and the order of the sweep."""
        return order_of_sweep(self.name, self._axis, self._order)

    def emit(self, sink: Sink) -> None:
        """Sweep."""
        self.counters.duplicates += self._sweep.emit(sink)

    def lay_out(self, records: Floats, axis: int, order: Order) -> None:
        """Arrange ``records`` (n, 6) for a sweep along ``axis``; ``order`` (n,) sorts their lower bounds on it."""
        self._axis = axis
        self._order = order
        boxes = boxes_in_order(records, order, axis, self.thread_count())
        self._sweep: Line | TileSweep = tiled_sweep(boxes, order, tiles=self.tiles, thread_count=self.thread_count())

    @property
    def byte_count(self) -> int:
        """The bytes of the records, the order and the sweep."""
        return super().byte_count + self._sweep.nbytes

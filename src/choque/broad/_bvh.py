"""A wide bounding-volume hierarchy on Morton order, rebuilt when it has to be and refitted when it can."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.morton import morton_order
from choque._core.pair_sets import Change, change_from_log
from choque._core.tree import WIDTH, Tree, make_tree, surface_of
from choque._core.tree_pairs import emit_blocks
from choque._core.types import Floats, Rows
from choque.broad._bvh_motion import emit_changes, enter_movers, settle_movers
from choque.broad.index import Index
from choque.broad.structure import Structure, blocks_of

REBUILD_AT = 1.5
"""The tree is ordered anew when its blocks have grown to this many times their size at the last ordering."""


class Bvh(Index):
    """A flat, 16-wide tree of boxes; also answers points, rays and nearest neighbours.

    Boxes are ordered along a Z-curve and sixteen consecutive ones share a block, sixteen blocks a block above
    (Lauterbach et al., 2009). An update refits the tree in the order it has, and orders it anew once motion has
    swollen its blocks. A move touches only what moved: blocks grow with a margin, as the fattened leaves of a dynamic
    tree do (Catto, "Dynamic bounding volume hierarchies", 2019), and the pairs that began and ended come with it.

    Guarantees: exact, both topologies; 30 to 60 bytes a box beside the records; O(n log n + m) for boxes of any
    mixture of sizes, O(n²) when all overlap in projection on the curve (it stays correct). `move` of k bodies costs
    O(k log n) and what they touch.
    """

    name: ClassVar[str] = "bvh"

    def build(self) -> None:
        thread_count = self.thread_count()
        self._hierarchy = make_tree(self.records, morton_order(self.records, thread_count), thread_count)
        self._surface = surface_of(self._hierarchy)
        self._places: NDArray[np.int32] | None = None
        self._moved_count = 0

    def emit(self, sink: Sink) -> None:
        tree = self._hierarchy
        sink.run(emit_blocks, -(-len(self) // WIDTH), tree.lanes, tree.rows, tree.level_first)

    def update(self, previous: Floats) -> Change | None:  # noqa: ARG002
        self._hierarchy = make_tree(self.records, self._hierarchy.rows, self.thread_count())
        self._moved_count = 0
        if not surface_of(self._hierarchy) <= REBUILD_AT * self._surface:
            self.build()
        return None

    def move(self, rows: Rows, previous: Floats) -> Change:
        tree = self._hierarchy
        places, slots = self._movement_arrays()
        enter_movers(rows, previous, self.records, places, slots, tree.lanes, tree.level_first)
        sink = Sink(16 * len(rows), self.thread_count(len(rows)), None)
        arrays = (rows, previous, self.records, slots, tree.lanes, tree.rows, tree.level_first)
        sink.run(emit_changes, len(rows), *arrays)
        settle_movers(rows, self.records, places, slots, tree.lanes)
        self.counters.tests += sink.tests
        self._moved_count += len(rows)
        if self._moved_count > len(self):
            self.build()  # grown blocks are never shrunk by a move: start afresh once in a while
        return change_from_log(sink.chunks, self.table.pair_filter)

    def structure(self) -> Structure:
        """Return the blocks of the tree, and the order of the curve through them."""
        return blocks_of(self.name, self._hierarchy, self.table.dimension)

    @property
    def byte_count(self) -> int:
        """The bytes of the records, of the tree and of the arrays for moves."""
        return super().byte_count + self._hierarchy.nbytes

    def tree(self) -> Tree:
        """Return the tree, for queries."""
        return self._hierarchy

    def _movement_arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The place of each row in the order, and a slot that says which mover it is; made at the first move."""
        if self._places is None:
            self._places = np.empty(len(self), np.int32)
            self._places[self._hierarchy.rows] = np.arange(len(self), dtype=np.int32)
            self._slots = np.full(len(self), -1, np.int32)
        return self._places, self._slots

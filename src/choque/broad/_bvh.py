"""A wide bounding-volume hierarchy on Morton order, rebuilt when it has to be and refitted when it can."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.emission import Sink
from choque._core.morton import morton_order
from choque._core.pair_sets import Change, change_from_log
from choque._core.tree import WIDTH, Tree, make_tree, surface_of
from choque._core.tree_pairs import emit_blocks
from choque._core.tree_query import RayHits, cast_rays, nearest_boxes, query_points, query_rays
from choque._core.types import Floats, Pairs, Rows
from choque.broad._bvh_motion import emit_changes, enter_movers, settle_movers
from choque.broad._contract import BroadPhase
from choque.broad._structure import Structure, blocks_of

REBUILD_AT = 1.5
"""The tree is ordered anew when its blocks have grown to this many times their size at the last ordering."""


class Bvh(BroadPhase):
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
    follows_moves: ClassVar[bool] = True

    def _build(self) -> None:
        thread_count = self._thread_count()
        self._hierarchy = make_tree(self._records, morton_order(self._records, thread_count), thread_count)
        self._surface = surface_of(self._hierarchy)
        self._places: NDArray[np.int32] | None = None
        self._moved_count = 0
        self._note_bytes(self._hierarchy.nbytes)

    def _emit(self, sink: Sink) -> None:
        tree = self._hierarchy
        sink.run(emit_blocks, -(-len(self) // WIDTH), tree.lanes, tree.rows, tree.level_first)

    def _updated(self, previous: Floats) -> Change | None:  # noqa: ARG002
        self._hierarchy = make_tree(self._records, self._hierarchy.rows, self._thread_count())
        self._moved_count = 0
        if not surface_of(self._hierarchy) <= REBUILD_AT * self._surface:
            self._build()
        return None

    def _moved(self, rows: Rows, previous: Floats) -> Change:
        tree = self._hierarchy
        places, slots = self._movement_arrays()
        enter_movers(rows, previous, self._records, places, slots, tree.lanes, tree.level_first)
        sink = Sink(16 * len(rows), self._thread_count(len(rows)), None)
        arrays = (rows, previous, self._records, slots, tree.lanes, tree.rows, tree.level_first)
        sink.run(emit_changes, len(rows), *arrays)
        settle_movers(rows, self._records, places, slots, tree.lanes)
        self.counters.tests += sink.tests
        self._moved_count += len(rows)
        if self._moved_count > len(self):
            self._build()  # grown blocks are never shrunk by a move: start afresh once in a while
        return change_from_log(sink.chunks, self._filter)

    def structure(self) -> Structure:
        """The blocks of the tree, and the order of the curve through them."""
        return blocks_of(self.name, self._hierarchy, self._identities.ids, self._dimension)

    def query_points(self, points: ArrayLike) -> Pairs:
        """Which of the points (k, d) lie in which boxes: sorted (m, 2) rows of (point, id)."""
        return self._with_ids(query_points(self._hierarchy, points, self._dimension, self._thread_count()))

    def query_rays(self, origin: ArrayLike, direction: ArrayLike, longest: float = np.inf) -> Pairs:
        """Every box that each ray meets within ``longest`` times its direction: sorted (m, 2) rows of (ray, id)."""
        found = query_rays(self._hierarchy, origin, direction, longest, self._dimension, self._thread_count())
        return self._with_ids(found)

    def cast_rays(self, origin: ArrayLike, direction: ArrayLike, longest: float = np.inf) -> RayHits:
        """The first box that each ray (k, d) meets: ids (k,), −1 for none, and how many directions away (k,)."""
        hits = cast_rays(self._hierarchy, origin, direction, longest, self._dimension, self._thread_count())
        return RayHits(self._ids_or_none(hits.ids), hits.distance)

    def nearest(self, points: ArrayLike, count: int = 1) -> RayHits:
        """The ``count`` boxes nearest to each point (k, d): ids, −1 beyond the last, and distances, (k, count).

        The distance to a box that holds the point is 0; of boxes equally near the one with the smaller id comes
        first.
        """
        hits = nearest_boxes(self._hierarchy, points, count, self._dimension, self._thread_count())
        return RayHits(self._ids_or_none(hits.ids), hits.distance)

    def _query_tree(self, dtype: Any) -> Tree:
        return self._hierarchy if dtype == self._records.dtype else super()._query_tree(dtype)

    def _movement_arrays(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The place of each row in the order, and a slot that says which mover it is; made at the first move."""
        if self._places is None:
            self._places = np.empty(len(self), np.int32)
            self._places[self._hierarchy.rows] = np.arange(len(self), dtype=np.int32)
            self._slots = np.full(len(self), -1, np.int32)
        return self._places, self._slots

    def _ids_or_none(self, rows: NDArray[np.int32]) -> NDArray[np.int32]:
        known = rows >= 0
        rows[known] = self._identities.ids[rows[known]]
        return rows

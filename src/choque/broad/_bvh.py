"""A wide bounding-volume hierarchy on Morton order, rebuilt when it has to be and refitted when it can.

A move of some boxes costs what moved. The movers are first entered with the box around their old and their new place,
and the blocks above grow to hold it; one search with that same box then finds everything that a mover overlapped before
or overlaps now, other movers included. Blocks grow with a margin and never shrink during moves, so that a body that
stays inside its fattened block costs nothing above it.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import numpy as np

from choque._core.emission import Sink
from choque._core.kernel import forceinline, kernel
from choque._core.lanes import append_pairs, block_hits, lane_hits, lowest_bit
from choque._core.morton import morton_order
from choque._core.overlap import boxes_meet
from choque._core.pair_keys import ordered_key, pack_pairs
from choque._core.pair_sets import ENDED, Change, change_from_log
from choque._core.tree import WIDTH, Tree, block_of, entry_of, level_of, make_tree, push_bits, surface_of
from choque._core.types import I32, I64, U32, Floats, Integer, Keys, Rows
from choque.broad.index import Index
from choque.broad.structure import Structure, blocks_of

REBUILD_AT = 1.5
"""The tree is ordered again when its blocks have grown to this multiple of their size at the last ordering."""

Places: TypeAlias = I32
"""(n,): the place of each row in the order of the tree; or its place among the movers, −1 for others."""

FATTENING = 0.1  # how far a block grows beyond a box that left it, in edges of that box


class Bvh(Index):
    """A flat, 16-wide tree of boxes; also answers points, rays and nearest neighbours.

    Boxes are ordered along a Z-curve and sixteen consecutive ones share a block, sixteen blocks a block above
    (Lauterbach et al., 2009). An update refits the tree in the order it has, and orders it again once motion has
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
        self._shares_order = False
        self._places: I32 | None = None
        self._moved_count = 0
        if self.table.removed.size:
            self._clear(self.table.removed)

    def emit(self, sink: Sink) -> None:
        tree = self._hierarchy
        sink.run(_emit_blocks, -(-len(self) // WIDTH), tree)

    def update(self, previous: Floats) -> Change | None:  # noqa: ARG002
        self._hierarchy = make_tree(self.records, self._hierarchy.rows, self.thread_count())
        self._shares_order = True  # with the past
        self._moved_count = 0
        if not surface_of(self._hierarchy) <= REBUILD_AT * self._surface:
            self.build()
        return None

    def move(self, rows: Rows, previous: Floats) -> Change:
        tree = self._hierarchy
        places, slots = self._movement_arrays()
        _enter_movers(rows, previous, self.records, places, slots, tree.lanes, tree.level_first)
        sink = Sink(WIDTH * len(rows), self.thread_count(len(rows)), None)
        sink.run(_emit_changes, len(rows), rows, previous, self.records, slots, tree)
        _settle_movers(rows, self.records, places, slots, tree.lanes)
        self.counters.tests += sink.tests
        self._moved_count += len(rows)
        if self._moved_count > len(self):
            self.build()  # moves never shrink blocks: build from scratch once in a while
        return change_from_log(sink.chunks, self.table.pair_filter)

    def remove(self, rows: Rows) -> Change:
        """Clear the lanes of the removed boxes, at the cost of what they touched; blocks keep their bounds."""
        from choque._core.tree_query import query_boxes

        found = query_boxes(self._hierarchy, self.records[rows], self.thread_count(len(rows)))
        first, second = rows[found[:, 0]], found[:, 1].astype(np.int64)
        is_other = first != second
        pairs = np.stack((np.minimum(first, second), np.maximum(first, second)), axis=1)[is_other]
        self._clear(rows)
        return change_from_log([pack_pairs(pairs) | ENDED], self.table.pair_filter)

    def add(self, rows: Rows) -> Change:
        """Enter the boxes into free lanes, as if they had moved there from nowhere."""
        tree, places = self._own_order()
        _fill_lanes(rows, self.records, places, tree.lanes, tree.rows)
        nowhere = np.full((len(rows), 6), np.inf, self.records.dtype)
        nowhere[:, 3:] = -np.inf
        return self.move(rows, nowhere)

    def _clear(self, rows: Rows) -> None:
        tree, places = self._own_order()
        _clear_lanes(rows, places, tree.lanes, tree.rows)

    def _own_order(self) -> tuple[Tree, I32]:
        """Return the tree, with an order of boxes that may be changed, and the place of each row in it."""
        if self._shares_order:
            self._hierarchy = self._hierarchy._replace(rows=self._hierarchy.rows.copy())
            self._shares_order = False
        return self._hierarchy, self._movement_arrays()[0]

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

    def _movement_arrays(self) -> tuple[I32, I32]:
        """Return the place of each row in the order, and a slot for its number among movers; made at the first move."""
        if self._places is None:
            self._places = np.empty(len(self), np.int32)
            self._places[self._hierarchy.rows] = np.arange(len(self), dtype=np.int32)
            self._slots = np.full(len(self), -1, np.int32)
        return self._places, self._slots


@kernel
def _emit_blocks(first: int, last: int, chunk: Keys, tree: Tree) -> tuple[int, int, int]:
    """Emission kernel; a unit is a block of boxes, which is tested against itself and the blocks after it."""
    lanes, rows, level_first = tree.lanes, tree.rows, tree.level_first
    top = level_first.size - 2
    stack = np.empty(WIDTH * level_first.size, np.int64)
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    for own in range(first, last):
        begin = written
        parent, lane = level_first[1] + own // WIDTH, own % WIDTH
        stack[0] = entry_of(top, 0)
        depth: Integer = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            place = level_first[level] + block
            tests += WIDTH
            # Earlier blocks have met this one already.
            start = max((own >> (4 * (level - 1))) - block * WIDTH, 0)
            near = lane_hits(lanes, place, parent, lane) >> start << start
            if level > 1:
                depth = push_bits(stack, depth, level, block, near)
                continue
            while near != 0:
                k = lowest_bit(near)
                near &= near - 1
                if written + WIDTH * WIDTH + WIDTH > chunk.size:
                    return own, begin, tests
                other = block * WIDTH + k
                # First the boxes of this block that reach the other one, then each of them against its boxes.
                reaching = lane_hits(lanes, own, place, k)
                tests += WIDTH
                while reaching != 0:
                    i = lowest_bit(reaching)
                    reaching &= reaching - 1
                    hits = lane_hits(lanes, other, own, i)
                    tests += WIDTH
                    if own == other:
                        hits = hits >> (i + 1) << (i + 1)
                    written += _append_block(chunk, written, rows, other * WIDTH, rows[own * WIDTH + i], hits)
    return last, written, tests


@forceinline
def _append_block(chunk: Any, written: Integer, rows: Any, first: Integer, own: Any, hits: Integer) -> Any:
    """Write the pairs of a row and the rows of a block whose bits are set, and return how many."""
    count: Integer = np.int64(0)
    if first + WIDTH <= rows.size:
        count += append_pairs(chunk, written, rows, first, own, hits & 255)
        return count + append_pairs(chunk, written + count, rows, first + 8, own, hits >> 8)
    while hits != 0:  # the last block: nothing may be read past the end
        chunk[written + count] = ordered_key(np.int64(own), np.int64(rows[first + lowest_bit(hits)]))
        count += 1
        hits &= hits - 1
    return count


@kernel
def _enter_movers(
    rows: Rows, previous: Any, records: Any, places: Places, slots: Places, lanes: Any, level_first: I64
) -> None:
    """Enter every mover with the box around both its places, and grow the blocks above it as needed."""
    for m in range(rows.size):
        row = rows[m]
        slots[row] = m
        place = np.int64(places[row])
        for bound in range(3):
            lanes[place // WIDTH, bound, place % WIDTH] = min(previous[m, bound], records[row, bound])
            lanes[place // WIDTH, bound + 3, place % WIDTH] = max(previous[m, bound + 3], records[row, bound + 3])
        child = place // WIDTH
        for level in range(1, level_first.size - 1):
            block, lane = level_first[level] + child // WIDTH, child % WIDTH
            grew = False
            for bound in range(3):
                low = min(previous[m, bound], records[row, bound])
                high = max(previous[m, bound + 3], records[row, bound + 3])
                margin = max(high - low, 0) * FATTENING
                if low < lanes[block, bound, lane]:
                    lanes[block, bound, lane] = low - margin
                    grew = True
                if high > lanes[block, bound + 3, lane]:
                    lanes[block, bound + 3, lane] = high + margin
                    grew = True
            if not grew:
                break
            child //= WIDTH


@kernel
def _clear_lanes(removed: Rows, places: Places, lanes: Any, rows: U32) -> None:
    """Take boxes out of their blocks: the last box of the block takes the place, and its own lane becomes NaN."""
    for m in range(removed.size):
        place = np.int64(places[removed[m]])
        block = place // WIDTH
        last = block * WIDTH + WIDTH - 1
        while last >= rows.size or (last > place and np.isnan(lanes[block, 0, last % WIDTH])):
            last -= 1
        for bound in range(6):
            lanes[block, bound, place % WIDTH] = lanes[block, bound, last % WIDTH]
            lanes[block, bound, last % WIDTH] = np.nan
        rows[place], rows[last] = rows[last], rows[place]
        places[rows[place]], places[rows[last]] = place, last


@kernel
def _fill_lanes(added: Rows, records: Any, places: Places, lanes: Any, rows: U32) -> None:
    """Put boxes that are not in their blocks into the first free lanes there: what is in a block has no gaps."""
    for m in range(added.size):
        place = np.int64(places[added[m]])
        block = place // WIDTH
        free = block * WIDTH
        if not np.isnan(lanes[block, 0, place % WIDTH]):
            continue  # the tree was built with it
        while not np.isnan(lanes[block, 0, free % WIDTH]):
            free += 1
        for bound in range(6):
            lanes[block, bound, free % WIDTH] = records[added[m], bound]
        rows[place], rows[free] = rows[free], rows[place]
        places[rows[place]], places[rows[free]] = place, free


@kernel
def _settle_movers(rows: Rows, records: Any, places: Places, slots: Places, lanes: Any) -> None:
    """Enter every mover with its new box alone."""
    for m in range(rows.size):
        row = rows[m]
        slots[row] = -1
        place = np.int64(places[row])
        for bound in range(6):
            lanes[place // WIDTH, bound, place % WIDTH] = records[row, bound]


@kernel
def _emit_changes(
    first: int, last: int, chunk: Keys, moving: Rows, previous: Any, records: Any, slots: Places, tree: Tree
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a mover. Keys that ended have the highest bit set, those that began do not."""
    lanes, rows, level_first = tree.lanes, tree.rows, tree.level_first
    top = level_first.size - 2
    stack = np.empty(WIDTH * level_first.size, np.int64)
    written: Integer = 0
    tests = 0
    for m in range(first, last):
        begin = written
        i = moving[m]
        x0, x1 = min(previous[m, 0], records[i, 0]), max(previous[m, 3], records[i, 3])
        y0, y1 = min(previous[m, 1], records[i, 1]), max(previous[m, 4], records[i, 4])
        z0, z1 = min(previous[m, 2], records[i, 2]), max(previous[m, 5], records[i, 5])
        stack[0] = entry_of(top, 0)
        depth: Integer = 1
        while depth > 0:
            depth -= 1
            level, block = level_of(stack[depth]), block_of(stack[depth])
            hits = block_hits(lanes, level_first[level] + block, x0, y0, z0, x1, y1, z1)
            tests += WIDTH
            if level > 0:
                depth = push_bits(stack, depth, level, block, hits)
                continue
            if written + WIDTH > chunk.size:
                return m, begin, tests
            while hits != 0:
                j = np.int64(rows[block * WIDTH + lowest_bit(hits)])
                hits &= hits - 1
                n = np.int64(slots[j])
                if j == i or (n >= 0 and j < i):
                    continue  # itself, or a mover that sees this pair from its own side
                after = boxes_meet(records, i, records, j)
                before = boxes_meet(previous, m, previous, n) if n >= 0 else boxes_meet(previous, m, records, j)
                key = ordered_key(i, j)
                chunk[written] = key if after else key | (np.uint64(1) << np.uint64(63))
                written += before != after
    return last, written, tests

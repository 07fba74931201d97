"""An octree: cubes halved along every axis. In 2D it is a quadtree."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.kernel import kernel
from choque.lab.methods.grid_cells import arena_of
from choque.lab.methods.partition_growth import Cut, Level
from choque.lab.methods.partition_tree import PartitionTree


class Octree(PartitionTree):
    """Halves cubes along every axis, into eight (four in 2D), and lists a body in every leaf that it touches.

    Parameters
    ----------
    depth, leaf_size, test
        See `PartitionTree`.

    Notes
    -----
    The root is the cube with the edge of the longest extent of all finite bounds, at their lower corner, so that a flat
    scene lies in one layer of cubes until these are as thin as it. The outermost cubes reach to infinity. Where the
    depth is automatic, an axis on which most bodies of a node would be on both sides is left whole.

    Guarantees: exact, both topologies; with ``test=False`` it contains the answer. Cubes own their lower walls and
    not their upper ones; bounds are only compared with walls, so nothing is lost to rounding. A tree of automatic
    depth has at most four listings a body, for any bodies: a cube that would separate too few stays whole.
    O(n · levels) to build; tests grow with the bodies in a leaf; O(n) memory beside the answer, and with
    ``test=False`` that of all pairs met. `counters.duplicates` has how often a pair was met again.

    References
    ----------
    Meagher, "Geometric modeling using octree encoding", 1982; Ericson, Real-Time Collision Detection, 2005, 7.3.
    """

    name: ClassVar[str] = "octree"
    shrinks: ClassVar[bool] = True
    spare_levels: ClassVar[int] = 32

    @property
    def _child_count(self) -> int:
        return 1 << self.table.dimension

    def build(self) -> None:
        """Find the cube around the bodies and grow the tree."""
        lower, upper = arena_of(self.records, self.table.dimension)
        half = (0.5 * upper - 0.5 * lower).max(initial=0.0)
        largest = np.finfo(np.float64).max
        self._cube = np.concatenate((lower, np.minimum(lower * 0.5 + half, largest * 0.5) * 2))
        super().build()

    def _cut(self, level: Level, number: int) -> Cut:  # noqa: ARG002
        dimension, child_count = self.table.dimension, self._child_count
        lower = np.maximum(level.regions[:, :dimension], self._cube[:dimension])
        upper = np.minimum(level.regions[:, 3 : 3 + dimension], self._cube[dimension:])
        centres = np.full((len(level), 3), np.inf)
        centres[:, :dimension] = 0.5 * lower + 0.5 * upper
        sides = np.empty(len(level.members), np.uint8)
        counts = np.zeros((len(level), child_count), np.int64)
        thread_count = self.thread_count()
        arguments = (level.starts, level.members, self.records, centres)
        if self._depth is None:
            threads.over_ranges(_leave_whole, len(level), thread_count, *arguments)
        threads.over_ranges(_cut_nodes, len(level), thread_count, *arguments, sides, counts)
        return Cut(sides, counts, self._octants(level.regions, centres))

    def _octants(self, regions: NDArray[np.float64], centres: NDArray[np.float64]) -> NDArray[np.float64]:
        octants = np.repeat(regions[:, None], self._child_count, axis=1)
        for child in range(self._child_count):
            octant = octants[:, child]
            for axis in range(self.table.dimension):
                if child >> axis & 1:
                    octant[:, axis] = centres[:, axis]
                else:
                    octant[:, axis + 3] = np.minimum(octant[:, axis + 3], centres[:, axis])
        return octants


@kernel
def _leave_whole(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    records: Any,
    centres: NDArray[np.float64],
) -> None:
    """Make the centre infinite on axes on which most bodies would be on both sides, unless that is all axes."""
    for node in range(first, last):
        rows = members[starts[node] : starts[node + 1]]
        crossed = np.zeros(3, np.int64)
        for k in range(rows.size):
            for axis in range(3):
                centre = centres[node, axis]
                crossed[axis] += (records[rows[k], axis] < centre) & (records[rows[k], axis + 3] >= centre)
        divides = False
        for axis in range(3):
            divides |= centres[node, axis] < np.inf and 2 * crossed[axis] <= rows.size
        for axis in range(3):
            if divides and 2 * crossed[axis] > rows.size:
                centres[node, axis] = np.inf


@kernel
def _cut_nodes(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    records: Any,
    centres: NDArray[np.float64],
    sides: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> None:
    """Child c is above the centre on axis a where bit a of c is set; an infinite centre leaves an axis whole."""
    # The children below and above a centre, on each axis, as sets of bits.
    below = (0b01010101, 0b00110011, 0b00001111)
    for node in range(first, last):
        for listing in range(starts[node], starts[node + 1]):
            row = members[listing]
            side = 0b11111111
            for axis in range(3):
                centre = centres[node, axis]
                lower, upper = records[row, axis], records[row, axis + 3]
                if centre == np.inf or not max(lower, upper) >= centre:
                    side &= below[axis]
                elif not lower < centre:
                    side &= ~below[axis]
            sides[listing] = side
            for child in range(counts.shape[1]):
                counts[node, child] += (side >> child) & 1

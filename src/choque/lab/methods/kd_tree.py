"""A kd-tree: planes across one axis at a time, through the median of the bodies."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.kernel import kernel
from choque.errors import UnknownName
from choque.lab.methods.partition_geometry import middle_along
from choque.lab.methods.partition_growth import Cut, Level
from choque.lab.methods.partition_tree import PartitionTree


class KdTree(PartitionTree):
    """Parts the bodies at the median of their middles, across one axis at a time.

    Parameters
    ----------
    planes
        "widest": across the axis on which the middles spread most beyond the mean length of a body. "cycle":
        x, y, z, x, …, passing over axes on which all middles agree.
    depth, leaf_size, test
        See `PartitionTree`.

    Notes
    -----
    Guarantees: exact, both topologies; with ``test=False`` it contains the answer. A body goes to both sides of a
    plane that it touches; bounds are only compared with planes, so nothing is lost to rounding. A tree of automatic
    depth has at most four listings a body, for any bodies: a cut that separates too few is not made.
    O(n log n) to build; tests grow with the bodies in a leaf; O(n) memory beside the answer, and with
    ``test=False`` that of all pairs met. `counters.duplicates` has how often a pair was met again.

    References
    ----------
    Bentley, "Multidimensional binary search trees used for associative searching", 1975; Ericson, Real-Time
    Collision Detection, 2005, 7.3.7.
    """

    name: ClassVar[str] = "kd-tree"

    def __init__(self, *, planes: Literal["widest", "cycle"] = "widest", **options: Any) -> None:
        if planes not in ("widest", "cycle"):
            raise UnknownName("choice of planes for the kd-tree", str(planes), ("widest", "cycle"))
        self._planes = planes
        super().__init__(**options)

    @property
    def _attempts(self) -> int:
        return 1 if self._planes == "widest" else self.table.dimension

    def _cut(self, level: Level, number: int) -> Cut:
        node_count = len(level)
        axes = np.empty(node_count, np.int64)
        planes = np.empty(node_count)
        sides = np.empty(len(level.members), np.uint8)
        counts = np.zeros((node_count, 2), np.int64)
        first_axis = -1 if self._planes == "widest" else (number - 1) % self.table.dimension
        arguments = (level.starts, level.members, self.records, self.table.dimension, first_axis)
        middles = np.empty(len(level.members))
        threads.over_ranges(
            _cut_nodes, node_count, self.thread_count(), *arguments, middles, axes, planes, sides, counts
        )
        regions = np.repeat(level.regions[:, None], 2, axis=1)
        nodes = np.arange(node_count)
        # The middle of a body may lie outside the node's region, and so may a plane.
        regions[nodes, 0, axes + 3] = np.minimum(regions[nodes, 0, axes + 3], planes)
        regions[nodes, 1, axes] = np.maximum(regions[nodes, 1, axes], planes)
        return Cut(sides, counts, regions, middles.nbytes)


@kernel
def _cut_nodes(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    records: Any,
    dimension: int,
    first_axis: int,
    middles: NDArray[np.float64],
    axes: NDArray[np.int64],
    planes: NDArray[np.float64],
    sides: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> None:
    for node in range(first, last):
        begin, end = starts[node], starts[node + 1]
        rows = members[begin:end]
        axis = _choose_axis(rows, records, dimension, first_axis)
        plane = _median_plane(rows, records, axis, middles[begin:end])
        axes[node] = axis
        planes[node] = plane
        for k in range(rows.size):
            lower, upper = records[rows[k], axis], records[rows[k], axis + 3]
            left = lower < plane
            right = max(lower, upper) >= plane
            sides[begin + k] = np.uint8(left + 2 * right)
            counts[node, 0] += left
            counts[node, 1] += right


@kernel
def _choose_axis(rows: NDArray[np.int32], records: Any, dimension: int, first_axis: int) -> int:
    """Return the axis of greatest spread beyond a body's length (``first_axis`` −1), or the next with any spread."""
    best = max(first_axis, 0)
    best_score = -np.inf
    for turn in range(dimension):
        axis = (max(first_axis, 0) + turn) % dimension
        least, greatest = np.inf, -np.inf
        length = 0.0
        finite = 0
        for k in range(rows.size):
            lower, upper = float(records[rows[k], axis]), float(records[rows[k], axis + 3])
            middle = middle_along(lower, upper)
            if middle == middle:
                least, greatest = min(least, middle), max(greatest, middle)
            if -np.inf < lower < np.inf and -np.inf < upper < np.inf:
                length += 0.5 * upper - 0.5 * lower
                finite += 1
        spread = 0.5 * greatest - 0.5 * least
        if not spread > 0:
            continue
        if first_axis >= 0:
            return axis
        score = spread - length / max(finite, 1)
        if score > best_score:
            best, best_score = axis, score
    return best


@kernel
def _median_plane(rows: NDArray[np.int32], records: Any, axis: int, middles: NDArray[np.float64]) -> float:
    """Half-way from the median of the middles to the next one below it, or above it where it is the least."""
    count = 0
    least = np.inf
    for k in range(rows.size):
        middle = middle_along(records[rows[k], axis], records[rows[k], axis + 3])
        if middle == middle:
            middles[count] = middle
            least = min(least, middle)
            count += 1
    if count == 0:
        return 0.0
    median = _select(middles[:count], count // 2)
    below, above = least, median
    if median == least:
        above = np.inf
        for k in range(count):
            if middles[k] > least:
                above = min(above, middles[k])
        if above == np.inf:
            return least
    else:
        for k in range(count):
            if middles[k] < median:
                below = max(below, middles[k])
    plane = 0.5 * below + 0.5 * above
    return plane if plane > below else above


@kernel
def _select(values: NDArray[np.float64], rank: int) -> float:
    """Return the value of this rank, reordering the values (Hoare, "Algorithm 65: Find", 1961)."""
    low, high = 0, values.size - 1
    while low < high:
        pivot = values[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while values[i] < pivot:
                i += 1
            while values[j] > pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if rank <= j:
            high = j
        elif rank >= i:
            low = i
        else:
            break
    return float(values[rank])

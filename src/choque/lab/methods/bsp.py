"""A binary space partition: planes of any direction through the centroid of the bodies."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from choque._core import check, threads
from choque._core.kernel import kernel
from choque.errors import UnknownName
from choque.lab.methods.buckets import Buckets
from choque.lab.methods.partition_geometry import middle_along
from choque.lab.methods.partition_growth import Cut, Level, without_regions
from choque.lab.methods.partition_tree import PartitionTree

PLANES = ("axis", "random", "principal")


class Bsp(PartitionTree):
    """Parts the bodies by planes through the centroid of their middles; a body on a plane goes to both sides.

    Parameters
    ----------
    planes
        "axis": across x, y, z, x, … by level. "random": in any direction. "principal": across the direction in
        which the middles of the node's bodies spread most.
    seed
        A whole number from 0 on; the same one gives the same random planes.
    depth, leaf_size, test
        See `PartitionTree`. ``depth=5, test=False`` is the tree of the thesis on areas of interest: at most
        2^(depth − 1) leaves, nodes parted down to one body, and every pair of a leaf a candidate.

    Notes
    -----
    Guarantees: exact, both topologies; with ``test=False`` it contains the answer; the same result on every run.
    A body counts as on a plane when rounding leaves a doubt. A tree of automatic depth has at most four listings a
    body, for any bodies: a cut that separates too few is not made. O(n log n) to build for bodies spread
    evenly; O(n + pairs met) memory: since leaves are no boxes, pairs are sorted to drop those met again, which
    `counters.duplicates` counts.

    References
    ----------
    Fuchs, Kedem and Naylor, "On visible surface generation by a priori tree structures", 1980; Luque, Comba and
    Freitas, "Broad-phase collision detection using semi-adjusting BSP-trees", 2005; Ericson, Real-Time Collision
    Detection, 2005, 8.
    """

    name: ClassVar[str] = "bsp"
    boxed: ClassVar[bool] = False

    def __init__(
        self, *, planes: Literal["axis", "random", "principal"] = "axis", seed: int = 0, **options: Any
    ) -> None:
        if planes not in PLANES:
            raise UnknownName("choice of planes for the bsp", str(planes), PLANES)
        self._planes, self._seed = planes, check.whole_number(seed, "seed", 0)
        super().__init__(**options)

    @property
    def _attempts(self) -> int:
        return 1 if self._planes == "principal" else self.table.dimension

    def _grown(self) -> tuple[Buckets, int]:
        buckets, level_count = super()._grown()
        return without_regions(buckets), level_count

    def _cut(self, level: Level, number: int) -> Cut:
        node_count = len(level)
        thread_count = self.thread_count()
        arguments = (level.starts, level.members, self.records)
        centroids = np.empty((node_count, 3))
        spreads = np.empty((node_count, 3, 3))
        threads.over_ranges(
            _find_spreads, node_count, thread_count, *arguments, self._planes == "principal", centroids, spreads
        )
        normals = self._normals(spreads, number)
        sides = np.empty(len(level.members), np.uint8)
        counts = np.zeros((node_count, 2), np.int64)
        threads.over_ranges(_cut_nodes, node_count, thread_count, *arguments, centroids, normals, sides, counts)
        working_bytes = centroids.nbytes + spreads.nbytes + normals.nbytes
        return Cut(sides, counts, np.repeat(level.regions[:, None], 2, axis=1), working_bytes)

    def _normals(self, spreads: NDArray[np.float64], number: int) -> NDArray[np.float64]:
        """Return (k, 3) normals of the planes of level ``number``; in 2D their third component is 0."""
        normals = np.zeros((len(spreads), 3))
        dimension = self.table.dimension
        if self._planes == "axis":
            normals[:, (number - 1) % dimension] = 1
        elif self._planes == "random":
            random = np.random.default_rng((self._seed, number))
            normals[:, :dimension] = random.standard_normal((len(spreads), dimension))
        else:
            normals[:, :dimension] = np.linalg.eigh(spreads[:, :dimension, :dimension]).eigenvectors[:, :, -1]
        return normals


@kernel
def _find_spreads(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    records: Any,
    wanted: bool,
    centroids: NDArray[np.float64],
    spreads: NDArray[np.float64],
) -> None:
    """Write the mean of each node's centres and, if ``wanted``, their covariance relative to the largest distance."""
    away = np.empty(3)
    for node in range(first, last):
        rows = members[starts[node] : starts[node + 1]]
        reach = 0.0
        for axis in range(3):
            reach = max(reach, _find_centroid(rows, records, axis, centroids[node]))
        if not wanted:
            continue
        spread = spreads[node]
        spread[:] = 0.0
        for k in range(rows.size):
            for axis in range(3):
                middle = middle_along(records[rows[k], axis], records[rows[k], axis + 3])
                away[axis] = (middle - centroids[node, axis]) / max(reach, 1e-300) if middle == middle else 0.0
            for a in range(3):
                for b in range(3):
                    spread[a, b] += away[a] * away[b]


@kernel
def _find_centroid(rows: NDArray[np.int32], records: Any, axis: int, centroid: NDArray[np.float64]) -> float:
    """Set the mean of the middles on one axis, exact where all agree; returns the largest distance from the first."""
    origin = np.nan
    total = 0.0
    reach = 0.0
    count = 0
    for k in range(rows.size):
        middle = middle_along(records[rows[k], axis], records[rows[k], axis + 3])
        if middle == middle:
            if count == 0:
                origin = middle
            total += (middle - origin) / rows.size
            reach = max(reach, abs(middle - origin))
            count += 1
    centroid[axis] = origin + total / count * rows.size if count else 0.0
    return reach


@kernel
def _cut_nodes(
    first: int,
    last: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    records: Any,
    centroids: NDArray[np.float64],
    normals: NDArray[np.float64],
    sides: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> None:
    """Compare the nearest and the farthest point of each box along the normal with the plane."""
    for node in range(first, last):
        for listing in range(starts[node], starts[node + 1]):
            record = records[members[listing]]
            nearest = farthest = 0.0
            nearest_doubt = farthest_doubt = 1e-320  # products may underflow
            for axis in range(3):
                normal, centre = float(normals[node, axis]), float(centroids[node, axis])
                if normal == 0:
                    continue
                low = normal * (float(record[axis]) - centre)
                high = normal * (float(max(record[axis], record[axis + 3])) - centre)
                if normal < 0:
                    low, high = high, low
                nearest += low
                farthest += high
                nearest_doubt += 1e-15 * abs(low)
                farthest_doubt += 1e-15 * abs(high)
            # Written so that a sum of opposite infinities, which is no number, puts the body on both sides.
            behind = not nearest > nearest_doubt
            before = not farthest < -farthest_doubt
            sides[listing] = np.uint8(behind + 2 * before)
            counts[node, 0] += behind
            counts[node, 1] += before

"""Bodies listed in buckets (the cells of a grid, the leaves of a tree), and the pairs that meet in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_keys import PairFilter, pair_key
from choque._core.types import Floats, Keys
from choque.broad.structure import Kind, Structure, sides_of

UNBOUNDED = np.empty((0, 6))
"""The regions of buckets that are no boxes."""

_APART = 0
_AGAIN = 1
_HERE = 2


@dataclass(frozen=True)
class Buckets:
    """Which bodies lie in which bucket; a body may lie in several.

    Attributes
    ----------
    starts
        (b + 1,) int64: where each bucket starts in ``members``. No bucket is empty.
    members
        (l,) int32 rows, ascending within a bucket.
    regions
        (b, 6) float64: the first and the last point of each bucket's box. The boxes share no point and fill
        space. (0, 6) for buckets that are no boxes.
    giants
        (g,) int32 rows, ascending, of bodies too large to be listed; they meet everything.

    Notes
    -----
    Two bodies *meet* in a bucket that lists both, unless one of them ends exactly where the bucket begins
    and the other does not begin there: contact with a wall adds nothing. Two boxes that overlap meet, among
    others, in the bucket that holds the larger of their lower corners, so that a pair reported only there is
    reported once and nothing has to be remembered (Ericson, Real-Time Collision Detection, 2005, 7.1.3).
    """

    starts: NDArray[np.int64]
    members: NDArray[np.int32]
    regions: NDArray[np.float64]
    giants: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def nbytes(self) -> int:
        """The bytes of all arrays."""
        return self.starts.nbytes + self.members.nbytes + self.regions.nbytes + self.giants.nbytes

    def emit(self, sink: Sink, records: Floats, *, tested: bool, once: bool, pair_filter: PairFilter | None) -> int:
        """Write the pairs that meet in a bucket to ``sink``, smaller row first.

        Parameters
        ----------
        tested
            Only pairs whose boxes overlap.
        once
            Each pair only in the bucket that holds the larger of the two lower corners. That bucket must list
            both: true of overlapping boxes in any buckets with regions, and of all pairs in a regular grid.
        pair_filter
            The filter of the sink, by which repeats are counted too.

        Returns
        -------
        How often a pair, allowed by the filter, was met again and not written because of ``once``. A unit of
        work is one listing, so that one crowded bucket is shared by all threads.
        """
        repeats: list[int] = []  # appending to a list is atomic

        def emit_members(first: int, last: int, chunk: Keys) -> tuple[int, int, int]:
            bucket = int(np.searchsorted(self.starts, first, side="right")) - 1
            following, count, tests, again = _emit_members(
                first, last, chunk, bucket, self.starts, self.members, self.regions, records, tested, once
            )
            if again and pair_filter is not None:
                again = pair_filter.keep_allowed(chunk[chunk.size - again :])
            repeats.append(again)
            return following, count, tests

        sink.run(emit_members, len(self.members))
        if self.giants.size:
            sink.run(_emit_giants, len(self.giants), self.giants, records, tested)
        return sum(repeats)

    def structure(self, method: str, kind: Kind, records: Floats, dimension: int) -> Structure:
        """Return the buckets as a structure of ``method``; those without regions by the boxes around their bodies."""
        corners, rows = self.regions, self.members
        if not len(corners) and len(self):
            first = self.starts[:-1]
            lower = np.minimum.reduceat(records[rows, :3].astype(np.float64), first)
            upper = np.maximum.reduceat(records[rows, 3:].astype(np.float64), first)
            corners = np.concatenate((lower, upper), axis=1)
        level = np.zeros(len(self), np.int64)
        return Structure(method, kind, *sides_of(corners, dimension), level, self.starts, rows)


def closed_regions(walls: NDArray[np.float64]) -> NDArray[np.float64]:
    """Half-open boxes (b, 6), infinite where unbounded, as the first and last point of each."""
    regions = walls.copy()
    upper = regions[:, 3:]
    with np.errstate(over="ignore"):  # below the least float is −inf
        upper[:] = np.where(upper < np.inf, np.nextafter(upper, -np.inf), upper)
    return regions


@kernel
def _emit_members(
    first: int,
    last: int,
    chunk: Keys,
    bucket: int,
    starts: NDArray[np.int64],
    members: NDArray[np.int32],
    regions: NDArray[np.float64],
    records: Any,
    tested: bool,
    once: bool,
) -> tuple[int, int, int, int]:
    """Pair each listing, the first in ``bucket``, with those after it; repeats go to the far end of the chunk."""
    begin, end = starts[bucket], starts[bucket + 1]
    boxes = _gather(records, members[begin:end])
    hits = np.empty(end - begin, np.int64)
    bounded = regions.shape[0] > 0
    written = 0
    tests = 0
    repeats = 0
    for place in range(first, last):
        if place == end:
            bucket += 1
            begin, end = end, starts[bucket + 1]
            boxes = _gather(records, members[begin:end])
            hits = np.empty(end - begin, np.int64)
        if written + repeats + end - place > chunk.size:
            return place, written, tests, repeats
        own = place - begin
        x0, y0, z0, x1, y1, z1 = boxes[own]
        hit_count = 0
        for k in range(own + 1, boxes.shape[0]):
            hits[hit_count] = k
            hit_count += not tested or (
                (boxes[k, 0] <= x1) & (boxes[k, 3] >= x0) & (boxes[k, 1] <= y1)
                & (boxes[k, 4] >= y0) & (boxes[k, 2] <= z1) & (boxes[k, 5] >= z0)
            )  # fmt: skip
        if tested:
            tests += boxes.shape[0] - own - 1
        for hit in range(hit_count):
            k = hits[hit]
            key = pair_key(members[place], members[begin + k])
            meeting = _meeting(boxes[own], boxes[k], regions[bucket]) if bounded else _HERE
            if meeting == _HERE or (meeting == _AGAIN and not once):
                chunk[written] = key
                written += 1
            elif meeting == _AGAIN:
                repeats += 1
                chunk[chunk.size - repeats] = key
    return last, written, tests, repeats


@kernel
def _gather(records: Any, rows: NDArray[np.int32]) -> Any:
    """Return the records of these rows contiguously, as a bucket is read once for each member."""
    gathered = np.empty((rows.size, 6), records.dtype)
    for k in range(rows.size):
        for bound in range(6):
            gathered[k, bound] = records[rows[k], bound]
    return gathered


@kernel
def _meeting(one: Any, other: Any, region: NDArray[np.float64]) -> int:
    """Return whether two bodies of a bucket are apart in it, overlap but not at their corner, or at their corner."""
    meeting = _HERE
    for axis in range(3):
        low, high, wall = one[axis], other[axis], region[axis]
        if (low < wall and one[axis + 3] <= wall and high != wall) or (
            high < wall and other[axis + 3] <= wall and low != wall
        ):
            return _APART
        corner = max(low, high)
        if corner < wall or corner > region[axis + 3]:
            meeting = _AGAIN
    return meeting


@kernel
def _emit_giants(
    first: int, last: int, chunk: Keys, giants: NDArray[np.int32], records: Any, tested: bool
) -> tuple[int, int, int]:
    """Pair each giant with every body, and with the giants after it."""
    count = records.shape[0]
    written = 0
    tests = 0
    for g in range(first, last):
        if written + count > chunk.size:
            return g, written, tests
        i = np.int64(giants[g])
        passed = 0
        for j in range(count):
            if passed < giants.size and giants[passed] == j:
                passed += 1
                if j <= i:
                    continue
            tests += tested
            low, high = (i, j) if i < j else (j, i)
            chunk[written] = pair_key(low, high)
            written += not tested or (
                (records[j, 0] <= records[i, 3]) & (records[j, 3] >= records[i, 0])
                & (records[j, 1] <= records[i, 4]) & (records[j, 4] >= records[i, 1])
                & (records[j, 2] <= records[i, 5]) & (records[j, 5] >= records[i, 2])
            )  # fmt: skip
    return last, written, tests

"""Search areas that are near each other together: bodies near any of them are gathered once.

In the order of a search structure, neighbours are near in space. A few consecutive areas share one box; the structure
gathers the places of the bodies that touch the box, and each area is then compared with all of them side by side,
without a branch. Lookups cost more than comparisons, so this takes half the time of a search for every area.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline, kernel
from choque._core.pair_keys import pair_key
from choque._core.types import Integer, Keys
from choque.interest._bodies import half_edge, touches

if TYPE_CHECKING:
    from choque.interest.body_index import BodyIndex

STRETCH = 64
"""Consecutive areas in one unit of work, independent of the number of threads."""

MAX_TOGETHER = 8
"""Maximum number of areas that share a box."""

GROWTH = 5.0 / 3.0
"""Maximum sum of the edges of a shared box, as a multiple of that of the box around each of its areas."""

SHORT = 32
"""Up to this many members are sorted by counting the smaller ones of each."""

Scratch: TypeAlias = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.uint8], NDArray[np.int32]]
"""Buffers for all bodies: positions and radii in four columns, rows, whether they touch, and the rows of those."""


class Owners(NamedTuple):
    """The bodies that have areas, in the order of a search structure.

    What a search reads and writes for each owner is contiguous in memory: in the order of the rows it would not be.
    """

    places: NDArray[np.uint32]
    """(k,) the place of each owner in that order."""
    rows: NDArray[np.uint32]
    """(k,) the row of each owner."""
    reach: NDArray[np.float64]
    """(k,) the radius of each area."""
    sizes: NDArray[np.int64]
    """(k,) output: the number of members of each area."""
    slack: float
    """Added to every radius."""
    is_box: bool
    """Whether areas and bodies are boxes."""

    @property
    def stretch_count(self) -> int:
        """The number of units of work."""
        return -(-len(self.places) // STRETCH)


@kernel
def make_scratch(body_count: int) -> Scratch:
    """Return buffers to compare areas with ``body_count`` bodies; what is not used takes no memory."""
    columns, others = np.empty((4, body_count)), np.empty(body_count, np.int32)
    return columns, others, np.empty(body_count, np.uint8), np.empty(body_count + SHORT, np.int32)


@kernel
def share_box(head: int, end: int, owners: Owners, placed: NDArray[np.float64], box: NDArray[np.float64]) -> Integer:
    """Write the ``box`` (6,) around area ``head`` and as many after it as keep it small. Return the first left out."""
    places, reach, slack = owners.places, owners.reach, owners.slack
    longest = np.inf
    for k in range(head, min(end, head + MAX_TOGETHER)):
        place = np.int64(places[k])
        far = reach[k] + slack
        x, y, z = placed[place, 0], placed[place, 1], placed[place, 2]
        half_x, half_y, half_z = half_edge(x, far), half_edge(y, far), half_edge(z, far)
        x0, y0, z0, x1, y1, z1 = x - half_x, y - half_y, z - half_z, x + half_x, y + half_y, z + half_z
        if k > head:
            x0, y0, z0 = min(x0, box[0]), min(y0, box[1]), min(z0, box[2])
            x1, y1, z1 = max(x1, box[3]), max(y1, box[4]), max(z1, box[5])
        longest = min(longest, 2.0 * GROWTH * (half_x + half_y + half_z))
        if k > head and not (x1 - x0) + (y1 - y0) + (z1 - z0) < longest:
            return k
        box[0], box[1], box[2], box[3], box[4], box[5] = x0, y0, z0, x1, y1, z1
    return min(end, head + MAX_TOGETHER)


@inline
def gather(
    start: Integer,
    end: Integer,
    placed: NDArray[np.float64],
    box: NDArray[np.float64],
    found: NDArray[np.int64],
    count: Integer,
) -> Integer:
    """Append the places from ``start`` to ``end`` whose bodies touch ``box`` to ``found``. Return the new count."""
    x0, y0, z0, x1, y1, z1 = box[0], box[1], box[2], box[3], box[4], box[5]
    near = placed[start:end]
    for k in range(end - start):
        x, y, z, radius = near[k, 0], near[k, 1], near[k, 2], near[k, 3] * (1 + 2.0**-40)
        found[count] = start + k
        count += (
            (x - radius <= x1)
            & (x + radius >= x0)
            & (y - radius <= y1)
            & (y + radius >= y0)
            & (z - radius <= z1)
            & (z + radius >= z0)
        )
    return count


@kernel
def write_members(
    head: int,
    end: int,
    owners: Owners,
    index: BodyIndex,
    found: NDArray[np.int64],
    scratch: Scratch,
    chunk: Keys,
    written: Integer,
) -> Integer:
    """Compare the areas from ``head`` to ``end`` with the bodies ``found``, which include their owners.

    The keys of each area go to ``chunk`` from ``written`` on, members ascending, and their number to ``owners.sizes``.
    Return the new number of keys, or −1 if ``chunk`` is full.
    """
    places, reach, slack, is_box, sizes = owners.places, owners.reach, owners.slack, owners.is_box, owners.sizes
    placed, rows = index.placed, index.rows
    columns, others, mask, hits = scratch
    count = found.size
    xs, ys, zs, radii = columns[0, :count], columns[1, :count], columns[2, :count], columns[3, :count]
    candidates, touching = others[:count], mask[:count]
    for k in range(count):
        place = found[k]
        xs[k], ys[k], zs[k], radii[k] = placed[place, 0], placed[place, 1], placed[place, 2], placed[place, 3]
        candidates[k] = rows[place]
    for unit in range(head, end):
        place = np.int64(places[unit])
        i = np.int32(rows[place])
        x, y, z, far = placed[place, 0], placed[place, 1], placed[place, 2], reach[unit] + slack
        for k in range(count):
            touching[k] = touches(xs[k] - x, ys[k] - y, zs[k] - z, far + radii[k], is_box)
        size: Integer = np.int64(0)
        for k in range(count):
            hits[size] = candidates[k]
            size += np.int64(touching[k])
        if written + size > chunk.size:
            return np.int64(-1)
        _write_ascending(i, hits, size, chunk[written : written + size])
        written += size - 1
        sizes[unit] = size - 1
    return written


@kernel
def _write_ascending(owner: Integer, hits: NDArray[np.int32], size: int, keys: Keys) -> None:
    """Write the keys (owner, hit) in order to ``keys``; the owner, one of the hits, comes last."""
    own = pair_key(owner, 0)
    if size <= SHORT:
        lanes = (size + 7) // 8 * 8
        short = hits[:lanes]
        for k in range(size, lanes):
            short[k] = 0x7FFFFFFF
        for k in range(size):
            # The place of a member is the number of smaller ones: no branch on data.
            rank = np.int32(0)
            for other in range(lanes):
                rank += np.int32(short[other] < short[k])
            place = np.int64(rank) - np.int64(owner < short[k])
            keys[size - 1 if short[k] == owner else place] = own | np.uint64(short[k])
        return
    count = 0
    for k in range(size):
        keys[count] = own | np.uint64(hits[k])
        count += hits[k] != owner
    _sort(keys[:count])


@kernel
def _sort(keys: Keys) -> None:
    """Sort in place (Shell, "A high-speed sorting procedure", 1959)."""
    gap = keys.size // 2
    while gap > 0:
        for k in range(gap, keys.size):
            key = keys[k]
            place = k
            while place >= gap and keys[place - gap] > key:
                keys[place] = keys[place - gap]
                place -= gap
            keys[place] = key
        gap = 1 if gap == 2 else gap * 5 // 11

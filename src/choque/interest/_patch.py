"""Changes of a few bodies: which members enter and leave, at the cost of what is near them.

Lists of all members are made for changes of many bodies. While few change, they are left as they are, and the pairs
around the bodies that change are searched before and after the change, in the search structure that made the lists.
Bodies that have changed since are *loose*: the structure has them at a wrong place, so they are compared one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.pair_keys import pair_key, unpack_pairs
from choque._core.tree import WIDTH
from choque._core.types import Integer, Keys, Pairs, Rows
from choque.interest._bodies import Bodies, half_edge, touches
from choque.interest.body_index import BodyIndex, gather_from_cells, gather_from_leaves

LOOSE_SHARE = 32
"""With one loose body of this many, the lists of all are made again."""

MIN_LOOSE = 64
"""Number of loose bodies that is always allowed."""


class PatchArrays(NamedTuple):
    """What a local search reads beside the bodies, as kernels take it."""

    found: NDArray[np.int64]
    """(places,) scratch"""
    leaves: NDArray[np.int64]
    """(places / 16,) scratch"""
    loose: NDArray[np.int64]
    """(k,) the rows of the bodies that have changed."""
    is_loose: NDArray[np.uint8]
    """(n,)"""
    margin: float
    """How far the other bodies may be from where the structure has them."""
    largest: float
    """The radius of the largest finite area, or 0."""
    is_box: bool
    """Whether areas and bodies are boxes."""


@dataclass
class Patch:
    """The bodies that have changed since the lists of all members were made."""

    index: BodyIndex
    """The search structure of the lists; its rows follow removals, and the places of removed bodies hold NaN."""
    margin: float
    """How far the bodies that are not loose may be from their places in it."""
    largest: float
    """At least the radius of the largest area."""
    is_box: bool
    """Whether areas and bodies are boxes."""
    loose: NDArray[np.int64]
    is_loose: NDArray[np.uint8]
    """The rows that have changed, and (n,) whether each has."""

    @property
    def arrays(self) -> PatchArrays:
        """The arrays, as kernels take them."""
        return PatchArrays(self.found, self.leaves, self.loose, self.is_loose, self.margin, self.largest, self.is_box)

    def has_space(self, count: int, total: int) -> bool:
        """Return whether ``count`` more bodies of ``total`` may become loose."""
        return len(self.loose) + count <= max(MIN_LOOSE, total // LOOSE_SHARE)

    def loosen(self, rows: Rows) -> None:
        """Add rows to those that have changed."""
        new = rows[self.is_loose[rows] == 0]
        if new.size:
            self.is_loose[new] = 1
            self.loose = np.concatenate((self.loose, new))

    def extend(self, count: int) -> None:
        """Add ``count`` bodies after the others, all of them loose."""
        first = len(self.is_loose)
        self.is_loose = np.concatenate((self.is_loose, np.ones(count, np.uint8)))
        self.loose = np.concatenate((self.loose, np.arange(first, first + count)))

    def drop(self, rows: Rows) -> None:
        """Remove bodies; the rows after them move up."""
        gone = np.zeros(len(self.is_loose), np.uint8)
        gone[rows] = 1
        self.is_loose = np.delete(self.is_loose, rows)
        ordered = np.sort(rows)
        staying = self.loose[gone[self.loose] == 0]
        self.loose = staying - np.searchsorted(ordered, staying)
        index = self.index
        placed, places = _closed_up(index.placed, index.rows, gone, ordered)
        self.index = index._replace(placed=placed, rows=places)

    def around(self, rows: Rows, bodies: Bodies) -> Pairs:
        """Return all pairs (owner, other) in which one of ``rows`` is owner or member, (m, 2) rows, sorted."""
        size = 256
        while True:
            keys = np.empty(size, np.uint64)
            count, tests = _keys_around(rows, tuple(bodies.arrays), tuple(self.index), tuple(self.arrays), keys)
            self.tests = tests
            if count <= size:
                found = np.sort(keys[:count])
                return unpack_pairs(found if len(rows) == 1 else np.unique(found))
            size = count

    def __post_init__(self) -> None:
        self.tests = 0  # those of the latest search
        places = len(self.index.rows)
        self.found, self.leaves = np.empty(places, np.int64), np.empty(places // WIDTH + 1, np.int64)


def open_patch(index: BodyIndex, bodies: Bodies, margin: float, is_box: bool) -> Patch:
    """Return a patch without loose bodies."""
    reach = bodies.reach
    largest = float(reach[np.isfinite(reach)].max(initial=0.0))
    own = index._replace(placed=index.placed.copy(), rows=index.rows.copy())
    nothing, none_loose = np.empty(0, np.int64), np.zeros(len(bodies), np.uint8)
    return Patch(own, margin, largest, is_box, nothing, none_loose)


@kernel
def _closed_up(
    placed: NDArray[np.float64], rows: NDArray[np.uint32], gone: NDArray[np.uint8], ordered: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.uint32]]:
    """Mark the places of bodies that are gone by NaN, and number the others without them, in place."""
    for place in range(rows.size):
        row = np.int64(rows[place])
        if placed[place, 0] != placed[place, 0]:
            continue
        if gone[row]:
            placed[place, 0] = np.nan
            continue
        before = np.int64(0)
        for k in range(ordered.size):
            if ordered[k] > row:
                break
            before += 1
        rows[place] = row - before
    return placed, rows


@kernel
def _keys_around(
    chosen: Rows, bodies: tuple[Any, ...], structure: tuple[Any, ...], patch: tuple[Any, ...], keys: Keys
) -> tuple[int, int]:
    """Write the keys of all pairs around the rows ``chosen``, as far as they fit. Return their number, and tests.

    ``bodies``, ``structure`` and ``patch`` are the fields of `BodyArrays`, `BodyIndex` and `PatchArrays`: Numba looks
    up the type of every field of a named tuple at every call, which takes longer than a search around one body.
    """
    spheres, reaches = bodies
    found, leaves, loose, is_loose, margin, largest, is_box = patch
    placed, rows, starts, frame, shape, lanes, level_first = structure
    index = BodyIndex(placed, rows, starts, frame, shape, lanes, level_first)
    stack = np.empty(WIDTH * level_first.size, np.int64)
    mask = np.empty(WIDTH, np.uint8)
    box = np.empty(6)
    count: Integer = 0
    tests: Integer = 0
    for k in range(chosen.size):
        i = chosen[k]
        far = max(reaches[i], spheres[i, 3] + largest) + margin
        for axis in range(3):
            half = half_edge(spheres[i, axis], far)
            box[axis], box[axis + 3] = spheres[i, axis] - half, spheres[i, axis] + half
        if index.starts.size > 0:
            near, tested = gather_from_cells(box, index, found)
        else:
            near, tested = gather_from_leaves(box, index, stack, mask, leaves, found)
        tests += tested + loose.size
        for at in range(near + loose.size):
            j = np.int64(rows[found[at]]) if at < near else loose[at - near]
            if j == i or (at < near and is_loose[j]):
                continue
            dx, dy, dz = spheres[j, 0] - spheres[i, 0], spheres[j, 1] - spheres[i, 1], spheres[j, 2] - spheres[i, 2]
            if reaches[i] >= 0 and touches(dx, dy, dz, reaches[i] + spheres[j, 3], is_box):
                if count < keys.size:
                    keys[count] = pair_key(i, j)
                count += 1
            if reaches[j] >= 0 and touches(-dx, -dy, -dz, reaches[j] + spheres[i, 3], is_box):
                if count < keys.size:
                    keys[count] = pair_key(j, i)
                count += 1
    return count, tests

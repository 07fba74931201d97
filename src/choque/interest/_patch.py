"""Changes of a few bodies: which members enter and leave, at the cost of what is near them.

Lists of all members are made for changes of many bodies. While few change, they are left as they are, and the pairs
around the bodies that change are searched before and after the change, in the search structure that made the lists.
Bodies that have changed since are *loose*: the structure has them at a wrong place, so they are compared one by one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.cells import cell_along
from choque._core.kernel import forceinline, kernel
from choque._core.pair_keys import pair_key, unpack_pairs
from choque._core.records import Questions
from choque._core.tree import WIDTH, Tree
from choque._core.tree_query import list_queries
from choque._core.types import I64, U8, U32, Integer, Keys, Pairs, Rows
from choque.interest._bodies import AreaBodies, half_edge
from choque.interest._search import BodyIndex
from choque.neighbors.search import touches

LOOSE_SHARE = 32  # with one loose body of this many, the lists of all are made again
MIN_LOOSE = 64  # number of loose bodies that is always allowed
GONE = 2**32 - 1  # the row of a removed body in the search structure


@dataclass
class Patch:
    """The bodies that have changed since the lists of all members were made."""

    # the search structure of the lists; its rows follow removals, and those of removed bodies are `GONE`
    index: BodyIndex
    margin: float  # how far the bodies that are not loose may be from their places in it
    largest: float  # at least the radius of the largest area
    most: float  # the radius of the largest body that the structure has
    is_box: bool  # whether areas and bodies are boxes
    loose: I64
    is_loose: U8  # the rows that have changed, and (n,) whether each has

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
        ordered = np.sort(rows)
        staying = self.loose[~np.isin(self.loose, ordered)]
        self.loose = staying - np.searchsorted(ordered, staying)
        self.is_loose = np.delete(self.is_loose, rows)
        self.index = self.index._replace(rows=_closed_up(self.index.rows.copy(), ordered))

    def around(self, rows: Rows, bodies: AreaBodies) -> Pairs:
        """Return all pairs (owner, other) in which one of ``rows`` is owner or member, (m, 2) rows, sorted."""
        patch = self.found, self.loose, self.is_loose, self.margin, self.largest, self.most, self.is_box
        size = 256
        while True:
            keys = np.empty(size, np.uint64)
            count, tests = _keys_around(rows, tuple(bodies), tuple(self.index), patch, keys)
            self.tests = tests
            if count <= size:
                found = np.sort(keys[:count])
                return unpack_pairs(found if len(rows) == 1 else np.unique(found))
            size = count

    def __post_init__(self) -> None:
        self.tests = 0  # those of the latest search
        self.found: NDArray[np.uint64] = np.empty(len(self.index.rows) + WIDTH, np.uint64)


def open_patch(index: BodyIndex, bodies: AreaBodies, margin: float, is_box: bool) -> Patch:
    """Return a patch without loose bodies."""
    reach = bodies.reach
    largest = float(reach[np.isfinite(reach)].max(initial=0.0))
    nothing, none_loose = np.empty(0, np.int64), np.zeros(bodies.total, np.uint8)
    return Patch(index, margin, largest, float(bodies.spheres[:, 3].max()), is_box, nothing, none_loose)


@kernel
def _closed_up(rows: U32, gone: I64) -> U32:
    """Number ``rows`` without those that are ``gone``, ascending, in place."""
    for place in range(rows.size):
        row, before = np.int64(rows[place]), np.int64(0)
        while before < gone.size and gone[before] < row:
            before += 1
        if row != GONE:
            is_gone = before < gone.size and gone[before] == row
            rows[place] = GONE if is_gone else row - before
    return rows


@kernel
def _keys_around(
    chosen: Rows, bodies: tuple[Any, ...], structure: tuple[Any, ...], patch: tuple[Any, ...], keys: Keys
) -> tuple[int, int]:
    """Write the keys of all pairs around the rows ``chosen``, as far as they fit. Return their number, and tests.

    ``bodies``, ``structure`` and ``patch`` are the fields of `AreaBodies`, `BodyIndex` and `Patch`: Numba looks
    up the type of every field of a named tuple at every call, which takes longer than a search around one body.
    """
    spheres, reaches = bodies
    found, loose, is_loose, margin, largest, most, is_box = patch
    rows, starts, frame, shape, lanes, level_first = structure
    box, order = np.empty((1, 6)), np.empty(1, np.uint32)
    order[0] = 0
    count: Integer = 0
    tests: Integer = 0
    for k in range(chosen.size):
        i = chosen[k]
        far = max(reaches[i] + most, spheres[i, 3] + largest) + margin
        for axis in range(3):
            half = half_edge(spheres[i, axis], far)
            box[0, axis], box[0, axis + 3] = spheres[i, axis] - half, spheres[i, axis] + half
        if starts.size > 0:
            near = _list_cells(box, rows, starts, frame, shape, found)
        else:
            _, near, _ = list_queries(0, 1, found, Questions(box, order, 0), Tree(lanes, rows, level_first))
        tests += near + loose.size
        for at in range(near + loose.size):
            j = np.int64(found[at]) if at < near else loose[at - near]
            if j == i or (at < near and (j == GONE or is_loose[j])):
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


@forceinline
def _list_cells(box: Any, rows: Any, starts: Any, frame: Any, shape: Any, found: Any) -> Any:
    """Write the rows in the cells that ``box`` (1, 6) reaches to ``found``. Return how many there are."""
    count = np.int64(0)
    first_x, last_x = _span(box, frame, shape, 0)
    first_y, last_y = _span(box, frame, shape, 1)
    first_z, last_z = _span(box, frame, shape, 2)
    for z in range(first_z, last_z + 1):
        for y in range(first_y, last_y + 1):
            line = (z * shape[1] + y) * shape[0]
            for place in range(starts[line + first_x], starts[line + last_x + 1]):
                found[count] = rows[place]
                count += 1
    return count


@forceinline
def _span(box: Any, frame: Any, shape: Any, axis: Integer) -> Any:
    origin, per_unit, cells = frame[0, axis], frame[1, axis], shape[axis]
    return cell_along(box[0, axis], origin, per_unit, cells), cell_along(box[0, axis + 3], origin, per_unit, cells)

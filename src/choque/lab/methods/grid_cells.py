"""A regular grid of a given number of cells with every body listed in each cell that it touches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check, threads
from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.pair_keys import pair_key
from choque._core.sort import radix_sort
from choque._core.types import Floats, Keys
from choque.broad.index import Index
from choque.broad.structure import Structure
from choque.errors import InvalidInput
from choque.lab.methods.buckets import Buckets, closed_regions

Membership: TypeAlias = Literal["box", "sphere"]
Walls: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

MAX_AXIS_CELLS = 1 << 20
MAX_CELLS = 1 << 31

MAX_BODY_CELLS = 4096
"""A body in more cells than this is a giant, which is listed in none and meets everything."""

LISTINGS_PER_BODY = 16
LISTINGS_FREE = 1 << 20
"""The bodies in the most cells become giants until there are no more listings than these two allow."""


class GridCells(Index):
    """Divides an arena into equal cells, lists every body in each cell that it touches, and tests within cells.

    Parameters
    ----------
    cells
        The number of cells along every axis, or along each.
    arena
        The lower and upper corner that the cells divide; None for the extent of the bodies.
    test
        True: the pairs whose boxes overlap. False: all pairs that share a cell, untested; they contain the others.

    Notes
    -----
    Guarantees: exact, both topologies; with ``test=False`` it contains the answer. ``counters.duplicates`` counts how
    often a pair was found again in another cell. Time and memory as for `cell_buckets`. Ericson, Real-Time Collision
    Detection, 2005, 7.1.
    """

    name: ClassVar[str] = "grid-cells"

    def __init__(
        self, *, cells: int | Sequence[int] = 16, arena: tuple[ArrayLike, ArrayLike] | None = None, test: bool = True
    ) -> None:
        self.cells, self.arena, self.test = cells, arena, check.boolean(test, "test")

    def build(self) -> None:
        """List the bodies in cells."""
        dimension = self.table.dimension
        cells = (self.cells,) * dimension if isinstance(self.cells, int) else self.cells
        counts = checked_cells(cells, dimension)
        self._buckets = cell_buckets(self.records, counts, self.arena, thread_count=self.thread_count())
        self.note_bytes(16 * len(self._buckets.members))

    def emit(self, sink: Sink) -> None:
        """Write the pairs that share a cell, each in the cell of the larger of their lower corners."""
        self.counters.duplicates += self._buckets.emit(
            sink, self.records, tested=self.test, once=True, pair_filter=self.table.pair_filter
        )

    def structure(self) -> Structure:
        """Return the cells that a box touches."""
        return self._buckets.structure(self.name, "cells", self.records, self.table.dimension)

    @property
    def byte_count(self) -> int:
        """The bytes of the records and of the listings."""
        return super().byte_count + self._buckets.nbytes


def cell_buckets(
    records: Floats,
    cells: Sequence[int],
    arena: tuple[ArrayLike, ArrayLike] | None = None,
    membership: Membership = "box",
    thread_count: int = 1,
) -> Buckets:
    """List the bodies in every cell that they touch.

    Parameters
    ----------
    records
        The (n, 6) records of the bodies.
    cells
        How many cells along each axis: two or three whole numbers, one for each dimension of the bodies.
    arena
        The lower and upper corner that the grid divides; None for the extent of all finite bounds. The
        outermost cells reach to infinity, so that bodies outside lose nothing.
    membership
        What of a body touches a cell: its "box", or the "sphere" as wide as its box. Pairs of spheres that
        share a cell contain all spheres that overlap, not all boxes, and must not be written ``once``.

    Notes
    -----
    A cell owns its lower walls and not its upper ones. Walls are numbers that are only ever compared with, so
    no rounding can part two bodies that touch.

    Guarantees: every two boxes that overlap meet in the cell of the larger of their lower corners; all pairs
    that share cells share that one. At most 16 listings a body (or 2²⁰ in all): beyond that the bodies in the
    most cells become giants, which are exact by test, and without it count as sharing one cell with every
    body. O(n log N + listings) time and O(n + listings) memory, however many cells are empty.
    """
    counts = checked_cells(cells, len(cells))
    walls = cell_walls(counts, *(arena_of(records, len(counts)) if arena is None else arena))
    ranges = np.empty((len(records), 6), np.int32)
    threads.over_ranges(_find_ranges, len(records), thread_count, records, *walls, ranges)
    touched = np.prod(ranges[:, 3:].astype(np.int64) - ranges[:, :3] + 1, axis=1)
    is_giant = touched > _max_cells(touched)
    keys: Keys = np.empty(int(touched[~is_giant].sum()), np.uint64)
    axis_count = len(counts) if membership == "sphere" else 0
    listing_count = _list_bodies(records, ranges, is_giant, *walls, axis_count, keys)
    bit_count = max(1, math.prod(counts).bit_length())
    keys = radix_sort(keys[:listing_count], 32, bit_count, thread_count)
    return _as_buckets(keys, walls, np.flatnonzero(is_giant).astype(np.int32))


def checked_cells(cells: Sequence[int], dimension: int) -> tuple[int, ...]:
    """Return ``cells`` as a tuple of one whole number for each dimension; raise `InvalidInput` for other values."""
    given = tuple(cells) if isinstance(cells, Sequence | np.ndarray) and not isinstance(cells, str) else ()
    whole = all(isinstance(count, int | np.integer) and not isinstance(count, bool) for count in given)
    if len(given) != dimension or dimension not in (2, 3) or not whole:
        example = (4,) * (dimension if dimension in (2, 3) else 3)
        raise InvalidInput(
            f"cells is {cells!r}; it must be one whole number for each of the {len(example)} axes, such as {example}."
        )
    if min(given) < 1 or max(given) > MAX_AXIS_CELLS or math.prod(map(int, given)) > MAX_CELLS:
        raise InvalidInput(
            f"cells is {given}; each must be from 1 to {MAX_AXIS_CELLS} and all of them at most {MAX_CELLS} cells."
        )
    return tuple(int(count) for count in given)


def arena_of(records: Floats, dimension: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and upper corner of all finite bounds on the first ``dimension`` axes; 0 if there are none."""
    bounds = np.concatenate((records[:, :dimension], records[:, 3 : 3 + dimension])).astype(np.float64)
    finite = np.isfinite(bounds)
    lower = np.where(finite, bounds, np.inf).min(axis=0, initial=np.inf)
    upper = np.where(finite, bounds, -np.inf).max(axis=0, initial=-np.inf)
    known = lower <= upper
    return np.where(known, lower, 0.0), np.where(known, upper, 0.0)


def cell_walls(cells: Sequence[int], lower: ArrayLike, upper: ArrayLike) -> Walls:
    """Return the inner walls along each of three axes, ascending; a missing third axis has none."""
    low, high = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
    shape = (len(cells),)
    if low.shape != shape or high.shape != shape or not (np.isfinite([low, high]).all() and (low <= high).all()):
        raise InvalidInput(
            f"The arena is from {lower!r} to {upper!r}; it must be two finite corners of {len(cells)} numbers each, "
            "the lower one first."
        )
    walls = [_inner_walls(count, a, b) for count, a, b in zip(cells, low, high, strict=True)]
    return walls[0], walls[1], walls[2] if len(walls) == 3 else np.empty(0)


def _inner_walls(count: int, lower: np.float64, upper: np.float64) -> NDArray[np.float64]:
    inner = np.arange(1, count, dtype=np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        walls = (lower * (count - inner) + upper * inner) / count  # exact walls where the corners are whole
    share = inner / count
    walls = np.where(np.isfinite(walls), walls, lower * (1 - share) + upper * share)
    ascending: NDArray[np.float64] = np.maximum.accumulate(walls)
    return ascending


def _max_cells(touched: NDArray[np.int64]) -> int:
    """Return the maximum number of cells of a body that is not a giant."""
    allowed = max(LISTINGS_PER_BODY * len(touched), LISTINGS_FREE)
    cell_count = MAX_BODY_CELLS
    while cell_count > LISTINGS_PER_BODY and touched[touched <= cell_count].sum() > allowed:
        cell_count //= 2
    return cell_count


def _as_buckets(keys: Keys, walls: Walls, giants: NDArray[np.int32]) -> Buckets:
    numbers = (keys >> np.uint64(32)).astype(np.int64)
    first = np.flatnonzero(np.concatenate((np.ones(min(1, keys.size), np.bool_), numbers[1:] != numbers[:-1])))
    places = np.unravel_index(numbers[first], [len(axis_walls) + 1 for axis_walls in reversed(walls)])
    regions = np.empty((len(first), 6))
    for axis, place in enumerate(reversed(places)):
        ends = np.concatenate(([-np.inf], walls[axis], [np.inf]))
        regions[:, axis], regions[:, axis + 3] = ends[place], ends[place + 1]
    members = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
    return Buckets(np.append(first, keys.size), members, closed_regions(regions), giants)


@kernel
def _cell_along(value: float, walls: NDArray[np.float64]) -> int:
    """Return the number of walls at or before ``value``, which is its cell."""
    low, high = 0, walls.size
    while low < high:
        middle = (low + high) >> 1
        if walls[middle] <= value:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _find_ranges(
    first: int,
    last: int,
    records: Any,
    x_walls: NDArray[np.float64],
    y_walls: NDArray[np.float64],
    z_walls: NDArray[np.float64],
    ranges: NDArray[np.int32],
) -> None:
    """Write the first and last cell of each body on each axis; an empty half-open body has that of its lower corner."""
    for i in range(first, last):
        ranges[i, 0] = _cell_along(records[i, 0], x_walls)
        ranges[i, 1] = _cell_along(records[i, 1], y_walls)
        ranges[i, 2] = _cell_along(records[i, 2], z_walls)
        ranges[i, 3] = max(ranges[i, 0], _cell_along(records[i, 3], x_walls))
        ranges[i, 4] = max(ranges[i, 1], _cell_along(records[i, 4], y_walls))
        ranges[i, 5] = max(ranges[i, 2], _cell_along(records[i, 5], z_walls))


@kernel
def _list_bodies(
    records: Any,
    ranges: NDArray[np.int32],
    is_giant: NDArray[np.bool_],
    x_walls: NDArray[np.float64],
    y_walls: NDArray[np.float64],
    z_walls: NDArray[np.float64],
    sphere_axis_count: int,
    keys: Keys,
) -> int:
    """Write a key (cell, row) for each cell that a body touches; returns how many there are."""
    x_count, y_count = x_walls.size + 1, y_walls.size + 1
    count = 0
    for i in range(records.shape[0]):
        if is_giant[i]:
            continue
        for z in range(ranges[i, 2], ranges[i, 5] + 1):
            for y in range(ranges[i, 1], ranges[i, 4] + 1):
                for x in range(ranges[i, 0], ranges[i, 3] + 1):
                    if sphere_axis_count:
                        reach = _sphere_radius(records[i], sphere_axis_count)
                        gap = _gap(records[i], 0, x, x_walls) + _gap(records[i], 1, y, y_walls)
                        if sphere_axis_count == 3:
                            gap += _gap(records[i], 2, z, z_walls)
                        if gap > reach * reach * (1 + 1e-12):
                            continue
                    cell = np.uint64((z * y_count + y) * x_count + x)
                    keys[count] = pair_key(cell, i)
                    count += 1
    return count


@kernel
def _sphere_radius(record: Any, axis_count: int) -> float:
    """Half of the largest edge, and what rounding may do to the centre."""
    radius = 0.0
    for axis in range(axis_count):
        lower, upper = float(record[axis]), float(record[axis + 3])
        radius = max(radius, 0.5 * upper - 0.5 * lower + 1e-15 * (abs(lower) + abs(upper)))
    return radius


@kernel
def _gap(record: Any, axis: int, cell: int, walls: NDArray[np.float64]) -> float:
    """Return the squared distance on one axis from a body's centre to a cell; NaN, which lists it, if unknown."""
    centre = 0.5 * float(record[axis]) + 0.5 * float(record[axis + 3])
    gap = 0.0
    if cell > 0 and centre < walls[cell - 1]:
        gap = walls[cell - 1] - centre
    elif cell < walls.size and centre > walls[cell]:
        gap = centre - walls[cell]
    return gap * gap

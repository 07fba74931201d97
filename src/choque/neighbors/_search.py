"""The search behind neighbour lists: points in rows of cells, counted and then written, eight candidates at a time.

Points and their images are sorted into cells along x, in rows of cells one cut-off wide. A point looks at the runs of
cells that can hold neighbours. Lanes compare squares of distances in rounded coordinates: nearly all candidates are
surely inside or surely outside; those within the rounding are decided by the exact rule, as are all that are written.

The rule: ``D = (position_j - position_i) + S · cell``, in float64 in this order, and the square of its length less than
that of the cut-off. It gives the same answer from both sides, so that full lists are symmetric.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.kernel import forceinline, kernel
from choque._core.lanes import bit_count, list_bits, lowest_bit, near_eight
from choque._core.pair_keys import key_first, key_second, pair_key
from choque._core.sort import radix_sort
from choque._core.types import Integer
from choque.neighbors._cells import Cells, Images, extent_of, images_of, points_in

MAX_CELLS_ALONG = 1 << 20
CELLS_PER_POINT = 2.0
CELLS_PER_CUTOFF = 4
"""Cells along x in one cut-off: finer cells make runs fit more tightly."""
LISTED = 1_024
"""Candidates of a point that are listed before they are decided: a loop without surprises is faster."""
MIN_CELLS_PER_REACH = 0.6
"""With fewer cells along y in one cut-off, cells for most of the points are tried."""


class Group(NamedTuple):
    """Points that are searched together."""

    position: NDArray[np.float64]
    """(n, 3) float64."""
    atom: NDArray[np.int32]
    """(n,) int32: the rows that they have in the answer."""
    radius: NDArray[np.float64]
    """(n,) float64, or empty if there is one cut-off for all."""

    def take(self, rows: Any) -> Group:
        """Return some of the points."""
        return Group(self.position[rows], self.atom[rows], self.radius[rows] if self.radius.size else self.radius)


class Points(NamedTuple):
    """Points and images in the order of their cells."""

    x: NDArray[Any]
    y: NDArray[Any]
    z: NDArray[Any]
    """(m + 8,) float32 or float64: coordinates relative to the lowest corner, rounded."""
    group: Group
    """(m,) the points, as they were given, of images too."""
    shift: NDArray[np.int32]
    """(m, 3) int32: cells between the position and the place that is searched."""
    starts: NDArray[np.int64]
    """(cells + 1,) int64: where each cell begins."""
    frame: NDArray[np.float64]
    """(2, 3) float64: the lowest corner, and cells per unit of length."""
    shape: NDArray[np.int64]
    """(3,) int64: cells along x, y, z."""


class Rule(NamedTuple):
    """Which candidates are neighbours."""

    vectors: NDArray[np.float64]
    """(3, 3): the vectors of the cell."""
    cutoff: float
    """The cut-off; not used if points have radii."""
    least: float
    most: float
    """The smallest and largest radius of the points that are searched, or 0."""
    slack: float
    """By how much rounded distances may be wrong."""
    part: int
    """`FULL`, `HALF` or `ALL`."""


FULL, HALF, ALL = 0, 1, 2
"""Every pair from both sides; every pair once; every pair, also of a point with itself."""


class Lists(NamedTuple):
    """Neighbours, a row for each, in the order of the points; arrays that are not wanted are empty."""

    i: NDArray[np.int32]
    j: NDArray[np.int32]
    shift: NDArray[np.int32]
    distance: NDArray[np.float64]
    vector: NDArray[np.float64]


def empty_lists(count: int, wanted: str) -> Lists:
    """Return arrays for ``count`` neighbours; those whose letter is not ``wanted`` are empty."""
    size = {letter: count if letter in wanted else 0 for letter in "ijSdD"}
    return Lists(
        memory.empty(size["i"], np.int32),
        memory.empty(size["j"], np.int32),
        memory.empty((size["S"], 3), np.int32),
        memory.empty(size["d"], np.float64),
        memory.empty((size["D"], 3), np.float64),
    )


class Pass(NamedTuple):
    """A search for the neighbours of some points: ``rows`` of ``owners``, among ``points``."""

    owners: Points
    rows: NDArray[np.int64]
    points: Points
    rule: Rule


def prepare(near: Group, far: Group, cell: Cells, reach: float, part: int, thread_count: int) -> Pass:
    """Sort the points ``far`` and their images for a search of the neighbours of ``near``, within ``reach``. O(m)."""
    if near is far:
        points, rows = _sort_points(images_of(far.position, cell, reach), far, reach, thread_count)
        owners = points
    else:
        points, _ = _sort_points(images_of(far.position, cell, reach, near.position), far, reach, thread_count)
        owners, rows = _sort_points(points_in(near.position, cell), near, reach, thread_count, points)
    least, most = (float(far.radius.min()), float(far.radius.max())) if far.radius.size else (0.0, 0.0)
    largest = max(float(np.abs(extent_of(each.position)).max()) if len(each.position) else 0.0 for each in (near, far))
    return Pass(owners, rows, points, Rule(cell.vectors[0], reach, least, most, _slack(points, largest), part))


def _sort_points(
    images: Images, group: Group, reach: float, thread_count: int, like: Points | None = None
) -> tuple[Points, NDArray[np.int64]]:
    """Sort images of a group into cells for a reach, or into those of ``like``.

    Also returns the places, in that order, of the points themselves, without their images.
    """
    place = images.place
    count = len(place)
    if like is None:
        frame, shape, extent = _choose_frame(place, reach)
        # Rounded coordinates must tell points apart by a small share of the reach, and squares must be in range.
        dtype: Any = np.float32 if extent.max() < 1e4 * reach and 1e-10 < reach < 1e12 else np.float64
    else:
        shape, frame, dtype = like.shape, like.frame, like.x.dtype
    keys = memory.empty(count, np.uint64)
    threads.over_ranges(_number_points, count, thread_count, place, frame, shape, keys)
    cell_count = int(shape.prod())
    keys = radix_sort(keys, 32, max(1, cell_count.bit_length()), thread_count)
    x, y, z = (memory.empty(count + 8, dtype) for _ in range(3))
    sorted_group = Group(
        memory.empty((count, 3), np.float64),
        memory.empty(count, np.int32),
        memory.empty(count if group.radius.size else 0, np.float64),
    )
    starts = np.zeros(cell_count + 1, np.int64)
    points = Points(x, y, z, sorted_group, memory.empty((count, 3), np.int32), starts, frame, shape)
    with np.errstate(over="ignore"):
        threads.over_ranges(_gather_points, count, thread_count, keys, images, group, points)
    for column in (x, y, z):
        column[count:] = np.nan
    return points, np.flatnonzero((keys & np.uint64(0xFFFFFFFF)) < np.uint64(len(group.position)))


def _slack(points: Points, largest: float) -> float:
    """Return how wrong a distance between rounded coordinates can be; ``largest`` is the largest coordinate given."""
    extent = max(float(np.abs(column[:-8]).max(initial=0)) for column in (points.x, points.y, points.z))
    extent += float(np.abs(points.frame[0]).max())
    double = np.finfo(np.float64).eps
    return float(8 * (np.finfo(points.x.dtype).eps + double) * extent + 32 * double * largest)


def _choose_frame(
    place: NDArray[np.float64], reach: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Return lowest corner and cells per unit of length, (2, 3), cells along each axis, and the extent of all points.

    Where few points far away would make cells large, cells are made for the others: those outside belong to the
    outermost cells, which searches respect because they clamp cells in the same way.
    """
    if not len(place):
        return np.stack((np.zeros(3), np.ones(3))), np.ones(3, np.int64), np.zeros(3)
    low, high = extent_of(place)
    extent = high - low
    shape, per_unit = _choose_cells(extent, reach, len(place))
    if per_unit[1] * reach < MIN_CELLS_PER_REACH:
        sample = place[:: max(1, len(place) // 10_000)]
        start, end = np.quantile(sample, (0.01, 0.99), axis=0)
        bulk_shape, bulk_per_unit = _choose_cells(end - start, reach, len(place))
        if (bulk_per_unit > 2 * per_unit).any():
            low, shape, per_unit = start, bulk_shape, bulk_per_unit
    return np.stack((low, per_unit)), shape, extent


def _choose_cells(
    extent: NDArray[np.float64], reach: float, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    width = np.array([reach / CELLS_PER_CUTOFF, reach, reach])
    while True:
        shape = np.minimum(extent / width, MAX_CELLS_ALONG - 1).astype(np.int64) + 1
        if shape.astype(np.float64).prod() <= CELLS_PER_POINT * count + 64:
            break
        width *= 1.2
    return shape, np.minimum(1 / width, (MAX_CELLS_ALONG - 1) / np.maximum(extent, 1e-300))


def count_pass(one: Pass, counts: NDArray[np.int64], thread_count: int) -> None:
    """Add the number of neighbours of every point of a pass to ``counts`` (n,)."""
    _over_rows(one, thread_count, lambda rows: _count(rows, one.owners, one.points, one.rule, counts))


def fill_pass(one: Pass, cursor: NDArray[np.int64], lists: Lists, thread_count: int) -> None:
    """Write the neighbours of every point of a pass from ``cursor`` (n,) on, and advance it."""
    _over_rows(one, thread_count, lambda rows: _fill(rows, one.owners, one.points, one.rule, cursor, lists))


def _over_rows(one: Pass, thread_count: int, task: Callable[[NDArray[np.int64]], None]) -> None:
    """Run ``task`` over shares of the rows, each by the next thread that is free."""
    count = len(one.rows)
    shares = threads.ranges(count, 1 if count < threads.SERIAL_BELOW else 8 * thread_count)
    draw = threads.block_supply(len(shares), 1)

    def work(_: int) -> None:
        while (block := draw()) is not None:
            first, last = shares[block[0]]
            task(one.rows[first:last])

    threads.run(work, min(thread_count, len(shares)))


@kernel
def _number_points(first: int, last: int, place: Any, frame: Any, shape: Any, keys: Any) -> None:
    for k in range(first, last):
        cell = np.int64(0)
        for axis in range(2, -1, -1):
            own = np.int64(max(0.0, min((place[k, axis] - frame[0, axis]) * frame[1, axis], shape[axis] - 1.0)))
            cell = cell * shape[axis] + own
        keys[k] = pair_key(cell, k)


@kernel
def _gather_points(first: int, last: int, keys: Any, images: Images, group: Group, points: Points) -> None:
    previous = key_first(keys[first - 1]) if first else np.int64(-1)
    has_radius = group.radius.size > 0
    for k in range(first, last):
        image = key_second(keys[k])
        cell = key_first(keys[k])
        points.x[k] = images.place[image, 0] - points.frame[0, 0]
        points.y[k] = images.place[image, 1] - points.frame[0, 1]
        points.z[k] = images.place[image, 2] - points.frame[0, 2]
        source = images.source[image]
        points.group.atom[k] = group.atom[source]
        if has_radius:
            points.group.radius[k] = group.radius[source]
        for axis in range(3):
            points.group.position[k, axis] = group.position[source, axis]
            points.shift[k, axis] = images.shift[image, axis]
        for c in range(previous + 1, cell + 1):
            points.starts[c] = k
        previous = cell
    if last == keys.size:
        for c in range(previous + 1, points.starts.size):
            points.starts[c] = last


@forceinline
def _cells(value: Any, reach: Any, per_unit: Any, last: Any) -> Any:
    """Return the first and last cell along an axis that a search must look at."""
    low = max(0.0, min((value - reach) * per_unit, last))
    high = max(0.0, min((value + reach) * per_unit, last))
    return np.int64(low), np.int64(high)


@forceinline
def step_between(own: Any, other: Any, cells: Any, vectors: Any) -> Any:
    """Return the vector from a point to an image of another, ``cells`` away: the exact rule."""
    a, b, c = cells
    x, y, z = other[0] - own[0], other[1] - own[1], other[2] - own[2]
    if a != 0 or b != 0 or c != 0:
        x += a * vectors[0, 0] + b * vectors[1, 0] + c * vectors[2, 0]
        y += a * vectors[0, 1] + b * vectors[1, 1] + c * vectors[2, 1]
        z += a * vectors[0, 2] + b * vectors[1, 2] + c * vectors[2, 2]
    return x, y, z


@forceinline
def _step(owners: Any, k: Integer, points: Any, j: Integer, vectors: Any) -> Any:
    """Return the vector from a point to a candidate, and the cells between them."""
    cells = (
        points.shift[j, 0] - owners.shift[k, 0],
        points.shift[j, 1] - owners.shift[k, 1],
        points.shift[j, 2] - owners.shift[k, 2],
    )
    here, there = owners.group.position, points.group.position
    own = (here[k, 0], here[k, 1], here[k, 2])
    return step_between(own, (there[j, 0], there[j, 1], there[j, 2]), cells, vectors), cells


@forceinline
def is_kept(own: Any, other: Any, cells: Any, part: Integer) -> Any:
    """Return whether a candidate that is near belongs to the list."""
    if part == ALL:
        return True
    if own != other:
        return part == FULL or own < other
    a, b, c = cells
    if part == FULL:
        return a != 0 or b != 0 or c != 0
    return a > 0 or (a == 0 and (b > 0 or (b == 0 and c > 0)))


@forceinline
def _limits(owners: Any, k: Integer, rule: Any, has_radius: Any) -> Any:
    """Return the distances that all and that no neighbours of a point surely have, and half of the rule's sum."""
    if has_radius:
        own = owners.group.radius[k]
        return max(own + rule.least - rule.slack, 0.0), own + rule.most + rule.slack, own
    return max(rule.cutoff - rule.slack, 0.0), rule.cutoff + rule.slack, 0.0


@kernel
def _count(rows: Any, owners: Points, points: Points, rule: Rule, counts: Any) -> None:
    """Count the neighbours of the points in these rows."""
    x, y, z, starts, shape, per_unit = points.x, points.y, points.z, points.starts, points.shape, points.frame[1]
    one = x.dtype.type(1)
    has_radius = points.group.radius.size > 0
    for place in range(rows.size):
        k = rows[place]
        own = owners.group.atom[k]
        sure, reach, radius = _limits(owners, k, rule, has_radius)
        inner, outer = one * (sure * sure * (1 - 1e-5)), one * (reach * reach * (1 + 1e-5))
        from_x, to_x = _cells(np.float64(owners.x[k]), reach, per_unit[0], shape[0] - 1.0)
        from_y, to_y = _cells(np.float64(owners.y[k]), reach, per_unit[1], shape[1] - 1.0)
        from_z, to_z = _cells(np.float64(owners.z[k]), reach, per_unit[2], shape[2] - 1.0)
        count = np.int64(0)
        for cell_z in range(from_z, to_z + 1):
            for cell_y in range(from_y, to_y + 1):
                line = (cell_z * shape[1] + cell_y) * shape[0]
                at, end = starts[line + from_x], starts[line + to_x + 1]
                while at < end:
                    mask = near_eight(x, y, z, at, owners.x[k], owners.y[k], owners.z[k], inner, outer)
                    inside = (np.int64(1) << min(end - at, 8)) - 1
                    sure_bits, open_bits = mask & inside, (mask >> 8) & inside
                    if rule.part == HALF:
                        sure_bits = np.int64(0)
                    count += bit_count(sure_bits)
                    open_bits &= ~sure_bits
                    while open_bits:
                        j = at + lowest_bit(open_bits)
                        open_bits &= open_bits - 1
                        step, cells = _step(owners, k, points, j, rule.vectors)
                        limit = radius + points.group.radius[j] if has_radius else rule.cutoff
                        near = step[0] * step[0] + step[1] * step[1] + step[2] * step[2] < limit * limit
                        count += near and is_kept(own, points.group.atom[j], cells, rule.part)
                    at += 8
        counts[own] += count - (rule.part == FULL and inner > 0)  # the point itself was surely near


@kernel
def _fill(rows: Any, owners: Points, points: Points, rule: Rule, cursor: Any, lists: Lists) -> None:
    """Write the neighbours of the points in these rows."""
    x, y, z, starts, shape, per_unit = points.x, points.y, points.z, points.starts, points.shape, points.frame[1]
    one = x.dtype.type(1)
    has_radius = points.group.radius.size > 0
    listed = np.empty(LISTED + 8, np.uint32)
    for place in range(rows.size):
        k = rows[place]
        own = owners.group.atom[k]
        _, reach, _ = _limits(owners, k, rule, has_radius)
        outer = one * (reach * reach * (1 + 1e-5))
        from_x, to_x = _cells(np.float64(owners.x[k]), reach, per_unit[0], shape[0] - 1.0)
        from_y, to_y = _cells(np.float64(owners.y[k]), reach, per_unit[1], shape[1] - 1.0)
        from_z, to_z = _cells(np.float64(owners.z[k]), reach, per_unit[2], shape[2] - 1.0)
        row, count = cursor[own], np.int64(0)
        for cell_z in range(from_z, to_z + 1):
            for cell_y in range(from_y, to_y + 1):
                line = (cell_z * shape[1] + cell_y) * shape[0]
                at, end = starts[line + from_x], starts[line + to_x + 1]
                while at < end:
                    mask = near_eight(x, y, z, at, owners.x[k], owners.y[k], owners.z[k], outer, outer)
                    count += list_bits(listed, count, at, mask & ((np.int64(1) << min(end - at, 8)) - 1))
                    at += 8
                    if count > LISTED - 8:
                        row = _write_listed(listed, count, owners, k, points, rule, lists, row)
                        count = np.int64(0)
        cursor[own] = _write_listed(listed, count, owners, k, points, rule, lists, row)


@forceinline
def _write_listed(
    listed: Any, count: Integer, owners: Any, k: Integer, points: Any, rule: Any, lists: Any, row: Any
) -> Any:
    """Write those of the candidates ``listed`` that are neighbours from ``row`` on; return where the next one goes."""
    here, there, shift, vectors = owners.group.position, points.group.position, points.shift, rule.vectors
    own, has_radius, limit = owners.group.atom[k], points.group.radius.size > 0, rule.cutoff
    place = (here[k, 0], here[k, 1], here[k, 2])
    a, b, c = owners.shift[k, 0], owners.shift[k, 1], owners.shift[k, 2]
    for n in range(count):
        j = np.uint64(listed[n])  # unsigned: an index that cannot count from the end
        cells = (shift[j, 0] - a, shift[j, 1] - b, shift[j, 2] - c)
        step = step_between(place, (there[j, 0], there[j, 1], there[j, 2]), cells, vectors)
        square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
        if has_radius:
            limit = owners.group.radius[k] + points.group.radius[j]
        if square < limit * limit and is_kept(own, points.group.atom[j], cells, rule.part):
            write(lists, np.uint64(row), own, points.group.atom[j], cells, step, square)
            row += 1
    return row


@forceinline
def write(lists: Any, row: Integer, own: Any, other: Any, cells: Any, step: Any, square: Any) -> None:
    """Write one neighbour to the arrays that are wanted."""
    if lists.i.size:
        lists.i[row] = own
    if lists.j.size:
        lists.j[row] = other
    if lists.shift.size:
        lists.shift[row, 0], lists.shift[row, 1], lists.shift[row, 2] = cells
    if lists.distance.size:
        lists.distance[row] = math.sqrt(square)
    if lists.vector.size:
        lists.vector[row, 0], lists.vector[row, 1], lists.vector[row, 2] = step

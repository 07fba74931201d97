"""The search of points, for neighbour lists and areas: in rows of cells, counted and then written, eight at a time.

Points and their images are sorted into cells along x, in rows of cells one cut-off wide. A point looks at the runs of
cells that can hold neighbours. Lanes compare squares of distances in rounded coordinates: nearly all candidates are
surely inside or surely outside; those within the rounding are decided by the exact rule, as are all that are written.

The rule: ``D = (position_j - position_i) + S · cell``, in float64 in this order, and the square of its length less than
that of the cut-off. It gives the same answer from both sides, so that full lists are symmetric. Areas have a closed
rule of their own, `touches`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.cells import cell_along, choose_frame, extent_of, sort_into_cells
from choque._core.kernel import forceinline, kernel
from choque._core.lanes import bit_count, list_bits, lowest_bit, prefetch
from choque._core.pair_keys import key_first, key_second
from choque._core.point_lanes import near_eight, near_eight_by_axis
from choque._core.types import F64, I32, I64, Integer, Keys
from choque.neighbors._cells import Cells, Images, images_of, points_in
from choque.neighbors.lists import NearLists, write

AHEAD = 4  # points ahead at which the lists to write are asked for: their order is not that of the cells
LISTED = 1_024  # candidates of a point that are listed before they are decided: a loop without surprises is faster


class Group(NamedTuple):
    """Points that are searched together."""

    position: F64  # (n, 3) float64
    atom: I32  # (n,) int32: the rows that they have in the answer
    radius: F64  # (n,) float64, or empty if there is one cut-off for all

    def take(self, rows: Any) -> Group:
        """Return some of the points."""
        return Group(self.position[rows], self.atom[rows], self.radius[rows] if self.radius.size else self.radius)


class Points(NamedTuple):
    """Points and images in the order of their cells."""

    x: NDArray[Any]
    y: NDArray[Any]
    z: NDArray[Any]  # (m + 8,) float32 or float64: coordinates relative to the lowest corner, rounded
    group: Group  # (m,) the points, as they were given, of images too
    shift: I32  # (m, 3) int32: cells between the position and the place that is searched
    starts: I64  # (cells + 1,) int64: where each cell begins
    frame: F64  # (2, 3) float64: the lowest corner, and cells per unit of length
    shape: I64  # (3,) int64: cells along x, y, z


class Rule(NamedTuple):
    """Which candidates are neighbours."""

    vectors: F64  # (3, 3): the vectors of the cell
    cutoff: float  # the cut-off; not used if points have radii
    least: float
    most: float  # the smallest and largest radius of the points that are searched, or 0
    slack: float  # by how much rounded distances may be wrong
    part: int  # `FULL`, `HALF` or `ALL`
    is_closed: bool = False  # whether `touches` decides instead of a distance less than the limit
    is_box: bool = False  # whether closed distances are the largest of their components


FULL, HALF, ALL = 0, 1, 2  # every pair from both sides; every pair once; every pair, also of a point with itself


class Pass(NamedTuple):
    """A search for the neighbours of some points: ``rows`` of ``owners``, among ``points``."""

    owners: Points
    rows: I64
    points: Points
    rule: Rule


def prepare(near: Group, far: Group, cell: Cells, reach: float, part: int, thread_count: int) -> Pass:
    """Sort the points ``far`` and their images for a search of the neighbours of ``near``, within ``reach``. O(m)."""
    if near is far:
        points, keys = _sort_points(images_of(far.position, cell, reach), far, reach, thread_count)
        owners = points
    else:
        points, _ = _sort_points(images_of(far.position, cell, reach, near.position), far, reach, thread_count)
        owners, keys = _sort_points(points_in(near.position, cell), near, reach, thread_count, points)
    rows = np.flatnonzero((keys & np.uint64(0xFFFFFFFF)) < np.uint64(len(near.position)))  # without images
    least, most = (float(far.radius.min()), float(far.radius.max())) if far.radius.size else (0.0, 0.0)
    largest = max(float(np.abs(extent_of(each.position)).max()) if len(each.position) else 0.0 for each in (near, far))
    return Pass(owners, rows, points, Rule(cell.vectors[0], reach, least, most, _slack(points, largest), part))


def prepare_areas(bodies: Group, area: F64, reach: float, is_box: bool, thread_count: int) -> Pass:
    """Sort ``bodies`` for a search of those that touch areas around them, closed and in free space. O(n).

    ``area``: the radius of each area (n,), negative for a body without one; ``reach``: of most areas, for the cells.
    """
    count = len(area)
    shift: I32 = memory.empty((count, 3), np.int32)
    shift[...] = 0
    points, _ = _sort_points(Images(bodies.atom, bodies.position, shift), bodies, reach, thread_count)
    radius = area[points.group.atom]
    owners = points._replace(group=points.group._replace(radius=radius))
    slack = _slack(points, float(np.abs(extent_of(bodies.position)).max()))
    slack += 1e-18 if points.x.dtype == np.float32 else 1e-140  # bodies in one place touch areas of radius 0
    least, most = float(bodies.radius.min()), float(bodies.radius.max())
    rule = Rule(np.zeros((3, 3)), 0.0, least, most, slack, FULL, True, is_box)
    return Pass(owners, np.flatnonzero(radius >= 0), points, rule)


def _sort_points(
    images: Images, group: Group, reach: float, thread_count: int, like: Points | None = None
) -> tuple[Points, Keys]:
    """Sort images of a group into cells for a reach, or into those of ``like``; also return (cell, image) in order."""
    place = images.place
    count = len(place)
    if like is None:
        frame, shape, extent = choose_frame(place, reach)
        # Rounded coordinates must tell points apart by a small share of the reach, and squares must be in range.
        dtype: Any = np.float32 if extent.max() < 1e4 * reach and 1e-10 < reach < 1e12 else np.float64
    else:
        shape, frame, dtype = like.shape, like.frame, like.x.dtype
    keys = sort_into_cells(place, frame, shape, thread_count)
    x, y, z = (memory.empty(count + 8, dtype) for _ in range(3))
    sorted_group = Group(
        memory.empty((count, 3), np.float64),
        memory.empty(count, np.int32),
        memory.empty(count if group.radius.size else 0, np.float64),
    )
    starts = np.zeros(int(shape.prod()) + 1, np.int64)
    points = Points(x, y, z, sorted_group, memory.empty((count, 3), np.int32), starts, frame, shape)
    with np.errstate(over="ignore"):
        threads.over_ranges(_gather_points, count, thread_count, keys, images, group, points)
    for column in (x, y, z):
        column[count:] = np.nan
    return points, keys


def _slack(points: Points, largest: float) -> float:
    """Return how wrong a distance between rounded coordinates can be; ``largest`` is the largest coordinate given."""
    extent = max(float(np.abs(column[:-8]).max(initial=0)) for column in (points.x, points.y, points.z))
    extent += float(np.abs(points.frame[0]).max())
    double = np.finfo(np.float64).eps
    return float(8 * (np.finfo(points.x.dtype).eps + double) * extent + 32 * double * largest)


def count_pass(one: Pass, counts: I64, thread_count: int) -> int:
    """Add the number of neighbours of every point of a pass to ``counts`` (n,). Return the number of candidates."""
    return _over_rows(one, thread_count, lambda rows: _count(rows, one.owners, one.points, one.rule, counts))


def fill_pass(one: Pass, cursor: I64, lists: NearLists, thread_count: int) -> None:
    """Write the neighbours of every point of a pass from ``cursor`` (n,) on, and advance it."""
    _over_rows(one, thread_count, lambda rows: _fill(rows, one.owners, one.points, one.rule, cursor, lists))


def _over_rows(one: Pass, thread_count: int, task: Callable[[I64], int]) -> int:
    """Run ``task`` over shares of the rows, each by the next thread that is free; return the sum of its results."""
    count = len(one.rows)
    shares = threads.ranges(count, 1 if count < threads.SERIAL_BELOW else 8 * thread_count)
    draw = threads.block_supply(len(shares), 1)

    def work(_: int) -> int:
        total = 0
        while (block := draw()) is not None:
            first, last = shares[block[0]]
            total += task(one.rows[first:last])
        return total

    return sum(threads.run(work, min(thread_count, len(shares))))


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
def _cells(value: Any, reach: Any, per_unit: Any, cells: Any) -> Any:
    """Return the first and last cell along an axis that a search must look at."""
    return cell_along(value - reach, 0.0, per_unit, cells), cell_along(value + reach, 0.0, per_unit, cells)


ROUNDING = 2.0**-49  # more than all relative errors together of the two numbers that `touches` compares
TINY = 1e-300  # more than the squares of lengths near 0 lose


@forceinline
def touches(dx: Any, dy: Any, dz: Any, reach: Any, is_box: bool) -> Any:
    """Return whether an offset is within ``reach``, closed, by its length or by its largest component, both squared.

    A relative 2⁻⁴⁹ allows for rounding, so that no touch is missed. Only where lengths are below 1e-150 or above 1e150
    may bodies count that do not touch.
    """
    a, b, c = dx * dx, dy * dy, dz * dz
    squared = max(a, b, c) if is_box else a + b + c
    return squared <= reach * reach * (1 + ROUNDING) + TINY


@forceinline
def _is_near(step: Any, square: Any, limit: Any, rule: Any) -> Any:
    """Return whether a candidate is a neighbour, by the exact rule."""
    if rule.is_closed:
        return touches(step[0], step[1], step[2], limit, rule.is_box)
    return square < limit * limit


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
def _limits(owners: Any, k: Integer, rule: Any) -> Any:
    """Return the squares of distances within which points surely and possibly are neighbours of one, and its reach."""
    sure, reach = rule.cutoff - rule.slack, rule.cutoff + rule.slack
    if owners.group.radius.size:
        sure = owners.group.radius[k] + rule.least - rule.slack
        reach = owners.group.radius[k] + rule.most + rule.slack
    sure = max(sure, 0.0)
    return sure * sure * (1 - 1e-5), reach * reach * (1 + 1e-5), reach


@forceinline
def _candidates(owners: Any, k: Integer, points: Any, run: Any, limits: Any, is_box: Any) -> Any:
    """Return the bits of the eight points from the start of a ``run`` on that are surely near, and may be near."""
    x, y, z, own = points.x, points.y, points.z, (owners.x[k], owners.y[k], owners.z[k])
    if is_box:
        mask = near_eight_by_axis(x, y, z, run[0], own[0], own[1], own[2], limits[0], limits[1])
    else:
        mask = near_eight(x, y, z, run[0], own[0], own[1], own[2], limits[0], limits[1])
    inside = (np.int64(1) << min(run[1] - run[0], 8)) - 1
    return mask & inside, (mask >> 8) & inside


@forceinline
def _decide(owners: Any, k: Integer, points: Any, at: Integer, bits: Any, rule: Any) -> Any:
    """Return those of the candidates ``bits`` from ``at`` on that are neighbours, by the exact rule."""
    kept = np.int64(0)
    while bits:
        lane = lowest_bit(bits)
        bits &= bits - 1
        step, cells = _step(owners, k, points, at + lane, rule.vectors)
        square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
        limit = rule.cutoff
        if points.group.radius.size:
            limit = owners.group.radius[k] + points.group.radius[at + lane]
        if _is_near(step, square, limit, rule):
            own, other = owners.group.atom[k], points.group.atom[at + lane]
            kept |= np.int64(is_kept(own, other, cells, rule.part)) << lane
    return kept


@kernel
def _count(rows: Any, owners: Points, points: Points, rule: Rule, counts: Any) -> int:
    """Count the neighbours of the points in these rows. Return the number of candidates."""
    starts, shape, per_unit, one = points.starts, points.shape, points.frame[1], points.x.dtype.type(1)
    candidates = np.int64(0)
    for place in range(rows.size):
        k = rows[place]
        sure, far, reach = _limits(owners, k, rule)
        limits = (one * sure, one * far)
        from_x, to_x = _cells(np.float64(owners.x[k]), reach, per_unit[0], shape[0])
        from_y, to_y = _cells(np.float64(owners.y[k]), reach, per_unit[1], shape[1])
        from_z, to_z = _cells(np.float64(owners.z[k]), reach, per_unit[2], shape[2])
        count = np.int64(0)
        for cell_z in range(from_z, to_z + 1):
            for cell_y in range(from_y, to_y + 1):
                line = (cell_z * shape[1] + cell_y) * shape[0]
                at, end = starts[line + from_x], starts[line + to_x + 1]
                candidates += end - at
                while at < end:
                    sure_bits, bits = _candidates(owners, k, points, (at, end), limits, rule.is_box)
                    if rule.part == HALF:
                        sure_bits = np.int64(0)
                    count += bit_count(sure_bits | _decide(owners, k, points, at, bits & ~sure_bits, rule))
                    at += 8
        counts[owners.group.atom[k]] += count - (rule.part == FULL and limits[0] > 0)  # itself was surely near
    return int(candidates)


@kernel
def _fill(rows: Any, owners: Points, points: Points, rule: Rule, cursor: Any, lists: NearLists) -> int:
    """Write the neighbours of the points in these rows. Return how many there are.

    Where nothing but names is wanted, candidates that are surely near need no distance.
    """
    starts, shape, per_unit, one = points.starts, points.shape, points.frame[1], points.x.dtype.type(1)
    names_only = lists.shift.size + lists.distance.size + lists.vector.size == 0
    listed = np.empty(LISTED + 8, np.uint32)
    written = np.int64(0)
    for place in range(rows.size):
        k = rows[place]
        own = owners.group.atom[k]
        sure, far, reach = _limits(owners, k, rule)
        limits = (one * sure, one * far)
        from_x, to_x = _cells(np.float64(owners.x[k]), reach, per_unit[0], shape[0])
        from_y, to_y = _cells(np.float64(owners.y[k]), reach, per_unit[1], shape[1])
        from_z, to_z = _cells(np.float64(owners.z[k]), reach, per_unit[2], shape[2])
        row, count = cursor[own], np.int64(0)
        if names_only:
            prefetch(lists.j, cursor[owners.group.atom[rows[min(place + AHEAD, rows.size - 1)]]])
        for cell_z in range(from_z, to_z + 1):
            for cell_y in range(from_y, to_y + 1):
                line = (cell_z * shape[1] + cell_y) * shape[0]
                at, end = starts[line + from_x], starts[line + to_x + 1]
                while at < end:
                    bits, maybe = _candidates(owners, k, points, (at, end), limits, rule.is_box)
                    if names_only:
                        if rule.part == HALF:
                            bits = np.int64(0)
                        bits |= _decide(owners, k, points, at, maybe & ~bits, rule)
                    else:
                        bits = maybe
                    count += list_bits(listed, count, at, bits)
                    at += 8
                    if count > LISTED - 8:
                        row = _write_listed(listed, count, owners, k, points, rule, lists, row)
                        count = np.int64(0)
        row = _write_listed(listed, count, owners, k, points, rule, lists, row)
        written += row - cursor[own]
        cursor[own] = row
    return int(written)


@forceinline
def _write_listed(
    listed: Any, count: Integer, owners: Any, k: Integer, points: Any, rule: Any, lists: Any, row: Any
) -> Any:
    """Write those of the candidates ``listed`` that are neighbours from ``row`` on; return where the next one goes."""
    here, there, shift, vectors = owners.group.position, points.group.position, points.shift, rule.vectors
    own, has_radius, limit = owners.group.atom[k], points.group.radius.size > 0, rule.cutoff
    if lists.shift.size + lists.distance.size + lists.vector.size == 0:  # all were decided, but for the point itself
        for n in range(count):
            if rule.part == FULL and listed[n] == k:
                continue
            if lists.i.size:
                lists.i[row] = own
            if lists.j.size:
                lists.j[row] = points.group.atom[np.uint64(listed[n])]
            row += 1
        return row
    place = (here[k, 0], here[k, 1], here[k, 2])
    a, b, c = owners.shift[k, 0], owners.shift[k, 1], owners.shift[k, 2]
    for n in range(count):
        j = np.uint64(listed[n])  # unsigned: an index that cannot count from the end
        cells = (shift[j, 0] - a, shift[j, 1] - b, shift[j, 2] - c)
        step = step_between(place, (there[j, 0], there[j, 1], there[j, 2]), cells, vectors)
        square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
        if has_radius:
            limit = owners.group.radius[k] + points.group.radius[j]
        if _is_near(step, square, limit, rule) and is_kept(own, points.group.atom[j], cells, rule.part):
            write(lists, np.uint64(row), own, points.group.atom[j], cells, step, square)
            row += 1
    return row

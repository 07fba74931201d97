"""GJK, then EPA, over lists of pairs: the kernel behind all queries about convex bodies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.lanes import prefetch
from choque._core.threads import ranges, run
from choque._core.types import F64, U8, Floats, Integer, Pairs, Rows
from choque._core.vector import Vector, add, along, cross, dot, length, point_of, scaled, store, subtract, unit
from choque.narrow.convex import gjk
from choque.narrow.convex.cores import SCAN_LIMIT, Cores, scan, support
from choque.narrow.convex.epa import FULL, Polytope, epa_pair, new_polytope

VERDICT, DISTANCE, CONTACT, DEPTH = range(4)
"""What is wanted: whether bodies intersect; their distance; their depth if they overlap; distance and depth."""

BLOCK = 64
"""Number of pairs that go through a stage together. GJK, EPA and patches do not fit into the instruction cache at the
same time, so each stage runs over a whole block. The vertices of a block stay in the data cache."""

AHEAD = 2
"""The vertices of the pair this many places on are fetched while GJK decides a pair: bodies lie anywhere in memory."""

CAPACITIES = (96, 1_024, 16_384)
"""Maximum numbers of corners of a polytope: the first is nearly always enough, the others are tried in turn."""

SHALLOW = 1e-12
"""Overlaps below this fraction of the bodies' offset and extent count as touching, which is not a contact."""

SAFE_GAP = 1e-9
"""Margin, as a fraction of offset and extent, by which a remembered axis must separate two bodies to be accepted."""


class Probe(NamedTuple):
    """The results for k pairs."""

    meets: U8  # (k,) whether they intersect, touching included
    depth: F64  # (k,) how deep they overlap; minus their distance where they do not
    normal: F64  # (k, 3) unit vectors from the first body to the second
    first: F64  # (k, 3) the point of the first body that is deepest in or nearest to the second
    second: F64  # (k, 3) the same of the second body
    iterations: Rows  # (k, 2) of GJK and of EPA
    # (k, 3) the axis that separates the bodies, from the second to the first; 0 if they intersect
    axis: F64
    overlaps: U8  # (k,) whether they do more than touch; under CONTACT
    # (k, 3) the middle of the region in which overlapping bodies face each other; under CONTACT
    middle: F64
    is_full: U8  # (k,) whether EPA needs a larger polytope

    @classmethod
    def empty(cls, count: int, make: Callable[..., Any] = np.zeros) -> Self:
        """Return arrays for ``count`` pairs, as ``make(shape, dtype)`` returns them."""
        meets, overlaps, is_full = (make(count, np.uint8) for _ in range(3))
        normal, first, second, axis, middle = (make((count, 3), np.float64) for _ in range(5))
        depth, iterations = make(count, np.float64), make((count, 2), np.int64)
        return cls(meets, depth, normal, first, second, iterations, axis, overlaps, middle, is_full)

    def part(self, first: int, last: int) -> Self:
        """Return views of the rows first … last − 1."""
        return type(self)(*[array[first:last] for array in self])  # type: ignore[arg-type]


def probe_pairs(
    cores: Cores, rows: Pairs, wanted: int, thread_count: int = 1, axis: F64 | None = None, found: Probe | None = None
) -> Probe:
    """Find what is ``wanted`` about pairs ``rows`` (k, 2) of ``cores``.

    An ``axis`` (k, 3) that clearly separates a pair is accepted under VERDICT and CONTACT; otherwise every query starts
    from the positions, so that no result depends on memory. Under VERDICT only ``meets`` and ``axis`` are filled, and
    under CONTACT the rest only for pairs that intersect. ``found`` holds the results if it is given.
    """
    count = len(rows)
    found = Probe.empty(count) if found is None else found
    if axis is not None:
        found = found._replace(axis=axis)
    shares = ranges(count, thread_count)
    run(lambda part: _probe(cores, rows, wanted, found, new_polytope(CAPACITIES[0]), *shares[part]), len(shares))
    for corner_count in CAPACITIES[1:]:
        again = np.flatnonzero(found.is_full).tolist()
        if again:
            polytope = new_polytope(corner_count)
            for row in again:
                _probe(cores, rows, wanted, found, polytope, row, row + 1)
    return found


@helper
def gap_along(cores: Cores, one: Integer, other: Integer, axis: Floats, row: Integer) -> tuple[float, float]:
    """Return the gap of two cores along an axis, and the distance of the corner that shows it; −∞ without an axis."""
    direction = point_of(axis, row)
    size = dot(direction, direction)
    if not size > 0:
        return -math.inf, 0.0
    points, spans, place, graph = cores
    a = support(points, spans, graph, one, (-direction[0], -direction[1], -direction[2]), spans[one, 0])
    b = support(points, spans, graph, other, direction, spans[other, 0])
    corner = add(subtract(point_of(points, a), point_of(points, b)), gjk.start_axis(place, one, other))
    return dot(corner, direction) / math.sqrt(size), length(corner)


@helper
def _separates(cores: Cores, one: Integer, other: Integer, axis: Floats, row: Integer, gap: float) -> bool:
    """Return whether a remembered axis clearly separates the bodies by more than ``gap``."""
    found, far = gap_along(cores, one, other, axis, row)
    return found > gap + SAFE_GAP * (far + gap)


class Probed(NamedTuple):
    """The results of GJK for the pairs of a block."""

    verdict: Rows  # (B,)
    corner_count: Rows  # (B,) number of corners of the simplex
    found: F64  # (B, 3) the final axis
    corners: F64  # (B, 4, 3) the simplices
    rows: Rows  # (B, 4, 2)


@kernel
def _probe(
    cores: Cores, rows: Pairs, wanted: Integer, found: Probe, polytope: Polytope, first: Integer, last: Integer
) -> None:
    """Fill the rows of pairs first … last − 1, a block at a time: first GJK, then EPA, then the middles of patches."""
    block = Probed(
        np.empty(BLOCK, np.int64),
        np.empty(BLOCK, np.int64),
        np.empty((BLOCK, 3)),
        np.empty((BLOCK, 4, 3)),
        np.empty((BLOCK, 4, 2), np.int64),
    )
    scratch = np.empty((MAX_PATCH, 8))
    for start in range(first, last, BLOCK):
        stop = min(start + BLOCK, last)
        _judge(cores, rows, wanted, found, block, start, stop)
        if wanted == VERDICT:
            continue
        _measure(cores, rows, wanted, found, polytope, block, start, stop)
        if wanted == CONTACT:
            _find_middles(cores, rows, found, scratch, start, stop)


@helper
def _judge(
    cores: Cores, rows: Pairs, wanted: Integer, found: Probe, block: Probed, start: Integer, stop: Integer
) -> None:
    """Decide by GJK whether the pairs start … stop − 1 intersect."""
    place = cores.place
    meets, iterations, axis = found.meets, found.iterations, found.axis
    verdicts, counts, founds, corners, corner_rows = block
    stops_early = wanted in (VERDICT, CONTACT)
    points, spans = cores.points, cores.spans
    for pair in range(start, stop):
        slot = pair - start
        for column in range(2):
            body = rows[min(pair + AHEAD, len(rows) - 1), column]
            first, last = spans[body, 0], spans[body, 1]
            for number in range(3 * first, 3 * min(last, first + SCAN_LIMIT), 8):
                prefetch(points, number)
        one, other = rows[pair, 0], rows[pair, 1]
        reach = place[one, 3] + place[other, 3]
        meets[pair] = 0
        verdicts[slot] = gjk.BEYOND
        if stops_early and _separates(cores, one, other, axis, pair, reach):
            continue
        between = gjk.start_axis(place, one, other)
        simplex = gjk.Simplex(corners[slot], corner_rows[slot])
        gap = reach if stops_early else math.inf
        verdict, steps, nearest, count = gjk.gjk_pair(cores, one, other, between, gap, simplex)
        iterations[pair, 0], iterations[pair, 1] = steps, 0
        meets[pair] = verdict != gjk.BEYOND and (verdict != gjk.APART or length(nearest) <= reach)
        if verdict in (gjk.BEYOND, gjk.APART):
            store(axis, pair, nearest)
        else:
            axis[pair, 0] = axis[pair, 1] = axis[pair, 2] = 0.0
        verdicts[slot], counts[slot] = verdict, count
        store(founds, slot, nearest)


@helper
def _measure(
    cores: Cores, rows: Pairs, wanted: Integer, found: Probe, polytope: Polytope, block: Probed, start: int, stop: int
) -> None:
    """Measure how far apart the pairs start … stop − 1 are, or how deep they overlap, and where."""
    place = cores.place
    depth, normal, near_one, near_other = found.depth, found.normal, found.first, found.second
    iterations, overlaps, is_full = found.iterations, found.overlaps, found.is_full
    verdicts, counts, founds, corners, corner_rows = block
    for pair in range(start, stop):
        slot = pair - start
        overlaps[pair] = is_full[pair] = 0
        verdict = verdicts[slot]
        if verdict == gjk.BEYOND:
            continue
        one, other = rows[pair, 0], rows[pair, 1]
        radius, other_radius = place[one, 3], place[other, 3]
        simplex, count, nearest = gjk.Simplex(corners[slot], corner_rows[slot]), counts[slot], point_of(founds, slot)
        if verdict == gjk.APART:
            apart = length(nearest)
            toward, overlap = scaled(nearest, -1.0 / apart), -apart
            a, b = gjk.witnesses(cores, one, other, simplex, gjk.weights_of(simplex, count, nearest))
        elif wanted == DISTANCE:
            toward, overlap = (0.0, 0.0, 0.0), 0.0
            if verdict == gjk.INSIDE:
                a = b = gjk.common_point(cores, one, other, simplex)
            else:
                a, b = gjk.witnesses(cores, one, other, simplex, gjk.weights_of(simplex, count, nearest))
        else:
            outcome, steps, toward, overlap = epa_pair(cores, one, other, simplex, count, polytope)
            iterations[pair, 1] = steps
            is_full[pair] = outcome == FULL
            a, b = gjk.witnesses(cores, one, other, simplex, gjk.weights_of(simplex, 3, scaled(toward, overlap)))
        overlap += radius + other_radius
        a, b = along(a, toward, radius), along(b, toward, -other_radius)
        depth[pair] = overlap
        store(normal, pair, toward)
        store(near_one, pair, a)
        store(near_other, pair, b)
        extent = length(subtract(b, point_of(place, other)))
        overlaps[pair] = wanted == CONTACT and overlap > SHALLOW * (overlap + extent)


@helper
def _find_middles(cores: Cores, rows: Pairs, found: Probe, scratch: Floats, start: Integer, stop: Integer) -> None:
    """Find the middles of the regions in which overlapping pairs of start … stop − 1 face each other."""
    for pair in range(start, stop):
        if found.overlaps[pair]:
            between = scaled(add(point_of(found.first, pair), point_of(found.second, pair)), 0.5)
            toward = point_of(found.normal, pair)
            store(found.middle, pair, middle_of_patch(cores, rows[pair, 0], rows[pair, 1], toward, between, scratch))


MAX_PATCH = 64  # maximum number of corners of a flat part; bodies with more keep the point that EPA found

LEVEL = 1e-7
"""Points within this fraction of the distance to the deepest point, along the normal, count as equally deep."""

PARALLEL = 1e-6  # two edges are parallel if the sine of the angle between them is below this


@helper
def middle_of_patch(
    cores: Cores, one: Integer, other: Integer, normal: Vector, middle: Vector, scratch: Floats
) -> Vector:
    """Return the middle of the common region of the flat parts that face each other; ``middle`` if one has no extent.

    ``scratch`` is working memory, (64, 8): columns 0 and 1 hold the flat part of ``one`` in the plane across the
    ``normal``, 2 and 3 that of ``other``, 4 to 7 serve clipping.
    """
    points, spans = cores.points, cores.spans
    own, first, last, level = _flat_part(points, spans, one, normal)
    if own < 2:
        return middle
    opposite = (-normal[0], -normal[1], -normal[2])
    others, other_first, other_last, other_level = _flat_part(points, spans, other, opposite)
    if others < 2 or own > MAX_PATCH // 2 or others > MAX_PATCH // 2:
        return middle
    if own == 2 and others == 2 and _cross(points, first, last, other_first, other_last):
        return middle
    right = unit(cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.6 else (0.0, 1.0, 0.0)))
    up = cross(normal, right)
    frame = (right, up, middle)
    _lay_flat_part(cores, one, normal, level, frame, scratch, 0)
    _lay_flat_part(cores, other, opposite, other_level, frame, scratch, 2)
    if own == 2 and others == 2:
        x, y = _middle_of_edges(scratch)
    elif own == 2:
        x, y = _middle_of_clipped(scratch, 0, own, 2, others)
    else:
        x, y = _middle_of_clipped(scratch, 2, others, 0, own)
    return along(along(middle, right, x), up, y)


@helper
def _flat_part(points: Floats, spans: Rows, body: Integer, normal: Vector) -> tuple[int, int, int, float]:
    """Return the number of corners that are farthest along ``normal``, the first and last of them, and their level."""
    begin, end = spans[body, 0], spans[body, 1]
    farthest = scan(points, begin, end, normal)
    corner = point_of(points, farthest)
    level = dot(corner, normal) - LEVEL * length(corner)
    first = last = farthest
    count = 0
    for row in range(begin, end):
        if dot(point_of(points, row), normal) >= level:
            first, last = min(first, row), row
            count += 1
    return count, first, last, level


@helper
def _cross(points: Floats, start: Integer, end: Integer, other_start: Integer, other_end: Integer) -> bool:
    """Return whether two edges, given by their ends, cross in a point instead of overlapping along a segment."""
    edge = subtract(point_of(points, end), point_of(points, start))
    other_edge = subtract(point_of(points, other_end), point_of(points, other_start))
    across = cross(edge, other_edge)
    return dot(across, across) > PARALLEL * PARALLEL * dot(edge, edge) * dot(other_edge, other_edge)


@helper
def _lay_flat_part(
    cores: Cores,
    body: Integer,
    normal: Vector,
    level: float,
    frame: tuple[Vector, Vector, Vector],
    scratch: Floats,
    column: Integer,
) -> None:
    """Write the corners of a body that reach the ``level`` in counter-clockwise order around their mean.

    ``frame`` is two axes of the plane and its origin.
    """
    points, spans, place, _ = cores
    right, up, middle = frame
    offset = subtract(point_of(place, body), middle)
    count = 0
    mean_x = mean_y = 0.0
    for row in range(spans[body, 0], spans[body, 1]):
        corner = point_of(points, row)
        if dot(corner, normal) >= level:
            x = dot(corner, right) + dot(offset, right)
            y = dot(corner, up) + dot(offset, up)
            scratch[count, column], scratch[count, column + 1] = x, y
            mean_x, mean_y = mean_x + x, mean_y + y
            count += 1
    if count == 2:
        return  # either order will do
    mean_x, mean_y = mean_x / count, mean_y / count
    for turn in range(1, count):
        x, y = scratch[turn, column], scratch[turn, column + 1]
        angle = math.atan2(y - mean_y, x - mean_x)
        at = turn
        while at > 0 and math.atan2(scratch[at - 1, column + 1] - mean_y, scratch[at - 1, column] - mean_x) > angle:
            scratch[at, column], scratch[at, column + 1] = scratch[at - 1, column], scratch[at - 1, column + 1]
            at -= 1
        scratch[at, column], scratch[at, column + 1] = x, y


@helper
def _middle_of_edges(scratch: Floats) -> tuple[float, float]:
    """Return the middle of the common segment of two parallel edges; 0, 0, the known point, if they cross."""
    x, y = scratch[1, 0] - scratch[0, 0], scratch[1, 1] - scratch[0, 1]
    other_x, other_y = scratch[1, 2] - scratch[0, 2], scratch[1, 3] - scratch[0, 3]
    size = math.sqrt(x * x + y * y)
    other_size = math.sqrt(other_x * other_x + other_y * other_y)
    if not abs(x * other_y - y * other_x) <= PARALLEL * size * other_size or size == 0:
        return 0.0, 0.0
    x, y = x / size, y / size
    start = (scratch[0, 2] - scratch[0, 0]) * x + (scratch[0, 3] - scratch[0, 1]) * y
    end = (scratch[1, 2] - scratch[0, 0]) * x + (scratch[1, 3] - scratch[0, 1]) * y
    low, high = max(min(start, end), 0.0), min(max(start, end), size)
    share = (low + high) / 2
    return scratch[0, 0] + share * x, scratch[0, 1] + share * y


@helper
def _middle_of_clipped(
    scratch: Floats, column: Integer, count: Integer, clip_column: Integer, clip_count: Integer
) -> tuple[float, float]:
    """Return the centre of the part of a polygon or edge that lies inside another polygon; 0, 0 if there is none."""
    source, target = column, 4
    for clip in range(clip_count):
        following = clip + 1 if clip + 1 < clip_count else 0
        at_x, at_y = scratch[clip, clip_column], scratch[clip, clip_column + 1]
        edge_x, edge_y = scratch[following, clip_column] - at_x, scratch[following, clip_column + 1] - at_y
        kept = 0
        for place in range(count):
            last = place - 1 if place > 0 else count - 1
            x, y = scratch[place, source], scratch[place, source + 1]
            last_x, last_y = scratch[last, source], scratch[last, source + 1]
            side = edge_x * (y - at_y) - edge_y * (x - at_x)
            last_side = edge_x * (last_y - at_y) - edge_y * (last_x - at_x)
            if (side >= 0) != (last_side >= 0) and kept < MAX_PATCH:
                share = last_side / (last_side - side)
                scratch[kept, target] = last_x + share * (x - last_x)
                scratch[kept, target + 1] = last_y + share * (y - last_y)
                kept += 1
            if side >= 0 and kept < MAX_PATCH:
                scratch[kept, target], scratch[kept, target + 1] = x, y
                kept += 1
        count = kept
        source, target = target, 6 if target == 4 else 4
    if count == 0:
        return 0.0, 0.0
    area = x_sum = y_sum = mean_x = mean_y = 0.0
    for place in range(count):
        last = place - 1 if place > 0 else count - 1
        x, y = scratch[place, source], scratch[place, source + 1]
        last_x, last_y = scratch[last, source], scratch[last, source + 1]
        turn = last_x * y - last_y * x
        area += turn
        x_sum += (x + last_x) * turn
        y_sum += (y + last_y) * turn
        mean_x += x / count
        mean_y += y / count
    if area <= 1e-12 * (mean_x * mean_x + mean_y * mean_y):
        return mean_x, mean_y
    return x_sum / (3 * area), y_sum / (3 * area)

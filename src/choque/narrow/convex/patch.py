"""The middle of the region in which two overlapping bodies face each other.

Where a face lies on a face, an edge on a face or an edge along an edge, the deepest points are not single: EPA names
any of them. A body that rests on a face would tip about such a point. So the two flat parts are laid into one plane and
clipped against each other (Sutherland, Hodgman, "Reentrant polygon clipping", 1974).
"""

from __future__ import annotations

import math

from choque._core.kernel import helper
from choque._core.types import Floats, Integer, Rows
from choque._core.vector import Vector, along, cross, dot, length, point_of, subtract, unit
from choque.narrow.convex.cores import Cores

MAX_PATCH = 64
"""Corners of a flat part, at most; bodies with larger ones keep the point that EPA named."""

LEVEL = 1e-7
"""Points that are at most this share of the distance to the body's deepest point higher than it are as deep."""

PARALLEL = 1e-6
"""The sine of the angle between two edges that run along each other, at most."""


@helper
def middle_of_patch(
    cores: Cores, one: Integer, other: Integer, normal: Vector, middle: Vector, scratch: Floats
) -> Vector:
    """The middle of the common region of the flat parts that face each other, or ``middle`` where one has no extent.

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
    """How many corners of a body reach farthest along ``normal``, the first and the last of them, and their level."""
    begin, end = spans[body, 0], spans[body, 1]
    farthest, highest = begin, -math.inf
    for row in range(begin, end):
        height = dot(point_of(points, row), normal)
        if height > highest:
            farthest, highest = row, height
    level = highest - LEVEL * length(point_of(points, farthest))
    first = last = farthest
    count = 0
    for row in range(begin, end):
        if dot(point_of(points, row), normal) >= level:
            first, last = min(first, row), row
            count += 1
    return count, first, last, level


@helper
def _cross(points: Floats, start: Integer, end: Integer, other_start: Integer, other_end: Integer) -> bool:
    """Whether two edges, named by their ends, cross: then they have no stretch in common, only the point known."""
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
        return  # either order is one
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
    """The middle of the common stretch of two parallel edges; of edges that cross, the point that is known: 0, 0."""
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
    """The centre of the part of a polygon, or of an edge, that lies inside another polygon; 0, 0 if there is none."""
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

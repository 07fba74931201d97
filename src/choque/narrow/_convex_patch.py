"""The middle of the region in which two overlapping bodies face each other.

Where a face lies on a face, an edge on a face or an edge along an edge, the deepest points are not single: EPA names
any of them. A body that rests on a face would tip about such a point. So the two flat parts are laid into one plane and
clipped against each other (Sutherland, Hodgman, "Reentrant polygon clipping", 1974).
"""

from __future__ import annotations

import math

from choque._types import Floats, Index
from choque.kernel import part
from choque.narrow._support import Cores
from choque.narrow._vectors import Vector, along, cross, dot, point_of, subtract, unit

PATCH_ROOM = 64
"""Corners of a flat part, at most; bodies with larger ones keep the point that EPA named."""

LEVEL = 1e-7
"""Points that are at most this share of the distance to the body's deepest point higher than it are as deep."""


@part
def middle_of_patch(cores: Cores, one: Index, other: Index, normal: Vector, middle: Vector, room: Floats) -> Vector:
    """The middle of the common region of the flat parts that face each other, or ``middle`` where one has no extent.

    ``room`` is working memory, (64, 8): columns 0 and 1 hold the flat part of ``one`` in the plane across the
    ``normal``, 2 and 3 that of ``other``, 4 to 7 serve clipping.
    """
    own, level = _flat_size(cores, one, normal)
    if own < 2:
        return middle
    opposite = (-normal[0], -normal[1], -normal[2])
    others, other_level = _flat_size(cores, other, opposite)
    if others < 2 or own > PATCH_ROOM // 2 or others > PATCH_ROOM // 2:
        return middle
    right = unit(cross(normal, (1.0, 0.0, 0.0) if abs(normal[0]) < 0.6 else (0.0, 1.0, 0.0)))
    up = cross(normal, right)
    _lay_flat_part(cores, one, normal, level, right, up, middle, room, 0)
    _lay_flat_part(cores, other, opposite, other_level, right, up, middle, room, 2)
    if own == 2 and others == 2:
        x, y = _middle_of_edges(room)
    elif own == 2:
        x, y = _middle_of_clipped(room, 0, own, 2, others)
    else:
        x, y = _middle_of_clipped(room, 2, others, 0, own)
    return along(along(middle, right, x), up, y)


@part
def _flat_size(cores: Cores, body: Index, normal: Vector) -> tuple[int, float]:
    """How many corners of a body reach farthest along ``normal``, and the level that they reach."""
    first, last = cores.spans[body, 0], cores.spans[body, 1]
    farthest = -math.inf
    size = 0.0
    for row in range(first, last):
        corner = point_of(cores.points, row)
        farthest = max(farthest, dot(corner, normal))
        size = max(size, dot(corner, corner))
    level = farthest - LEVEL * math.sqrt(size)
    count = 0
    for row in range(first, last):
        count += dot(point_of(cores.points, row), normal) >= level
    return count, level


@part
def _lay_flat_part(
    cores: Cores,
    body: Index,
    normal: Vector,
    level: float,
    right: Vector,
    up: Vector,
    middle: Vector,
    room: Floats,
    column: Index,
) -> None:
    """Write the corners of a body that reach the ``level``, around ``middle``: in order around their mean."""
    offset = subtract(point_of(cores.place, body), middle)
    count = 0
    mean_x = mean_y = 0.0
    for row in range(cores.spans[body, 0], cores.spans[body, 1]):
        corner = point_of(cores.points, row)
        if dot(corner, normal) >= level:
            x = dot(corner, right) + dot(offset, right)
            y = dot(corner, up) + dot(offset, up)
            room[count, column], room[count, column + 1] = x, y
            mean_x, mean_y = mean_x + x, mean_y + y
            count += 1
    if count == 2:
        return  # either order is one
    mean_x, mean_y = mean_x / count, mean_y / count
    for place in range(1, count):
        x, y = room[place, column], room[place, column + 1]
        angle = math.atan2(y - mean_y, x - mean_x)
        at = place
        while at > 0 and math.atan2(room[at - 1, column + 1] - mean_y, room[at - 1, column] - mean_x) > angle:
            room[at, column], room[at, column + 1] = room[at - 1, column], room[at - 1, column + 1]
            at -= 1
        room[at, column], room[at, column + 1] = x, y


@part
def _middle_of_edges(room: Floats) -> tuple[float, float]:
    """The middle of the common stretch of two parallel edges; of edges that cross, the point that is known: 0, 0."""
    x, y = room[1, 0] - room[0, 0], room[1, 1] - room[0, 1]
    other_x, other_y = room[1, 2] - room[0, 2], room[1, 3] - room[0, 3]
    size = math.sqrt(x * x + y * y)
    other_size = math.sqrt(other_x * other_x + other_y * other_y)
    if not abs(x * other_y - y * other_x) <= 1e-6 * size * other_size or size == 0:
        return 0.0, 0.0
    x, y = x / size, y / size
    start = (room[0, 2] - room[0, 0]) * x + (room[0, 3] - room[0, 1]) * y
    end = (room[1, 2] - room[0, 0]) * x + (room[1, 3] - room[0, 1]) * y
    low, high = max(min(start, end), 0.0), min(max(start, end), size)
    share = (low + high) / 2
    return room[0, 0] + share * x, room[0, 1] + share * y


@part
def _middle_of_clipped(
    room: Floats, column: Index, count: Index, clip_column: Index, clip_count: Index
) -> tuple[float, float]:
    """The centre of the part of a polygon, or of an edge, that lies inside another polygon; 0, 0 if there is none."""
    source, target = column, 4
    for clip in range(clip_count):
        following = clip + 1 if clip + 1 < clip_count else 0
        at_x, at_y = room[clip, clip_column], room[clip, clip_column + 1]
        edge_x, edge_y = room[following, clip_column] - at_x, room[following, clip_column + 1] - at_y
        kept = 0
        for place in range(count):
            last = place - 1 if place > 0 else count - 1
            x, y = room[place, source], room[place, source + 1]
            last_x, last_y = room[last, source], room[last, source + 1]
            side = edge_x * (y - at_y) - edge_y * (x - at_x)
            last_side = edge_x * (last_y - at_y) - edge_y * (last_x - at_x)
            if (side >= 0) != (last_side >= 0) and kept < PATCH_ROOM:
                share = last_side / (last_side - side)
                room[kept, target] = last_x + share * (x - last_x)
                room[kept, target + 1] = last_y + share * (y - last_y)
                kept += 1
            if side >= 0 and kept < PATCH_ROOM:
                room[kept, target], room[kept, target + 1] = x, y
                kept += 1
        count = kept
        source, target = target, 6 if target == 4 else 4
    if count == 0:
        return 0.0, 0.0
    area = x_sum = y_sum = mean_x = mean_y = 0.0
    for place in range(count):
        last = place - 1 if place > 0 else count - 1
        x, y = room[place, source], room[place, source + 1]
        last_x, last_y = room[last, source], room[last, source + 1]
        turn = last_x * y - last_y * x
        area += turn
        x_sum += (x + last_x) * turn
        y_sum += (y + last_y) * turn
        mean_x += x / count
        mean_y += y / count
    if area <= 1e-12 * (mean_x * mean_x + mean_y * mean_y):
        return mean_x, mean_y
    return x_sum / (3 * area), y_sum / (3 * area)

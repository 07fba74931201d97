"""Sphere against tile by the rules of the original."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Index
from choque.theses.fingsics.vectors import (
    HALF,
    ONE,
    ZERO,
    Touch,
    Vector,
    apart,
    axis,
    cross,
    dot,
    length,
    length_squared,
    minus,
    opposite,
    over,
    plus,
    square,
    times,
    unit,
    vector,
    write_touch,
)

Tile: TypeAlias = tuple[Vector, Vector, Vector, Vector, Any, Any]
"""Centre, normal, direction of its length, direction of its width, length, width."""

ONE_AND_A_HALF = np.float32(1.5)


@kernel
def read_tile(position: Any, rotation: Any, size: Any, row: Index) -> Tile:
    """The tile in row ``row`` of the bodies."""
    return (
        vector(position, row),
        axis(rotation, row, 1),
        axis(rotation, row, 0),
        axis(rotation, row, 2),
        np.float32(size[row, 0]),
        np.float32(size[row, 1]),
    )


@kernel
def edge_center(center: Vector, direction: Vector, extent: Any, side: Any) -> Vector:
    """The middle of the tile's edge that lies at the end ``side``, +1 or −1, of ``direction``."""
    return plus(center, times(times(times(direction, extent), HALF), side))


@kernel
def corner(tile: Tile, length_side: Any, width_side: Any) -> Vector:
    """The corner at the ends ``length_side`` and ``width_side``, +1 or −1 each."""
    return edge_center(edge_center(tile[0], tile[2], tile[4], length_side), tile[3], tile[5], width_side)


@kernel
def _touch_edge(center: Vector, radius: Any, middle: Vector, direction: Vector, extent: Any) -> Touch:
    """Sphere against an edge, if the sphere's centre projects inside it."""
    distance = length(cross(minus(middle, center), direction))
    if not distance < radius:
        return apart()
    projection = plus(middle, times(direction, dot(minus(center, middle), direction)))
    if not length_squared(minus(projection, middle)) < square(extent * HALF):
        return apart()
    return True, projection, unit(minus(center, projection)), radius - distance


@kernel
def touch_sphere_tile(center: Vector, radius: Any, tile: Tile) -> Touch:
    """Nine regions around the tile; the normal points from the tile to the sphere.

    The region is looked up, and the point of a contact with the face is put, half the depth off the plane, on the
    sphere's side.
    """
    middle, up, along, aside, extent, width = tile
    offset = minus(center, middle)
    height = dot(up, offset)
    distance = abs(height)
    if not distance < radius:
        return apart()
    normal = up if height > ZERO else opposite(up)
    foot = minus(center, times(normal, distance * ONE_AND_A_HALF - radius * HALF))
    within_width = length(cross(minus(middle, foot), along)) < width * HALF
    within_length = length(cross(minus(middle, foot), aside)) < extent * HALF
    if within_width and within_length:
        return True, foot, normal, radius - distance
    length_position = dot(offset, along)
    width_position = dot(offset, aside)
    if within_length:
        side = -ONE if width_position < ZERO else ONE
        return _touch_edge(center, radius, edge_center(middle, aside, width, side), along, extent)
    if within_width:
        side = -ONE if length_position < ZERO else ONE
        return _touch_edge(center, radius, edge_center(middle, along, extent, side), aside, width)
    tip = corner(tile, ONE if length_position > ZERO else -ONE, ONE if width_position > ZERO else -ONE)
    outward = minus(center, tip)
    gap = length(outward)
    if not gap < radius:
        return apart()
    return True, tip, over(outward, gap) if gap > ZERO else normal, radius - gap


@kernel
def sphere_tile(
    rows: Any,
    position: Any,
    rotation: Any,
    size: Any,
    hit: Any,
    point: Any,
    normal: Any,
    depth: Any,
    first: Index,
    last: Index,
) -> None:
    """Contacts of the pairs ``first`` to ``last − 1``."""
    for row in range(first, last):
        a, b = np.int64(rows[row, 0]), np.int64(rows[row, 1])
        touch = touch_sphere_tile(vector(position, a), np.float32(size[a, 0]), read_tile(position, rotation, size, b))
        write_touch(row, touch, -ONE, hit, point, normal, depth)

"""Capsule against tile by the rules of the original.

A capsule that pierces the face while its ends and the tile's edges are clear is missed.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Index
from choque.theses.fingsics.lines import common_normal, nearest_on_lines
from choque.theses.fingsics.sphere_capsule import Capsule, capsule_end, read_capsule
from choque.theses.fingsics.sphere_tile import Tile, corner, edge_center, read_tile, touch_sphere_tile
from choque.theses.fingsics.vectors import (
    HALF,
    ONE,
    ZERO,
    Touch,
    Vector,
    are_parallel,
    cross,
    dot,
    length,
    length_squared,
    minus,
    over,
    plus,
    square,
    times,
    unit,
    write_touch,
)

Sums: TypeAlias = tuple[Vector, Vector, Any]
"""Of the points found on the tile, of those found on the capsule's axis, and how many."""


@kernel
def _clamp(parameter: Any, extent: Any) -> Any:
    """``parameter``, or the end of a segment of length ``extent`` around 0 that it lies beyond."""
    if abs(parameter) < extent * HALF:
        return parameter
    if parameter > ZERO:
        return extent * HALF
    return -extent * HALF if parameter < ZERO else ZERO


@kernel
def _add_crossing(sums: Sums, capsule: Capsule, middle: Vector, edge: Vector, extent: Any) -> Sums:
    """Add the nearest points of the capsule's axis and an edge not parallel to it, if they are near enough."""
    across = common_normal(capsule[1], edge)
    s, t, _ = nearest_on_lines(capsule[0], capsule[1], middle, edge, across)
    on_axis = plus(capsule[0], times(capsule[1], _clamp(s, capsule[3])))
    on_edge = plus(middle, times(edge, _clamp(t, extent)))
    if not length(minus(on_axis, on_edge)) < capsule[2]:
        return sums
    return plus(sums[0], on_edge), plus(sums[1], on_axis), sums[2] + ONE


@kernel
def _add_corner(sums: Sums, capsule: Capsule, tip: Vector) -> Sums:
    """Add a corner at the end of an edge parallel to the axis, if its projection is inside the cylinder.

    The projection leaves out the capsule's own position, as the original does.
    """
    direction = capsule[1]
    on_axis = plus(capsule[0], over(times(direction, dot(tip, direction)), dot(direction, direction)))
    if not length_squared(minus(on_axis, capsule[0])) < square(capsule[3] * HALF):
        return sums
    return plus(sums[0], tip), plus(sums[1], on_axis), sums[2] + ONE


@kernel
def _add_edges(sums: Sums, capsule: Capsule, tile: Tile, runs_along_width: bool) -> Sums:
    """Add what the two edges touch that run along the tile's width, or along its length."""
    middle, _, along, aside, extent, width = tile
    if runs_along_width:
        edge, edge_extent, outward, reach = aside, width, along, extent
    else:
        edge, edge_extent, outward, reach = along, extent, aside, width
    if not are_parallel(capsule[1], edge):
        for side in (ONE, -ONE):
            sums = _add_crossing(sums, capsule, edge_center(middle, outward, reach, side), edge, edge_extent)
        return sums
    for side in (ONE, -ONE):
        to_axis = minus(capsule[0], edge_center(middle, outward, reach, side))
        if length_squared(cross(edge, to_axis)) < square(capsule[2]):
            for end in (ONE, -ONE):
                tip = corner(tile, side, end) if runs_along_width else corner(tile, end, side)
                sums = _add_corner(sums, capsule, tip)
            return sums
    return sums


@kernel
def touch_capsule_tile(capsule: Capsule, tile: Tile) -> Touch:
    """Both ends, else the edges, else one end; the normal points from the tile to the capsule.

    Where both ends touch, the normal is that of the end at +.
    """
    radius = capsule[2]
    at_plus = touch_sphere_tile(capsule_end(capsule, ONE), radius, tile)
    at_minus = touch_sphere_tile(capsule_end(capsule, -ONE), radius, tile)
    if at_plus[0] and at_minus[0]:
        point = times(plus(at_plus[1], at_minus[1]), HALF)
        return True, point, unit(plus(at_plus[2], at_plus[2])), (at_plus[3] + at_minus[3]) * HALF
    nothing = (ZERO, ZERO, ZERO)
    sums = _add_edges((nothing, nothing, ZERO), capsule, tile, True)
    sums = _add_edges(sums, capsule, tile, False)
    if sums[2] == ZERO:
        return at_plus if at_plus[0] else at_minus
    on_tile = over(sums[0], sums[2])
    outward = minus(over(sums[1], sums[2]), on_tile)
    return True, on_tile, unit(outward), radius - length(outward)


@kernel
def capsule_tile(
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
        touch = touch_capsule_tile(read_capsule(position, rotation, size, a), read_tile(position, rotation, size, b))
        write_touch(row, touch, -ONE, hit, point, normal, depth)

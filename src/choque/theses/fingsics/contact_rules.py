"""The contact rules of the Fingsics engine, defects included, so that its counts can be checked.

One routine for each pair of kinds, the smaller kind first; tiles pass through each other. Everything is computed in
single precision, for arrays of any float type. The number of a body is its row: the order of bodies in the scene.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from choque._core.kernel import inline, kernel
from choque.narrow.pair import Manifold, Pose
from choque.narrow.shapes import CAPSULE, SPHERE, TILE
from choque.theses.fingsics.order import text_key
from choque.theses.fingsics.sphere_contacts import (
    Capsule,
    Tile,
    capsule_end,
    capsule_of,
    corner,
    edge_center,
    sphere_capsule,
    sphere_sphere,
    sphere_tile,
    tile_of,
    touch_sphere_capsule,
    touch_sphere_cylinder,
    touch_sphere_tile,
    touch_spheres,
)
from choque.theses.fingsics.vectors import (
    HALF,
    ONE,
    ZERO,
    Touch,
    Vector,
    apart,
    are_parallel,
    cross,
    dot,
    is_near_zero,
    length,
    length_squared,
    minus,
    opposite,
    over,
    plus,
    square,
    times,
    to_manifold,
    unit,
)

Sums: TypeAlias = tuple[Vector, Vector, Any]
"""Of the points found on the tile, of those found on the capsule's axis, and their number."""


@inline
def capsule_capsule(a: Pose, b: Pose) -> Manifold:
    """Return the contact of two capsules; the capsule whose number comes first as text is the first."""
    sign = ONE
    if text_key(b.row) < text_key(a.row):
        a, b, sign = b, a, -ONE
    return to_manifold(touch_capsules(capsule_of(a), capsule_of(b)), sign)


@inline
def capsule_tile(a: Pose, b: Pose) -> Manifold:
    """Return the contact of a capsule and a tile."""
    return to_manifold(touch_capsule_tile(capsule_of(a), tile_of(b)), -ONE)


@kernel
def common_normal(direction: Vector, other: Vector) -> Vector:
    """Return the unit vector perpendicular to two directions that are not parallel."""
    return unit(cross(other, direction))


@kernel
def nearest_on_lines(start: Vector, direction: Vector, other_start: Vector, other: Vector, across: Vector) -> Vector:
    """Return the parameters s and t of the nearest points, and the signed gap w between them along ``across``.

    Solves s·direction − t·other + w·across = other_start − start, rows exchanged for the largest pivot. The
    directions are unit and not parallel, so no pivot vanishes.
    """
    system = np.empty((3, 4), np.float32)
    right = minus(other_start, start)
    for k in range(3):
        system[k, 0], system[k, 1], system[k, 2], system[k, 3] = direction[k], -other[k], across[k], right[k]
    for column in range(3):
        _bring_up_pivot(system, column)
        for row in range(column + 1, 3):
            factor = system[row, column] / system[column, column]
            for k in range(column + 1, 4):
                system[row, k] -= system[column, k] * factor
    w = system[2, 3] / system[2, 2]
    t = (system[1, 3] - system[1, 2] * w) / system[1, 1]
    s = (system[0, 3] - system[0, 2] * w - system[0, 1] * t) / system[0, 0]
    return s, t, w


@kernel
def _bring_up_pivot(system: Any, column: int) -> None:
    """Exchange row ``column`` for the one at or below it with the largest entry in that column."""
    best = column
    for row in range(column + 1, 3):
        if abs(system[row, column]) > abs(system[best, column]):
            best = row
    for k in range(4):
        system[column, k], system[best, k] = system[best, k], system[column, k]


@kernel
def _touch_parallel(a: Capsule, b: Capsule) -> Touch:
    """Test each end of either capsule against the other; the point is midway between the first two that touch.

    Normal and depth are those of the first. The normal at an end of b points toward a, as in the engine.
    """
    a_plus = touch_sphere_capsule(capsule_end(a, ONE), a[2], b)
    a_minus = touch_sphere_capsule(capsule_end(a, -ONE), a[2], b)
    b_plus = touch_sphere_capsule(capsule_end(b, ONE), b[2], a)
    b_minus = touch_sphere_capsule(capsule_end(b, -ONE), b[2], a)
    for touch, other in (
        (a_plus, a_minus),
        (a_plus, b_plus),
        (a_minus, b_plus),
        (b_plus, b_minus),
        (a_plus, b_minus),
        (a_minus, b_minus),
    ):
        if touch[0] and other[0]:
            return True, times(plus(touch[1], other[1]), HALF), touch[2], touch[3]
    return apart()


@kernel
def touch_capsules(a: Capsule, b: Capsule) -> Touch:
    """Test the nearest points of the axes if they are inside both cylinders, otherwise the ends on those sides."""
    if are_parallel(a[1], b[1]):
        return _touch_parallel(a, b)
    across = common_normal(a[1], b[1])
    s, t, w = nearest_on_lines(a[0], a[1], b[0], b[1], across)
    distance = abs(w)
    reach = a[2] + b[2]
    if not distance < reach:
        return apart()
    if abs(s) < a[3] * HALF and abs(t) < b[3] * HALF:
        on_a = plus(times(a[1], s), a[0])
        on_b = plus(times(b[1], t), b[0])
        toward = minus(on_b, on_a)
        if is_near_zero(toward):
            toward = across
        return True, plus(on_a, times(toward, b[2] / reach)), unit(toward), reach - distance
    a_end = capsule_end(a, ONE if s > ZERO else -ONE)
    b_end = capsule_end(b, ONE if t > ZERO else -ONE)
    touch = touch_sphere_cylinder(b_end, b[2], a)
    if touch[0]:
        return True, touch[1], opposite(touch[2]), touch[3]
    touch = touch_sphere_cylinder(a_end, a[2], b)
    if touch[0]:
        return touch
    return touch_spheres(a_end, a[2], b_end, b[2])


@kernel
def _clamp(parameter: Any, extent: Any) -> Any:
    """Return ``parameter``, or the end of a segment of length ``extent`` around 0 that it lies beyond."""
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

    The projection leaves out the capsule's own position, as the engine does.
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


CONTACT_RULES = {
    (SPHERE, SPHERE): sphere_sphere,
    (SPHERE, CAPSULE): sphere_capsule,
    (SPHERE, TILE): sphere_tile,
    (CAPSULE, CAPSULE): capsule_capsule,
    (CAPSULE, TILE): capsule_tile,
}
"""The routine for each pair of kinds; see `choque.narrow.rules` for what a routine takes."""

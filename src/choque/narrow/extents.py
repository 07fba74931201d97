"""The extent of shapes, computed from poses and sizes directly into the arrays of bounding volumes.

Every kernel handles the rows ``first … last − 1`` and returns the first of them whose pose is not finite, whose kind is
unknown or whose hull is missing, or −1. An extent is widened by ``slack``, a relative rounding error, so that shapes
that touch have bounds that overlap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from choque._core.kernel import helper, inline, kernel
from choque._core.threads import over_shares
from choque._core.types import F64, Floats, Integer
from choque._core.vector import Vector, dot
from choque.errors import InvalidInput
from choque.narrow.shapes import CAPSULE, CONVEX, KIND_COUNT, KINDS_ALLOWED, MESH, PLANE, SPHERE, TILE, Shapes, Solids

SLACK = 8  # units in the last place by which bounds are wider than computed: more than the rounding on the way


def slack_of(dtype: np.dtype[np.floating[Any]]) -> float:
    """Return the fraction of position and extent by which bounds of this float type are wider than computed."""
    return SLACK * float(np.finfo(dtype).eps)


def bound(kernel: Callable[..., int], shapes: Shapes, thread_count: int, *outputs: Any) -> int:
    """Run one of the kernels below over all ``shapes``; return the first row whose pose is not finite, or −1.

    Raise `InvalidInput` for a row whose kind is unknown or whose hull is missing: users may write to these arrays.
    ``outputs`` are the parameters after ``slack`` in its signature, arrays in the float type of the shapes.
    """
    slack = slack_of(shapes.position.dtype)
    found = over_shares(kernel, len(shapes), thread_count, shapes.solids(), slack, *outputs)
    lost = min((row for row in found if row >= 0), default=-1)
    if lost >= 0:
        if not 0 <= shapes.kind[lost] < KIND_COUNT:
            raise InvalidInput(f"Shape {lost} has the kind {shapes.kind[lost]}; {KINDS_ALLOWED}.")
        shapes.check_hulls()
    return lost


@kernel
def bound_slabs(
    first: int, last: int, solids: Solids, slack: float, directions: F64, lower: Floats, upper: Floats
) -> int:
    """Write the extent of each body along each of the ``directions`` (k, 3), exact up to ``slack``: (n, k) each."""
    kind, position, rotation, size, hull, points, starts = solids
    lost = _first_unsound(solids, first, last)
    if lost >= 0:
        return lost
    for row in range(first, last):
        for slab in range(directions.shape[0]):
            x, y, z = directions[slab, 0], directions[slab, 1], directions[slab, 2]
            middle = x * position[row, 0] + y * position[row, 1] + z * position[row, 2]
            far = abs(x * position[row, 0]) + abs(y * position[row, 1]) + abs(z * position[row, 2])
            low = high = 0.0
            if kind[row] == PLANE:
                low, high = _half_space(rotation, row, x, y, z)
            elif _has_points(kind[row]):
                low, high = _hull_extent(rotation, size, row, hull[row], points, starts, (x, y, z))
                far += high - low
            else:
                high = _reach(kind[row], rotation, size, row, x, y, z)
                low = -high
                far += high
            lower[row, slab] = middle + low - slack * far
            upper[row, slab] = middle + high + slack * far
    return -1


@kernel
def bound_boxes(first: int, last: int, solids: Solids, slack: float, lower: Floats, upper: Floats) -> int:
    """Write the box around each body, (n, 3) each: `bound_slabs` along the axes, without the products with zero."""
    kind, position, rotation, size = solids[:4]
    lost = _first_unsound(solids, first, last)
    if lost >= 0:
        return lost
    for row in range(first, last):
        if _has_points(kind[row]):
            _bound_hull(row, solids, slack, lower, upper)
            continue
        for axis in range(3):
            middle = np.float64(position[row, axis])
            low = high = far = 0.0
            if kind[row] == SPHERE:
                high = far = np.float64(size[row, 0])
                low = -high
            elif kind[row] == CAPSULE:
                high = far = size[row, 0] + 0.5 * size[row, 1] * abs(rotation[row, axis, 2])
                low = -high
            elif kind[row] == TILE:
                across_x, across_z = abs(rotation[row, axis, 0]), abs(rotation[row, axis, 2])
                high = far = 0.5 * (size[row, 0] * across_x + size[row, 1] * across_z)
                low = -high
            else:
                low, high = _half_space(rotation, row, 1.0 * (axis == 0), 1.0 * (axis == 1), 1.0 * (axis == 2))
            far += abs(middle)
            lower[row, axis] = middle + low - slack * far
            upper[row, axis] = middle + high + slack * far
    return -1


@helper
def _bound_hull(row: Integer, solids: Solids, slack: float, lower: Floats, upper: Floats) -> None:
    """Write the box around a body with points along all axes at once: each alone waits for its own latest result."""
    _, position, rotation, size, hull, points, starts = solids
    x = size[row, 0] * rotation[row, 0, 0], size[row, 1] * rotation[row, 0, 1], size[row, 2] * rotation[row, 0, 2]
    y = size[row, 0] * rotation[row, 1, 0], size[row, 1] * rotation[row, 1, 1], size[row, 2] * rotation[row, 1, 2]
    z = size[row, 0] * rotation[row, 2, 0], size[row, 1] * rotation[row, 2, 1], size[row, 2] * rotation[row, 2, 2]
    low, high = (np.inf, np.inf, np.inf), (-np.inf, -np.inf, -np.inf)
    for point in range(starts[hull[row]], starts[hull[row] + 1]):
        place = points[point, 0], points[point, 1], points[point, 2]
        along = dot(x, place), dot(y, place), dot(z, place)
        low = min(low[0], along[0]), min(low[1], along[1]), min(low[2], along[2])
        high = max(high[0], along[0]), max(high[1], along[1]), max(high[2], along[2])
    for axis in range(3):
        middle = np.float64(position[row, axis])
        far = slack * (high[axis] - low[axis] + abs(middle))
        lower[row, axis], upper[row, axis] = middle + low[axis] - far, middle + high[axis] + far


@kernel
def bound_oriented(
    first: int, last: int, solids: Solids, slack: float, center: Floats, half: Floats, axes: Floats
) -> int:
    """Write the box around each body along its own axes; along those of the world for a sphere.

    ``center`` and ``half`` are (n, 3), ``axes`` (n, 3, 3) with an axis in each row. The box of a plane is infinite.
    """
    kind, position, rotation, size, hull, points, starts = solids
    lost = _first_unsound(solids, first, last)
    if lost >= 0:
        return lost
    for row in range(first, last):
        shape = kind[row]
        for axis in range(3):
            center[row, axis] = position[row, axis]
            for other in range(3):
                axes[row, axis, other] = rotation[row, other, axis]
        if shape == SPHERE:
            for axis in range(3):
                half[row, axis] = size[row, 0]
                for other in range(3):
                    axes[row, axis, other] = 1.0 if axis == other else 0.0
        elif shape == CAPSULE:
            half[row, 0] = half[row, 1] = size[row, 0]
            half[row, 2] = 0.5 * size[row, 1] + size[row, 0]
        elif shape == TILE:
            half[row, 0], half[row, 1], half[row, 2] = 0.5 * size[row, 0], 0.0, 0.5 * size[row, 1]
        elif _has_points(shape):
            for axis in range(3):
                low, high = np.inf, -np.inf
                for point in range(starts[hull[row]], starts[hull[row] + 1]):
                    along = size[row, axis] * points[point, axis]
                    low, high = min(low, along), max(high, along)
                half[row, axis] = 0.5 * (high - low)
                for other in range(3):
                    center[row, other] += 0.5 * (high + low) * rotation[row, other, axis]
        else:
            half[row, 0] = half[row, 1] = half[row, 2] = np.inf
        far = 0.0
        for axis in range(3):
            far += abs(position[row, axis]) + half[row, axis]
        for axis in range(3):
            half[row, axis] += slack * far
    return -1


@kernel
def bound_spheres(first: int, last: int, solids: Solids, slack: float, center: Floats, radius: Floats) -> int:
    """Write the sphere around each body, at its centre: (n, 3) and (n,). That of a plane is infinite."""
    kind, position, _, size, hull, points, starts = solids
    lost = _first_unsound(solids, first, last)
    if lost >= 0:
        return lost
    for row in range(first, last):
        reach = 0.0
        if kind[row] == SPHERE:
            reach = np.float64(size[row, 0])
        elif kind[row] == CAPSULE:
            reach = size[row, 0] + 0.5 * size[row, 1]
        elif kind[row] == TILE:
            reach = 0.5 * np.sqrt(np.float64(size[row, 0]) ** 2 + np.float64(size[row, 1]) ** 2)
        elif _has_points(kind[row]):
            for point in range(starts[hull[row]], starts[hull[row] + 1]):
                squared = 0.0
                for axis in range(3):
                    squared += (size[row, axis] * points[point, axis]) ** 2
                reach = max(reach, np.sqrt(squared))
        else:
            reach = np.inf
        far = reach
        for axis in range(3):
            center[row, axis] = position[row, axis]
            far += abs(position[row, axis])
        radius[row] = reach + slack * far
    return -1


@helper
def _has_points(kind: Any) -> Any:
    """Return whether a shape is the points of a hull, or those of a mesh."""
    return kind in (CONVEX, MESH)


@helper
def _first_unsound(solids: Solids, first: Integer, last: Integer) -> int:
    """Return the first body that lacks a finite pose, a known kind or, if it has points, one of the hulls; or −1."""
    kind, position, rotation, _, hull, _, starts = solids
    for row in range(first, last):
        if not 0 <= kind[row] < KIND_COUNT or (_has_points(kind[row]) and not 0 <= hull[row] < starts.size - 1):
            return row
        total = np.float64(position[row, 0]) + position[row, 1] + position[row, 2]
        for axis in range(3):
            total += rotation[row, axis, 0] + rotation[row, axis, 1] + rotation[row, axis, 2]
        if not np.isfinite(total):
            return row
    return -1


@inline
def _reach(kind: Any, rotation: Any, size: Any, row: Integer, x: float, y: float, z: float) -> Any:
    """Return the extent of a sphere, capsule or tile from its centre along (x, y, z), times the length of (x, y, z)."""
    r = rotation[row]
    along_z = abs(x * r[0, 2] + y * r[1, 2] + z * r[2, 2])
    if kind == TILE:
        along_x = abs(x * r[0, 0] + y * r[1, 0] + z * r[2, 0])
        return 0.5 * (size[row, 0] * along_x + size[row, 1] * along_z)
    reach = size[row, 0] * np.sqrt(x * x + y * y + z * z)
    if kind == CAPSULE:
        reach += 0.5 * size[row, 1] * along_z
    return reach


@inline
def _hull_extent(
    rotation: Any, size: Any, row: Integer, hull: Integer, points: Any, starts: Any, direction: Vector
) -> Any:
    """Return the interval of a scaled hull along ``direction``, relative to its centre."""
    x, y, z = direction
    u = size[row, 0] * (x * rotation[row, 0, 0] + y * rotation[row, 1, 0] + z * rotation[row, 2, 0])
    v = size[row, 1] * (x * rotation[row, 0, 1] + y * rotation[row, 1, 1] + z * rotation[row, 2, 1])
    w = size[row, 2] * (x * rotation[row, 0, 2] + y * rotation[row, 1, 2] + z * rotation[row, 2, 2])
    low, high = np.inf, -np.inf
    for point in range(starts[hull], starts[hull + 1]):
        along = u * points[point, 0] + v * points[point, 1] + w * points[point, 2]
        low, high = min(low, along), max(high, along)
    return low, high


@inline
def _half_space(rotation: Any, row: Integer, x: float, y: float, z: float) -> Any:
    """Return the interval of a half-space along (x, y, z): infinite unless that is exactly its normal."""
    u, v, w = rotation[row, 0, 1], rotation[row, 1, 1], rotation[row, 2, 1]
    low, high = -np.inf, np.inf
    if y * w == z * v and z * u == x * w and x * v == y * u:
        if x * u + y * v + z * w > 0:
            high = 0.0
        else:
            low = 0.0
    return low, high

"""The kernels of oriented boxes: the separating-axis test, the box around each, and the motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline, kernel
from choque._core.rounding import SMALLEST, add_down, add_up, dot_down, dot_up, multiply_up, outer_distance
from choque._core.types import Floats, Rows
from choque.bounds._transform import move_point

EPSILON = 2.0**-48
"""More than the error of a gap, relative to the size of what it is computed from; see `overlap_oriented`."""

HALF_A, HALF_B = 6, 7
"""The rows of half extents in the room of two boxes, below the axes of the first and of the second."""


@kernel
def overlap_oriented(
    first: int,
    last: int,
    pairs: NDArray[np.int32],
    center_a: Floats,
    half_a: Floats,
    axes_a: Floats,
    center_b: Floats,
    half_b: Floats,
    axes_b: Floats,
    closed: bool,
    result: NDArray[np.bool_],
) -> None:
    """Test ``pairs[first:last]`` by 15 directions (Gottschalk, Lin and Manocha, OBBTree, 1996).

    The directions are the 3 face normals of each box and the 9 cross products of their edges. Any vector L
    proves that two boxes are apart when ``|L·T| > Σ h |L·a|`` over the edges of both, T the offset of the
    centers, so a cross product that is short or crooked, because its edges are nearly parallel, can fail to
    prove it but cannot prove it wrongly. What remains is the rounding of that sum, at most about 7 · 2⁻⁵²
    of |L|₁ (|T|₁ + Σ h): a pair is called apart only when the gap exceeds ``EPSILON`` = 16 · 2⁻⁵² of that.
    Half-open, a face normal also separates at a gap of 0.
    """
    # Both boxes lie in one small room while they are tested: an array that is handed on for each direction costs more
    # than the arithmetic.
    room = np.empty((8, 3))
    for index in range(first, last):
        a, b = pairs[index, 0], pairs[index, 1]
        for axis in range(3):
            for part in range(3):
                room[axis, part], room[axis + 3, part] = axes_a[a, axis, part], axes_b[b, axis, part]
            room[HALF_A, axis], room[HALF_B, axis] = half_a[a, axis], half_b[b, axis]
        x = np.float64(center_b[b, 0]) - np.float64(center_a[a, 0])
        y = np.float64(center_b[b, 1]) - np.float64(center_a[a, 1])
        z = np.float64(center_b[b, 2]) - np.float64(center_a[a, 2])
        result[index] = not _apart(room, x, y, z, closed)


@kernel
def _apart(room: NDArray[np.float64], x: float, y: float, z: float, closed: bool) -> bool:
    """Whether a direction parts two boxes at an offset (x, y, z); ``room`` (8, 3) has their axes and half extents."""
    size = abs(x) + abs(y) + abs(z)
    for axis in range(3):
        size += room[HALF_A, axis] + room[HALF_B, axis]
    margin = EPSILON * size
    for axis in range(6):
        u, v, w = room[axis, 0], room[axis, 1], room[axis, 2]
        gap = _gap(room, u, v, w, x, y, z)
        if gap > margin * (abs(u) + abs(v) + abs(w)) + SMALLEST or (gap >= 0 and not closed):
            return True
    for i in range(3):
        p, q, r = room[i, 0], room[i, 1], room[i, 2]
        for j in range(3, 6):
            s, t, o = room[j, 0], room[j, 1], room[j, 2]
            u, v, w = q * o - r * t, r * s - p * o, p * t - q * s
            gap = _gap(room, u, v, w, x, y, z)
            if gap > margin * (abs(u) + abs(v) + abs(w)) + SMALLEST:
                return True
    return False


@inline
def _gap(room: NDArray[np.float64], u: float, v: float, w: float, x: float, y: float, z: float) -> float:
    """The gap of two boxes at an offset (x, y, z) along (u, v, w), times its length; NaN if unbounded."""
    # Summed apart and then together, so that the answer does not depend on which box comes first.
    reach_a = reach_b = 0.0
    for axis in range(3):
        reach_a += room[HALF_A, axis] * abs(u * room[axis, 0] + v * room[axis, 1] + w * room[axis, 2])
        reach_b += room[HALF_B, axis] * abs(u * room[axis + 3, 0] + v * room[axis + 3, 1] + w * room[axis + 3, 2])
    return abs(u * x + v * y + w * z) - (reach_a + reach_b)


@kernel
def box_oriented(
    center: Floats, half: Floats, axes: Floats, lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> None:
    """The axis-aligned box around each oriented one, rounded outward."""
    for row in range(len(center)):
        for axis in range(center.shape[1]):
            reach = 0.0
            for edge in range(center.shape[1]):
                reach = add_up(reach, multiply_up(abs(np.float64(axes[row, edge, axis])), np.float64(half[row, edge])))
            lower[row, axis] = add_down(np.float64(center[row, axis]), -reach)
            upper[row, axis] = add_up(np.float64(center[row, axis]), reach)


@kernel
def orient_boxes(lower: Floats, upper: Floats, center: Floats, half: NDArray[np.float64]) -> None:
    """The middle of each box and its half extents, rounded outward from the middle as it is stored."""
    for row in range(len(lower)):
        for axis in range(lower.shape[1]):
            low, high = np.float64(lower[row, axis]), np.float64(upper[row, axis])
            if np.isfinite(low) and np.isfinite(high):
                center[row, axis] = 0.5 * low + 0.5 * high
                middle = np.float64(center[row, axis])
                half[row, axis] = max(outer_distance(middle, low), outer_distance(middle, high))
            else:
                center[row, axis] = 0
                half[row, axis] = np.inf


@kernel
def move_oriented(
    center: Floats,
    half: Floats,
    axes: Floats,
    rotation: NDArray[np.float64],
    translation: NDArray[np.float64],
    moved_center: Floats,
    moved_half: NDArray[np.float64],
    moved_axes: Floats,
) -> None:
    """Turn and shift each box; what its stored center and axes lost is added to the half extents, twice.

    Once would do in an orthonormal frame; twice does in one that is orthonormal within the tolerance.
    """
    nowhere = np.zeros(center.shape[1])
    for row in range(len(center)):
        turn = rotation[row if len(rotation) > 1 else 0]
        shift = translation[row if len(translation) > 1 else 0]
        error = move_point(center[row], turn, shift, moved_center[row])
        for edge in range(center.shape[1]):
            bent = move_point(axes[row, edge], turn, nowhere, moved_axes[row, edge])
            error = add_up(error, multiply_up(bent, np.float64(half[row, edge])))
        for edge in range(center.shape[1]):
            moved_half[row, edge] = add_up(np.float64(half[row, edge]), 2 * error)


@kernel
def sweep_oriented(
    center: Floats,
    half: Floats,
    axes: Floats,
    way: NDArray[np.float64],
    moved_center: Floats,
    moved_half: NDArray[np.float64],
) -> None:
    """The box along the axes of each box that contains it on its ``way``; rounded outward.

    Halfway between start and end, a box must reach as far as itself and half the way. The coordinates of half the way
    in a frame that is orthonormal within the tolerance differ from its projections by little, which is added; so is
    what the stored middle lost.
    """
    size = center.shape[1]
    offset = np.empty(size)
    for row in range(len(center)):
        lost = length = 0.0
        for axis in range(size):
            moved_center[row, axis] = center[row, axis] + 0.5 * way[row, axis]
            stored, start = np.float64(moved_center[row, axis]), np.float64(center[row, axis])
            offset[axis] = 0.5 * way[row, axis]
            near = outer_distance(add_up(start, offset[axis]), stored)
            far = outer_distance(add_down(start, offset[axis]), stored)
            lost = add_up(lost, max(near, far))
            length = add_up(length, abs(offset[axis]))
        for edge in range(size):
            frame = axes[row, edge]
            along = max(dot_up(frame, offset), -dot_down(frame, offset))
            skew = 0.0
            for other in range(size):
                wanted = 1.0 if edge == other else 0.0
                more = add_up(dot_up(frame, axes[row, other]), -wanted)
                less = add_up(wanted, -dot_down(frame, axes[row, other]))
                skew = add_up(skew, max(more, less))
            along = add_up(along, multiply_up(2 * skew, length))
            moved_half[row, edge] = add_up(np.float64(half[row, edge]), add_up(along, 2 * lost))


@kernel
def enclose_oriented(flat: Floats, starts: Rows, axes: Floats, center: Floats, half: NDArray[np.float64]) -> None:
    """The ``center`` and ``half`` extents of the boxes along stored ``axes`` that contain every point.

    Stored axes are orthonormal only up to rounding: their dot products differ from the identity by some E.
    The coordinates y of a point in that frame differ from its projections by E y, which is added.
    """
    dimension = flat.shape[1]
    offset = np.empty(dimension)
    for row in range(len(center)):
        points = flat[starts[row] : starts[row + 1]]
        frame = axes[row]
        _set_middle(points, frame, center[row])
        longest = 0.0
        for axis in range(dimension):
            reach = 0.0
            for point in range(len(points)):
                size = 0.0
                for other in range(dimension):
                    offset[other] = np.float64(points[point, other]) - np.float64(center[row, other])
                    size += abs(offset[other] * frame[axis, other])
                along = max(dot_up(frame[axis], offset), -dot_down(frame[axis], offset))
                reach = max(reach, along + EPSILON * size)
            half[row, axis] = reach
            longest = max(longest, reach)
        for axis in range(dimension):
            skew = 0.0
            for other in range(dimension):
                wanted = 1.0 if axis == other else 0.0
                more = add_up(dot_up(frame[axis], frame[other]), -wanted)
                less = add_up(wanted, -dot_down(frame[axis], frame[other]))
                skew = add_up(skew, max(more, less))
            half[row, axis] = add_up(half[row, axis], multiply_up(2 * skew, longest))


@kernel
def _set_middle(points: Floats, frame: Floats, center: Floats) -> None:
    """Write the point halfway between the extremes along every axis of ``frame`` to ``center``."""
    for axis in range(len(center)):
        center[axis] = points[0, axis]
    for axis in range(len(center)):
        low = high = 0.0
        for point in range(len(points)):
            along = 0.0
            for other in range(len(center)):
                along += frame[axis, other] * (np.float64(points[point, other]) - np.float64(points[0, other]))
            low, high = min(low, along), max(high, along)
        for other in range(len(center)):
            center[other] += (low + high) / 2 * frame[axis, other]

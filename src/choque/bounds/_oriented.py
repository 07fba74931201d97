"""Boxes in any orientation, or rectangles in the plane."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check, rounding
from choque._core.kernel import helper, inline, kernel
from choque._core.types import F64, I32, Bools, Floats, Rows
from choque.bounds._bounds import Bounds, Boxes
from choque.bounds._oriented_fit import choose_axes

EPSILON = 2.0**-48  # more than the error of a gap, relative to the size of its operands; see `_overlap_oriented`

HALF_A, HALF_B = 6, 7
"""Rows of the half extents in the scratch array of two boxes, below the axes of the first and of the second."""


class BoxFrames(NamedTuple):
    """The arrays of oriented boxes of space: (n, 3), (n, 3) and (n, 3, 3)."""

    center: Any
    half: Any
    axes: Any


@kernel
def _overlap_oriented(
    first: int, last: int, pairs: I32, one: BoxFrames, other: BoxFrames, closed: bool, result: Bools
) -> None:
    """Test ``pairs[first:last]`` by 15 directions (Gottschalk, Lin and Manocha, OBBTree, 1996).

    The directions are the 3 face normals of each box and the 9 cross products of their edges. Any vector L separates
    two boxes when ``|L·T| > Σ h |L·a|`` over the edges of both, T the offset of the centers. A cross product that is
    inaccurate because its edges are nearly parallel can therefore miss a separation but never invent one. The rounding
    error of the sum is at most about 7 · 2⁻⁵² of |L|₁ (|T|₁ + Σ h): a pair is called separated only when the gap
    exceeds ``EPSILON`` = 16 · 2⁻⁵² of that. Half-open, a face normal also separates at a gap of 0.
    """
    # Both boxes are copied to one small array: passing several arrays on for each direction costs more than the
    # arithmetic.
    scratch = np.empty((8, 3))
    for index in range(first, last):
        a, b = pairs[index, 0], pairs[index, 1]
        for axis in range(3):
            for part in range(3):
                scratch[axis, part], scratch[axis + 3, part] = one.axes[a, axis, part], other.axes[b, axis, part]
            scratch[HALF_A, axis], scratch[HALF_B, axis] = one.half[a, axis], other.half[b, axis]
        x = np.float64(other.center[b, 0]) - np.float64(one.center[a, 0])
        y = np.float64(other.center[b, 1]) - np.float64(one.center[a, 1])
        z = np.float64(other.center[b, 2]) - np.float64(one.center[a, 2])
        result[index] = not _are_separated(scratch, x, y, z, closed)


@kernel
def _are_separated(scratch: F64, x: float, y: float, z: float, closed: bool) -> bool:
    """Return whether a direction separates two boxes at an offset (x, y, z).

    ``scratch`` (8, 3) holds their axes and half extents.
    """
    size = abs(x) + abs(y) + abs(z)
    for axis in range(3):
        size += scratch[HALF_A, axis] + scratch[HALF_B, axis]
    margin = EPSILON * size
    for axis in range(6):
        u, v, w = scratch[axis, 0], scratch[axis, 1], scratch[axis, 2]
        gap = _gap(scratch, u, v, w, x, y, z)
        if gap > margin * (abs(u) + abs(v) + abs(w)) + rounding.SMALLEST or (gap >= 0 and not closed):
            return True
    for i in range(3):
        p, q, r = scratch[i, 0], scratch[i, 1], scratch[i, 2]
        for j in range(3, 6):
            s, t, o = scratch[j, 0], scratch[j, 1], scratch[j, 2]
            u, v, w = q * o - r * t, r * s - p * o, p * t - q * s
            gap = _gap(scratch, u, v, w, x, y, z)
            if gap > margin * (abs(u) + abs(v) + abs(w)) + rounding.SMALLEST:
                return True
    return False


@inline
def _gap(scratch: F64, u: float, v: float, w: float, x: float, y: float, z: float) -> float:
    """Return the gap of two boxes at an offset (x, y, z) along (u, v, w), times its length; NaN if unbounded."""
    # Two sums, added at the end: the result does not depend on the order of the boxes.
    reach_a = reach_b = 0.0
    for axis in range(3):
        reach_a += scratch[HALF_A, axis] * abs(u * scratch[axis, 0] + v * scratch[axis, 1] + w * scratch[axis, 2])
        reach_b += scratch[HALF_B, axis] * abs(
            u * scratch[axis + 3, 0] + v * scratch[axis + 3, 1] + w * scratch[axis + 3, 2]
        )
    return abs(u * x + v * y + w * z) - (reach_a + reach_b)


class OrientedBoxes(Bounds):
    """Boxes with their own axes: all ``center + Σ sᵢ halfᵢ axesᵢ`` with every sᵢ in [−1, 1].

    ``center`` and ``half`` are (n, d); ``axes`` is (n, d, d), and ``axes[n, i]`` is the unit vector of the i-th edge:
    the axes are the *rows*, so for a rotation matrix R that takes body to world coordinates give its transpose. They
    must be orthonormal within 1e-4; reflections are legal. A half extent may be 0 or infinite.

    The overlap test looks for a separating direction, in float64: the 4 face normals in the plane, and in space the 6
    face normals and 9 edge cross products. Closed, it has no false negatives: the boxes exactly as given, rounded axes
    included, are called separate only when a direction separates them by more than its rounding error. It may call
    boxes overlapping whose gap is below about 10⁻¹⁴ of their size, and boxes with infinite half extents. Half-open,
    faces that touch exactly do not overlap, and a touch that is not exact in floating point may go either way.
    """

    center: Floats
    half: Floats
    axes: Floats

    _fields = ("center", "half", "axes")
    _overlap_kernel = staticmethod(_overlap_oriented)

    def __init__(self, center: ArrayLike, half: ArrayLike, axes: ArrayLike) -> None:
        middle, reach, frame = check.widest(
            check.coordinates(center, "center"), check.floats(half, "half"), check.floats(axes, "axes")
        )
        check.shape(reach, "half", middle.shape, "center")
        check.shape(frame, "axes", (*middle.shape, middle.shape[1]), "center")
        check.finite(middle, "center")
        check.not_negative(reach, "half")
        check.orthonormal(frame, "axes")
        self._hold(middle, reach, frame)

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None) -> Self:
        """Return small oriented boxes that contain groups of points, rounding included.

        The surface is never larger than along the principal or the coordinate axes, and mostly tight around the
        corners of a turned box. O(p) for each group.

        ``points`` and ``starts`` as for `Boxes.fit`.
        """
        flat, rows = check.groups(points, starts)
        size = flat.shape[1]
        axes = np.ascontiguousarray(choose_axes(flat, rows)[:, :size, :size], dtype=flat.dtype)
        center = np.empty((len(axes), size), flat.dtype)
        half = np.empty((len(axes), size))
        _enclose_oriented(flat, rows, axes, center, half)
        return cls.unchecked(center, rounding.narrow_up(half, flat.dtype), axes)

    @classmethod
    def from_boxes(cls, boxes: Boxes) -> Self:
        """Return the same boxes with coordinate axes, rounded outward; one infinite end makes both infinite."""
        center = np.empty_like(boxes.lower)
        half = np.empty(boxes.lower.shape)
        _orient_boxes(boxes.lower, boxes.upper, center, half)
        axes = np.zeros((*center.shape, boxes.dimension), boxes.dtype)
        axes[:] = np.eye(boxes.dimension)
        return cls.unchecked(center, rounding.narrow_up(half, boxes.dtype), axes)

    def boxes(self) -> Boxes:
        """Return the smallest axis-aligned boxes around the oriented ones, rounded outward."""
        return Boxes.written(self.center.shape, self.dtype, _box_oriented, self.center, self.half, self.axes)

    def _moved(self, rotation: F64, translation: F64) -> Self:
        center, axes = np.empty_like(self.center), np.empty_like(self.axes)
        half = np.empty(self.half.shape)
        _move_oriented(self.center, self.half, self.axes, rotation, translation, center, half, axes)
        return self.unchecked(center, rounding.narrow_up(half, self.dtype), axes)

    def _swept(self, way: F64) -> Self:
        """Return the box along the same axes around the start and the end of each one."""
        center, half = np.empty_like(self.center), np.empty(self.half.shape)
        _sweep_oriented(self.center, self.half, self.axes, np.ascontiguousarray(way), center, half)
        return self.unchecked(center, rounding.narrow_up(half, self.dtype), self.axes)

    def _operands(self) -> BoxFrames:
        """Return boxes of space; a rectangle becomes a box of unit height, which only the plane separates."""
        if self.dimension == 3:
            return BoxFrames(self.center, self.half, self.axes)
        count = len(self)
        center, half, axes = (np.zeros((count, *shape), self.dtype) for shape in ((3,), (3,), (3, 3)))
        center[:, :2], half[:, :2], axes[:, :2, :2] = self._arrays()
        half[:, 2] = axes[:, 2, 2] = 1
        return BoxFrames(center, half, axes)


@kernel
def _box_oriented(center: Floats, half: Floats, axes: Floats, lower: F64, upper: F64) -> None:
    """Write the axis-aligned box around each oriented one, rounded outward."""
    for row in range(len(center)):
        for axis in range(center.shape[1]):
            reach = 0.0
            for edge in range(center.shape[1]):
                reach = rounding.add_up(
                    reach, rounding.multiply_up(abs(np.float64(axes[row, edge, axis])), np.float64(half[row, edge]))
                )
            lower[row, axis] = rounding.add_down(np.float64(center[row, axis]), -reach)
            upper[row, axis] = rounding.add_up(np.float64(center[row, axis]), reach)


@kernel
def _orient_boxes(lower: Floats, upper: Floats, center: Floats, half: F64) -> None:
    """Write the middle of each box and its half extents, rounded outward from the stored middle."""
    for row in range(len(lower)):
        for axis in range(lower.shape[1]):
            low, high = np.float64(lower[row, axis]), np.float64(upper[row, axis])
            if np.isfinite(low) and np.isfinite(high):
                center[row, axis] = 0.5 * low + 0.5 * high
                middle = np.float64(center[row, axis])
                half[row, axis] = max(rounding.outer_distance(middle, low), rounding.outer_distance(middle, high))
            else:
                center[row, axis] = 0
                half[row, axis] = np.inf


@kernel
def _move_oriented(
    center: Floats,
    half: Floats,
    axes: Floats,
    rotation: F64,
    translation: F64,
    moved_center: Floats,
    moved_half: F64,
    moved_axes: Floats,
) -> None:
    """Turn and shift each box, and add twice the rounding error of its center and axes to the half extents.

    Once is enough in an orthonormal frame; twice in one that is orthonormal within the tolerance.
    """
    nowhere = np.zeros(center.shape[1])
    for row in range(len(center)):
        turn = rotation[row if len(rotation) > 1 else 0]
        shift = translation[row if len(translation) > 1 else 0]
        error = rounding.move_point(center[row], turn, shift, moved_center[row])
        for edge in range(center.shape[1]):
            bent = rounding.move_point(axes[row, edge], turn, nowhere, moved_axes[row, edge])
            error = rounding.add_up(error, rounding.multiply_up(bent, np.float64(half[row, edge])))
        for edge in range(center.shape[1]):
            moved_half[row, edge] = rounding.add_up(np.float64(half[row, edge]), 2 * error)


@kernel
def _sweep_oriented(
    center: Floats, half: Floats, axes: Floats, way: F64, moved_center: Floats, moved_half: F64
) -> None:
    """Write the box along the axes of each box that contains it on its ``way``; rounded outward.

    Centred halfway, the half extents grow by half the way. The coordinates of half the way in a frame that is
    orthonormal within the tolerance differ little from its projections; the difference is added, and so is the
    rounding error of the stored middle.
    """
    size = center.shape[1]
    offset = np.empty(size)
    for row in range(len(center)):
        lost = length = 0.0
        for axis in range(size):
            moved_center[row, axis] = center[row, axis] + 0.5 * way[row, axis]
            stored, start = np.float64(moved_center[row, axis]), np.float64(center[row, axis])
            offset[axis] = 0.5 * way[row, axis]
            near = rounding.outer_distance(rounding.add_up(start, offset[axis]), stored)
            far = rounding.outer_distance(rounding.add_down(start, offset[axis]), stored)
            lost = rounding.add_up(lost, max(near, far))
            length = rounding.add_up(length, abs(offset[axis]))
        for edge in range(size):
            frame = axes[row, edge]
            along = max(rounding.dot_up(frame, offset), -rounding.dot_down(frame, offset))
            along = rounding.add_up(along, rounding.multiply_up(2 * _skew(axes[row], edge), length))
            moved_half[row, edge] = rounding.add_up(np.float64(half[row, edge]), rounding.add_up(along, 2 * lost))


@kernel
def _enclose_oriented(flat: Floats, starts: Rows, axes: Floats, center: Floats, half: F64) -> None:
    """Write the ``center`` and ``half`` extents of the boxes along stored ``axes`` that contain every point.

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
                along = max(rounding.dot_up(frame[axis], offset), -rounding.dot_down(frame[axis], offset))
                reach = max(reach, along + EPSILON * size)
            half[row, axis] = reach
            longest = max(longest, reach)
        for axis in range(dimension):
            half[row, axis] = rounding.add_up(half[row, axis], rounding.multiply_up(2 * _skew(frame, axis), longest))


@helper
def _skew(frame: Floats, axis: int) -> float:
    """Return an upper bound of how much the dot products of an axis with all axes differ from those wanted."""
    skew = 0.0
    for other in range(len(frame)):
        wanted = 1.0 if axis == other else 0.0
        more = rounding.add_up(rounding.dot_up(frame[axis], frame[other]), -wanted)
        less = rounding.add_up(wanted, -rounding.dot_down(frame[axis], frame[other]))
        skew = rounding.add_up(skew, max(more, less))
    return skew


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

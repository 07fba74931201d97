"""Boxes in any orientation, or rectangles in the plane."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.rounding import narrow_down, narrow_up
from choque._core.types import Floats
from choque.bounds._bounds import Bounds
from choque.bounds._boxes import Boxes
from choque.bounds._oriented_fit import choose_axes
from choque.bounds._oriented_kernels import (
    box_oriented,
    enclose_oriented,
    move_oriented,
    orient_boxes,
    overlap_oriented,
    sweep_oriented,
)


class OrientedBoxes(Bounds):
    """Boxes with their own axes: all ``center + Σ sᵢ halfᵢ axesᵢ`` with every sᵢ in [−1, 1].

    ``center`` and ``half`` are (n, d); ``axes`` is (n, d, d), and ``axes[n, i]`` is the unit vector of the
    i-th edge: the axes are the *rows*, so for a rotation matrix R that takes body to world coordinates give
    its transpose. They must be orthonormal within 1e-4; reflections are legal. A half extent may be 0 or
    infinite.

    The overlap test looks for a separating direction, in float64: the 4 face normals in the plane, and in
    space the 6 face normals and 9 edge cross products. Closed, it has no false negatives: the boxes exactly
    as given, rounded axes included, are called apart only when a direction separates them by more than its
    rounding error. It may call boxes overlapping whose gap is below about 10⁻¹⁴ of their size, and boxes
    with infinite half extents. Half-open, faces that touch exactly do not overlap, and a touch that is not
    exact in floating point may go either way.
    """

    center: Floats
    half: Floats
    axes: Floats

    _fields = ("center", "half", "axes")
    _overlap_kernel = staticmethod(overlap_oriented)

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
        """Small oriented boxes that contain groups of points, rounding included.

        The axes are chosen as `choose_axes` says: never worse, by surface, than principal or coordinate
        axes, and mostly tight around the corners of a turned box. O(p) for each group.

        Parameters
        ----------
        points
            Finite numbers (n, p, d), or (total, d) with ``starts``.
        starts
            The row where each ragged group starts, and the number of points at the end: (n + 1,).
        """
        flat, rows = check.groups(points, starts)
        size = flat.shape[1]
        axes = np.ascontiguousarray(choose_axes(flat, rows)[:, :size, :size], dtype=flat.dtype)
        center = np.empty((len(axes), size), flat.dtype)
        half = np.empty((len(axes), size))
        enclose_oriented(flat, rows, axes, center, half)
        return cls.unchecked(center, narrow_up(half, flat.dtype), axes)

    @classmethod
    def from_boxes(cls, boxes: Boxes) -> Self:
        """The same boxes with coordinate axes, rounded outward; endless one way becomes endless both ways."""
        center = np.empty_like(boxes.lower)
        half = np.empty(boxes.lower.shape)
        orient_boxes(boxes.lower, boxes.upper, center, half)
        axes = np.zeros((*center.shape, boxes.dimension), boxes.dtype)
        axes[:] = np.eye(boxes.dimension)
        return cls.unchecked(center, narrow_up(half, boxes.dtype), axes)

    def boxes(self) -> Boxes:
        """The smallest axis-aligned boxes around the oriented ones, rounded outward."""
        lower, upper = np.empty(self.center.shape), np.empty(self.center.shape)
        box_oriented(self.center, self.half, self.axes, lower, upper)
        return Boxes.unchecked(narrow_down(lower, self.dtype), narrow_up(upper, self.dtype))

    def _moved(self, rotation: NDArray[np.float64], translation: NDArray[np.float64]) -> Self:
        center, axes = np.empty_like(self.center), np.empty_like(self.axes)
        half = np.empty(self.half.shape)
        move_oriented(self.center, self.half, self.axes, rotation, translation, center, half, axes)
        return self.unchecked(center, narrow_up(half, self.dtype), axes)

    def _swept(self, way: NDArray[np.float64]) -> Self:
        """The box along the same axes around the start and the end of each one."""
        center, half = np.empty_like(self.center), np.empty(self.half.shape)
        sweep_oriented(self.center, self.half, self.axes, np.ascontiguousarray(way), center, half)
        return self.unchecked(center, narrow_up(half, self.dtype), self.axes)

    def _operands(self) -> tuple[Floats, ...]:
        """Boxes of space; a rectangle becomes one of unit height, so that only the plane separates it."""
        if self.dimension == 3:
            return self._arrays()
        count = len(self)
        center, half, axes = (np.zeros((count, *shape), self.dtype) for shape in ((3,), (3,), (3, 3)))
        center[:, :2], half[:, :2], axes[:, :2, :2] = self._arrays()
        half[:, 2] = axes[:, 2, 2] = 1
        return center, half, axes

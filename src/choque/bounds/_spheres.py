"""Spheres, or circles in the plane."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check, rounding
from choque._core.kernel import kernel
from choque._core.types import F64, I32, Bools, Floats, Rows
from choque.bounds._bounds import Bounds, Boxes

ROUNDING = 2.0**-49  # more than all relative errors together of the two squared lengths that the test compares
SQUARABLE = 1e150  # lengths between its inverse and this can be squared and added without leaving the normal floats
FIT_STEPS = 32  # number of steps of `Spheres.fit` towards the farthest point


class Balls(NamedTuple):
    """The arrays of spheres: (n, d) and (n,)."""

    center: Any
    radius: Any


@kernel
def _overlap_spheres(first: int, last: int, pairs: I32, one: Balls, other: Balls, closed: bool, result: Bools) -> None:
    """Test ``pairs[first:last]`` in float64 and in O(1) memory."""
    for index in range(first, last):
        a, b = pairs[index, 0], pairs[index, 1]
        reach = np.float64(one.radius[a]) + np.float64(other.radius[b])
        largest = reach
        squared = 0.0
        for axis in range(one.center.shape[1]):
            offset = np.float64(one.center[a, axis]) - np.float64(other.center[b, axis])
            squared += offset * offset
            largest = max(largest, abs(offset))
        limit = reach * reach
        if 0 < largest < 1 / SQUARABLE or SQUARABLE < largest < np.inf:
            squared = 0.0
            for axis in range(one.center.shape[1]):
                offset = np.float64(one.center[a, axis]) - np.float64(other.center[b, axis])
                squared += (offset / largest) ** 2
            limit = (reach / largest) ** 2
        if closed:
            result[index] = squared <= limit * (1 + ROUNDING) or reach == np.inf
        else:
            result[index] = squared < limit or reach == np.inf


class Spheres(Bounds):
    """Spheres around ``center`` (n, 2) or (n, 3) of ``radius`` (n,), or one for all.

    Closed spheres overlap when the squared distance of the centers is at most the squared sum of the radii, half-open
    ones when it is less. The test runs in float64. Closed, it allows for its own rounding (a relative 2⁻⁴⁹), so that no
    touch is missed; on integers whose squares stay below 2⁴⁸ both topologies are exact. A radius may be 0 or infinite.
    """

    center: Floats
    radius: Floats

    _fields = ("center", "radius")
    _overlap_kernel = staticmethod(_overlap_spheres)

    def __init__(self, center: ArrayLike, radius: ArrayLike) -> None:
        places, reach = check.coordinates(center, "center"), check.floats(radius, "radius")
        middle, reach = check.widest(places, reach if reach.ndim else np.full(len(places), reach))
        check.shape(reach, "radius", middle.shape[:1], "center")
        check.finite(middle, "center")
        check.not_negative(reach, "radius")
        self._hold(middle, reach)

    @classmethod
    def fit(cls, points: ArrayLike, starts: ArrayLike | None = None) -> Self:
        """Return small spheres that contain groups of points, rounding included.

        The center starts in the middle of the box and steps towards the farthest point by ever smaller shares (Bădoiu
        and Clarkson, Smaller core-sets for balls, 2003); the best center seen is kept. O(p) for each group.

        ``points`` and ``starts`` as for `Boxes.fit`.
        """
        flat, rows = check.groups(points, starts)
        around = Boxes.fit(flat, rows)
        center = 0.5 * around.lower + 0.5 * around.upper
        radius = np.empty(len(center))
        _fit_spheres(flat, rows, center, radius)
        return cls.unchecked(center, rounding.narrow_up(radius, flat.dtype))

    def _operands(self) -> Balls:
        return Balls(self.center, self.radius)

    def boxes(self) -> Boxes:
        """Return the smallest boxes around the spheres, rounded outward."""
        return Boxes.written(self.center.shape, self.dtype, _box_spheres, self.center, self.radius)

    def _moved(self, rotation: F64, translation: F64) -> Self:
        center = np.empty_like(self.center)
        radius = np.empty(len(self))
        _move_spheres(self.center, self.radius, rotation, translation, center, radius)
        return self.unchecked(center, rounding.narrow_up(radius, self.dtype))

    def _swept(self, way: F64) -> Self:
        """Return the sphere around the capsule that each one sweeps, centred halfway."""
        center, radius = np.empty_like(self.center), np.empty(len(self))
        _sweep_spheres(self.center, self.radius, np.ascontiguousarray(way), center, radius)
        return self.unchecked(center, rounding.narrow_up(radius, self.dtype))


@kernel
def _fit_spheres(flat: Floats, starts: Rows, center: Floats, radius: F64) -> None:
    """Improve every ``center`` and write the ``radius`` around the stored center."""
    dimension = flat.shape[1]
    trial = np.empty(dimension)
    best = np.empty(dimension)
    offset = np.empty(dimension)
    for row in range(len(center)):
        least = np.inf
        for axis in range(dimension):
            trial[axis] = best[axis] = center[row, axis]
        for step in range(FIT_STEPS):
            farthest, longest = starts[row], -1.0
            for point in range(starts[row], starts[row + 1]):
                squared = 0.0
                for axis in range(dimension):
                    squared += (flat[point, axis] - trial[axis]) ** 2
                if squared > longest:
                    farthest, longest = point, squared
            if longest < least:
                least = longest
                best[:] = trial
            for axis in range(dimension):
                trial[axis] += (flat[farthest, axis] - trial[axis]) / (step + 2)
        center[row] = best
        radius[row] = 0.0
        for point in range(starts[row], starts[row + 1]):
            for axis in range(dimension):
                offset[axis] = rounding.outer_distance(np.float64(flat[point, axis]), np.float64(center[row, axis]))
            radius[row] = max(radius[row], rounding.length_up(offset))


@kernel
def _box_spheres(center: Floats, radius: Floats, lower: F64, upper: F64) -> None:
    for row in range(len(center)):
        for axis in range(center.shape[1]):
            lower[row, axis] = rounding.add_down(np.float64(center[row, axis]), -np.float64(radius[row]))
            upper[row, axis] = rounding.add_up(np.float64(center[row, axis]), np.float64(radius[row]))


@kernel
def _move_spheres(
    center: Floats, radius: Floats, rotation: F64, translation: F64, moved_center: Floats, moved_radius: F64
) -> None:
    for row in range(len(center)):
        turn = rotation[row if len(rotation) > 1 else 0]
        shift = translation[row if len(translation) > 1 else 0]
        error = rounding.move_point(center[row], turn, shift, moved_center[row])
        moved_radius[row] = rounding.add_up(
            rounding.multiply_up(rounding.stretch_up(turn), np.float64(radius[row])), error
        )


@kernel
def _sweep_spheres(center: Floats, radius: Floats, way: F64, middle: Floats, reach: F64) -> None:
    start, end = np.empty(center.shape[1]), np.empty(center.shape[1])
    for row in range(len(center)):
        for axis in range(center.shape[1]):
            middle[row, axis] = center[row, axis] + 0.5 * way[row, axis]
            stored = np.float64(middle[row, axis])
            start[axis] = rounding.outer_distance(np.float64(center[row, axis]), stored)
            there = rounding.add_up(np.float64(center[row, axis]), way[row, axis])
            nearly = rounding.add_down(np.float64(center[row, axis]), way[row, axis])
            end[axis] = max(rounding.outer_distance(there, stored), rounding.outer_distance(nearly, stored))
        reach[row] = rounding.add_up(np.float64(radius[row]), max(rounding.length_up(start), rounding.length_up(end)))

"""The bodies of a shared world as arrays, and the test of whether a body touches an area."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check, memory, threads
from choque._core.kernel import kernel
from choque._core.types import F64, Floats, Rows
from choque.errors import InvalidInput

NO_AREA = -1.0  # the reach of a body without an area


class AreaBodies(NamedTuple):
    """One row for each body; kernels take them whole."""

    # (n, 4): the position, whose third coordinate is 0 in 2D, and the body radius. Four numbers are half a cache line,
    # so that reading a body costs one memory access.
    spheres: F64
    reach: F64  # (n,): the radius of each area, `NO_AREA` for a body without one

    @property
    def total(self) -> int:
        """The number of bodies."""
        return len(self.reach)

    def records(self, thread_count: int) -> F64:
        """Return the boxes (n, 6) around the bodies."""
        records = memory.empty((self.total, 6), np.float64)
        threads.over_ranges(_pack_bodies, self.total, thread_count, self.spheres, records)
        return records

    def placed(self, position: F64, rows: Rows | slice = slice(None)) -> AreaBodies:
        """Return the bodies with these ``rows`` at ``position``, (k, d)."""
        spheres = self.spheres.copy()
        spheres[rows, : position.shape[1]] = position
        return AreaBodies(spheres, self.reach)

    def joined(self, other: AreaBodies) -> AreaBodies:
        """Return these bodies, followed by the ``other`` ones."""
        return AreaBodies(np.concatenate((self.spheres, other.spheres)), np.concatenate((self.reach, other.reach)))

    def kept(self, rows: Rows) -> AreaBodies:
        """Return the bodies of these ``rows``."""
        return AreaBodies(self.spheres[rows], self.reach[rows])


def make_bodies(position: F64, radius: Any, body_radius: ArrayLike | None) -> AreaBodies:
    """Return bodies at a checked ``position`` (n, d)."""
    count, dimension = position.shape
    spheres = np.zeros((count, 4))
    spheres[:, :dimension] = position
    spheres[:, 3] = 0.0 if body_radius is None else each_value(body_radius, "body_radius", count)
    return AreaBodies(spheres, checked_reach(radius, count))


def checked_position(position: ArrayLike, dimension: int | None = None, count: int | None = None) -> Any:
    """Return ``position`` as finite float64 (n, 2) or (n, 3), of this ``dimension`` and ``count`` if given."""
    given: Floats = check.coordinates(position, "position")
    if dimension is not None and given.shape[1] != dimension:
        raise InvalidInput(f"position has {given.shape[1]} axes and the areas have {dimension}; they must agree.")
    if count is not None and len(given) != count:
        raise InvalidInput(f"{len(given)} positions were given for {count} bodies; give one for each, in ascending id.")
    check.finite(given, "position")
    return given.astype(np.float64)


def checked_reach(radius: Any, count: int) -> F64:
    """Return the radius of each area; None, or masked, for a body without an area."""
    if radius is None:
        return np.full(count, NO_AREA)
    if isinstance(radius, np.ma.MaskedArray):
        reach = each_value(radius.filled(0), "radius", count)
        reach[np.broadcast_to(np.ma.getmaskarray(radius), (count,))] = NO_AREA
        return reach
    if isinstance(radius, np.ndarray) and radius.dtype == object:
        radius = radius.tolist()
    if isinstance(radius, Sequence) and any(value is None for value in radius):
        without = np.array([value is None for value in radius])
        reach = each_value([0.0 if value is None else value for value in radius], "radius", count)
        reach[without] = NO_AREA
        return reach
    return each_value(radius, "radius", count)


def each_value(given: ArrayLike, name: str, count: int) -> F64:
    """Return (count,) float64 from one number for all, or one for each."""
    values = check.floats(given, name)
    if values.shape not in ((), (count,)):
        raise InvalidInput(f"{name} has the shape {values.shape}; it must be one number for all, or ({count},).")
    check.not_negative(np.atleast_1d(values), name)
    return np.broadcast_to(values, (count,)).astype(np.float64)


@kernel
def half_edge(coordinate: float, radius: float) -> float:
    """Return half an edge of a box that contains a sphere and more than `touches` and rounding can add to it."""
    return radius * (1 + 2.0**-40) + 2.0**-50 * abs(coordinate) + 1e-140


@kernel
def _pack_bodies(first: int, last: int, spheres: F64, records: F64) -> None:
    """Write the records (n, 6) of boxes around ``spheres`` (n, 4); a point is a box of size zero."""
    for i in range(first, last):
        for axis in range(3):
            center = spheres[i, axis]
            half = half_edge(center, spheres[i, 3]) if spheres[i, 3] > 0 else 0.0
            records[i, axis] = center - half
            records[i, axis + 3] = center + half

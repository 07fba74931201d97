"""The bodies of a shared world as arrays: where each is, how large it is, and how far it looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.types import Floats, Rows
from choque.errors import InvalidInput

NO_AREA = -1.0
"""The reach of a body that looks at nothing."""


@dataclass(frozen=True)
class Bodies:
    """One row a body.

    Attributes
    ----------
    spheres
        (n, 4) float64: the position, whose third coordinate is 0 in the plane, and the body radius. Four numbers are
        half a cache line, so that looking at a body anywhere in memory costs one access.
    reach
        (n,) float64: the radius of each area, `NO_AREA` for a body without one.
    """

    spheres: NDArray[np.float64]
    reach: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.reach)

    def placed(self, position: NDArray[np.float64], rows: Rows | slice = slice(None)) -> Bodies:
        """With these ``rows`` at ``position``, (k, d)."""
        spheres = self.spheres.copy()
        spheres[rows, : position.shape[1]] = position
        return replace(self, spheres=spheres)

    def joined(self, other: Bodies) -> Bodies:
        """These bodies and then the ``other`` ones."""
        return Bodies(np.concatenate((self.spheres, other.spheres)), np.concatenate((self.reach, other.reach)))

    def kept(self, rows: Rows) -> Bodies:
        """The bodies of these ``rows`` alone."""
        return Bodies(self.spheres[rows], self.reach[rows])


def make_bodies(position: NDArray[np.float64], radius: Any, body_radius: ArrayLike | None) -> Bodies:
    """Bodies at a ``position`` (n, d) that was checked."""
    count, dimension = position.shape
    spheres = np.zeros((count, 4))
    spheres[:, :dimension] = position
    spheres[:, 3] = 0.0 if body_radius is None else _each(body_radius, "body_radius", count)
    return Bodies(spheres, checked_reach(radius, count))


def checked_position(position: ArrayLike, dimension: int | None = None, count: int | None = None) -> Any:
    """``position`` as finite float64 of shape (n, 2) or (n, 3), of the ``dimension`` and ``count`` asked for."""
    given: Floats = check.coordinates(position, "position")
    if dimension is not None and given.shape[1] != dimension:
        raise InvalidInput(f"position has {given.shape[1]} axes and the areas have {dimension}; they must agree.")
    if count is not None and len(given) != count:
        raise InvalidInput(f"{len(given)} positions were given for {count} bodies; give one for each, in ascending id.")
    check.finite(given, "position")
    return given.astype(np.float64)


def checked_reach(radius: Any, count: int) -> NDArray[np.float64]:
    """The radius of each area; None, or masked, where a body has no area."""
    if radius is None:
        return np.full(count, NO_AREA)
    if isinstance(radius, np.ma.MaskedArray):
        reach = _each(radius.filled(0), "radius", count)
        reach[np.broadcast_to(np.ma.getmaskarray(radius), (count,))] = NO_AREA
        return reach
    if isinstance(radius, np.ndarray) and radius.dtype == object:
        radius = radius.tolist()
    if isinstance(radius, Sequence) and any(value is None for value in radius):
        blind = np.array([value is None for value in radius])
        reach = _each([0.0 if value is None else value for value in radius], "radius", count)
        reach[blind] = NO_AREA
        return reach
    return _each(radius, "radius", count)


def _each(given: ArrayLike, name: str, count: int) -> NDArray[np.float64]:
    """(count,) float64 from one number for all, or one for each."""
    values = check.floats(given, name)
    if values.shape not in ((), (count,)):
        raise InvalidInput(f"{name} has the shape {values.shape}; it must be one number for all, or ({count},).")
    each = np.broadcast_to(values, (count,)).astype(np.float64)
    check.not_negative(each, name)
    if not values.shape and not count:
        check.not_negative(values.reshape(1), name)
    return each

"""Who is in a world: bodies with ids, that come and go."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from numbers import Real
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.ids import Identities
from choque._core.types import Floats, Rows
from choque.dynamics import Response
from choque.dynamics.mechanics import capsule_inertia, limit_speeds, sphere_inertia
from choque.errors import InvalidInput
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE
from choque.world._bodies import Bodies
from choque.world._columns import MOST_BODIES, BodyOptions, Columns
from choque.world._settings import Settings

if TYPE_CHECKING:
    from choque.narrow.hulls import Hulls

Ids = NDArray[np.int32]


class Population:
    """Bodies of every kind, added by thousands at once and taken out by id. An id is never used again.

    What is refused changes nothing: no body is added and no id used up.
    """

    settings: Settings
    """The rules in force; changed by `World.switch`."""
    _response: Response

    def __init__(self, dtype: np.dtype[np.floating[Any]]) -> None:
        self._bodies = Bodies.none(dtype)
        self._identities = Identities.first(0)

    def __len__(self) -> int:
        return len(self._bodies)

    @property
    def bodies(self) -> Bodies:
        """The state as arrays, which steps write to; new ones after bodies came or went."""
        return self._bodies

    def add_spheres(self, center: ArrayLike, radius: ArrayLike = 1.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add spheres around ``center`` (n, 3) of ``radius`` (n,) or one for all; gives their ids.

        ``options`` are those of `BodyOptions`, each one value for all or one for each.
        """
        columns = Columns(center, options)
        reach = columns.positive(radius, "radius")
        return self._add(columns, SPHERE, _sizes(reach), lambda mass: sphere_inertia(mass, reach))

    def add_capsules(
        self,
        center: ArrayLike,
        radius: ArrayLike = 1.0,
        length: ArrayLike = 1.0,
        *,
        rocket: ArrayLike = False,
        **options: Unpack[BodyOptions],
    ) -> Ids:
        """Add capsules along local z; ``length`` is that of the cylinder, without the half spheres at its ends.

        A ``rocket`` is a capsule that is drawn differently, nothing else.
        """
        columns = Columns(center, options)
        reach, long = columns.positive(radius, "radius"), columns.not_negative(length, "length")
        return self._add(
            columns, CAPSULE, _sizes(reach, long), lambda mass: capsule_inertia(mass, reach, long), rocket=rocket
        )

    def add_tiles(
        self, center: ArrayLike, length: ArrayLike = 30.0, width: ArrayLike = 30.0, **options: Unpack[BodyOptions]
    ) -> Ids:
        """Add rectangles, ``length`` along local x, ``width`` along local z, with two faces. They are always static."""
        columns = Columns(center, options)
        size = _sizes(columns.positive(length, "length"), columns.positive(width, "width"))
        return self._add(columns, TILE, size, _no_inertia, static=True)

    def add_ground(self, height: float = 0.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add the half-space below ``height``, or below the plane that a ``rotation`` turns it to; it is static."""
        if isinstance(height, bool) or not isinstance(height, Real) or not math.isfinite(height):
            raise InvalidInput(f"height is {height!r}; it must be a finite number.")
        columns = Columns([[0.0, float(height), 0.0]], options)
        return self._add(columns, PLANE, _sizes(np.zeros(1)), _no_inertia, static=True)

    def add_boxes(self, center: ArrayLike, size: ArrayLike = 1.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add solid boxes with the edges ``size``: one for all, (3,), or (n, 3)."""
        from choque.narrow.hulls import Hulls

        columns = Columns(center, options)
        return self._add_convex(columns, Hulls.boxes(), 0, columns.sides(size, "size"))

    def add_hulls(
        self,
        hull: Hulls | ArrayLike | str | os.PathLike[str],
        center: ArrayLike,
        scale: ArrayLike = 1.0,
        *,
        row: ArrayLike = 0,
        **options: Unpack[BodyOptions],
    ) -> Ids:
        """Add convex solids of even density.

        Parameters
        ----------
        hull
            The points (v, 3) of a solid, the file of a mesh, or a library `choque.narrow.Hulls`; the solid is their
            convex hull.
        center
            (n, 3): where centres of mass are.
        scale
            One for all, (3,), or (n, 3) along the principal axes of the hull.
        row
            Which hull of a library: one for all, or (n,).
        options
            Those of `BodyOptions`. A ``rotation`` turns a solid from the way in which it was given.
        """
        from choque.world._hull_library import as_hulls

        columns = Columns(center, options)
        return self._add_convex(columns, as_hulls(hull), row, columns.sides(scale, "scale"))

    def remove(self, ids: ArrayLike) -> None:
        """Take the bodies ``ids`` out; their ids are never used again."""
        rows = self._identities.rows_of(ids)
        staying: Rows = np.delete(np.arange(len(self)), rows)
        self._identities = self._identities.kept(staying)
        self._bodies = self._bodies.kept(staying)

    def _add_convex(self, columns: Columns, arriving: Hulls, row: ArrayLike, scale: NDArray[np.float64]) -> Ids:
        from choque.world._hull_library import chosen, joined

        rows = chosen(row, columns.count, arriving)
        hulls, places = joined(self._bodies.hulls, arriving)
        return self._add(
            columns,
            CONVEX,
            scale,
            lambda mass: arriving.inertia(rows, scale, mass),
            hull=places[rows],
            hulls=hulls,
            frame=arriving.frame[rows],
        )

    def _add(
        self,
        columns: Columns,
        kind: int,
        size: NDArray[np.float64],
        inertia: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        **further: Any,
    ) -> Ids:
        if self._identities.following + columns.count > MOST_BODIES:
            raise InvalidInput(f"{columns.count:,} more bodies are too many: ids end at {MOST_BODIES:,}.")
        identities, ids = self._identities.joined(columns.count)
        straight = self._response.normalises_rotations
        hulls = further.pop("hulls", self._bodies.hulls)
        bodies = columns.bodies(ids, kind, size, inertia, self._bodies.dtype, straight=straight, hulls=hulls, **further)
        limit_speeds(bodies, self.settings.max_speed, self.settings.max_spin)
        self._bodies, self._identities = self._bodies.joined(bodies), identities
        return ids


def _sizes(*parts: Floats) -> NDArray[np.float64]:
    """(n, 3) sizes whose first columns are the ``parts``."""
    size = np.zeros((len(parts[0]), 3))
    for column, part in enumerate(parts):
        size[:, column] = part
    return size


def _no_inertia(mass: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.zeros((len(mass), 3))

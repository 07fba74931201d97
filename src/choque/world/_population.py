"""The bodies of a world: adding them by kind, and removing them by id."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.ids import Identities
from choque._core.kernel import compile_ahead
from choque._core.threads import Gate, one_thread
from choque._core.types import F64, I32, Floats, Rows
from choque.dynamics import Response
from choque.dynamics.mechanics import capsule_inertia, sphere_inertia
from choque.dynamics.response import limit_speeds
from choque.errors import InvalidInput
from choque.narrow.shapes import CAPSULE, CONVEX, MESH, PLANE, SPHERE, TILE
from choque.world.arguments import MAX_BODIES, Arguments, BodyOptions
from choque.world.bodies import Bodies, Loan
from choque.world.bounds import mean_row
from choque.world.settings import Settings

if TYPE_CHECKING:
    from choque.narrow.hulls import Hulls

Ids = I32
FIRST_STEPS = {SPHERE: "World.step, soft-step, spheres", CONVEX: "World.step, soft-step, boxes"}
"""Titles in `choque._core.compile_beside`."""


class Population:
    """Bodies of all kinds, added in arrays and removed by id. Ids are never reused.

    A call that raises changes nothing: no body is added and no id is used.
    """

    settings: Settings  # the present settings; `World.switch` changes them
    _gate: Gate
    _bodies: Bodies
    _loan: Loan
    _response: Response
    _identities: Identities

    def __len__(self) -> int:
        return len(self._bodies)

    @property
    def bodies(self) -> Bodies:
        """The state as arrays. Steps write to them; adding and removing bodies replaces them."""
        return self._loan.lend(self._bodies)

    def add_spheres(self, position: ArrayLike, radius: ArrayLike = 1.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add spheres around ``position`` (n, 3) of ``radius``, (n,) or one for all; return their ids.

        ``options`` are those of `choque.world.arguments.BodyOptions`, each one value for all bodies or one for each.
        """
        columns = Arguments(position, options)
        reach = columns.numbers(radius, "radius", above=0)
        return self._add(columns, SPHERE, _sizes(reach), lambda mass: sphere_inertia(mass, reach))

    def add_capsules(
        self,
        position: ArrayLike,
        radius: ArrayLike = 1.0,
        length: ArrayLike = 1.0,
        *,
        rocket: ArrayLike = False,
        **options: Unpack[BodyOptions],
    ) -> Ids:
        """Add capsules along local z; ``length`` is that of the cylinder, without the hemispheres at its ends.

        A ``rocket`` is a capsule that is drawn differently.
        """
        columns = Arguments(position, options)
        reach, long = columns.numbers(radius, "radius", above=0), columns.numbers(length, "length", minimum=0)
        return self._add(
            columns, CAPSULE, _sizes(reach, long), lambda mass: capsule_inertia(mass, reach, long), rocket=rocket
        )

    def add_tiles(
        self, position: ArrayLike, length: ArrayLike = 30.0, width: ArrayLike = 30.0, **options: Unpack[BodyOptions]
    ) -> Ids:
        """Add static rectangles with two faces, ``length`` along local x and ``width`` along local z."""
        columns = Arguments(position, options)
        size = _sizes(columns.numbers(length, "length", above=0), columns.numbers(width, "width", above=0))
        return self._add(columns, TILE, size, _no_inertia, static=True)

    def add_ground(self, height: float = 0.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add the static half-space below ``height``; a ``rotation`` tilts its surface."""
        columns = Arguments([[0.0, check.number(height, "height"), 0.0]], options)
        return self._add(columns, PLANE, _sizes(np.zeros(1)), _no_inertia, static=True)

    def add_boxes(self, position: ArrayLike, size: ArrayLike = 1.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add solid boxes with edges of length ``size``: one for all, (3,), or (n, 3)."""
        from choque.narrow.hulls import Hulls

        columns = Arguments(position, options)
        return self._add_convex(columns, Hulls.boxes(), 0, columns.numbers(size, "size", 3, above=0))

    def add_hulls(
        self,
        hull: Hulls | ArrayLike | str | os.PathLike[str],
        position: ArrayLike,
        scale: ArrayLike = 1.0,
        *,
        row: ArrayLike = 0,
        **options: Unpack[BodyOptions],
    ) -> Ids:
        """Add convex solids of uniform density.

        Parameters
        ----------
        hull
            The points (v, 3) of a solid, a mesh file, or a library `choque.narrow.Hulls`; the solid is the convex hull.
        position
            (n, 3): the centres of mass.
        scale
            One for all, (3,), or (n, 3) along the principal axes of the hull.
        row
            Which hull of a library: one for all, or (n,).
        options
            Those of `choque.world.arguments.BodyOptions`. With the identity as ``rotation``, points are not turned.
        """
        from choque.world.hull_library import as_hulls

        columns = Arguments(position, options)
        return self._add_convex(columns, as_hulls(hull), row, columns.numbers(scale, "scale", 3, above=0))

    def add_mesh(
        self, mesh: Any, position: ArrayLike = (0.0, 0.0, 0.0), scale: ArrayLike = 1.0, **options: Unpack[BodyOptions]
    ) -> Ids:
        """Add a static mesh, such as a terrain: a surface with two sides, not a solid.

        Parameters
        ----------
        mesh
            A `choque.Mesh`, a mesh file, or what `choque.Mesh` takes: a mesh of another library, a volume.
        position
            (3,), or (n, 3) for several: where the origin of its vertices is.
        scale
            A factor of its vertices, or (3,) along its axes.
        options
            Those of `BodyOptions`; it is static whatever they say, and moves with its own velocity.

        Notes
        -----
        Bodies touch its triangles one by one. Under ``soft-step`` edges inside a surface do not stop what slides across
        them, as long as triangles share the places of their corners.
        """
        from choque.meshes import Mesh
        from choque.narrow.hulls import Hulls
        from choque.world.hull_library import joined

        columns = Arguments(position, options)
        if isinstance(mesh, str | os.PathLike):
            mesh = Mesh.read(mesh)
        given = mesh if isinstance(mesh, Mesh) else Mesh(mesh)
        factor = check.table(scale, "scale", (3,), above=0)
        if (factor != 1).any():
            given = Mesh(given.vertices * factor, given.faces)
        hulls, places = joined(self._bodies.hulls, Hulls.meshes(given))
        hull = np.repeat(places, columns.count)
        size = np.ones((columns.count, 3))
        return self._add(columns, MESH, size, _no_inertia, static=True, hull=hull, hulls=hulls)

    @one_thread
    def remove(self, ids: ArrayLike) -> None:
        """Remove the bodies ``ids``; their ids are never reused."""
        rows = self._identities.rows_of(ids)
        staying: Rows = np.delete(np.arange(len(self)), rows)
        self._identities, self._bodies = self._identities.kept(staying), self._bodies.take(staying)

    def _add_convex(self, columns: Arguments, arriving: Hulls, row: ArrayLike, scale: F64) -> Ids:
        from choque.world.hull_library import joined

        rows = check.whole_numbers(row, "row", columns.count, 0, len(arriving) - 1)
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

    @one_thread
    def _add(self, columns: Arguments, kind: int, size: F64, inertia: Callable[[F64], F64], **further: Any) -> Ids:
        if self._identities.following + columns.count > MAX_BODIES:
            raise InvalidInput(f"{columns.count:,} more bodies are too many: ids end at {MAX_BODIES:,}.")
        identities, ids = self._identities.joined(columns.count)
        further["orthonormalise"] = self._response.normalises_rotations
        further["gravity"] = self.settings.gravity
        further["restitution"] = self._response.restitution
        further.setdefault("hulls", self._bodies.hulls)
        bodies = columns.bodies(ids, kind, size, inertia, self._bodies.dtype, **further)
        self._response.check(bodies)
        limit_speeds(bodies, self.settings.max_speed, self.settings.max_spin)
        self._bodies, self._identities = replace(self._bodies.joined(bodies), hulls=bodies.hulls), identities
        if self.settings.response == "soft-step" and kind in FIRST_STEPS:
            compile_ahead(mean_row, FIRST_STEPS[kind])
        return ids


def _sizes(*parts: Floats) -> F64:
    """Return (n, 3) sizes whose first columns are the ``parts``."""
    size = np.zeros((len(parts[0]), 3))
    for column, part in enumerate(parts):
        size[:, column] = part
    return size


def _no_inertia(mass: F64) -> F64:
    return np.zeros((len(mass), 3))

"""The bodies of a world: adding them, with all arguments checked first, and removing them by id."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.ids import Identities
from choque._core.pair_keys import EVERY_GROUP, bit_field
from choque._core.threads import Gate, one_thread
from choque._core.types import Floats, Rows
from choque._core.vector import orthonormalised
from choque.dynamics import Response
from choque.dynamics.mechanics import capsule_inertia, sphere_inertia
from choque.dynamics.response import limit_speeds
from choque.errors import InvalidInput, UnknownName
from choque.narrow.shapes import CAPSULE, CONVEX, MESH, PLANE, SPHERE, TILE
from choque.world.bodies import Bodies
from choque.world.settings import Settings

if TYPE_CHECKING:
    from choque.narrow.hulls import Hulls

Ids = NDArray[np.int32]


MAX_BODIES = 2**31 - 1
"""Ids are 32 bits wide."""


class BodyOptions(TypedDict, total=False):
    """Options of all kinds of bodies: one value for all, or one for each."""

    mass: ArrayLike
    """Positive; 1 unless given."""
    velocity: ArrayLike
    """(3,) or (n, 3) [unit/s]; 0 by default."""
    angular_velocity: ArrayLike
    """(3,) or (n, 3) about the axes of the world [rad/s]; 0 by default."""
    acceleration: ArrayLike | None
    """(3,) or (n, 3) [unit/s²]; None, the default, for the gravity of the world, and for 0 of static bodies."""
    rotation: ArrayLike | None
    """(3, 3) or (n, 3, 3) rotation matrices, ``rotation @ local`` in the world; None for the identity."""
    restitution: ArrayLike | None
    """From 0, no rebound, to 1; None, the default, for 0 by ``soft-step`` and 1 by other responses.

    A contact has the larger of both bodies by ``soft-step``, and the mean by others.
    """
    friction: ArrayLike
    """Coefficient of friction, 0.6 by default; a contact has the geometric mean of both bodies. By ``soft-step``."""
    rolling: ArrayLike
    """Coefficient of resistance to rolling, 0 by default; a contact has the larger one. By ``soft-step``."""
    surface_velocity: ArrayLike
    """(3,) or (n, 3) [unit/s]: how fast the surface runs along the body, as a conveyor; 0 by default."""
    linear_damping: ArrayLike
    angular_damping: ArrayLike
    """0 or more [1/s], 0 by default: velocity and spin are divided by 1 + damping · dt in a step. By ``soft-step``."""
    gravity_factor: ArrayLike
    """How much of the gravity of the world acts, 1 by default; any number. Not together with an acceleration."""
    static: ArrayLike
    """True: infinite mass. The body still moves with its own velocity."""
    bullet: ArrayLike
    """True: does not pass through moving bodies either, however fast; no body passes through static ones. By
    ``soft-step``."""
    sensor: ArrayLike
    """True: touches nothing; `World.sensed` and `World.events` tell what overlaps it. By ``soft-step``."""
    locked: ArrayLike
    """(6,) or (n, 6) flags: does not move along x, y, z of the world, and does not turn about x, y, z; none by default.

    ``(0, 0, 1, 1, 1, 0)`` keeps bodies in the plane z = 0. By ``soft-step``.
    """
    group: ArrayLike
    mask: ArrayLike
    """Bit fields of 32 bits: two bodies meet if each is in a group that the mask of the other has. 1, and all bits, by
    default."""
    color: ArrayLike
    """(3,) or (n, 3) whole numbers from 0 to 255: red, green, blue."""
    drawn: ArrayLike
    """False: not drawn."""


DEFAULTS: BodyOptions = {
    "mass": 1.0,
    "velocity": 0.0,
    "angular_velocity": 0.0,
    "acceleration": None,
    "rotation": None,
    "restitution": None,
    "friction": 0.6,
    "rolling": 0.0,
    "surface_velocity": 0.0,
    "linear_damping": 0.0,
    "angular_damping": 0.0,
    "gravity_factor": 1.0,
    "static": False,
    "bullet": False,
    "sensor": False,
    "locked": False,
    "group": 1,
    "mask": EVERY_GROUP,
    "color": (200, 200, 200),
    "drawn": True,
}


class Population:
    """Bodies of all kinds, added in arrays and removed by id. Ids are never reused.

    A call that raises changes nothing: no body is added and no id is used.
    """

    settings: Settings
    """The present settings; `World.switch` changes them."""
    _gate: Gate
    _bodies: Bodies
    _response: Response
    _identities: Identities

    def __len__(self) -> int:
        return len(self._bodies)

    @property
    def bodies(self) -> Bodies:
        """The state as arrays. Steps write to them; adding and removing bodies replaces them."""
        return self._bodies

    def add_spheres(self, position: ArrayLike, radius: ArrayLike = 1.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add spheres around ``position`` (n, 3) of ``radius``, (n,) or one for all; return their ids.

        ``options`` are those of `BodyOptions`, each one value for all bodies or one for each.
        """
        columns = _Columns(position, options)
        reach = columns.positive(radius, "radius")
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
        columns = _Columns(position, options)
        reach, long = columns.positive(radius, "radius"), columns.not_negative(length, "length")
        return self._add(
            columns, CAPSULE, _sizes(reach, long), lambda mass: capsule_inertia(mass, reach, long), rocket=rocket
        )

    def add_tiles(
        self, position: ArrayLike, length: ArrayLike = 30.0, width: ArrayLike = 30.0, **options: Unpack[BodyOptions]
    ) -> Ids:
        """Add static rectangles with two faces, ``length`` along local x and ``width`` along local z."""
        columns = _Columns(position, options)
        size = _sizes(columns.positive(length, "length"), columns.positive(width, "width"))
        return self._add(columns, TILE, size, _no_inertia, static=True)

    def add_ground(self, height: float = 0.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add the static half-space below ``height``; a ``rotation`` tilts its surface."""
        columns = _Columns([[0.0, check.number(height, "height"), 0.0]], options)
        return self._add(columns, PLANE, _sizes(np.zeros(1)), _no_inertia, static=True)

    def add_boxes(self, position: ArrayLike, size: ArrayLike = 1.0, **options: Unpack[BodyOptions]) -> Ids:
        """Add solid boxes with edges of length ``size``: one for all, (3,), or (n, 3)."""
        from choque.narrow.hulls import Hulls

        columns = _Columns(position, options)
        return self._add_convex(columns, Hulls.boxes(), 0, columns.sides(size, "size"))

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
            Those of `BodyOptions`. With the identity as ``rotation``, a solid keeps the orientation of its points.
        """
        from choque.world.hull_library import as_hulls

        columns = _Columns(position, options)
        return self._add_convex(columns, as_hulls(hull), row, columns.sides(scale, "scale"))

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

        columns = _Columns(position, options)
        if isinstance(mesh, str | os.PathLike):
            mesh = Mesh.read(mesh)
        given = mesh if isinstance(mesh, Mesh) else Mesh(mesh)
        factor = check.finite(check.floats(scale, "scale"), "scale")
        if factor.shape not in ((), (3,)) or not (factor > 0).all():
            raise InvalidInput(f"scale is {factor.tolist()}; it must be a number above 0, or three of them.")
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

    def _add_convex(self, columns: _Columns, arriving: Hulls, row: ArrayLike, scale: NDArray[np.float64]) -> Ids:
        from choque.world.hull_library import chosen, joined

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

    @one_thread
    def _add(
        self,
        columns: _Columns,
        kind: int,
        size: NDArray[np.float64],
        inertia: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        **further: Any,
    ) -> Ids:
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
        return ids


def _sizes(*parts: Floats) -> NDArray[np.float64]:
    """Return (n, 3) sizes whose first columns are the ``parts``."""
    size = np.zeros((len(parts[0]), 3))
    for column, part in enumerate(parts):
        size[:, column] = part
    return size


def _no_inertia(mass: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.zeros((len(mass), 3))


class _Columns:
    """The arguments of one call that adds bodies, checked; there are as many bodies as positions.

    Parameters
    ----------
    position
        (n, 3), or (3,) for one body.
    options
        See `BodyOptions`.
    """

    def __init__(self, position: ArrayLike, options: BodyOptions) -> None:
        for name in options:
            if name not in DEFAULTS:
                raise UnknownName("property of bodies", name, DEFAULTS)
        given = check.floats(position, "position").astype(np.float64)
        if given.shape == (3,):
            given = given.reshape(1, 3)
        if given.ndim != 2 or given.shape[1] != 3:
            raise InvalidInput(f"position has the shape {given.shape}; it must be (n, 3), or (3,) for one body.")
        check.finite(given, "position")
        self.position = given
        self.count = len(given)
        self._options: BodyOptions = {**DEFAULTS, **options}

    def positive(self, given: ArrayLike, name: str) -> NDArray[np.float64]:
        """Return (n,) finite numbers above 0."""
        return self._numbers(given, name, (), lambda value: value > 0, "it must be greater than 0")

    def not_negative(self, given: ArrayLike, name: str) -> NDArray[np.float64]:
        """Return (n,) finite numbers of at least 0."""
        return self._numbers(given, name, (), lambda value: value >= 0, "it must be 0 or more")

    def vectors(self, given: ArrayLike, name: str) -> NDArray[np.float64]:
        """Return (n, 3) finite numbers; a single one fills all three."""
        return self._numbers(given, name, (3,))

    def sides(self, given: ArrayLike, name: str) -> NDArray[np.float64]:
        """Return (n, 3) finite numbers above 0; a single one fills all three."""
        return self._numbers(given, name, (3,), lambda value: value > 0, "it must be greater than 0")

    def flags(self, given: ArrayLike, name: str) -> NDArray[np.bool_]:
        """Return (n,) booleans."""
        return check.flags(given, name, self.count)

    def bodies(
        self,
        ids: NDArray[np.int32],
        kind: int,
        size: NDArray[np.float64],
        inertia: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        dtype: np.dtype[np.floating[Any]],
        *,
        static: bool = False,
        rocket: ArrayLike = False,
        hull: NDArray[np.int32] | None = None,
        hulls: Any = None,
        frame: NDArray[np.float64] | None = None,
        orthonormalise: bool = True,
        gravity: tuple[float, ...] = (0.0, 0.0, 0.0),
        restitution: float = 1.0,
    ) -> Bodies:
        """Return the bodies; raise `InvalidInput` unless all arguments are valid.

        Parameters
        ----------
        ids, kind, size, hull, hulls
            As in `Bodies`.
        inertia
            Returns the principal moments (n, 3) for the masses (n,).
        static
            True for a kind that is always static.
        rocket
            Whether capsules are drawn as rockets.
        frame
            (n, 3, 3) the axes of each body as columns, before ``rotation`` is applied; None for those of the world.
        orthonormalise
            Whether rotations are made orthonormal to the last bit, or kept as given.
        gravity, restitution
            The acceleration (3,) of bodies that are not static, and the restitution, where none is given.
        """
        given = self._options
        mass = self.positive(given["mass"], "mass")
        still = self.flags(given["static"], "static") | static
        with np.errstate(over="ignore", invalid="ignore"):  # checked below, with a sentence
            moments = inertia(mass).astype(dtype)
        weight = mass.astype(dtype)
        with np.errstate(divide="ignore", over="ignore"):
            inverse_mass = np.where(still, 0, 1 / weight).astype(dtype)
            inverse_inertia = np.where(still[:, np.newaxis], 0, 1 / moments).astype(dtype)
        resists = np.isfinite(inverse_mass) & np.isfinite(inverse_inertia).all(axis=1) & np.isfinite(weight)
        resists &= np.isfinite(moments).all(axis=1) & np.isfinite(size.astype(dtype)).all(axis=1)
        if not resists.all():
            row = int(np.argmin(resists))
            raise InvalidInput(
                f"Row {row} has the mass {mass[row]:g} and the size {size[row].tolist()}; its inertia is outside what "
                f"{dtype} holds. Choose other units."
            )
        columns: dict[str, Any] = {
            "ids": ids,
            "kind": np.full(self.count, kind, np.int8),
            "position": self.position,
            "rotation": self._rotation(frame, orthonormalise),
            "velocity": self.vectors(given["velocity"], "velocity"),
            "angular_velocity": self.vectors(given["angular_velocity"], "angular_velocity"),
            "acceleration": self._acceleration(gravity, still),
            "restitution": self._restitution(restitution),
            "friction": self.not_negative(given["friction"], "friction"),
            "rolling": self.not_negative(given["rolling"], "rolling"),
            "surface_velocity": self.vectors(given["surface_velocity"], "surface_velocity"),
            "linear_damping": self.not_negative(given["linear_damping"], "linear_damping"),
            "angular_damping": self.not_negative(given["angular_damping"], "angular_damping"),
            "size": size,
        }
        for name, column in columns.items():
            if column.dtype.kind == "f":
                columns[name] = check.cast(column, name, dtype)
        return Bodies(
            **columns,
            mass=weight,
            inverse_mass=inverse_mass,
            inertia=moments,
            inverse_inertia=inverse_inertia,
            static=still,
            bullet=self.flags(given["bullet"], "bullet"),
            sensor=self.flags(given["sensor"], "sensor"),
            locked=self._locked(),
            group=bit_field("group", given["group"], self.count, 1),
            mask=bit_field("mask", given["mask"], self.count, EVERY_GROUP),
            hull=np.full(self.count, -1, np.int32) if hull is None else hull,
            color=self._color(),
            drawn=self.flags(given["drawn"], "drawn"),
            rocket=self.flags(rocket, "rocket"),
            hulls=hulls,
        )

    def _numbers(
        self,
        given: ArrayLike,
        name: str,
        shape: tuple[int, ...],
        allowed: Callable[[NDArray[np.float64]], NDArray[np.bool_]] = np.isfinite,
        rule: str = "it must be a number",
    ) -> NDArray[np.float64]:
        array = check.floats(given, name).astype(np.float64)
        if array.shape not in ((), shape, (self.count, *shape)):
            wanted = " or ".join(str(one) for one in dict.fromkeys((shape, (self.count, *shape))) if one)
            raise InvalidInput(f"{name} has the shape {array.shape}; it must be a number, or of shape {wanted}.")
        fair = allowed(array) & np.isfinite(array)
        if not fair.all():
            raise InvalidInput(f"{name} holds {array[~fair].flat[0]}; {rule}, and finite.")
        return np.broadcast_to(array, (self.count, *shape)).copy()

    def _acceleration(self, gravity: tuple[float, ...], still: NDArray[np.bool_]) -> NDArray[np.float64]:
        given, factor = self._options["acceleration"], self._options["gravity_factor"]
        if given is not None:
            if factor is not DEFAULTS["gravity_factor"]:
                raise InvalidInput("Both acceleration and gravity_factor are given; give one of them.")
            return self.vectors(given, "acceleration")
        factors = self._numbers(factor, "gravity_factor", ())[:, np.newaxis]
        return np.where(still[:, np.newaxis], 0.0, factors * np.array(gravity))

    def _locked(self) -> NDArray[np.bool_]:
        array = np.asarray(self._options["locked"])
        if array.shape not in ((), (6,), (self.count, 6)) or not np.isin(array, (0, 1)).all():
            raise InvalidInput(
                f"locked has the shape {array.shape} and the type {array.dtype}; it must be six flags, for x, y, z "
                f"and turns about x, y, z, or ({self.count}, 6) of them."
            )
        return np.broadcast_to(array, (self.count, 6)).astype(np.bool_)

    def _restitution(self, otherwise: float) -> NDArray[np.float64]:
        given = self._options["restitution"]
        return self._numbers(
            otherwise if given is None else given,
            "restitution",
            (),
            lambda value: (value >= 0) & (value <= 1),
            "it must be from 0, no rebound, to 1",
        )

    def _rotation(self, frame: NDArray[np.float64] | None, orthonormalise: bool) -> NDArray[np.float64]:
        given = self._options["rotation"]
        array = check.floats(np.eye(3) if given is None else given, "rotation").astype(np.float64)
        if array.shape not in ((3, 3), (self.count, 3, 3)):
            raise InvalidInput(
                f"rotation has the shape {array.shape}; it must be (3, 3) or {(self.count, 3, 3)}, or None for none."
            )
        turned = np.broadcast_to(array, (self.count, 3, 3)).copy()
        check.orthonormal(turned, "rotation")
        mirrored = np.flatnonzero(np.linalg.det(turned) < 0)
        if len(mirrored):
            raise InvalidInput(f"Row {int(mirrored[0])} of rotation is a mirror image; its determinant must be +1.")
        if frame is not None:
            turned = turned @ frame
        return orthonormalised(turned) if orthonormalise else turned

    def _color(self) -> NDArray[np.uint8]:
        array = np.asarray(self._options["color"])
        if array.dtype.kind not in "iu" or array.shape not in ((3,), (self.count, 3)):
            raise InvalidInput(
                f"color has the shape {array.shape} and the type {array.dtype}; it must be three whole numbers from "
                f"0 to 255, or ({self.count}, 3) of them."
            )
        if array.size and (array.min() < 0 or array.max() > 255):
            raise InvalidInput(f"color holds {array[(array < 0) | (array > 255)][0]}; each part goes from 0 to 255.")
        return np.broadcast_to(array, (self.count, 3)).astype(np.uint8)

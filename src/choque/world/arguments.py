"""The arguments of calls that add bodies to a world, checked: options, their defaults, and the columns they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.pair_keys import EVERY_GROUP, bit_field
from choque._core.types import F64, I32, U8, Bools
from choque._core.vector import orthonormalised
from choque.errors import InvalidInput
from choque.world.bodies import Bodies

MAX_BODIES = 2**31 - 1  # ids are 32 bits wide


class BodyOptions(TypedDict, total=False):
    """Options of all kinds of bodies: one value for all, or one for each."""

    mass: ArrayLike  #: Positive; 1 unless given.
    velocity: ArrayLike  #: (3,) or (n, 3) [unit/s]; 0 by default.
    angular_velocity: ArrayLike  #: (3,) or (n, 3) about the axes of the world [rad/s]; 0 by default.
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
    """(3,) or (n, 3) in the axes of the world [unit/s]: how fast the surface runs, as a conveyor; 0 by default."""
    linear_damping: ArrayLike
    angular_damping: ArrayLike
    """0 or more [1/s], 0 by default: velocity and spin are divided by 1 + damping · dt in a step. By ``soft-step``."""
    gravity_factor: ArrayLike
    """How much of the gravity of the world acts, 1 by default; any number. Not together with an acceleration."""
    static: ArrayLike  #: True: infinite mass. The body still moves with its own velocity.
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
    color: ArrayLike  #: (3,) or (n, 3) whole numbers from 0 to 255: red, green, blue.
    drawn: ArrayLike  #: False: not drawn.


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

VECTORS = ("velocity", "angular_velocity", "surface_velocity")
FLAGS = ("bullet", "sensor", "drawn")
COEFFICIENTS = ("friction", "rolling", "linear_damping", "angular_damping")


class Arguments:
    """The arguments of one call that adds bodies, checked; as many bodies as positions (n, 3), (3,) for one body."""

    def __init__(self, position: ArrayLike, options: BodyOptions) -> None:
        for name in options:
            check.choice(name, "property of bodies", DEFAULTS)
        self.position = check.vectors(position, "position")
        self.count = len(self.position)
        self._options: dict[str, Any] = {**DEFAULTS, **options}

    def numbers(self, given: ArrayLike, name: str, *tail: int, **limits: float) -> F64:
        """Return (n, *tail) finite numbers within the limits of `check.table`; a single one counts for all."""
        return check.table(given, name, (self.count, *tail), **limits)

    def bodies(
        self,
        ids: I32,
        kind: int,
        size: F64,
        inertia: Callable[[F64], F64],  # returns the principal moments (n, 3) for the masses (n,)
        dtype: np.dtype[np.floating[Any]],
        *,
        static: bool = False,  # True for a kind that is always static
        rocket: ArrayLike = False,  # whether capsules are drawn as rockets
        hull: I32 | None = None,
        hulls: Any = None,
        # (n, 3, 3) the axes of each body as columns, before ``rotation`` is applied; None for those of the world
        frame: F64 | None = None,
        orthonormalise: bool = True,  # whether rotations are made orthonormal to the last bit, or kept as given
        gravity: tuple[float, ...] = (0.0, 0.0, 0.0),  # of bodies that are not static, where no acceleration is given
        restitution: float = 1.0,  # where none is given
    ) -> Bodies:
        """Return the bodies; raise `InvalidInput` unless all arguments are valid."""
        given = self._options
        mass = self.numbers(given["mass"], "mass", above=0)
        still = check.flags(given["static"], "static", self.count) | static
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
        rebound = restitution if given["restitution"] is None else given["restitution"]
        columns: dict[str, Any] = {
            "ids": ids,
            "kind": np.full(self.count, kind, np.int8),
            "position": self.position,
            "rotation": self._rotation(frame, orthonormalise),
            "acceleration": self._acceleration(gravity, still),
            "restitution": self.numbers(rebound, "restitution", minimum=0, maximum=1),
            "size": size,
            **{name: self.numbers(given[name], name, 3) for name in VECTORS},
            **{name: self.numbers(given[name], name, minimum=0) for name in COEFFICIENTS},
        }
        flags: dict[str, Any] = {name: check.flags(given[name], name, self.count) for name in FLAGS}
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
            **flags,
            locked=self._locked(),
            group=bit_field("group", given["group"], self.count, 1),
            mask=bit_field("mask", given["mask"], self.count, EVERY_GROUP),
            hull=np.full(self.count, -1, np.int32) if hull is None else hull,
            color=self._color(),
            rocket=check.flags(rocket, "rocket", self.count),
            hulls=hulls,
        )

    def _acceleration(self, gravity: tuple[float, ...], still: Bools) -> F64:
        given, factor = self._options["acceleration"], self._options["gravity_factor"]
        if given is not None:
            if factor is not DEFAULTS["gravity_factor"]:
                raise InvalidInput("Both acceleration and gravity_factor are given; give one of them.")
            return self.numbers(given, "acceleration", 3)
        factors = self.numbers(factor, "gravity_factor")[:, np.newaxis]
        return np.where(still[:, np.newaxis], 0.0, factors * np.array(gravity))

    def _locked(self) -> Bools:
        array = np.asarray(self._options["locked"])
        if array.shape not in ((), (6,), (self.count, 6)) or not np.isin(array, (0, 1)).all():
            raise InvalidInput(
                f"locked has the shape {array.shape} and the type {array.dtype}; it must be six flags, for x, y, z "
                f"and turns about x, y, z, or ({self.count}, 6) of them."
            )
        return np.broadcast_to(array, (self.count, 6)).astype(np.bool_)

    def _rotation(self, frame: F64 | None, orthonormalise: bool) -> F64:
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

    def _color(self) -> U8:
        array = check.integers(self._options["color"], "color", 0, 255)
        if array.shape not in ((3,), (self.count, 3)):
            raise InvalidInput(f"color has the shape {array.shape}; it must be (3,), or ({self.count}, 3).")
        return np.broadcast_to(array, (self.count, 3)).astype(np.uint8)

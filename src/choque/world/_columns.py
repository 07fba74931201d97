"""What is asked of the arguments that describe bodies, before any of them is added."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque._core.rotation import straightened
from choque.errors import InvalidInput, UnknownName
from choque.world._bodies import Bodies

MOST_BODIES = 2**31 - 1
"""Ids are 32 bits wide."""


class BodyOptions(TypedDict, total=False):
    """What every kind of body has: one value for all, or one for each."""

    mass: ArrayLike
    """Positive; 1 unless given."""
    velocity: ArrayLike
    """(3,) or (n, 3) units a second, or 0."""
    angular_velocity: ArrayLike
    """(3,) or (n, 3) radians a second about the axes of the world, or 0."""
    acceleration: ArrayLike
    """(3,) or (n, 3), such as (0, −9.8, 0) for gravity, or 0."""
    rotation: ArrayLike | None
    """(3, 3) or (n, 3, 3) rotation matrices, ``rotation @ local`` in the world; None for none."""
    elasticity: ArrayLike
    """From 0, no rebound, to 1, which is the default; that of a contact is the mean of both bodies'."""
    static: ArrayLike
    """True: of infinite mass. It still moves with its own velocity."""
    color: ArrayLike
    """(3,) or (n, 3) whole numbers from 0 to 255: red, green, blue."""
    drawn: ArrayLike
    """False: not to be drawn."""


DEFAULTS: BodyOptions = {
    "mass": 1.0,
    "velocity": 0.0,
    "angular_velocity": 0.0,
    "acceleration": 0.0,
    "rotation": None,
    "elasticity": 1.0,
    "static": False,
    "color": (200, 200, 200),
    "drawn": True,
}


class Columns:
    """Checks the arguments of one call that adds bodies; the number of centers says how many there are.

    Parameters
    ----------
    center
        (n, 3), or (3,) for one body.
    options
        See `BodyOptions`.
    """

    def __init__(self, center: ArrayLike, options: BodyOptions) -> None:
        for name in options:
            if name not in DEFAULTS:
                raise UnknownName("property of bodies", name, DEFAULTS)
        given = check.floats(center, "center").astype(np.float64)
        if given.shape == (3,):
            given = given.reshape(1, 3)
        if given.ndim != 2 or given.shape[1] != 3:
            raise InvalidInput(f"center has the shape {given.shape}; it must be (n, 3), or (3,) for one body.")
        check.finite(given, "center")
        self.center = given
        self.count = len(given)
        self._options: BodyOptions = {**DEFAULTS, **options}

    def positive(self, given: ArrayLike, name: str) -> NDArray[np.float64]:
        """(n,) finite numbers above 0."""
        return self._numbers(given, name, (), lambda value: value > 0, "it must be greater than 0")

    def not_negative(self, given: ArrayLike, name: str) -> NDArray[np.float64]:
        """(n,) finite numbers of at least 0."""
        return self._numbers(given, name, (), lambda value: value >= 0, "it must not be negative")

    def vectors(self, given: ArrayLike, name: str) -> NDArray[np.float64]:
        """(n, 3) finite numbers; a single one fills all three."""
        return self._numbers(given, name, (3,))

    def sides(self, given: ArrayLike, name: str) -> NDArray[np.float64]:
        """(n, 3) finite numbers above 0; a single one fills all three."""
        return self._numbers(given, name, (3,), lambda value: value > 0, "it must be greater than 0")

    def flags(self, given: ArrayLike, name: str) -> NDArray[np.bool_]:
        """(n,) truth values."""
        array = _array(given, name)
        if array.dtype.kind != "b" or array.shape not in ((), (self.count,)):
            raise InvalidInput(
                f"{name} has the shape {array.shape} and the type {array.dtype}; it must be True or False, "
                f"or ({self.count},) of them."
            )
        return np.broadcast_to(array, self.count).copy()

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
        straight: bool = True,
    ) -> Bodies:
        """The bodies, once everything about them has been checked.

        Parameters
        ----------
        ids, kind, size, hull, hulls
            As in `Bodies`.
        inertia
            Gives the principal moments (n, 3) for the masses (n,).
        static
            True for a kind that is always static.
        rocket
            Whether capsules are drawn as rockets.
        frame
            (n, 3, 3) the axes of each body, as columns, before it is turned; None for those of the world.
        straight
            Whether rotations are made orthonormal to the last bit, or kept as they are given.
        """
        given = self._options
        mass = self.positive(given["mass"], "mass")
        still = self.flags(given["static"], "static") | static
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
            "position": self.center,
            "rotation": self._rotation(frame, straight),
            "velocity": self.vectors(given["velocity"], "velocity"),
            "angular_velocity": self.vectors(given["angular_velocity"], "angular_velocity"),
            "acceleration": self.vectors(given["acceleration"], "acceleration"),
            "elasticity": self._elasticity(),
            "size": size,
        }
        for name, column in columns.items():
            if column.dtype.kind == "f":
                columns[name] = narrowed(column, name, dtype)
        return Bodies(
            **columns,
            mass=weight,
            inverse_mass=inverse_mass,
            inertia=moments,
            inverse_inertia=inverse_inertia,
            static=still,
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

    def _elasticity(self) -> NDArray[np.float64]:
        return self._numbers(
            self._options["elasticity"],
            "elasticity",
            (),
            lambda value: (value >= 0) & (value <= 1),
            "it must be from 0, no rebound, to 1",
        )

    def _rotation(self, frame: NDArray[np.float64] | None, straight: bool) -> NDArray[np.float64]:
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
        return straightened(turned) if straight else turned

    def _color(self) -> NDArray[np.uint8]:
        array = _array(self._options["color"], "color")
        if array.dtype.kind not in "iu" or array.shape not in ((3,), (self.count, 3)):
            raise InvalidInput(
                f"color has the shape {array.shape} and the type {array.dtype}; it must be three whole numbers from "
                f"0 to 255, or ({self.count}, 3) of them."
            )
        if array.size and (array.min() < 0 or array.max() > 255):
            raise InvalidInput(f"color holds {array[(array < 0) | (array > 255)][0]}; each part goes from 0 to 255.")
        return np.broadcast_to(array, (self.count, 3)).astype(np.uint8)


def narrowed(column: NDArray[np.float64], name: str, dtype: np.dtype[np.floating[Any]]) -> NDArray[Any]:
    """The ``column`` in the float type of a world, refused where a number does not fit into it."""
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(column, dtype)
    if not np.isfinite(narrow).all():
        row = int(np.argwhere(~np.isfinite(narrow))[0][0])
        raise InvalidInput(f"Row {row} of {name} is {column[row].tolist()}, which {dtype} cannot hold; use float64.")
    return narrow


def _array(given: ArrayLike, name: str) -> NDArray[Any]:
    try:
        return np.asarray(given)
    except ValueError:
        raise InvalidInput(f"{name} is a ragged list; give one value for all bodies, or one for each.") from None

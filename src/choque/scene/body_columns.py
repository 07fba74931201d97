"""The bodies of a scene as columns: one row a body, in the order of their ids."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.narrow import shapes
from choque.scene.rotations import rotations

SPHERE, CAPSULE, TILE, BOX, GROUND = shapes.SPHERE, shapes.CAPSULE, shapes.TILE, shapes.CONVEX, shapes.PLANE
"""The kinds of bodies in scenes; those that are convex and nothing else are boxes."""

KIND_WORDS = ("sphere", "capsule", "tile", "box", "ground")
"""What scene files call the kinds, in the order of their numbers."""

SIZE_WORDS = (("radius",), ("radius", "length"), ("length", "width"), ("size", "size", "size"), ())
"""What the columns of `BodyColumns.size` mean for each kind; a box has three edges."""

Vectors = NDArray[np.float64]
Values = NDArray[np.float64]
Flags = NDArray[np.bool_]

_TYPES: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {
    "kind": (np.int8, ()),
    "position": (np.float64, (3,)),
    "size": (np.float64, (3,)),
    "velocity": (np.float64, (3,)),
    "acceleration": (np.float64, (3,)),
    "angles": (np.float64, (3,)),
    "spin": (np.float64, (3,)),
    "mass": (np.float64, ()),
    "elasticity": (np.float64, ()),
    "static": (np.bool_, ()),
    "drawn": (np.bool_, ()),
    "rocket": (np.bool_, ()),
    "color": (np.uint8, (3,)),
}

DEFAULTS: dict[str, Any] = {
    "velocity": 0.0,
    "acceleration": 0.0,
    "angles": 0.0,
    "spin": 0.0,
    "mass": 1.0,
    "elasticity": 1.0,
    "static": False,
    "drawn": True,
    "rocket": False,
    "color": (200, 200, 200),
}
"""What a body has that says nothing of it."""


@dataclass(frozen=True, eq=False)
class BodyColumns:
    """Bodies as they start, n of them.

    Attributes
    ----------
    kind
        (n,) int8: sphere, capsule, tile, box or ground, as `KIND_WORDS` numbers them.
    position
        (n, 3): the centres; y is up.
    size
        (n, 3): sphere (radius, 0, 0); capsule (radius, length of its cylinder along local z, 0); tile (length along
        local x, width along local z, 0), its normal local y; box: its edges; ground: nothing.
    velocity, acceleration
        (n, 3): units a second, and a second squared. Gravity is the acceleration of each body.
    angles, spin
        (n, 3): degrees and degrees a second about x, y and z; see `rotation` and `angular_velocity`.
    mass, elasticity
        (n,): elasticity is from 0 to 1.
    static, drawn, rocket
        (n,) bool: a static body yields to nothing but moves as its velocity says; a rocket is a capsule that is drawn
        differently.
    color
        (n, 3) uint8: red, green, blue.
    """

    kind: NDArray[np.int8]
    position: Vectors
    size: Vectors
    velocity: Vectors
    acceleration: Vectors
    angles: Vectors
    spin: Vectors
    mass: Values
    elasticity: Values
    static: Flags
    drawn: Flags
    rocket: Flags
    color: NDArray[np.uint8]

    @classmethod
    def filled(cls, kind: ArrayLike, position: ArrayLike, size: ArrayLike, **attributes: Any) -> Self:
        """Make columns from rows or from values that all bodies share; what is not given is as in `DEFAULTS`.

        There are as many bodies as rows of ``position``. Tiles and grounds are static whatever is said.
        """
        for name in attributes:
            if name not in DEFAULTS:
                raise InvalidInput(f"Bodies have no {name!r}; they have {', '.join(DEFAULTS)}.")
        centers = _column("position", np.atleast_2d(position), None)
        given = {"kind": kind, "position": centers, "size": size, **DEFAULTS, **attributes}
        columns = {name: _column(name, value, len(centers)) for name, value in given.items()}
        columns["static"] |= (columns["kind"] == TILE) | (columns["kind"] == GROUND)
        return cls(**columns)

    @classmethod
    def none(cls) -> Self:
        """No bodies at all."""
        return cls.filled(0, np.empty((0, 3)), np.empty((0, 3)))

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def rotation(self) -> Vectors:
        """(n, 3, 3): ``rotation @ local`` is the direction in the world."""
        return rotations(self.angles)

    @property
    def angular_velocity(self) -> Vectors:
        """(n, 3): radians a second about the axes of the world."""
        return np.radians(self.spin)

    def take(self, rows: Any) -> Self:
        """The bodies in these rows, or of these flags."""
        return type(self)(*(getattr(self, each.name)[rows] for each in fields(self)))

    def moved(self, by: ArrayLike) -> Self:
        """The same bodies, each ``by`` (3,) farther."""
        columns = {each.name: getattr(self, each.name) for each in fields(self)}
        return type(self)(**{**columns, "position": self.position + np.asarray(by, dtype=np.float64)})


def _column(name: str, value: ArrayLike, count: int | None) -> NDArray[Any]:
    """Give a value the type and shape of its column; without ``count``, it says itself how many rows there are."""
    dtype, tail = _TYPES[name]
    return _typed(name, value, dtype, (-1 if count is None else count, *tail))


def _typed(name: str, value: ArrayLike, dtype: type[np.generic], shape: tuple[int, ...]) -> NDArray[Any]:
    """Spread a value over ``shape``, -1 for as many rows as it has; a copy, so that no two scenes share memory."""
    try:
        given = np.asarray(value)
        if name == "color" and not bool(((given >= 0) & (given <= 255) & (given == np.floor(given))).all()):
            raise InvalidInput("A color has a value that is no whole number from 0 to 255.")
        typed = given.astype(dtype)
        rows = len(typed) if shape[0] < 0 else shape[0]
        return np.array(np.broadcast_to(typed, (rows, *shape[1:])), order="C")
    except InvalidInput:
        raise
    except (TypeError, ValueError, OverflowError) as problem:
        raise InvalidInput(f"The {name} of bodies cannot be {value!r:.80}: {problem}.") from problem


def spheres(position: ArrayLike, radius: ArrayLike = 1.0, **attributes: Any) -> BodyColumns:
    """Spheres about ``position`` (n, 3)."""
    return _sized(SPHERE, position, (radius, 0.0, 0.0), attributes)


def capsules(position: ArrayLike, radius: ArrayLike = 1.0, length: ArrayLike = 1.0, **attributes: Any) -> BodyColumns:
    """Capsules about ``position`` (n, 3); ``length`` is that of the cylinder between the two half spheres."""
    return _sized(CAPSULE, position, (radius, length, 0.0), attributes)


def tiles(position: ArrayLike, length: ArrayLike = 30.0, width: ArrayLike = 30.0, **attributes: Any) -> BodyColumns:
    """Tiles about ``position`` (n, 3), which are static."""
    return _sized(TILE, position, (length, width, 0.0), attributes)


def boxes(position: ArrayLike, size: ArrayLike = 1.0, **attributes: Any) -> BodyColumns:
    """Boxes about ``position`` (n, 3) with edges ``size``."""
    return BodyColumns.filled(BOX, position, size, **attributes)


def ground(height: float = 0.0, **attributes: Any) -> BodyColumns:
    """The half-space below ``height``."""
    return BodyColumns.filled(GROUND, [[0.0, height, 0.0]], 0.0, **attributes)


def join(*parts: BodyColumns) -> BodyColumns:
    """One set of columns out of several, in their order."""
    if not parts:
        return BodyColumns.none()
    return BodyColumns(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(BodyColumns)))


def _sized(kind: int, position: ArrayLike, size: tuple[ArrayLike, ...], attributes: dict[str, Any]) -> BodyColumns:
    centers = _column("position", np.atleast_2d(position), None)
    columns = [_typed("size", value, np.float64, (len(centers),)) for value in size]
    return BodyColumns.filled(kind, centers, np.stack(columns, axis=1), **attributes)

"""The state of a world: arrays, one row a living body."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Rows
from choque.narrow.shapes import Shapes

FLOAT_COLUMNS = {
    "position": (3,),
    "rotation": (3, 3),
    "velocity": (3,),
    "angular_velocity": (3,),
    "acceleration": (3,),
    "mass": (),
    "inverse_mass": (),
    "inertia": (3,),
    "inverse_inertia": (3,),
    "elasticity": (),
    "size": (3,),
}
"""The columns of floats, and the shape of what each holds for a body."""

OTHER_COLUMNS: dict[str, tuple[type[np.generic], tuple[int, ...]]] = {
    "ids": (np.int32, ()),
    "kind": (np.int8, ()),
    "static": (np.bool_, ()),
    "hull": (np.int32, ()),
    "color": (np.uint8, (3,)),
    "drawn": (np.bool_, ()),
    "rocket": (np.bool_, ()),
}
"""All others, with their types."""


@dataclass(frozen=True, eq=False)
class Bodies:
    """Bodies as a structure of arrays: C-contiguous, floats of one type, rows in ascending id.

    A step writes to ``position``, ``rotation``, ``velocity`` and ``angular_velocity`` in place; whoever wants to keep
    them copies them. Arrays may be written to between steps; bodies that come and go make new ones.

    Attributes
    ----------
    ids
        (n,) int32: an id names a body for ever.
    kind
        (n,) int8: see `choque.narrow.Kind`.
    position, velocity, angular_velocity, acceleration
        (n, 3): in units, units a second, radians a second, units a second squared.
    rotation
        (n, 3, 3): ``rotation @ local`` is the direction in the world.
    mass, inverse_mass
        (n,): the inverse is 0 for static bodies, which no impulse moves.
    inertia, inverse_inertia
        (n, 3): principal moments in the body's own frame; the inverse is 0 for static bodies.
    elasticity
        (n,): from 0, no rebound, to 1.
    static
        (n,) bool: of infinite mass; moves with its own velocity all the same.
    size, hull
        (n, 3) and (n,) int32: as in `choque.narrow.Shapes`.
    color, drawn, rocket
        (n, 3) uint8, (n,) bool, (n,) bool: for pictures alone. A rocket is a capsule that is drawn differently.
    hulls
        The hulls that convex bodies refer to; None where there are none.
    """

    ids: NDArray[np.int32]
    kind: NDArray[np.int8]
    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    acceleration: Floats
    mass: Floats
    inverse_mass: Floats
    inertia: Floats
    inverse_inertia: Floats
    elasticity: Floats
    static: NDArray[np.bool_]
    size: Floats
    hull: NDArray[np.int32]
    color: NDArray[np.uint8]
    drawn: NDArray[np.bool_]
    rocket: NDArray[np.bool_]
    hulls: Any = None

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<Bodies: {len(self)}, {np.count_nonzero(self.static)} of them static, {self.dtype}>"

    @property
    def dtype(self) -> np.dtype[np.floating[Any]]:
        """The float type: float32 or float64."""
        return self.position.dtype

    @classmethod
    def none(cls, dtype: np.dtype[np.floating[Any]]) -> Self:
        """No bodies at all."""
        columns: dict[str, Any] = {name: np.empty((0, *shape), dtype) for name, shape in FLOAT_COLUMNS.items()}
        columns |= {name: np.empty((0, *shape), kind) for name, (kind, shape) in OTHER_COLUMNS.items()}
        return cls(**columns)

    def shapes(self) -> Shapes:
        """The solids in their present poses; a view of the arrays here."""
        return Shapes(self.kind, self.position, self.rotation, self.size, self.hull, self.hulls)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Every array by name, as it is."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name != "hulls"}

    def joined(self, other: Bodies) -> Self:
        """These bodies and then the ``other`` ones, whose hulls are those of all."""
        arriving = other.columns()
        joined: dict[str, Any] = {name: np.concatenate((own, arriving[name])) for name, own in self.columns().items()}
        return replace(self, **joined, hulls=other.hulls)

    def kept(self, rows: Rows) -> Self:
        """The bodies of these ``rows`` alone."""
        kept: dict[str, Any] = {name: own[rows] for name, own in self.columns().items()}
        return replace(self, **kept)

    def copy(self) -> Self:
        """An independent copy; hulls, which never change, are shared."""
        copies: dict[str, Any] = {name: own.copy() for name, own in self.columns().items()}
        return replace(self, **copies)

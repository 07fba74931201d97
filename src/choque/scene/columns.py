"""The bodies of a scene as columns, one row for each body in the order of their ids, and the rules for their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.columns import Column, ColumnTable
from choque._core.pair_keys import EVERY_GROUP
from choque._core.types import F64, U8, U32, Bools
from choque.dynamics.response import rotations
from choque.errors import InvalidInput
from choque.narrow import shapes
from choque.narrow.solids import solid_names
from choque.world.arguments import DEFAULTS as BODY_DEFAULTS

if TYPE_CHECKING:
    from choque.world import World

SPHERE, CAPSULE, TILE, BOX, GROUND, MESH = (int(kind) for kind in shapes.Kind)
"""The kinds of bodies in scenes; convex bodies are boxes and other solids, see `SOLIDS`."""

KIND_WORDS = ("sphere", "capsule", "tile", "box", "ground", "mesh")
"""The words for the kinds in scene files, in the order of their numbers."""

SOLIDS = ("box", *(name for name in solid_names() if name != "cube"))
"""The words for convex bodies, in the order of the column `BodyColumns.solid`; each fills the box of its size."""

SIZE_WORDS = (("radius",), ("radius", "length"), ("length", "width"), ("size", "size", "size"), (), ())
"""The meaning of the columns of `BodyColumns.size` for each kind; a box has three edges."""

MAX_VALUE, MIN_VALUE = 1e12, 1e-12
"""Limits of all numbers, so that a mass times a squared radius, and its inverse, fit into single precision."""

_POSITIVE = f"a number from {MIN_VALUE:g} to {MAX_VALUE:g}"

SHARED = (
    *("restitution", "friction", "rolling", "surface_velocity", "linear_damping", "angular_damping"),
    *("static", "bullet", "sensor", "locked", "group", "mask", "color", "drawn"),
)
"""Columns that mean the same in a scene and in a world."""

DEFAULTS: dict[str, Any] = {
    **dict.fromkeys(("velocity", "acceleration", "angles", "spin"), 0.0),
    "mass": 1.0,
    "solid": 0,
    "mesh": None,
    "rocket": False,
    **{name: value for name, value in BODY_DEFAULTS.items() if name in SHARED},
    "restitution": 1.0,  # in a world it depends on the response
}
"""The attributes of a body where they are not given."""


@dataclass(frozen=True, eq=False)
class BodyColumns(ColumnTable):
    """The initial state of n bodies.

    Attributes
    ----------
    kind
        (n,) int8: sphere, capsule, tile, box, ground or mesh, as `KIND_WORDS` numbers them.
    position
        (n, 3): the centres; y is up.
    size
        (n, 3): sphere (radius, 0, 0); capsule (radius, length of its cylinder along local z, 0); tile (length along
        local x, width along local z, 0), its normal local y; box: its edges; ground and mesh: zeros.
    velocity, acceleration
        (n, 3): [unit/s] and [unit/s²]. Gravity is the acceleration of each body.
    angles, spin
        (n, 3): [degree] and [degree/s] about x, y and z; see `rotation` and `angular_velocity`.
    mass, restitution, friction, rolling
        (n,): restitution is from 0 to 1; friction and rolling are not negative, and for ``soft-step``.
    surface_velocity
        (n, 3): how fast the surface runs along the body, for ``soft-step`` [unit/s].
    linear_damping, angular_damping, bullet, sensor, locked, group, mask
        As in `choque.world.Bodies`.
    solid
        (n,) int8: which solid a box is, a number of `SOLIDS`; 0 for boxes and for other kinds.
    mesh
        (n,) objects: the `choque.Mesh` of a mesh; None for other kinds.
    static, drawn, rocket
        (n,) bool: a static body has infinite mass but moves with its velocity; a rocket is a capsule that is drawn
        differently.
    color
        (n, 3) uint8: red, green, blue.
    """

    kind: NDArray[np.int8]
    position: F64
    size: F64
    velocity: F64
    acceleration: F64
    angles: F64
    spin: F64
    mass: F64
    restitution: F64
    friction: F64
    rolling: F64
    surface_velocity: F64
    linear_damping: F64
    angular_damping: F64
    static: Bools
    bullet: Bools
    sensor: Bools
    locked: Bools
    group: U32
    mask: U32
    solid: NDArray[np.int8]
    mesh: NDArray[np.object_]
    drawn: Bools
    rocket: Bools
    color: U8

    COLUMNS: ClassVar[Mapping[str, Column]] = {
        **dict.fromkeys(("kind", "solid"), (np.int8, ())),
        **dict.fromkeys(("position", "size", "velocity", "acceleration"), (np.float64, (3,))),
        **dict.fromkeys(("angles", "spin", "surface_velocity"), (np.float64, (3,))),
        **dict.fromkeys(("mass", "restitution", "friction", "rolling"), (np.float64, ())),
        **dict.fromkeys(("linear_damping", "angular_damping"), (np.float64, ())),
        **dict.fromkeys(("static", "bullet", "sensor", "drawn", "rocket"), (np.bool_, ())),
        "locked": (np.bool_, (6,)),
        **dict.fromkeys(("group", "mask"), (np.uint32, ())),
        "color": (np.uint8, (3,)),
        "mesh": (np.object_, ()),
    }

    @classmethod
    def filled(cls, kind: ArrayLike, position: ArrayLike, size: ArrayLike, **attributes: Any) -> Self:
        """Return columns made from arrays with one row for each body, or one value for all; the others are `DEFAULTS`.

        There are as many bodies as rows of ``position``. Tiles, grounds and meshes are always static.
        """
        for name in attributes:
            if name not in DEFAULTS:
                raise InvalidInput(f"Bodies have no {name!r}; they have {', '.join(DEFAULTS)}.")
        centers = _column("position", np.atleast_2d(position), None)
        given = {"kind": kind, "position": centers, "size": size, **DEFAULTS, **attributes}
        columns = {name: _column(name, value, len(centers)) for name, value in given.items()}
        columns["static"] |= np.isin(columns["kind"], (TILE, GROUND, MESH))
        return cls(**columns)

    @classmethod
    def none(cls) -> Self:
        """Return a table without bodies."""
        return cls.filled(0, np.empty((0, 3)), np.empty((0, 3)))

    def __len__(self) -> int:
        return len(self.kind)

    @property
    def rotation(self) -> F64:
        """(n, 3, 3): ``rotation @ local`` is the direction in the world."""
        return rotations(self.angles)

    @property
    def angular_velocity(self) -> F64:
        """(n, 3): about the axes of the world [rad/s]."""
        return np.radians(self.spin)

    def moved(self, by: ArrayLike) -> Self:
        """Return the same bodies, each moved ``by`` (3,)."""
        return replace(self, position=self.position + np.asarray(by, dtype=np.float64))


def _column(name: str, value: ArrayLike, count: int | None) -> NDArray[Any]:
    """Return a value with the type and shape of its column; without ``count``, it has as many rows as given."""
    dtype, tail = BodyColumns.COLUMNS[name]
    return _typed(name, value, dtype, (-1 if count is None else count, *tail))


_WHOLE = {"color": 255, "group": EVERY_GROUP, "mask": EVERY_GROUP, "solid": len(SOLIDS) - 1, "locked": 1}
"""The greatest value of columns of whole numbers."""


def _typed(name: str, value: ArrayLike, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return a copy of a value, broadcast to ``shape``; -1 stands for its own number of rows."""
    try:
        given = np.asarray(value)
        most = _WHOLE.get(name)
        if most is not None and not bool(((given >= 0) & (given <= most) & (given == np.floor(given))).all()):
            raise InvalidInput(f"The {name} of a body has a value that is not a whole number from 0 to {most}.")
        typed = given.astype(dtype)
        rows = len(typed) if shape[0] < 0 else shape[0]
        return np.array(np.broadcast_to(typed, (rows, *shape[1:])), order="C")
    except InvalidInput:
        raise
    except (TypeError, ValueError, OverflowError) as problem:
        raise InvalidInput(f"The {name} of bodies cannot be {value!r:.80}: {problem}.") from problem


def spheres(position: ArrayLike, radius: ArrayLike = 1.0, **attributes: Any) -> BodyColumns:
    """Return spheres at ``position`` (n, 3)."""
    return _sized(SPHERE, position, (radius, 0.0, 0.0), attributes)


def capsules(position: ArrayLike, radius: ArrayLike = 1.0, length: ArrayLike = 1.0, **attributes: Any) -> BodyColumns:
    """Return capsules at ``position`` (n, 3); ``length`` is that of the cylinder between the hemispheres."""
    return _sized(CAPSULE, position, (radius, length, 0.0), attributes)


def tiles(position: ArrayLike, length: ArrayLike = 30.0, width: ArrayLike = 30.0, **attributes: Any) -> BodyColumns:
    """Return static tiles at ``position`` (n, 3)."""
    return _sized(TILE, position, (length, width, 0.0), attributes)


def boxes(position: ArrayLike, size: ArrayLike = 1.0, **attributes: Any) -> BodyColumns:
    """Return boxes at ``position`` (n, 3) with edges ``size``."""
    return BodyColumns.filled(BOX, position, size, **attributes)


def ground(height: float = 0.0, **attributes: Any) -> BodyColumns:
    """Return the half-space below ``height``."""
    return BodyColumns.filled(GROUND, [[0.0, height, 0.0]], 0.0, **attributes)


def join(*parts: BodyColumns) -> BodyColumns:
    """Return one table of all rows, in their order."""
    return parts[0].joined(*parts[1:]) if parts else BodyColumns.none()


def _sized(kind: int, position: ArrayLike, size: tuple[ArrayLike, ...], attributes: dict[str, Any]) -> BodyColumns:
    centers = _column("position", np.atleast_2d(position), None)
    columns = [_typed("size", value, np.float64, (len(centers),)) for value in size]
    return BodyColumns.filled(kind, centers, np.stack(columns, axis=1), **attributes)


def add_to(world: World, kind: int, bodies: BodyColumns) -> None:
    """Add bodies of one kind to a world."""
    shared: dict[str, Any] = {
        "mass": bodies.mass,
        "velocity": bodies.velocity,
        "acceleration": bodies.acceleration,
        "angular_velocity": world.response.angular_velocity(bodies.spin),
        "rotation": world.response.rotations(bodies.angles),
        **{name: getattr(bodies, name) for name in SHARED},
    }
    first, second = bodies.size[:, 0], bodies.size[:, 1]
    if kind == SPHERE:
        world.add_spheres(bodies.position, first, **shared)
    elif kind == CAPSULE:
        world.add_capsules(bodies.position, first, second, rocket=bodies.rocket, **shared)
    elif kind == TILE:
        world.add_tiles(bodies.position, first, second, **shared)
    elif kind == BOX:
        _add_solids(world, bodies, shared)
    else:
        for row, position in enumerate(bodies.position):
            own = {key: column[row : row + 1] for key, column in shared.items()}
            if kind == MESH:
                world.add_mesh(bodies.mesh[row], position, **own)
            else:
                world.add_ground(float(position[1]), **own)


def _add_solids(world: World, bodies: BodyColumns, shared: dict[str, Any]) -> None:
    """Add boxes, and the other solids that occur, each as large as its box."""
    if not bodies.solid.any():
        world.add_boxes(bodies.position, bodies.size, **shared)
        return
    from choque.narrow.hulls import Hulls

    used, row = np.unique(bodies.solid, return_inverse=True)
    hulls = Hulls.solids(*("cube" if solid == 0 else SOLIDS[solid] for solid in used.tolist()))
    world.add_hulls(hulls, bodies.position, 0.5 * bodies.size, row=row.reshape(-1), **shared)


@dataclass(frozen=True)
class Fault:
    """The first invalid body in the order of the rows, and what is wrong with it."""

    row: int
    kind: str
    attribute: str
    value: object
    allowed: str

    def sentence(self, attribute: str | None = None, kind: str | None = None) -> str:
        """Return a sentence; ``attribute`` and ``kind`` are the words of the file."""
        shown = ",".join(f"{each:g}" for each in np.atleast_1d(np.asarray(self.value)).tolist())
        return f"the {attribute or self.attribute} of this {kind or self.kind} is {shown}; it must be {self.allowed}."


def first_fault(bodies: BodyColumns) -> Fault | None:
    """Return the first invalid body; None if all are valid."""
    faults = [
        Fault(row := int(np.argmax(bad)), KIND_WORDS[bodies.kind[row]], attribute, column[row], allowed)
        for attribute, column, bad, allowed in _rules(bodies)
        if bad.any()
    ]
    return min(faults, key=lambda fault: fault.row, default=None)


def _rules(bodies: BodyColumns) -> Iterator[tuple[str, NDArray[Any], Bools, str]]:
    """Yield the rules: the attribute, its column, the rows that break the rule, and what is allowed."""
    for name in ("position", "velocity", "acceleration", "angles", "spin", "surface_velocity"):
        column = getattr(bodies, name)
        allowed = f"three numbers from -{MAX_VALUE:g} to {MAX_VALUE:g}"
        yield name, column, ~(np.abs(column) <= MAX_VALUE).all(axis=1), allowed
    for kind, places in ((SPHERE, (0,)), (CAPSULE, (0,)), (TILE, (0, 1)), (BOX, (0, 1, 2))):
        for place in places:
            column = bodies.size[:, place]
            yield SIZE_WORDS[kind][place], column, (bodies.kind == kind) & ~_positive(column), _POSITIVE
    length = bodies.size[:, 1]
    unfit = (bodies.kind == CAPSULE) & ~(_positive(length) | (length == 0))
    yield "length", length, unfit, f"0, or {_POSITIVE}"
    yield "mass", bodies.mass, ~_positive(bodies.mass), _POSITIVE
    restitution = bodies.restitution
    yield "restitution", restitution, ~((restitution >= 0) & (restitution <= 1)), "a number from 0 to 1"
    for name in ("friction", "rolling", "linear_damping", "angular_damping"):
        column = getattr(bodies, name)
        yield name, column, ~((column >= 0) & (column <= MAX_VALUE)), f"a number from 0 to {MAX_VALUE:g}"
    unfit = bodies.rocket & (bodies.kind != CAPSULE)
    yield "rocket", bodies.rocket, unfit, "false, for only capsules are drawn as rockets"
    yield "solid", bodies.solid, (bodies.solid != 0) & (bodies.kind != BOX), "0, for only boxes are other solids"


def _positive(column: F64) -> Bools:
    return (column >= MIN_VALUE) & (column <= MAX_VALUE)

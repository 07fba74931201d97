"""The state of a world as arrays, one row for each body; its hash, and the copy that a step which fails returns to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self
from weakref import ref

import numpy as np

from choque._core.columns import Column, ColumnTable
from choque._core.kernel import helper, kernel
from choque._core.threads import over_ranges, resolve_count
from choque._core.types import I8, I32, U8, U32, Bools, Floats
from choque.narrow.shapes import Shapes

if TYPE_CHECKING:
    from choque.world._world import World


@dataclass(frozen=True, eq=False)
class Bodies(ColumnTable):
    """Bodies as a structure of arrays: C-contiguous, floats of one type, rows in ascending id.

    A step writes to ``position``, ``rotation``, ``velocity`` and ``angular_velocity`` in place; copy them to keep them.
    Arrays may be written to between steps. Adding and removing bodies makes new arrays.

    Attributes
    ----------
    ids
        (n,) int32: never reused.
    kind
        (n,) int8: see `choque.narrow.Kind`.
    position, velocity, angular_velocity, acceleration
        (n, 3): [unit], [unit/s], [rad/s], [unit/s²].
    rotation
        (n, 3, 3): ``rotation @ local`` is the direction in the world.
    mass, inverse_mass
        (n,): the inverse is 0 for static bodies, which no impulse moves.
    inertia, inverse_inertia
        (n, 3): principal moments in the body's own frame; the inverse is 0 for static bodies.
    restitution
        (n,): from 0, no rebound, to 1.
    friction, rolling
        (n,): coefficients of friction and of resistance to rolling, which ``soft-step`` uses.
    surface_velocity
        (n, 3): how fast the surface moves along the body, as that of a conveyor does; by ``soft-step`` [unit/s].
    linear_damping, angular_damping
        (n,): the share of the velocity and of the spin that is lost in a second, while small; by ``soft-step`` [1/s].
    static
        (n,) bool: infinite mass; the body still moves with its own velocity.
    bullet, sensor
        (n,) bool: a bullet does not pass through moving bodies either, however fast; a sensor touches nothing. By
        ``soft-step``.
    locked
        (n, 6) bool: does not move along x, y, z of the world, and does not turn about x, y, z; by ``soft-step``.
    group, mask
        (n,) uint32: two bodies meet if each is in a group, a bit, that the mask of the other has.
    size, hull
        (n, 3) and (n,) int32: as in `choque.narrow.Shapes`.
    color, drawn, rocket
        (n, 3) uint8, (n,) bool, (n,) bool: for drawing only. A rocket is a capsule that is drawn differently.
    hulls
        The hulls that convex bodies refer to; None where there are none.
    """

    ids: I32
    kind: I8
    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    acceleration: Floats
    mass: Floats
    inverse_mass: Floats
    inertia: Floats
    inverse_inertia: Floats
    restitution: Floats
    friction: Floats
    rolling: Floats
    surface_velocity: Floats
    linear_damping: Floats
    angular_damping: Floats
    static: Bools
    bullet: Bools
    sensor: Bools
    locked: Bools
    group: U32
    mask: U32
    size: Floats
    hull: I32
    color: U8
    drawn: Bools
    rocket: Bools
    hulls: Any = None

    COLUMNS: ClassVar[Mapping[str, Column]] = {
        **dict.fromkeys(("ids", "hull"), (np.int32, ())),
        "kind": (np.int8, ()),
        **dict.fromkeys(("position", "velocity", "angular_velocity", "acceleration"), (None, (3,))),
        **dict.fromkeys(("inertia", "inverse_inertia", "surface_velocity", "size"), (None, (3,))),
        "rotation": (None, (3, 3)),
        **dict.fromkeys(("mass", "inverse_mass", "restitution", "friction", "rolling"), (None, ())),
        **dict.fromkeys(("linear_damping", "angular_damping"), (None, ())),
        **dict.fromkeys(("static", "bullet", "sensor", "drawn", "rocket"), (np.bool_, ())),
        "locked": (np.bool_, (6,)),
        **dict.fromkeys(("group", "mask"), (np.uint32, ())),
        "color": (np.uint8, (3,)),
    }

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
        """Return a table without bodies."""
        return cls(**cls.empty_columns(dtype))

    def shapes(self) -> Shapes:
        """Return the solids in their present poses, as views of these arrays."""
        return Shapes(self.kind, self.position, self.rotation, self.size, self.hull, self.hulls)


_SEED = 0x9E3779B97F4A7C15
HASHED = ("ids", "position", "rotation", "velocity", "angular_velocity")  # the columns that `state_hash` covers


def state_hash(bodies: Bodies, frame: int) -> int:
    """Return a 64-bit hash of ids, poses, velocities and the frame number.

    Four chains of multiplication and rotation over the words of each array, then mixed; O(n) time, O(1) memory. It is
    not a cryptographic hash.
    """
    value = np.uint64((_SEED + frame) & 0xFFFFFFFFFFFFFFFF)
    with np.errstate(over="ignore"):  # arithmetic modulo 2⁶⁴ is meant, also where kernels run as plain Python
        for name in HASHED:
            column = getattr(bodies, name).reshape(-1)
            words = column.view(np.uint64 if column.dtype.itemsize == 8 else np.uint32)
            value = np.uint64(_hash_words(words, value))
    return int(value)


@kernel
def _hash_words(words: Any, seed: np.uint64) -> Any:
    first, second = np.uint64(0x9FB21C651E98DF25), np.uint64(0xC2B2AE3D27D4EB4F)
    a, b, c, d = seed, seed ^ first, seed ^ second, seed ^ (first + second)
    whole = words.size - words.size % 4
    for k in range(0, whole, 4):
        a = _stir(a ^ (np.uint64(words[k]) * first)) * second
        b = _stir(b ^ (np.uint64(words[k + 1]) * first)) * second
        c = _stir(c ^ (np.uint64(words[k + 2]) * first)) * second
        d = _stir(d ^ (np.uint64(words[k + 3]) * first)) * second
    for k in range(whole, words.size):
        a = _stir(a ^ (np.uint64(words[k]) * first)) * second
    value = np.uint64(words.size)
    for lane in (a, b, c, d):
        value = (value ^ lane) * first
        value ^= value >> np.uint64(32)
        value *= second
        value ^= value >> np.uint64(29)
    return value


@helper
def _stir(value: np.uint64) -> Any:
    """Rotate the word by about half its bits, so that multiplication reaches all of them."""
    return (value << np.uint64(31)) | (value >> np.uint64(33))


class Loan:
    """The bodies of a world as its users hold them, so that it knows whether they may have been written to since.

    Users get a table of their own of the same arrays: while they hold it, there is another reference to each array. A
    copy has lent nothing.
    """

    _lent: Callable[[], Bodies | None] = staticmethod(lambda: None)
    _is_new = True

    def __reduce__(self) -> tuple[type[Loan], tuple[()]]:
        return Loan, ()

    def lend(self, bodies: Bodies) -> Bodies:
        """Return a table of the arrays of ``bodies``, the same one while a user holds it."""
        self._is_new, lent = True, self._lent()
        if lent is None or lent.ids is not bodies.ids:
            lent = Bodies.__new__(Bodies)  # in a tenth of the time of dataclasses.replace
            lent.__dict__.update(bodies.__dict__)
            self._lent = ref(lent)
        return lent

    def was_asked(self) -> bool:
        """Tell whether anything was lent since the last call."""
        is_new, self._is_new = self._is_new, False
        return is_new


class Before:
    """The state of a world before a step, to which it returns if the step fails; a copy of it is empty.

    The arrays are kept from step to step: a copy of 144 bytes per body into memory that is in use already takes about a
    twenty-fifth of a step.
    """

    _columns: tuple[Floats, ...] = ()

    def __reduce__(self) -> tuple[type[Before], tuple[()]]:
        return Before, ()

    def keep(self, world: World) -> None:
        """Keep the present state of ``world``."""
        columns = _moved_columns(world._bodies)
        if not self._columns or len(self._columns[0]) != len(columns[0]):
            self._columns = tuple(np.empty_like(column) for column in columns)
        over_ranges(self._copy, len(columns[0]), resolve_count(world.settings.threads, len(columns[0])), columns)
        self._step = (world._frame, world._time, world._dt, world._latest, world._latest_ids, world._sensed)
        self._detected, self._memory = world._detection.mark(), world._response.mark()

    def _copy(self, first: int, last: int, columns: tuple[Floats, ...]) -> None:
        for kept, column in zip(self._columns, columns, strict=True):
            kept[first:last] = column[first:last]

    def poses(self) -> tuple[Floats, Floats]:
        """Return the positions and rotations that were kept."""
        return self._columns[0], self._columns[1]

    def restore(self, world: World) -> None:
        """Return ``world`` to the state that was kept; the arrays of its bodies stay the same objects."""
        for kept, column in zip(self._columns, _moved_columns(world._bodies), strict=True):
            column[...] = kept
        world._frame, world._time, world._dt, world._latest, world._latest_ids, world._sensed = self._step
        world._detection.return_to(self._detected)
        world._response.return_to(self._memory)


def _moved_columns(bodies: Bodies) -> tuple[Floats, ...]:
    """Return the columns that a step changes."""
    return bodies.position, bodies.rotation, bodies.velocity, bodies.angular_velocity

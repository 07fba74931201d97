"""Responses to contacts: the contract, the motion over a step, and the registry of responses by name."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque._core.kernel import helper, kernel
from choque._core.registry import Registry
from choque._core.threads import over_ranges, resolve_count
from choque._core.types import F64, I32, Bools, Floats, Integer, Pairs
from choque._core.vector import Vector, add, dot, point_of, scaled, store, turn
from choque.errors import InvalidInput
from choque.narrow.pair import Contacts

State: TypeAlias = Any
"""Bodies as arrays, one row each: `choque.world.Bodies`, or any object with the columns that a rule uses."""


class Response(ABC):
    """Resolves contacts by changing velocities, and moves bodies over a step.

    A subclass defines `respond`. One with memory also defines `state` and `restore`; one with its own equations of
    motion overrides `integrate`.
    """

    name: ClassVar[str]  #: Name in the registry, on the command line, in scene files and in reports.

    needs_candidates: ClassVar[bool] = False
    """True if `respond` makes exact tests itself and takes the candidate pairs instead of contacts."""

    normalises_rotations: ClassVar[bool] = True
    """False if the rotations of added bodies must be kept bit for bit instead of being made orthonormal."""

    moves_first: ClassVar[bool] = False
    """True if a step moves the bodies first and then resolves the contacts that it finds.

    What a step leaves behind, to be shown and recorded, is then resolved. Otherwise a step begins with detection.
    """

    restitution: ClassVar[float] = 1.0  #: The restitution of bodies that are added without one.
    threads: int | None = None  #: The number of threads that `respond` may use, None for all; a world sets it.

    is_continuous: ClassVar[bool] = False
    """True if fast bodies stop where they first touch a static one within a step."""

    has_skin: ClassVar[bool] = False  #: True if candidates are found with wider bounds; see `skin`.

    def skin(self, bodies: State) -> tuple[Floats, Floats]:
        """Return two lengths (n,) for each body, if `has_skin`.

        Candidates are searched with bounds wider by the sum of both, and again when a body, with bounds wider by
        the first length alone, leaves its wider bounds. So bodies that come closer than the sum of their first lengths
        are always candidates, and the same array of candidates is given until they are searched again.
        """
        raise NotImplementedError

    def asleep(self, bodies: State) -> Bools | None:  # noqa: ARG002
        """Return which of the bodies sleep (n,); None if this response knows no sleep."""
        return None

    def wake(self, ids: I32) -> None:  # noqa: B027
        """Wake these bodies, and those near the static ones among them; by default none sleeps."""

    def islands(self, bodies: State) -> I32 | None:  # noqa: ARG002
        """Return the least id of the island of each body (n,), −1 for static bodies; None if it knows no islands."""
        return None

    def rests(self, bodies: State, were_lent: bool = True) -> bool:  # noqa: ARG002
        """Tell whether a step would change nothing, so that a world may leave it out.

        ``were_lent`` tells whether a user was given the bodies since the last call; those held since before may have
        been written to as well.
        """
        return False

    def latest(self) -> Solved | None:
        """Return what was solved in the latest step, if `respond` takes candidates and knows; None otherwise."""
        return None

    def check(self, bodies: State) -> None:  # noqa: B027
        """Raise `InvalidInput` if ``bodies`` has one that this response cannot handle; by default it handles all.

        Called before bodies are added and before a world takes up this response.
        """

    @abstractmethod
    def respond(self, bodies: State, contacts: Any, dt: float) -> int:
        """Change ``bodies`` in place and return the number of contacts that were resolved.

        ``contacts`` are `Contacts` with pairs of rows, not of ids; or the candidates (m, 2) if `needs_candidates`.
        Memory of a body must be keyed by its id, since bodies may be added and removed between calls. The result must
        not depend on the number of threads.
        """

    def integrate(
        self,
        bodies: State,
        dt: float,
        *,
        max_speed: float | None = None,
        max_spin: float | None = None,
        threads: int | None = None,
    ) -> None:
        """Move ``bodies`` by ``dt`` seconds, in place; by default with `integrate`."""
        integrate(bodies, dt, max_speed=max_speed, max_spin=max_spin, threads=threads)

    def rotations(self, angles: Floats) -> Floats:
        """Return the matrices (n, 3, 3) of ``angles`` (n, 3) of a scene [degree]: by default with `rotations`."""
        return rotations(angles)

    def angular_velocity(self, spin: Floats) -> Floats:
        """Return the angular velocities (n, 3) [rad/s] of the ``spin`` (n, 3) of a scene [degree/s]."""
        return np.radians(spin)

    def state(self) -> dict[str, NDArray[Any]]:
        """Return the memory between steps as plain arrays, for saved worlds."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Set the memory to what `state` returned."""
        if state:
            raise InvalidInput(f"The response {self.name!r} has no memory; it was given {', '.join(state)}.")

    def mark(self) -> object:
        """Return the memory before a step, for `return_to`; by default `state`."""
        return self.state()

    def return_to(self, mark: Any) -> None:
        """Return to the memory of a `mark`, after a step that failed."""
        self.restore(mark)


@dataclass(frozen=True, eq=False)
class Events:
    """What happened in one step, with the ids of bodies, pairs sorted.

    Attributes
    ----------
    began, ended
        (k, 2) int32: bodies that began to touch, and that no longer touch.
    hits, speed
        (h, 2) int32 and (h,): those that began to touch faster than 1 m/s, and how fast they met [unit/s].
    fell_asleep, woke
        (k,) int32.
    entered, left
        (k, 2) int32: sensor and body, those that began to overlap and that no longer do.
    """

    began: Pairs
    ended: Pairs
    hits: Pairs
    speed: F64
    fell_asleep: I32
    woke: I32
    entered: Pairs = field(default_factory=lambda: np.empty((0, 2), np.int32))
    left: Pairs = field(default_factory=lambda: np.empty((0, 2), np.int32))

    @classmethod
    def none(cls) -> Events:
        """Return that nothing happened."""
        pairs, bodies = np.empty((0, 2), np.int32), np.empty(0, np.int32)
        return cls(pairs, pairs, pairs, np.empty(0), bodies, bodies)

    def __len__(self) -> int:
        parts = (self.began, self.ended, self.fell_asleep, self.woke, self.entered, self.left)
        return sum(len(part) for part in parts)


class Solved(NamedTuple):
    """What a response that finds contacts itself has solved in a step."""

    contact_count: int
    contacts: Callable[[], Contacts]  # returns the contacts, with pairs of rows; valid until the next step
    forces: Callable[[], F64]  # returns the normal force at each of their points (m, 4); valid as long
    events: Callable[[], Events]  # returns what happened in the step, with ids of bodies
    counters: Mapping[str, int]  # amounts of work by name, such as ``"recycled"``
    seconds: Mapping[str, float]  # the times of its own stages, in place of narrow phase and response [s]


class _Motion(NamedTuple):
    """The columns of bodies that motion depends on or changes."""

    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    acceleration: Floats
    inertia: Floats
    static: Bools


def integrate(
    bodies: State,
    dt: float,
    *,
    max_speed: float | None = None,
    max_spin: float | None = None,
    threads: int | None = None,
) -> None:
    """Move all bodies by ``dt`` seconds, in place.

    ``p += v dt + a dt²/2`` and ``v += a dt``, exact for a constant acceleration. A body turns without torque: its
    angular momentum is kept to the last bits. The turn is exact if the moments about local x and y are equal, as for
    spheres and capsules, and of second order with bounded error of the energy otherwise (symplectic splitting;
    Dullweber, Leimkuhler, McLachlan, "Symplectic splitting methods for rigid body molecular dynamics", 1997).
    Rotations stay orthonormal to the last bits over any number of steps. A static body keeps its angular velocity.
    Speeds above ``max_speed`` [unit/s] and ``max_spin`` [rad/s] are scaled down to these limits before and after the
    motion. O(n); the result does not depend on ``threads``.
    """
    limits = [math.inf if limit is None else float(limit) for limit in (max_speed, max_spin)]
    motion = _Motion(*(getattr(bodies, name) for name in _Motion._fields))
    count = len(bodies.position)
    over_ranges(_integrate, count, resolve_count(threads, count), motion, float(dt), *limits)


def limit_speeds(bodies: State, max_speed: float | None, max_spin: float | None) -> None:
    """Scale speeds above the limits down to them, in place."""
    if max_speed is not None or max_spin is not None:
        integrate(bodies, 0.0, max_speed=max_speed, max_spin=max_spin, threads=1)


@kernel
def _integrate(first: int, last: int, motion: _Motion, dt: float, max_speed: float, max_spin: float) -> None:
    position, rotation, velocity, angular_velocity, acceleration, inertia, static = motion
    for row in range(first, last):
        limit(velocity, row, max_speed)
        limit(angular_velocity, row, max_spin)
        before = point_of(velocity, row)
        for axis in range(3):
            velocity[row, axis] += acceleration[row, axis] * dt
        limit(velocity, row, max_speed)
        for axis in range(3):  # the mean speed keeps to the limit, and is exact where none is exceeded
            position[row, axis] += (0.5 * before[axis] + 0.5 * velocity[row, axis]) * dt
        spin = point_of(angular_velocity, row)
        if dt == 0 or (spin[0] == 0 and spin[1] == 0 and spin[2] == 0):
            continue
        moments = point_of(inertia, row)
        if static[row] or (moments[0] == moments[1] and moments[1] == moments[2]):
            turn_by(rotation, row, scaled(spin, dt))
        else:
            store(angular_velocity, row, free_turn(rotation, row, spin, moments, dt))
            limit(angular_velocity, row, max_spin)


@helper
def turn_by(rotation: Any, row: Integer, by: Vector) -> None:
    """Turn matrix ``row`` by a rotation vector, as `choque._core.vector.turn` does."""
    turn(rotation, row, by[0], by[1], by[2])


@helper
def _axis(rotation: Any, row: Integer, axis: Integer) -> Vector:
    """Return where a local axis points in the world."""
    return (np.float64(rotation[row, 0, axis]), np.float64(rotation[row, 1, axis]), np.float64(rotation[row, 2, axis]))


@helper
def free_turn(rotation: Any, row: Integer, spin: Vector, moments: Vector, dt: float) -> Vector:
    """Turn a body without torque for ``dt`` seconds, and return its new angular velocity.

    The motion of a body whose first moment equals its second is a turn about the angular momentum and one about its
    local z axis; what the first moment adds is a turn about the local x axis, half of it before and half after.
    """
    one, two, three = moments
    momentum = (0.0, 0.0, 0.0)
    for axis in range(3):
        direction = _axis(rotation, row, axis)
        momentum = add(momentum, scaled(direction, moments[axis] * dot(direction, spin)))
    rest = 0.5 * dt * (1.0 / one - 1.0 / two)
    if rest != 0:
        direction = _axis(rotation, row, 0)
        turn_by(rotation, row, scaled(direction, rest * dot(direction, momentum)))
    direction = _axis(rotation, row, 2)
    turn_by(rotation, row, scaled(direction, dt * (1.0 / three - 1.0 / two) * dot(direction, momentum)))
    turn_by(rotation, row, scaled(momentum, dt / two))
    if rest != 0:
        direction = _axis(rotation, row, 0)
        turn_by(rotation, row, scaled(direction, rest * dot(direction, momentum)))
    after = (0.0, 0.0, 0.0)
    for axis in range(3):
        direction = _axis(rotation, row, axis)
        after = add(after, scaled(direction, dot(direction, momentum) / moments[axis]))
    return after


@helper
def limit(vectors: Any, row: Integer, maximum: float) -> None:
    """Scale vector ``row`` down to the length ``maximum`` where it is longer."""
    squared = 0.0
    for axis in range(3):
        squared += np.float64(vectors[row, axis]) ** 2
    if squared > maximum * maximum:
        scale = maximum / math.sqrt(squared)
        for axis in range(3):
            vectors[row, axis] *= scale


def rotations(angles: Floats) -> F64:
    """Return the matrices (n, 3, 3) of ``angles`` (n, 3) about x, y and z [degree]; ``matrix @ local = world``.

    The rotation is about x first, then y, then z, each axis that of the world: Rz·Ry·Rx. Quarter turns are exact, so a
    wall that is upright in the file is upright to the last bit.
    """
    (cx, sx), (cy, sy), (cz, sz) = (_cosine_and_sine(angles[:, axis]) for axis in range(3))
    rows = (
        (cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx),
        (sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx),
        (-sy, cy * sx, cy * cx),
    )
    # Adding zero removes the negative zeros of quarter turns.
    matrices = np.stack([np.stack(row, axis=-1) for row in rows], axis=-2) + 0.0
    return np.ascontiguousarray(matrices, dtype=np.float64)


def _cosine_and_sine(degrees: Floats) -> tuple[F64, F64]:
    """Return cosine and sine, computed relative to the nearest quarter turn, so that quarter turns are exact."""
    quarters = np.rint(degrees / 90.0)
    rest = np.radians(degrees - 90.0 * quarters)
    cosine, sine = np.cos(rest), np.sin(rest)
    quarter = np.mod(quarters, 4.0)
    return (
        np.choose(quarter.astype(np.int64), [cosine, -sine, -cosine, sine]),
        np.choose(quarter.astype(np.int64), [sine, cosine, -sine, -cosine]),
    )


RESPONSES: Registry[type[Response]] = Registry(
    "response",
    {"impulse": "choque.dynamics.impulse:Impulse", "soft-step": "choque.dynamics.soft_step.response:SoftStep"},
    group="choque.responses",
)


def response_names() -> list[str]:
    """List every response that `create_response` knows, in alphabetical order."""
    return RESPONSES.names()


def register_response(kind: type[Response]) -> type[Response]:
    """Make ``kind`` known in this process under its ``name``; usable as a class decorator."""
    return RESPONSES.register(kind.name, kind)


def create_response(name: str, **options: Any) -> Response:
    """Return a new response of that name without memory; ``options`` are the arguments of its class."""
    kind = RESPONSES.find(name)
    known = [] if kind.__init__ is object.__init__ else list(signature(kind).parameters)
    for option in options:
        check.choice(option, f"option of the response {name!r}", known)
    return kind(**options)

"""Responses to contacts: the contract, the motion over a step, and the registry of responses by name."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline, kernel
from choque._core.registry import Registry
from choque._core.threads import over_ranges, resolve_count
from choque._core.types import Floats
from choque._core.vector import turn
from choque.errors import InvalidInput

State: TypeAlias = Any
"""Bodies as arrays, one row each: `choque.world.Bodies`, or any object with the columns that a rule uses."""


class Response(ABC):
    """Resolves contacts by changing velocities, and moves bodies over a step.

    A subclass defines `respond`. One with memory also defines `state` and `restore`; one with its own equations of
    motion overrides `integrate`.
    """

    name: ClassVar[str]
    """Name in the registry, on the command line, in scene files and in reports."""

    needs_candidates: ClassVar[bool] = False
    """True if `respond` makes exact tests itself and takes the candidate pairs instead of contacts."""

    normalises_rotations: ClassVar[bool] = True
    """False if the rotations of added bodies must be kept bit for bit instead of being made orthonormal."""

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
        """Return the matrices (n, 3, 3) of ``angles`` (n, 3) of a scene [degree]: `choque._core.angles.rotations`."""
        from choque._core.angles import rotations

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


class _Motion(NamedTuple):
    """The columns of bodies that a step changes, and the acceleration (n, 3)."""

    position: Floats
    rotation: Floats
    velocity: Floats
    angular_velocity: Floats
    acceleration: Floats


def integrate(
    bodies: State,
    dt: float,
    *,
    max_speed: float | None = None,
    max_spin: float | None = None,
    threads: int | None = None,
) -> None:
    """Move all bodies by ``dt`` seconds, in place, by explicit Euler.

    ``p += v dt``, ``R = rotation(ω dt) R``, ``v += a dt``, in this order. The rotation is exact for the constant
    angular velocity of the step, and stays orthonormal to the last bits over any number of steps. There is no
    gyroscopic term: only impulses change the angular velocity. Speeds above ``max_speed`` (units/s) and
    ``max_spin`` (radians/s) are scaled down to these limits before and after the motion. O(n); the result does not
    depend on ``threads``.
    """
    limits = [math.inf if limit is None else float(limit) for limit in (max_speed, max_spin)]
    motion = _Motion(bodies.position, bodies.rotation, bodies.velocity, bodies.angular_velocity, bodies.acceleration)
    count = len(bodies.position)
    over_ranges(_integrate, count, resolve_count(threads, count), motion, float(dt), *limits)


def limit_speeds(bodies: State, max_speed: float | None, max_spin: float | None) -> None:
    """Scale speeds above the limits down to them, in place."""
    integrate(bodies, 0.0, max_speed=max_speed, max_spin=max_spin, threads=1)


@kernel
def _integrate(first: int, last: int, motion: _Motion, dt: float, max_speed: float, max_spin: float) -> None:
    position, rotation, velocity, angular_velocity, acceleration = motion
    for row in range(first, last):
        _limit(velocity, row, max_speed)
        _limit(angular_velocity, row, max_spin)
        for axis in range(3):
            position[row, axis] += velocity[row, axis] * dt
        x, y, z = angular_velocity[row, 0] * dt, angular_velocity[row, 1] * dt, angular_velocity[row, 2] * dt
        if x != 0 or y != 0 or z != 0:
            turn(rotation, row, x, y, z)
        for axis in range(3):
            velocity[row, axis] += acceleration[row, axis] * dt
        _limit(velocity, row, max_speed)


@inline
def _limit(vectors: Any, row: Any, maximum: float) -> None:
    """Scale vector ``row`` down to the length ``maximum`` where it is longer."""
    squared = 0.0
    for axis in range(3):
        squared += np.float64(vectors[row, axis]) ** 2
    if squared > maximum * maximum:
        scale = maximum / np.sqrt(squared)
        for axis in range(3):
            vectors[row, axis] *= scale


RESPONSES: Registry[type[Response]] = Registry(
    "response",
    {
        "impulse": "choque.dynamics.impulse:Impulse",
        "shape-matching": "choque.dynamics.shape_matching:ShapeMatching",
    },
    group="choque.responses",
)


def response_names() -> list[str]:
    """List every response that `create_response` knows, in alphabetical order."""
    return RESPONSES.names()


def register_response(kind: type[Response]) -> type[Response]:
    """Make ``kind`` known in this process under its ``name``; usable as a class decorator."""
    return RESPONSES.register(kind.name, kind)


def create_response(name: str) -> Response:
    """Return a new response of that name, with default options and no memory."""
    return RESPONSES.find(name)()

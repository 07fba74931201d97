"""What the rules of motion see of a world, and what a response must offer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeAlias

from numpy.typing import NDArray

from choque.errors import InvalidInput

State: TypeAlias = Any
"""Bodies as arrays, one row each: `choque.world.Bodies`, or whatever has the columns of it that a rule uses."""


class Response(ABC):
    """Answers contacts by changing velocities.

    The smallest one writes `respond`; one that remembers, also `state` and `restore`; one that moves bodies its own
    way, also ``integrate``, which is then called for the `Integrator` of the world.
    """

    name: ClassVar[str]
    """The name in the registry, the command line, scene files and reports."""

    needs_candidates: ClassVar[bool] = False
    """True: it makes exact tests itself, and `respond` is given the candidate pairs in the place of contacts."""

    @abstractmethod
    def respond(self, bodies: State, contacts: Any, dt: float) -> int:
        """Change ``bodies``, in place; how many contacts were answered.

        ``contacts`` are `Contacts` with pairs of rows, not of ids, or the candidates (m, 2) themselves. What is
        remembered of a body goes by its id, as bodies may come and go between two calls. The result must not depend on
        the number of threads.
        """

    def state(self) -> dict[str, NDArray[Any]]:
        """What is remembered between steps, as plain arrays: part of a saved world."""
        return {}

    def restore(self, state: Mapping[str, NDArray[Any]]) -> None:
        """Remember what `state` gave."""
        if state:
            raise InvalidInput(f"The response {self.name!r} remembers nothing; it was given {', '.join(state)}.")


Integrator: TypeAlias = Callable[[State, float, float | None, float | None, int], None]
"""Called as ``(bodies, dt, max_speed, max_spin, thread_count)``; moves the bodies in place."""

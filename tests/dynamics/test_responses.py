"""Responses by name."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from choque.dynamics import Response, create_response, register_response, response_names
from choque.errors import InvalidInput, UnknownName


def test_names_are_known_and_suggested() -> None:
    assert {"impulse", "fingsics", "shape-matching"} <= set(response_names())
    with pytest.raises(UnknownName, match="Did you mean 'impulse'"):
        create_response("impulses")
    with pytest.raises(UnknownName):
        create_response(None)  # type: ignore[arg-type]


def test_a_response_of_ones_own() -> None:
    class Frozen(Response):
        """Stops what touches."""

        name: ClassVar[str] = "frozen-in-a-test"

        def respond(self, bodies: Any, contacts: Any, dt: float) -> int:  # noqa: ARG002
            bodies.velocity[np.unique(contacts.pairs)] = 0
            return len(contacts)

    assert register_response(Frozen) is Frozen
    assert register_response(Frozen) is Frozen
    assert isinstance(create_response("frozen-in-a-test"), Frozen)
    assert "frozen-in-a-test" in response_names()

    class Impostor(Response):
        name: ClassVar[str] = "impulse"

        def respond(self, bodies: Any, contacts: Any, dt: float) -> int:  # noqa: ARG002
            return 0

    with pytest.raises(InvalidInput, match="There is a response called"):
        register_response(Impostor)


def test_one_that_remembers_nothing_takes_no_memory() -> None:
    response = create_response("impulse")
    assert response.state() == {}
    response.restore({})
    with pytest.raises(InvalidInput, match="has no memory"):
        response.restore({"depth": np.zeros(3)})


def test_one_that_moves_bodies_its_own_way() -> None:
    """A response may take candidates instead of contacts, and override `integrate`."""
    from choque.world import World

    class Teleporting(Response):
        """Puts what may touch apart."""

        name: ClassVar[str] = "teleporting-in-a-test"
        needs_candidates: ClassVar[bool] = True

        def respond(self, bodies: Any, contacts: Any, dt: float) -> int:  # noqa: ARG002
            bodies.position[contacts[:, 1], 0] += 10
            return len(contacts)

        def integrate(self, bodies: Any, dt: float, **_: Any) -> None:
            bodies.position[:, 1] += dt

    register_response(Teleporting)
    world = World("brute", response="teleporting-in-a-test")
    world.add_spheres([[0, 0, 0], [1.9, 1.9, 0]], velocity=[100, 0, 0])
    assert [world.step(1.0).impulses for _ in range(2)] == [1, 0]
    np.testing.assert_allclose(world.bodies.position, [[0, 2, 0], [11.9, 3.9, 0]])
    world.copy().step(1.0)

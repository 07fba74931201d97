"""Responses to contacts, and integrators, by name."""

from __future__ import annotations

from choque._core.registry import Registry
from choque.dynamics.response import Integrator, Response

RESPONSES: Registry[type[Response]] = Registry(
    "response",
    {
        "impulse": "choque.dynamics.impulse:Impulse",
        "shape-matching": "choque.dynamics.shape_matching:ShapeMatching",
    },
    group="choque.responses",
)
INTEGRATORS: Registry[Integrator] = Registry(
    "integrator", {"exact": "choque.dynamics.integration:integrate"}, group="choque.integrators"
)


def response_names() -> list[str]:
    """List every response that `create_response` knows, in alphabetical order."""
    return RESPONSES.names()


def register_response(kind: type[Response]) -> type[Response]:
    """Make ``kind`` known in this process under its ``name``; usable as a class decorator."""
    return RESPONSES.register(kind.name, kind)


def create_response(name: str) -> Response:
    """Make a response of that name, with default options and no history."""
    return RESPONSES.find(name)()


def find_integrator(name: str) -> Integrator:
    """Return the integrator of that name."""
    return INTEGRATORS.find(name)

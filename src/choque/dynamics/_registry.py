"""Names to rules of motion: responses to contacts, and integrators."""

from __future__ import annotations

import importlib
from typing import Any

from choque.dynamics.response import Integrator, Response
from choque.errors import InvalidInput, UnknownName

_RESPONSES = {
    "impulse": "choque.dynamics.impulse:Impulse",
    "legacy": "choque.theses.fingsics.response:LegacyResponse",
    "shape-matching": "choque.dynamics.shape_matching:ShapeMatching",
}
_INTEGRATORS = {
    "exact": "choque.dynamics.integration:integrate",
    "legacy": "choque.theses.fingsics.integration:integrate",
}
_registered: dict[str, type[Response]] = {}


def response_names() -> list[str]:
    """Every response that `create_response` knows, in alphabetical order."""
    return sorted({*_RESPONSES, *_registered})


def register_response(kind: type[Response]) -> type[Response]:
    """Make ``kind`` known in this process under its ``name``; usable as a class decorator."""
    if kind.name in _RESPONSES or _registered.get(kind.name, kind) is not kind:
        raise InvalidInput(f"The response name {kind.name!r} is taken; choose another.")
    _registered[kind.name] = kind
    return kind


def create_response(name: str) -> Response:
    """A response of that name that remembers nothing yet."""
    if name in _registered:
        return _registered[name]()
    kind: type[Response] = _load("response", name, _RESPONSES, response_names())
    return kind()


def find_integrator(name: str) -> Integrator:
    """The integrator of that name: ``exact`` or ``legacy``."""
    found: Integrator = _load("integrator", name, _INTEGRATORS, sorted(_INTEGRATORS))
    return found


def _load(what: str, name: str, table: dict[str, str], known: list[str]) -> Any:
    if not isinstance(name, str) or name not in table:
        raise UnknownName(what, str(name), known)
    module, _, attribute = table[name].partition(":")
    return getattr(importlib.import_module(module), attribute)

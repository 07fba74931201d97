"""Generators of bodies by name: the same names in Python, in scene files, on the command line and in reports."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeAlias, TypeVar

from choque.errors import InvalidInput, UnknownName
from choque.scene.body_columns import BodyColumns
from choque.scene.body_scene import BodyScene, Camera
from choque.scene.checks import whole_number
from choque.scene.request import BodyRequest

BodyGenerator: TypeAlias = Callable[..., BodyColumns]
Registered = TypeVar("Registered", bound=BodyGenerator)

MOST_BODIES = 10_000_000
"""The most bodies that a generator makes: their columns already take gigabytes."""

_generators: dict[str, BodyGenerator] = {}


def body_generator(name: str) -> Callable[[Registered], Registered]:
    """Register a function of a `BodyRequest` and keyword-only parameters, all with defaults, under ``name``.

    It gives as many bodies that are not static as it is asked for, and as many static ones as it likes.

    Example
    -------
    >>> @body_generator("row")
    ... def row(request: BodyRequest, *, gap: float = 3.0) -> BodyColumns: ...
    """

    def register(function: Registered) -> Registered:
        if _generators.get(name, function) is not function:
            raise InvalidInput(f"There is a generator of bodies called {name!r} already; choose another name.")
        _generators[name] = function
        return function

    return register


def body_names() -> list[str]:
    """List every generator of bodies, sorted."""
    _load_built_in()
    return sorted(_generators)


def body_parameters(name: str) -> dict[str, object]:
    """List the parameters of the generator ``name`` with their defaults."""
    signature = inspect.signature(_lookup(name))
    return {key: entry.default for key, entry in signature.parameters.items() if entry.kind is entry.KEYWORD_ONLY}


def body_summary(name: str) -> str:
    """Say in a sentence what the generator ``name`` makes."""
    return " ".join((inspect.getdoc(_lookup(name)) or "").partition("\n\n")[0].split()).replace("`", "")


def bodies(name: str, n: int, seed: int = 0, **parameters: object) -> BodyScene:
    """Make ``n`` bodies and what surrounds them; ``parameters`` are as `body_parameters` lists them.

    Floors, walls and other static bodies come on top of ``n``. The same arguments give the same scene, bit for bit,
    with the same version of NumPy's generators.
    """
    build = _lookup(name)
    allowed = body_parameters(name)
    for key in parameters:
        if key not in allowed:
            listed = ", ".join(f"{known}={default!r}" for known, default in allowed.items()) or "none"
            raise InvalidInput(f"The generator {name!r} has no parameter {key!r}. Its parameters: {listed}.")
    count = whole_number("n", n, smallest=0)
    if count > MOST_BODIES:
        raise InvalidInput(f"n is {count}; a generator makes at most {MOST_BODIES:,} bodies.")
    request = BodyRequest(name, count, whole_number("seed", seed, smallest=0))
    made = build(request, **parameters)
    return BodyScene(
        name=name,
        bodies=made,
        camera=Camera.around(made),
        summary=body_summary(name),
        seed=request.seed,
        parameters={"n": count, **allowed, **parameters},
    )


def _lookup(name: str) -> BodyGenerator:
    _load_built_in()
    if not isinstance(name, str) or name not in _generators:
        raise UnknownName("generator of bodies", str(name), _generators)
    return _generators[name]


def _load_built_in() -> None:
    # Here and not above: the generators import this module to register themselves.
    import choque.scene.body_generators  # noqa: F401

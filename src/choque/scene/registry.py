"""Generators by name: the same names in Python, on the command line and in reports."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np

from choque.errors import InvalidInput, UnknownName
from choque.scene.checks import whole_number
from choque.scene.model import BoxScene, Motion
from choque.scene.request import Request

Generator: TypeAlias = Callable[..., Motion]
Registered = TypeVar("Registered", bound=Generator)

_generators: dict[str, Generator] = {}


def generator(name: str) -> Callable[[Registered], Registered]:
    """Register a function of a `Request` and keyword-only parameters, all with defaults, under ``name``.

    Example
    -------
    >>> @generator("line")
    ... def line(request: Request, *, gap: float = 1.0) -> Motion: ...
    """

    def register(function: Registered) -> Registered:
        if _generators.get(name, function) is not function:
            raise InvalidInput(f"There is a scene called {name!r} already; choose another name.")
        _generators[name] = function
        return function

    return register


def names() -> list[str]:
    """List every registered scene, sorted."""
    _load_built_in()
    return sorted(_generators)


def parameters(name: str) -> dict[str, object]:
    """List the parameters of the scene ``name`` with their defaults."""
    signature = inspect.signature(_lookup(name))
    return {key: entry.default for key, entry in signature.parameters.items() if entry.kind is entry.KEYWORD_ONLY}


def describe(name: str) -> str:
    """Say in a sentence what the scene ``name`` is."""
    return " ".join((inspect.getdoc(_lookup(name)) or "").partition("\n\n")[0].split()).replace("`", "")


def generate(
    name: str,
    n: int,
    seed: int = 0,
    dimension: int = 3,
    frames: int = 1,
    dtype: str | type[np.floating] | np.dtype[np.floating] = "float32",
    **options: object,
) -> BoxScene:
    """Make the scene ``name`` of ``n`` boxes; ``options`` are its own parameters, as `parameters` lists them.

    A scene that rests may have any number of ``frames``, all alike.
    """
    build = _lookup(name)
    allowed = parameters(name)
    for key in options:
        if key not in allowed:
            listed = ", ".join(f"{known}={default!r}" for known, default in allowed.items()) or "none"
            raise InvalidInput(f"The scene {name!r} has no parameter {key!r}. Its parameters: {listed}.")
    if dimension not in (2, 3):
        raise InvalidInput(f"dimension is {dimension!r}; it must be 2 or 3.")
    request = Request(
        name=name,
        box_count=whole_number("n", n, smallest=0),
        dimension=int(dimension),
        seed=whole_number("seed", seed, smallest=0),
    )
    return BoxScene(
        name=name,
        box_count=request.box_count,
        dimension=request.dimension,
        frame_count=whole_number("frames", frames, smallest=1),
        dtype=_float_type(dtype),
        motion=build(request, **options),
        seed=request.seed,
        parameters={**allowed, **options},
    )


def _lookup(name: str) -> Generator:
    _load_built_in()
    if not isinstance(name, str) or name not in _generators:
        raise UnknownName("scene", str(name), _generators)
    return _generators[name]


def _load_built_in() -> None:
    # Here and not above: the generators import this module to register themselves.
    import choque.scene.generators  # noqa: F401


def _float_type(dtype: object) -> np.dtype[np.floating]:
    for known in (np.float32, np.float64):
        if dtype in (known, np.dtype(known), known.__name__):
            return np.dtype(known)
    raise InvalidInput(f"dtype is {dtype!r}; it must be 'float32' or 'float64'.")

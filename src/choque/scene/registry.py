"""Generators by name: the same names in Python, on the command line and in reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

import numpy as np

from choque.errors import InvalidInput
from choque.scene.checks import whole_number
from choque.scene.generators_by_name import Generators
from choque.scene.model import BoxScene, Motion
from choque.scene.request import Request

Generator: TypeAlias = Callable[..., Motion]
Registered = TypeVar("Registered", bound=Generator)

GENERATORS: Generators[Generator] = Generators("scene", "choque.scene.generators")


def generator(name: str) -> Callable[[Registered], Registered]:
    """Register a function of a `Request` and keyword-only parameters, all with defaults, under ``name``.

    Example
    -------
    >>> @generator("line")
    ... def line(request: Request, *, gap: float = 1.0) -> Motion: ...
    """

    def register(function: Registered) -> Registered:
        GENERATORS.register(name, function)
        return function

    return register


def names() -> list[str]:
    """List every registered scene, sorted."""
    return GENERATORS.names()


def parameters(name: str) -> dict[str, object]:
    """List the parameters of the scene ``name`` with their defaults."""
    return GENERATORS.parameters(name)


def generate(
    name: str,
    n: int,
    seed: int = 0,
    dimension: int = 3,
    frames: int = 1,
    dtype: str | type[np.floating] | np.dtype[np.floating] = "float32",
    **parameters: object,
) -> BoxScene:
    """Make the scene ``name`` of ``n`` boxes; ``parameters`` are its own, as `choque.scene.parameters` lists them.

    A scene that rests may have any number of ``frames``, all alike.
    """
    build, completed = GENERATORS.find(name), GENERATORS.completed(name, parameters)
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
        motion=build(request, **parameters),
        seed=request.seed,
        parameters=completed,
    )


def _float_type(dtype: object) -> np.dtype[np.floating]:
    for known in (np.float32, np.float64):
        if dtype in (known, np.dtype(known), known.__name__):
            return np.dtype(known)
    raise InvalidInput(f"dtype is {dtype!r}; it must be 'float32' or 'float64'.")

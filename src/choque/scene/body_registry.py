"""Generators of bodies by name: the same names in Python, in scene files, on the command line and in reports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from choque.errors import InvalidInput
from choque.scene.body_columns import BodyColumns
from choque.scene.body_scene import BodyScene, Camera
from choque.scene.checks import whole_number
from choque.scene.generators_by_name import Generators
from choque.scene.request import BodyRequest

BodyGenerator: TypeAlias = Callable[..., BodyColumns]
Registered = TypeVar("Registered", bound=BodyGenerator)

MOST_BODIES = 10_000_000
"""The most bodies that a generator makes: their columns already take gigabytes."""

GENERATORS: Generators[BodyGenerator] = Generators("generator of bodies", "choque.scene.body_generators")


def body_generator(name: str) -> Callable[[Registered], Registered]:
    """Register a function of a `BodyRequest` and keyword-only parameters, all with defaults, under ``name``.

    It gives as many bodies that are not static as it is asked for, and as many static ones as it likes.

    Example
    -------
    >>> @body_generator("row")
    ... def row(request: BodyRequest, *, gap: float = 3.0) -> BodyColumns: ...
    """

    def register(function: Registered) -> Registered:
        GENERATORS.register(name, function)
        return function

    return register


def body_names() -> list[str]:
    """List every generator of bodies, sorted."""
    return GENERATORS.names()


def body_parameters(name: str) -> dict[str, object]:
    """List the parameters of the generator ``name`` with their defaults."""
    return GENERATORS.parameters(name)


def bodies(name: str, n: int, seed: int = 0, **parameters: object) -> BodyScene:
    """Make ``n`` bodies and what surrounds them; ``parameters`` are as `body_parameters` lists them.

    Floors, walls and other static bodies come on top of ``n``. The same arguments give the same scene, bit for bit,
    with the same version of NumPy's generators.
    """
    build, completed = GENERATORS.find(name), GENERATORS.completed(name, parameters)
    count = whole_number("n", n, smallest=0)
    if count > MOST_BODIES:
        raise InvalidInput(f"n is {count}; a generator makes at most {MOST_BODIES:,} bodies.")
    request = BodyRequest(name, count, whole_number("seed", seed, smallest=0))
    made = build(request, **parameters)
    return BodyScene(
        name=name,
        bodies=made,
        camera=Camera.around(made),
        summary=GENERATORS.summary(name),
        seed=request.seed,
        parameters={"n": count, **completed},
    )

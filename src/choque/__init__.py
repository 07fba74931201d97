"""Choque finds, follows and answers collisions.

>>> import choque
>>> choque.pairs([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]]).tolist()
[[0, 1]]

Everything is imported when it is first used, so that ``import choque`` costs next to nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from choque import (
        bounds,
        broad,
        dynamics,
        errors,
        files,
        gpu,
        interest,
        kinetic,
        lab,
        narrow,
        record,
        scene,
        testing,
        view,
        volumes,
        world,
    )
    from choque._pairs import explain, pairs
    from choque.view.studio import show
    from choque.volumes import Volume
    from choque.world import World

__version__ = "0.1.0"

__all__ = [
    "Volume",
    "World",
    "bounds",
    "broad",
    "dynamics",
    "errors",
    "explain",
    "files",
    "gpu",
    "interest",
    "kinetic",
    "lab",
    "narrow",
    "pairs",
    "record",
    "scene",
    "show",
    "testing",
    "view",
    "volumes",
    "world",
]

_MEMBERS = {
    "Volume": "choque.volumes",
    "World": "choque.world",
    "explain": "choque._pairs",
    "pairs": "choque._pairs",
    "show": "choque.view.studio",
}


def __getattr__(name: str) -> object:
    if name in _MEMBERS:
        value = getattr(importlib.import_module(_MEMBERS[name]), name)
    elif name in __all__:
        value = importlib.import_module(f"choque.{name}")
    else:
        raise AttributeError(f"module 'choque' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

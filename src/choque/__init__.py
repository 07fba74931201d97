"""Choque detects, tracks and resolves collisions.

>>> import choque
>>> choque.pairs([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]]).tolist()
[[0, 1]]

Everything is imported when it is first used, so that ``import choque`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting
from choque._core.version import __version__ as __version__

if TYPE_CHECKING:
    from choque import (
        bounds,
        boxes,
        broad,
        dynamics,
        errors,
        files,
        gpu,
        interest,
        kinetic,
        lab,
        meshes,
        narrow,
        neighbors,
        record,
        scale,
        scene,
        studio,
        testing,
        volumes,
        world,
    )
    from choque._join import join
    from choque._pairs import explain, pairs
    from choque.meshes import Mesh
    from choque.neighbors import Neighbors
    from choque.studio.page.document import page
    from choque.studio.page.studio import show
    from choque.volumes import Volume
    from choque.world import World

__all__ = [
    "Mesh",
    "Neighbors",
    "Volume",
    "World",
    "bounds",
    "boxes",
    "broad",
    "dynamics",
    "errors",
    "explain",
    "files",
    "gpu",
    "interest",
    "join",
    "kinetic",
    "lab",
    "meshes",
    "narrow",
    "neighbors",
    "page",
    "pairs",
    "record",
    "scale",
    "scene",
    "show",
    "studio",
    "testing",
    "volumes",
    "world",
]

_MEMBERS = {
    "Mesh": "choque.meshes",
    "Neighbors": "choque.neighbors",
    "Volume": "choque.volumes",
    "World": "choque.world",
    "explain": "choque._pairs",
    "join": "choque._join",
    "page": "choque.studio.page.document",
    "pairs": "choque._pairs",
    "show": "choque.studio.page.studio",
}

__getattr__ = exporting("choque", {name: _MEMBERS.get(name, f"choque.{name}") for name in __all__})


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])

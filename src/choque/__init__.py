"""Choque detects, tracks and resolves collisions.

>>> import choque
>>> choque.pairs([[0, 0], [1, 1], [5, 5]], [[2, 2], [3, 3], [6, 6]]).tolist()
[[0, 1]]

Everything is imported when it is first used, so that ``import choque`` is fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core import __version__ as __version__
from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque import bounds, boxes, broad, dynamics, errors, files, gpu, interest, kinetic, lab

    # isort: split
    from choque import meshes, narrow, neighbors, record, scale, scene, studio, testing, volumes, world
    from choque._join import join
    from choque._pairs import explain, pairs
    from choque.meshes import Mesh
    from choque.neighbors import Neighbors
    from choque.studio.page.document import page
    from choque.studio.page.studio import show
    from choque.volumes import Volume
    from choque.world import World

__all__ = ["Mesh", "Neighbors", "Volume", "World", "bounds", "boxes", "broad", "dynamics", "errors", "explain"]
__all__ += ["files", "gpu", "interest", "join", "kinetic", "lab", "meshes", "narrow", "neighbors", "page", "pairs"]
__all__ += ["record", "scale", "scene", "show", "studio", "testing", "volumes", "world"]

__getattr__, __dir__ = exporting(
    __name__,
    [*__all__, "__version__"],
    {
        "._join": "join",
        "._pairs": "explain pairs",
        ".meshes": "Mesh",
        ".neighbors": "Neighbors",
        ".studio.page.document": "page",
        ".studio.page.studio": "show",
        ".volumes": "Volume",
        ".world": "World",
    },
)

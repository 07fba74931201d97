"""Triangle meshes in any pose: which faces meet, which poses collide, how far apart; exact by the floats given.

`Mesh` is a surface of triangles, from a file, from arrays, or from a mesh of another library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.meshes._mesh import Intersections, Mesh, intersections

__all__ = ["Intersections", "Mesh", "intersections"]

_HOMES = {
    "Intersections": "choque.meshes._mesh",
    "Mesh": "choque.meshes._mesh",
    "intersections": "choque.meshes._mesh",
}

__getattr__ = exporting("choque.meshes", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)

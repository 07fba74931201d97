"""Triangle meshes in any pose: which faces meet, which poses collide, how far apart; exact by the floats given.

`Mesh` is a surface of triangles, from a file, from arrays, or from a mesh of another library. `collide`, `distance` and
`penetration` answer for many poses in one call; `intersections` gives the faces of two meshes that meet and the curve.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.meshes._mesh import Intersections, Mesh, intersections
    from choque.meshes._queries import Distances, Penetrations, collide, distance, penetration
    from choque.meshes._report import Report

__all__ = [
    "Distances",
    "Intersections",
    "Mesh",
    "Penetrations",
    "Report",
    "collide",
    "distance",
    "intersections",
    "penetration",
]

_HOMES = {
    "Distances": "choque.meshes._queries",
    "Intersections": "choque.meshes._mesh",
    "Mesh": "choque.meshes._mesh",
    "Penetrations": "choque.meshes._queries",
    "Report": "choque.meshes._report",
    "collide": "choque.meshes._queries",
    "distance": "choque.meshes._queries",
    "intersections": "choque.meshes._mesh",
    "penetration": "choque.meshes._queries",
}

__getattr__ = exporting("choque.meshes", _HOMES)


def __dir__() -> list[str]:
    return sorted(__all__)

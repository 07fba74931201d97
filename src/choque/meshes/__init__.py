"""Triangle meshes in any pose: which faces meet, which poses collide, how far apart; exact by the floats given.

`Mesh` is a surface of triangles, from a file, from arrays, from a volume, or from a mesh of another library. `collide`,
`distance` and `penetration` answer for many poses in one call; `clearance` measures every vertex; `intersections` gives
the faces of two meshes that meet and the curve; `relation` says whether two solids are apart, touch, overlap, or lie
one in the other; `Scene` finds every clash of many parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.meshes._clearance import clearance
    from choque.meshes._mesh import Intersections, Mesh, intersections
    from choque.meshes._queries import Distances, Penetrations, collide, distance, penetration
    from choque.meshes._relation import relation
    from choque.meshes._report import Report
    from choque.meshes._scene import Clashes, Scene

__all__ = ["Clashes", "Distances", "Intersections", "Mesh", "Penetrations", "Report", "Scene"]
__all__ += ["clearance", "collide", "distance", "intersections", "penetration", "relation"]

_HOMES = {
    "._clearance": "clearance",
    "._mesh": "Intersections Mesh intersections",
    "._queries": "Distances Penetrations collide distance penetration",
    "._relation": "relation",
    "._report": "Report",
    "._scene": "Clashes Scene",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)

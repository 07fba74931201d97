"""Exact contacts of spheres, capsules, tiles, planes and convex hulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting
from choque.narrow.shapes import Kind, Shapes

if TYPE_CHECKING:
    from choque.narrow import polygons
    from choque.narrow.convex.impact import Impact, time_of_impact
    from choque.narrow.convex.queries import Closest, Penetration, collide, epa, gjk
    from choque.narrow.hulls import Hulls
    from choque.narrow.pair import Contacts
    from choque.narrow.phase import NarrowPhase, contacts
    from choque.narrow.solids import solid_names

__all__ = ["Closest", "Contacts", "Hulls", "Impact", "Kind", "NarrowPhase", "Penetration", "Shapes"]
__all__ += ["collide", "contacts", "epa", "gjk", "polygons", "solid_names", "time_of_impact"]

_HOMES = {
    ".convex.impact": "Impact time_of_impact",
    ".convex.queries": "Closest Penetration collide epa gjk",
    ".hulls": "Hulls",
    ".pair": "Contacts",
    ".phase": "NarrowPhase contacts",
    ".solids": "solid_names",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)

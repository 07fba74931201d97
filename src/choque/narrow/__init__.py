"""Exact contacts: one file for each pair of shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting
from choque.narrow._shapes import CAPSULE, CONVEX, KIND_NAMES, PLANE, SPHERE, TILE, Shapes

if TYPE_CHECKING:
    from choque.narrow import polygons
    from choque.narrow._advancement import Impact, time_of_impact
    from choque.narrow._contacts import Contacts
    from choque.narrow._convex_queries import Closest, Penetration, collide, epa, gjk
    from choque.narrow._find import contacts
    from choque.narrow._hull_solids import solid_names
    from choque.narrow._hulls import Hull, Hulls, Posed
    from choque.narrow._orientation import orientation_2d, orientation_3d
    from choque.narrow._phase import KindTally, NarrowPhase

__all__ = [
    "CAPSULE",
    "CONVEX",
    "KIND_NAMES",
    "PLANE",
    "SPHERE",
    "TILE",
    "Closest",
    "Contacts",
    "Hull",
    "Hulls",
    "Impact",
    "KindTally",
    "NarrowPhase",
    "Penetration",
    "Posed",
    "Shapes",
    "collide",
    "contacts",
    "epa",
    "gjk",
    "orientation_2d",
    "orientation_3d",
    "polygons",
    "solid_names",
    "time_of_impact",
]

_MEMBERS = {
    "Closest": "_convex_queries",
    "Contacts": "_contacts",
    "Hull": "_hulls",
    "Hulls": "_hulls",
    "Impact": "_advancement",
    "KindTally": "_phase",
    "NarrowPhase": "_phase",
    "Penetration": "_convex_queries",
    "Posed": "_hulls",
    "collide": "_convex_queries",
    "contacts": "_find",
    "epa": "_convex_queries",
    "gjk": "_convex_queries",
    "orientation_2d": "_orientation",
    "orientation_3d": "_orientation",
    "solid_names": "_hull_solids",
    "time_of_impact": "_advancement",
    "polygons": "polygons",
}

__getattr__ = exporting("choque.narrow", {name: f"choque.narrow.{home}" for name, home in _MEMBERS.items()})


def __dir__() -> list[str]:
    return sorted(__all__)

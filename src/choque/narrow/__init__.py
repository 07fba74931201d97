"""Exact contacts: one file for each pair of shapes."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from choque.narrow._shapes import CAPSULE, CONVEX, KIND_NAMES, PLANE, SPHERE, TILE, Shapes

if TYPE_CHECKING:
    from choque.narrow import polygons
    from choque.narrow._contacts import Contacts
    from choque.narrow._find import contacts
    from choque.narrow._phase import KindTally, NarrowPhase

__all__ = [
    "CAPSULE",
    "CONVEX",
    "KIND_NAMES",
    "PLANE",
    "SPHERE",
    "TILE",
    "Contacts",
    "KindTally",
    "NarrowPhase",
    "Shapes",
    "contacts",
    "polygons",
]

_MEMBERS = {
    "Contacts": "_contacts",
    "KindTally": "_phase",
    "NarrowPhase": "_phase",
    "contacts": "_find",
}
_MODULES = ("polygons",)


def __getattr__(name: str) -> object:
    if name in _MEMBERS:
        value = getattr(importlib.import_module(f"choque.narrow.{_MEMBERS[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"choque.narrow.{name}")
    else:
        raise AttributeError(f"module 'choque.narrow' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

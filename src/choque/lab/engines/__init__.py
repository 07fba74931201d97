"""The physics engines compared with, one file each; none is imported before it is used.

They run the same scenes of spheres and capsules between walls, by rules of their own: what is compared is the time of
a step, not the course of the bodies.
"""

from __future__ import annotations

from choque.errors import UnknownName
from choque.lab.engines.contract import Engine
from choque.lab.engines.pybullet import Bullet

__all__ = ["Engine", "get", "installed", "names"]

_ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (Bullet,)}


def names() -> list[str]:
    """List every engine that there is an adapter for, installed or not."""
    return list(_ENGINES)


def installed() -> list[str]:
    """List the engines whose library can be found here, without importing any of them."""
    return [name for name, engine in _ENGINES.items() if engine.is_installed()]


def get(name: str) -> type[Engine]:
    """Give the engine ``name``; called with a scene, it makes a world of its own."""
    if name not in _ENGINES:
        raise UnknownName("engine", name, _ENGINES)
    return _ENGINES[name]

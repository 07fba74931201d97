"""The physics engines compared with, one file each; none is imported before it is used.

They run the same scenes of spheres and capsules between walls, by their own rules: the time of a step is compared, not
the motion of the bodies.
"""

from __future__ import annotations

from choque._core.registry import Registry
from choque.lab.engines.contract import Engine

__all__ = ["ENGINES", "Engine", "get", "installed", "names"]

ENGINES: Registry[type[Engine]] = Registry(
    "engine", {"bullet": "choque.lab.engines.pybullet:Bullet"}, group="choque.engines"
)


def names() -> list[str]:
    """List every engine that has an adapter, installed or not."""
    return list(ENGINES)


def installed() -> list[str]:
    """List the engines whose library can be found here, without importing any of them."""
    return [name for name in ENGINES if ENGINES.find(name).is_installed()]


def get(name: str) -> type[Engine]:
    """Return the engine ``name``; called with a scene, it makes a world of its own."""
    return ENGINES.find(name)

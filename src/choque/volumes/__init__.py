"""Solids made of voxels, from scans, meshes and masks: booleans, measures, collisions; all exact.

`Volume` is the class for most uses. `Scene` holds many volumes, `Body` one that moves and turns. `ExtremeVertices` is
the model underneath; `choque.lab.phantoms` makes test volumes by name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.volumes._lattice import Lattice
    from choque.volumes._model import ExtremeVertices
    from choque.volumes._scene import Body, Scene
    from choque.volumes._volume import Volume
    from choque.volumes.collision import Overlap

__all__ = ["Body", "ExtremeVertices", "Lattice", "Overlap", "Scene", "Volume"]

_HOMES = {
    "._lattice": "Lattice",
    "._model": "ExtremeVertices",
    "._scene": "Body Scene",
    "._volume": "Volume",
    ".collision": "Overlap",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)

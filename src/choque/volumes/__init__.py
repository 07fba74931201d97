"""Solids made of voxels: from scans, meshes and masks to booleans, measures and collisions, exactly.

`Volume` is what most people need. `Scene` holds many, `Pyramid` one at several resolutions, `Body` one that moves and
turns; `phantoms` makes test objects by name. `ExtremeVertices` is the model underneath.
"""

from __future__ import annotations

from choque.theses.evm import baselines
from choque.theses.evm.pyramid import Pyramid
from choque.volumes import phantoms
from choque.volumes._body import Body
from choque.volumes._boolean import SweepCounters
from choque.volumes._lattice import Lattice
from choque.volumes._model import ExtremeVertices
from choque.volumes._scene import Scene
from choque.volumes._triangle_search import TriangleSearch
from choque.volumes._two_phase import MeshVerdict, meshes_collide
from choque.volumes._volume import Collision, Volume

__all__ = [
    "Body",
    "Collision",
    "ExtremeVertices",
    "Lattice",
    "MeshVerdict",
    "Pyramid",
    "Scene",
    "SweepCounters",
    "TriangleSearch",
    "Volume",
    "baselines",
    "meshes_collide",
    "phantoms",
]

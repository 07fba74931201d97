"""The EVM thesis: Ottogalli, collision detection with the Extreme Vertices Model (Universidad de Carabobo, 2014).

What exists to reproduce it, beside `choque.volumes`: the trie layout, sweeps with counters, a pyramid of resolutions,
meshes in two phases, the surface of the published figures, baselines, and the study ``evm``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from choque._core.lazy import exporting

if TYPE_CHECKING:
    from choque.theses.evm.baselines import DenseMask, Octree, RunRows
    from choque.theses.evm.pyramid import Pyramid
    from choque.theses.evm.surface import covered_surface
    from choque.theses.evm.sweep import SweepCounters, combine, sweep_collides
    from choque.theses.evm.trie import Trie
    from choque.theses.evm.two_phase import MeshVerdict, meshes_collide

__all__ = [
    "DenseMask",
    "MeshVerdict",
    "Octree",
    "Pyramid",
    "RunRows",
    "SweepCounters",
    "Trie",
    "combine",
    "covered_surface",
    "meshes_collide",
    "sweep_collides",
]

_HOMES = {
    ".baselines": "DenseMask Octree RunRows",
    ".pyramid": "Pyramid",
    ".surface": "covered_surface",
    ".sweep": "SweepCounters combine sweep_collides",
    ".trie": "Trie",
    ".two_phase": "MeshVerdict meshes_collide",
}
__getattr__, __dir__ = exporting(__name__, __all__, _HOMES)

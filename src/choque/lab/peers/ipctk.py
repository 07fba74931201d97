"""ipctk, the IPC Toolkit: broad phases for meshes, on all cores through TBB.

Each box is the swept box of a point that travels from the lower to the upper corner, and each point is an
edge of its own: the edge-edge candidates are then the overlapping boxes, and stay in C++ until they are read.
This is the fastest of the ways tried: edges between two vertices build twice as many vertex boxes, and
vertex-vertex candidates come only as Python objects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from choque._core.types import Floats, Pairs
from choque.lab.peers.contract import Peer, canonical, in_three_dimensions, overlapping


@dataclass
class _State:
    structure: Any
    lower: Floats
    upper: Floats


class _Ipctk(Peer):
    module = "ipctk"
    distribution = "ipctk"
    uses_threads = True
    exactness = "The library pads boxes by a rounding; the few false pairs are taken out when the answer is read."
    structure: ClassVar[str]

    def create(self, lower: Floats, upper: Floats) -> _State:
        ipctk = self.library()
        ipctk.set_num_threads(self.threads)
        structure = getattr(ipctk, self.structure)()
        rows = np.arange(len(lower), dtype=np.int32)
        edges = np.asfortranarray(np.stack((rows, rows), axis=1))
        faces = np.empty((0, 3), np.int32, order="F")
        start, end = (np.asfortranarray(in_three_dimensions(corners)) for corners in (lower, upper))
        structure.build(start, end, edges, faces)
        return _State(structure, lower, upper)

    def pairs(self, state: _State) -> Any:
        return state.structure.detect_collision_candidates()

    def read(self, state: _State, answer: Any) -> Pairs:
        candidates = answer.ee_candidates
        found = np.fromiter(
            ((each.edge0_id, each.edge1_id) for each in candidates), np.dtype((np.int64, 2)), len(candidates)
        )
        first, second = found[:, 0], found[:, 1]
        true = overlapping(state.lower, state.upper, first, second)
        return canonical(first[true], second[true])


class IpctkLbvh(_Ipctk):
    """Linear bounding-volume hierarchy on Morton order, in float32 nodes."""

    name = "ipctk-lbvh"
    structure = "LBVH"


class IpctkHashGrid(_Ipctk):
    """Uniform grid, hashed."""

    name = "ipctk-hash-grid"
    structure = "HashGrid"


class IpctkSweepAndPrune(_Ipctk):
    """One-axis sweep."""

    name = "ipctk-sweep"
    structure = "SweepAndPrune"

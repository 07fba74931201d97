"""NVIDIA Warp's hash grid and bounding-volume hierarchy, on its CPU device, which is one thread."""
# ruff: noqa: D102 (the contract documents the stages)

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats, Pairs
from choque.gpu.devices import load_warp
from choque.lab.peers.contract import Peer, canonical, in_three_dimensions

PAIRS_PER_BOX = 4
"""Size of the first buffer of pairs; if it is too small, the search runs again with a larger one."""

CELLS_PER_AXIS = 128
"""The largest hash grid; a larger scene wraps around, which costs tests and loses nothing."""


@dataclass
class _State:
    structure: Any
    corners: tuple[NDArray[np.float32], NDArray[np.float32]]
    inputs: list[Any]
    count: Any
    buffer: Any


class _Warp(Peer):
    module = "warp"
    distribution = "warp-lang"
    kernel: str

    def _warp(self) -> ModuleType:
        self.library()  # which says how to get it
        return load_warp()

    def _vectors(self, values: NDArray[np.float32]) -> Any:
        warp = self._warp()
        return warp.array(values, dtype=warp.vec3, device="cpu", copy=False)

    def _state(self, structure: Any, corners: Any, inputs: list[Any]) -> _State:
        warp = self._warp()
        buffer = warp.empty(PAIRS_PER_BOX * len(corners[0]) + 1, dtype=warp.vec2i, device="cpu")
        return _State(structure, corners, inputs, warp.zeros(1, dtype=int, device="cpu"), buffer)

    def pairs(self, state: _State) -> NDArray[np.int32]:
        from choque.lab.peers import _warp_kernels

        warp = self._warp()
        kernel = getattr(_warp_kernels, self.kernel)
        while True:
            state.count.zero_()
            inputs = [state.structure.id, *state.inputs, state.count, state.buffer]
            warp.launch(kernel, dim=len(state.corners[0]), inputs=inputs, device="cpu")
            found = int(state.count.numpy()[0])
            if found <= len(state.buffer):
                answer: NDArray[np.int32] = state.buffer.numpy()[:found]
                return answer
            state.buffer = warp.empty(found, dtype=warp.vec2i, device="cpu")

    def read(self, state: _State, answer: NDArray[np.int32]) -> Pairs:  # noqa: ARG002
        return canonical(answer[:, 0], answer[:, 1])


class WarpHashGrid(_Warp):
    """Centres in cells as large as the largest edge, and a test of the boxes in the kernel."""

    name = "warp-hash-grid"
    kernel = "hash_grid_pairs"
    exactness = "Exact for boxes in float32."

    def create(self, lower: Floats, upper: Floats) -> _State:
        warp = self._warp()
        low, high = (in_three_dimensions(corners, np.float32) for corners in (lower, upper))
        centre = (low + high) / 2
        # Slightly more than the largest edge, because centres are rounded too.
        cell = float((high - low).max(initial=0.0)) * 1.00001 + float(np.spacing(np.abs(centre).max(initial=1.0)))
        cells = np.ceil(np.ptp(centre, axis=0) / cell) if len(centre) else np.ones(3)
        structure = warp.HashGrid(*(int(each) for each in np.clip(cells, 1, CELLS_PER_AXIS)), device="cpu")
        points = self._vectors(centre)
        structure.build(points, cell)
        return self._state(structure, (low, high), [points, self._vectors(low), self._vectors(high), cell])


class WarpBvh(_Warp):
    """cuBQL's builder, the fastest of the three on this device; moving refits the tree."""

    name = "warp-bvh"
    kernel = "bvh_pairs"
    keeps_structure = True
    exactness = "Exact for boxes in float32."

    def create(self, lower: Floats, upper: Floats) -> _State:
        # Refitting writes into these arrays, which must not be the caller's.
        low, high = (in_three_dimensions(corners, np.float32).copy() for corners in (lower, upper))
        vectors = [self._vectors(low), self._vectors(high)]
        structure = self._warp().Bvh(*vectors, constructor="cubql")
        return self._state(structure, (low, high), vectors)

    def update(self, state: _State, lower: Floats, upper: Floats) -> _State:
        dimension = lower.shape[1]
        state.corners[0][:, :dimension] = lower
        state.corners[1][:, :dimension] = upper
        state.structure.refit()
        return state

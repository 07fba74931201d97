"""NVIDIA Warp's NanoVDB volumes, on its CPU device, one thread: every voxel of one is looked up in the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from choque.errors import require
from choque.gpu.devices import load_warp
from choque.theses.evm.holder import Holder, Mask, Shift


@dataclass(frozen=True)
class SparseVolume:
    """An index grid of the full voxels, and their positions (n, 3) in the device's memory."""

    grid: Any
    voxels: Any
    byte_count: int


class WarpVolumes(Holder):
    """Full voxels as a NanoVDB index grid (Museth, "NanoVDB", 2021); the smaller object asks for each of its voxels."""

    module: ClassVar[str] = "warp"

    def make(self, mask: Mask) -> SparseVolume:
        """The grid of the full voxels."""
        warp = _warp()
        voxels = warp.array(np.argwhere(mask).astype(np.int32), dtype=warp.int32, device="cpu")
        grid = warp.Volume.allocate_by_voxels(voxels, voxel_size=1.0, device="cpu")
        return SparseVolume(grid, voxels, int(grid.get_grid_info().size_in_bytes) + voxels.size * 4)

    def place(self, one: SparseVolume, two: SparseVolume, shift: Shift) -> tuple[Any, Any]:
        """Nothing moves: the kernel takes the shift from the voxels of the asker to the grid of the asked."""
        if one.voxels.shape[0] <= two.voxels.shape[0]:
            return one, (two, tuple(-step for step in shift))
        return two, (one, shift)

    def ask(self, one: SparseVolume, two: tuple[SparseVolume, Shift]) -> bool:
        """Whether one of the voxels is full in both; those that come after a hit are not looked up."""
        from choque.lab.peers import _warp_volume_kernels

        warp = _warp()
        asked, shift = two
        hit = warp.zeros(1, dtype=warp.int32, device="cpu")
        arguments = [asked.grid.id, one.voxels, warp.vec3i(*shift), hit]
        warp.launch(_warp_volume_kernels.look_up, dim=one.voxels.shape[0], inputs=arguments, device="cpu")
        return bool(hit.numpy()[0])


def _warp() -> Any:
    require(WarpVolumes.module, extra="gpu", purpose="to compare with NanoVDB volumes")
    return load_warp()

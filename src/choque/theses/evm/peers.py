"""Voxel objects in other libraries: the meshes of python-fcl, and the NanoVDB volumes of NVIDIA Warp."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from choque.errors import require
from choque.gpu.devices import load_warp
from choque.theses.evm.holder import Holder, Mask, Shift
from choque.volumes import ExtremeVertices
from choque.volumes.surface import closed_surface


class FclMeshes(Holder):
    """The closed surface of each object in python-fcl's hierarchy of boxes (Gottschalk, Lin and Manocha, 1996).

    Answers another question: whether surfaces meet. Objects that only touch do, and one inside another does not.
    """

    module: ClassVar[str] = "fcl"
    is_exact: ClassVar[bool] = False

    def make(self, mask: Mask) -> Any:
        """Return the tree over the triangles of the surface, and the size of these [bytes]."""
        fcl = require(self.module, extra="peers", purpose="to compare with the meshes of python-fcl")
        points, faces = closed_surface(ExtremeVertices.from_mask(mask))
        tree = fcl.BVHModel()
        tree.beginModel(len(points), len(faces))
        tree.addSubModel(points.astype(np.float64), faces)
        tree.endModel()
        return fcl, tree, points.nbytes + faces.nbytes

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Give the second its translation."""
        fcl, tree, _ = one
        _, other, _ = two
        resting = fcl.CollisionObject(tree, fcl.Transform())
        moved = fcl.CollisionObject(other, fcl.Transform(np.array(shift, np.float64)))
        return (fcl, resting), moved

    def ask(self, one: Any, two: Any) -> bool:
        """Return whether two triangles meet; stop at the first contact."""
        fcl, resting = one
        return bool(fcl.collide(resting, two, fcl.CollisionRequest(), fcl.CollisionResult()))

    def byte_count(self, made: Any) -> int:
        """Return the size of vertices and faces [bytes], without the tree, whose size is not known."""
        return int(made[2])


@dataclass(frozen=True)
class SparseVolume:
    """An index grid of the full voxels, and their positions (n, 3) in the device's memory."""

    grid: Any
    voxels: Any
    byte_count: int


class WarpVolumes(Holder):
    """Full voxels as a NanoVDB index grid (Museth, 2021), on Warp's CPU device with one thread.

    Every voxel of the smaller object is looked up in the grid of the larger one.
    """

    module: ClassVar[str] = "warp"

    def make(self, mask: Mask) -> SparseVolume:
        """Return the grid of the full voxels."""
        warp = _warp()
        voxels = warp.array(np.argwhere(mask).astype(np.int32), dtype=warp.int32, device="cpu")
        grid = warp.Volume.allocate_by_voxels(voxels, voxel_size=1.0, device="cpu")
        return SparseVolume(grid, voxels, int(grid.get_grid_info().size_in_bytes) + voxels.size * 4)

    def place(self, one: SparseVolume, two: SparseVolume, shift: Shift) -> tuple[Any, Any]:
        """Move nothing: the kernel takes the shift from the voxels of one to the grid of the other."""
        if one.voxels.shape[0] <= two.voxels.shape[0]:
            return one, (two, tuple(-step for step in shift))
        return two, (one, shift)

    def ask(self, one: SparseVolume, two: tuple[SparseVolume, Shift]) -> bool:
        """Return whether a voxel is full in both; those after a hit are not looked up."""
        from choque.theses.evm import _warp_kernels

        warp = _warp()
        asked, shift = two
        hit = warp.zeros(1, dtype=warp.int32, device="cpu")
        arguments = [asked.grid.id, one.voxels, warp.vec3i(*shift), hit]
        warp.launch(_warp_kernels.look_up, dim=one.voxels.shape[0], inputs=arguments, device="cpu")
        return bool(hit.numpy()[0])


def _warp() -> Any:
    require(WarpVolumes.module, extra="gpu", purpose="to compare with NanoVDB volumes")
    return load_warp()

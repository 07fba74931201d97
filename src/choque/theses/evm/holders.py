"""Representations of voxel objects that the study compares, by name, and those of other libraries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from choque.errors import require
from choque.files.meshes import MeshArrays
from choque.gpu.devices import load_warp
from choque.theses.evm.baselines import DenseMask, EarlyMask, Mask, Octree, RunRows, Shift
from choque.theses.evm.sweep import keys_collide
from choque.theses.evm.triangles import colliding_triangles
from choque.theses.evm.trie import Trie, link
from choque.volumes import ExtremeVertices
from choque.volumes.boolean import combine_keys
from choque.volumes.collision import search
from choque.volumes.surface import closed_surface


@dataclass(frozen=True)
class Instance:
    """Two masks, the placements of the second, the mesh that both came from, and where results are kept, if any."""

    one: Mask
    two: Mask
    shifts: Sequence[Shift]
    mesh: MeshArrays | None = None
    voxels_per_unit: float = 1.0
    shared: Path | None = None
    """A folder for what all representations of this instance have in common: the right answers, counts of vertices."""


class Holder(ABC):
    """A representation of voxel objects: make one, place two (not timed), test two (timed), and count the bytes."""

    is_exact: ClassVar[bool] = True
    """False if it answers another question than whether a voxel is full in both."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def make(self, mask: Mask) -> Any:
        """Return the object of a mask."""
        return ExtremeVertices.from_mask(mask)

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Return both objects as `collides` takes them, the second moved."""
        left, right, _ = one.together(two.moved(shift))
        return left, right

    @abstractmethod
    def collides(self, one: Any, two: Any) -> bool:
        """Return whether the placed objects collide."""

    def byte_count(self, made: Any) -> int:
        """Return the size of an object [bytes]."""
        return int(made.byte_count)


class Kept(Holder):
    """Sorted vertices with cached sections: the algorithm of `choque.Volume.collides`."""

    def make(self, mask: Mask) -> ExtremeVertices:
        """Return the vertices, with sections along every axis."""
        model = ExtremeVertices.from_mask(mask)
        for order in ("xyz", "yzx", "zxy"):
            model.sections(order)
        return model

    def place(self, one: ExtremeVertices, two: ExtremeVertices, shift: Shift) -> tuple[Any, Any]:
        """Move nothing: `collides` takes the shift."""
        return one, (two, shift)

    def collides(self, one: ExtremeVertices, two: tuple[ExtremeVertices, Shift]) -> bool:
        """Search an overlap from the cached sections."""
        return search(one, *two).overlap is not None

    def byte_count(self, made: ExtremeVertices) -> int:
        """Return the size of vertices and cached sections [bytes]."""
        return made.byte_count + made.cached_byte_count


class SortedSweep(Holder):
    """The collision sweep of the thesis on sorted vertices."""

    def collides(self, one: Any, two: Any) -> bool:
        """Stop at the first overlap."""
        return keys_collide(one, two, 3)


class SortedIntersection(Holder):
    """The intersection of sorted vertices, and whether it is empty."""

    def collides(self, one: Any, two: Any) -> bool:
        """Compute the intersection, as programs before the thesis did."""
        return len(combine_keys(one, two, 3, "intersection")) > 0


class TrieSweep(Holder):
    """The collision sweep of the thesis on tries."""

    def make(self, mask: Mask) -> tuple[ExtremeVertices, Trie]:
        """Return the vertices, and their trie."""
        model = ExtremeVertices.from_mask(mask)
        return model, Trie.from_model(model)

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Link both again: a trie has no offset."""
        left, right, _ = link(one[0], two[0].moved(shift))
        return left, right

    def byte_count(self, made: tuple[ExtremeVertices, Trie]) -> int:
        """Return the size of the nodes [bytes]."""
        return made[1].byte_count

    def collides(self, one: Any, two: Any) -> bool:
        """Stop at the first overlap."""
        return bool(one.collides(two))


class TrieIntersection(TrieSweep):
    """The intersection of two tries, and whether it is empty."""

    def collides(self, one: Any, two: Any) -> bool:
        """Compute the intersection, as programs before the thesis did."""
        return len(one.combine(two, "intersection").nodes) > 1


class Baseline(Holder):
    """Another structure, whose test takes the shift."""

    kind: Callable[[Mask], Any]

    def make(self, mask: Mask) -> Any:
        """Return the structure."""
        return type(self).kind(mask)

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Move nothing."""
        return one, (two, shift)

    def collides(self, one: Any, two: Any) -> bool:
        """Test the structures themselves."""
        return bool(one.collides(*two))


class Dense(Baseline):
    """The AND of two masks, cropped to their common range."""

    kind = DenseMask


class DenseEarly(Baseline):
    """The same plane by plane, up to the first that shares a voxel."""

    kind = EarlyMask


class Runs(Baseline):
    """Rows of runs."""

    kind = RunRows


class Tree(Baseline):
    """An octree."""

    kind = Octree


class Boxes(Holder):
    """The boxes around both: conservative, they may overlap where the objects do not."""

    is_exact: ClassVar[bool] = False

    def make(self, mask: Mask) -> Any:
        """Return the corners."""
        return ExtremeVertices.from_mask(mask).bounds

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Move the box."""
        return one, tuple(tuple(map(sum, zip(corner, shift, strict=True))) for corner in two)

    def collides(self, one: Any, two: Any) -> bool:
        """Compare the ranges along three axes."""
        (low, high), (other_low, other_high) = one, two
        return all(low[axis] < other_high[axis] and other_low[axis] < high[axis] for axis in (0, 1, 2))

    def byte_count(self, made: Any) -> int:  # noqa: ARG002
        """Return the size of six numbers [bytes]."""
        return 48


class Triangles(Holder):
    """Every triangle of a mesh against every one of the other, by Möller's test."""

    is_exact: ClassVar[bool] = False

    def make(self, mask: Mask) -> MeshArrays:  # noqa: ARG002
        """Return the mesh itself."""
        assert self.instance.mesh is not None
        return self.instance.mesh

    def place(self, one: MeshArrays, two: MeshArrays, shift: Shift) -> tuple[Any, Any]:
        """Move the vertices."""
        return one, MeshArrays(two.vertices + np.array(shift) / self.instance.voxels_per_unit, two.faces)

    def collides(self, one: Any, two: Any) -> bool:
        """Test all pairs."""
        return len(colliding_triangles(one, two)[0]) > 0

    def byte_count(self, made: MeshArrays) -> int:
        """Return the size of vertices and faces [bytes]."""
        return made.vertices.nbytes + made.faces.nbytes


# Other libraries


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

    def collides(self, one: Any, two: Any) -> bool:
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

    def collides(self, one: SparseVolume, two: tuple[SparseVolume, Shift]) -> bool:
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


HOLDERS: Mapping[str, type[Holder]] = {
    "kept": Kept,
    "sorted": SortedSweep,
    "sorted-intersection": SortedIntersection,
    "trie": TrieSweep,
    "trie-intersection": TrieIntersection,
    "dense": Dense,
    "dense-early": DenseEarly,
    "runs": Runs,
    "octree": Tree,
    "boxes": Boxes,
    "triangles": Triangles,
    "fcl": FclMeshes,
    "nanovdb": WarpVolumes,
}

PEERS: Mapping[str, str] = {"fcl": FclMeshes.module, "nanovdb": WarpVolumes.module}
"""Modules of other libraries, by representation."""


def is_installed(name: str) -> bool:
    """Return whether the library of a representation is installed."""
    return name not in PEERS or find_spec(PEERS[name]) is not None

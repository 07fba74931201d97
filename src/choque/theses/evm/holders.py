"""Representations of voxel objects that the study compares, by name; `peers` has those of other libraries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from choque.files.meshes import Mesh
from choque.theses.evm.baselines import DenseMask, Octree, RunRows
from choque.theses.evm.holder import Holder, Mask, Shift
from choque.theses.evm.peers import FclMeshes, WarpVolumes
from choque.theses.evm.sweep import keys_collide
from choque.theses.evm.trie import Trie, link
from choque.volumes import ExtremeVertices
from choque.volumes.boolean import combine_keys
from choque.volumes.collision import search
from choque.volumes.triangles import colliding_triangles


class Kept(Holder):
    """Sorted vertices with cached sections: the algorithm of `choque.Volume.collides`."""

    def make(self, mask: Mask) -> ExtremeVertices:
        """The vertices, and the sections along every axis."""
        model = ExtremeVertices.from_mask(mask)
        for order in ("xyz", "yzx", "zxy"):
            model.sections(order)
        return model

    def place(self, one: ExtremeVertices, two: ExtremeVertices, shift: Shift) -> tuple[Any, Any]:
        """Nothing moves: the question takes the shift."""
        return one, (two, shift)

    def ask(self, one: ExtremeVertices, two: tuple[ExtremeVertices, Shift]) -> bool:
        """Search an overlap from the cached sections."""
        return search(one, *two).overlap is not None

    def byte_count(self, made: ExtremeVertices) -> int:
        """Return the size of vertices and cached sections [bytes]."""
        return made.byte_count + made.cached_byte_count


class SortedSweep(Holder):
    """The collision sweep of the thesis on sorted vertices."""

    def ask(self, one: Any, two: Any) -> bool:
        """Stops at the first overlap."""
        return keys_collide(one, two, 3)


class SortedIntersection(Holder):
    """The whole intersection, and whether it is empty."""

    def ask(self, one: Any, two: Any) -> bool:
        """What was done before the thesis."""
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

    def ask(self, one: Any, two: Any) -> bool:
        """Stops at the first overlap."""
        return bool(one.collides(two))


class TrieIntersection(TrieSweep):
    """The whole intersection of two tries, and whether it is empty."""

    def ask(self, one: Any, two: Any) -> bool:
        """What was done before the thesis."""
        return len(one.combine(two, "intersection").nodes) > 1


class Baseline(Holder):
    """Another structure, which takes the shift with the question."""

    kind: Callable[[Mask], Any]

    def make(self, mask: Mask) -> Any:
        """The structure."""
        return type(self).kind(mask)

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Nothing moves."""
        return one, (two, shift)

    def ask(self, one: Any, two: Any) -> bool:
        """Its own question."""
        return bool(one.collides(*two))


class Dense(Baseline):
    """The AND of two masks, cropped to where both are."""

    kind = DenseMask


class Runs(Baseline):
    """Rows of runs."""

    kind = RunRows


class Tree(Baseline):
    """An octree."""

    kind = Octree


class Boxes(Holder):
    """The boxes around both: may say yes where the objects do not meet."""

    is_exact: ClassVar[bool] = False

    def make(self, mask: Mask) -> Any:
        """The corners."""
        return ExtremeVertices.from_mask(mask).bounds

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """The box moves."""
        return one, tuple(tuple(map(sum, zip(corner, shift, strict=True))) for corner in two)

    def ask(self, one: Any, two: Any) -> bool:
        """Three comparisons each way."""
        (low, high), (other_low, other_high) = one, two
        return all(low[axis] < other_high[axis] and other_low[axis] < high[axis] for axis in (0, 1, 2))

    def byte_count(self, made: Any) -> int:  # noqa: ARG002
        """Six numbers."""
        return 48


class Triangles(Holder):
    """Every triangle of a mesh against every one of the other, by Möller's test."""

    is_exact: ClassVar[bool] = False

    def make(self, mask: Mask) -> Mesh:  # noqa: ARG002
        """The mesh itself."""
        assert self.instance.mesh is not None
        return self.instance.mesh

    def place(self, one: Mesh, two: Mesh, shift: Shift) -> tuple[Any, Any]:
        """The vertices move."""
        return one, Mesh(two.vertices + np.array(shift) / self.instance.voxels_per_unit, two.faces)

    def ask(self, one: Any, two: Any) -> bool:
        """All pairs."""
        return len(colliding_triangles(one, two)[0]) > 0

    def byte_count(self, made: Mesh) -> int:
        """Vertices and faces."""
        return made.vertices.nbytes + made.faces.nbytes


HOLDERS: Mapping[str, type[Holder]] = {
    "kept": Kept,
    "sorted": SortedSweep,
    "sorted-intersection": SortedIntersection,
    "trie": TrieSweep,
    "trie-intersection": TrieIntersection,
    "dense": Dense,
    "runs": Runs,
    "octree": Tree,
    "boxes": Boxes,
    "triangles": Triangles,
    "fcl": FclMeshes,
    "nanovdb": WarpVolumes,
}

PEERS: Mapping[str, str] = {"fcl": FclMeshes.module, "nanovdb": WarpVolumes.module}
"""The library that a way needs."""


def is_installed(name: str) -> bool:
    """Whether a way to hold a volume can be used here."""
    return name not in PEERS or find_spec(PEERS[name]) is not None

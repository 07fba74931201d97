"""Two voxel objects in many placements, as a trial: held in some way, and asked whether they collide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnknownName
from choque.files.mesh_arrays import Mesh
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict
from choque.volumes import ExtremeVertices
from choque.volumes._boolean import combine_keys
from choque.volumes._collision import search
from choque.volumes._sweep import sweep_collides
from choque.volumes._triangles import colliding_triangles
from choque.volumes._trie import Trie
from choque.volumes.baselines import DenseMask, Octree, RunRows

Mask = NDArray[np.bool_]
Shift = tuple[int, int, int]


@dataclass(frozen=True)
class Instance:
    """Two masks, where the second is placed, and the mesh that both came from, if there is one."""

    one: Mask
    two: Mask
    shifts: Sequence[Shift]
    mesh: Mesh | None = None
    voxels_per_unit: float = 1.0


class Holder(ABC):
    """A way to hold an object: make it, move it (not timed), ask two (timed), and say its bytes."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    def make(self, mask: Mask) -> Any:
        """The object of a mask."""
        return ExtremeVertices.from_mask(mask)

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Both objects as the question wants them, the second moved."""
        left, right, _ = one._together(two.moved(shift))
        return left, right

    @abstractmethod
    def ask(self, one: Any, two: Any) -> bool:
        """The question."""

    def byte_count(self, made: Any) -> int:
        """What an object holds."""
        return int(made.byte_count)


class Kept(Holder):
    """Sorted vertices with their sections kept: what `choque.Volume.collides` does."""

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
        """The search that starts where both meet."""
        return search(one, *two).overlap is not None

    def byte_count(self, made: ExtremeVertices) -> int:
        """Vertices and kept sections."""
        return made.byte_count + made.kept_byte_count


class SortedSweep(Holder):
    """The collision sweep of the thesis on sorted vertices."""

    def ask(self, one: Any, two: Any) -> bool:
        """Stops at the first overlap."""
        return sweep_collides(one, two, 3)


class SortedIntersection(Holder):
    """The whole intersection, and whether it is empty."""

    def ask(self, one: Any, two: Any) -> bool:
        """What was done before the thesis."""
        return len(combine_keys(one, two, 3, "intersection")) > 0


class TrieSweep(Holder):
    """The collision sweep of the thesis on tries."""

    def make(self, mask: Mask) -> ExtremeVertices:
        """Vertices, linked."""
        model = ExtremeVertices.from_mask(mask, layout="trie")
        assert model._trie
        return model

    def place(self, one: Any, two: Any, shift: Shift) -> tuple[Any, Any]:
        """Moving a trie is linking it anew."""
        left, right = super().place(one, two, shift)
        return Trie.from_keys(left), Trie.from_keys(right)

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
}


class VolumeTrial(Trial):
    """Make two objects (``create``), then ask in every placement (``query``); moving is charged to nobody."""

    def __init__(self, name: str, instance: Instance) -> None:
        if name not in HOLDERS:
            raise UnknownName("way to hold a volume", name, HOLDERS)
        self.name = name
        self.instance = instance
        self.holder = HOLDERS[name](instance)
        self.answers: list[bool] = []
        self.seconds: list[float] = []
        self.bytes = 0

    def rehearse(self, patience: float) -> None:
        """One placement first, then all of them unless that would take too long; the spread is kept."""
        self._pass(Stopwatch(self.clock), self.instance.shifts[:1])
        begin = self.clock()
        self._pass(Stopwatch(self.clock), self.instance.shifts[:1])
        expected = (self.clock() - begin) * len(self.instance.shifts)
        if expected > 20 * patience:
            raise CutOff(f"would take about {expected:.2g} s a turn; {patience:g} s are allowed")
        watch = Stopwatch(self.clock)
        self._pass(watch, self.instance.shifts)
        self.seconds = list(watch.stop().laps["query"])

    def run(self, watch: Stopwatch) -> None:
        """All placements once."""
        self._pass(watch, self.instance.shifts)

    def _pass(self, watch: Stopwatch, shifts: Sequence[Shift]) -> None:
        holder = self.holder
        one, two = holder.make(self.instance.one), holder.make(self.instance.two)
        watch.lap("create")
        self.answers = []
        for shift in shifts:
            left, right = holder.place(one, two, shift)
            watch.skip()
            self.answers.append(holder.ask(left, right))
            watch.lap("query")
        self.bytes = holder.byte_count(one) + holder.byte_count(two)
        watch.skip()

    def check(self) -> Verdict:
        """Compare every placement with the AND of the masks."""
        one, two = DenseMask(self.instance.one), DenseMask(self.instance.two)
        wrong = missed = 0
        for shift, answer in zip(self.instance.shifts, self.answers, strict=True):
            truth = one.collides(two, shift)
            wrong += answer != truth
            missed += truth and not answer
        if not wrong:
            return Verdict("exact")
        if self.name in ("boxes", "triangles"):
            return Verdict("other question", f"differs from the voxels in {wrong} placements")
        return Verdict("wrong", f"{wrong} placements wrong, {missed} of them missed")

    def counters(self) -> Mapping[str, int | float]:
        """Bytes, and how many placements collide."""
        return {"bytes": self.bytes, "placements": len(self.instance.shifts), "collisions": sum(self.answers)}

    def facts(self) -> Mapping[str, int | float | str]:
        """Vertices, planes and voxels of both, and the spread of the placements in the rehearsal [s]."""
        models = [ExtremeVertices.from_mask(mask) for mask in (self.instance.one, self.instance.two)]
        low, middle, high = np.percentile(self.seconds or [0.0], (5, 50, 95))
        return {
            "vertices": sum(len(model) for model in models),
            "planes": sum(len(model.sections("xyz").slabs) for model in models),
            "voxels": int(self.instance.one.sum() + self.instance.two.sum()),
            "query_5": float(low),
            "query_50": float(middle),
            "query_95": float(high),
        }

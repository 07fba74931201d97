"""Two voxel objects in many placements, as a trial: held in some way, and asked whether they collide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from choque.errors import UnknownName
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict
from choque.theses.evm.baselines import DenseMask
from choque.theses.evm.holder import Instance, Shift
from choque.theses.evm.holders import HOLDERS
from choque.theses.evm.surface import covered_surface
from choque.volumes import ExtremeVertices, Volume

FEW = 3
"""Placements by which the time of all is foreseen."""

CHECKED_VOXELS = 1 << 36
"""Voxels that checking may look at: of large objects, some placements spread over all are compared."""


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

    def warm_up(self, patience: float) -> None:
        """A few placements first, then all of them unless that would take too long; the spread is kept."""
        self._pass(Stopwatch(self.clock), self.instance.shifts[:1])
        watch = Stopwatch(self.clock)
        self._pass(watch, self.instance.shifts[:FEW])
        laps = watch.stop().laps
        # Objects are made once a turn; whoever keeps something for later questions does so at the first.
        expected = sum(laps["create"]) + min(laps["query"]) * len(self.instance.shifts)
        if expected > patience:
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
        """Compare with the AND of the masks, in all placements; of large objects, in as many as can be waited for."""
        one, two = DenseMask(self.instance.one), DenseMask(self.instance.two)
        stride = max(1, len(self.answers) * one.mask.size // CHECKED_VOXELS)
        wrong = missed = 0
        for shift, answer in list(zip(self.instance.shifts, self.answers, strict=True))[::stride]:
            truth = one.collides(two, shift)
            wrong += answer != truth
            missed += truth and not answer
        if not wrong:
            return Verdict("exact")
        if not self.holder.is_exact:
            return Verdict("other question", f"differs from the voxels in {wrong} placements")
        return Verdict("wrong", f"{wrong} placements wrong, {missed} of them missed")

    def counters(self) -> Mapping[str, int | float]:
        """Bytes, and how many placements collide."""
        return {"bytes": self.bytes, "placements": len(self.instance.shifts), "collisions": sum(self.answers)}

    def facts(self) -> Mapping[str, int | float | str]:
        """Vertices, planes and voxels of both, and the spread of the placements in the rehearsal [s].

        Of objects that came from a mesh also the seconds of voxelising it and of making the surface of its voxels, and
        how many vertices and faces that has: the other columns of the thesis's third experiment.
        """
        models = [ExtremeVertices.from_mask(mask) for mask in (self.instance.one, self.instance.two)]
        low, middle, high = np.percentile(self.seconds or [0.0], (5, 50, 95))
        return {
            "vertices": sum(len(model) for model in models),
            "planes": sum(len(model.sections("xyz").slabs) for model in models),
            "voxels": int(self.instance.one.sum() + self.instance.two.sum()),
            "query_5": float(low),
            "query_50": float(middle),
            "query_95": float(high),
            **self._surface_facts(models[0]),
        }

    def _surface_facts(self, model: ExtremeVertices) -> Mapping[str, int | float]:
        mesh = self.instance.mesh
        if mesh is None:
            return {}
        begin = self.clock()
        Volume.from_mesh(mesh, voxels_per_unit=self.instance.voxels_per_unit, fill="surface")
        voxelised = self.clock()
        points, faces = covered_surface(model)
        return {
            "voxelise": voxelised - begin,
            "surface": self.clock() - voxelised,
            "surface_vertices": len(points),
            "surface_faces": len(faces),
        }

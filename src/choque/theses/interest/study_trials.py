"""What the study of areas of interest measures: the fifteen configurations of the thesis, and matching of extents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

import choque
from choque._core.pair_keys import pack_pairs
from choque.bounds import Boxes, Spheres
from choque.interest import Areas
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import Trial
from choque.lab.verdict import Verdict
from choque.theses.interest.arena import Arena
from choque.theses.interest.methods import LEGACY, make_method
from choque.theses.interest.polygons import polygons_overlap
from choque.theses.interest.repeated_pairs import distinct_by_scan

STEPS = 500
STRIDE = 5
"""Every fifth step is measured, the middle one of five; the thesis has all 500."""

RADII: dict[str, dict[str, Any]] = {"equal": {"smallest": 0.053, "largest": 0.053}, "varied": {}}
"""Equal radii of 0.212 m, a fit, are what reproduces the printed pairs; varied ones, 0.04 to 0.40 m, are the text's."""


class ArenaTrial(Trial):
    """One configuration over the steps of one scene: create, then update, pairs and narrow at each step.

    The narrow phase is that of the thesis, a test of ``spheres``, or one of their ``polygons``. A repeat that a grid or
    a tree meets again is counted with the raw pairs. A legacy sweep also searches each pair among those before it.
    """

    def __init__(
        self, configuration: str, start: str, n: int, seed: int, radii: str = "equal", solids: str = "spheres"
    ) -> None:
        self.name = configuration
        self.solids = solids
        scene = choque.scene.generate("arena", n, seed, frames=STEPS + 1, start=start, dtype="float64", **RADII[radii])
        assert isinstance(scene.motion, Arena)
        self.motion = scene.motion
        self.steps = range((STRIDE + 1) // 2, STEPS + 1, STRIDE)
        self.boxes = [Boxes(*scene.frame(0)), *(Boxes(*scene.frame(step)) for step in self.steps)]
        self.spheres = [Spheres(*self.motion.spheres(step)) for step in self.steps]
        self._counted: dict[str, int | float] = {}

    def run(self, watch: Stopwatch) -> None:
        """Go through all steps."""
        broad = make_method(self.name, self.boxes[0])
        scans = self.name.startswith("SaP") and self.name.endswith(LEGACY)
        watch.lap("create")
        raw, unique, colliding = [], [], 0
        for boxes, spheres in zip(self.boxes[1:], self.spheres, strict=True):
            before = broad.counters.duplicates
            watch.skip()
            broad.update(boxes)
            watch.lap("update")
            pairs = broad.pairs()
            if scans:
                distinct_by_scan(pack_pairs(pairs))
            watch.lap("pairs")
            hits = polygons_overlap(spheres, pairs) if self.solids == "polygons" else spheres.overlap(pairs)
            watch.lap("narrow")
            colliding += int(hits.sum())
            unique.append(len(pairs))
            raw.append(len(pairs) + broad.counters.duplicates - before)
            watch.skip()
        self._pairs = broad.pairs()
        self._counted = {
            "raw_pairs": float(np.mean(raw)),
            "unique_pairs": float(np.mean(unique)),
            "colliding": colliding / len(unique),
            "steps": len(unique),
            **{f"tenth_{k}": float(np.mean(part)) for k, part in enumerate(np.array_split(raw, 10))},
            **{name: value for name, value in asdict(broad.counters).items() if name in ("tests", "exchanges")},
        }

    def check(self) -> Verdict:
        """No two spheres that collide in the last step may be missing from the candidates."""
        spheres = self.spheres[-1]
        everyone = np.stack(np.triu_indices(len(spheres), 1), axis=1).astype(np.int32)
        wanted = {tuple(pair) for pair in everyone[spheres.overlap(everyone)].tolist()}
        missing = wanted - {tuple(pair) for pair in self._pairs.tolist()}
        return Verdict("wrong", f"{len(missing)} missing") if missing else Verdict("exact")

    def counters(self) -> Mapping[str, int | float]:
        """Means over the steps of the last run."""
        return self._counted

    def facts(self) -> Mapping[str, int | float | str]:
        """The crowding of the scene in the middle of the run."""
        return {"density": self.motion.density(STEPS // 2)}


class ExtentsTrial(Trial):
    """``n`` extents, half of them areas, matched once: what papers on interest management report."""

    name = "areas"

    def __init__(self, n: int, seed: int, members: float = 3.0) -> None:
        random = np.random.default_rng((n, seed))
        self.position = random.random((n, 3))
        size = float((members / (n * 4 / 3 * np.pi)) ** (1 / 3))  # of area and body together
        self.size = 0.5 * size
        self.radius = np.ma.masked_array(np.full(n, self.size), mask=np.arange(n) % 2 == 0)
        self._pairs = np.empty((0, 2), np.int32)

    def run(self, watch: Stopwatch) -> None:
        """Match all."""
        areas = Areas(self.position, radius=self.radius, body_radius=self.size)
        watch.lap("create")
        self._pairs = areas.pairs()
        watch.lap("pairs")

    def check(self) -> Verdict:
        """A sample of the areas, each against everybody."""
        firsts = self._pairs[:, 0]
        for owner in np.linspace(0, len(self.position) - 1, 50, dtype=int):
            apart = np.linalg.norm(self.position - self.position[owner], axis=1)
            near = np.flatnonzero(apart <= 2 * self.size) if owner % 2 else np.empty(0, int)
            found = self._pairs[np.searchsorted(firsts, owner) : np.searchsorted(firsts, owner + 1), 1]
            if not np.array_equal(found, near[near != owner]):
                return Verdict("wrong", f"the area of {owner}")
        return Verdict("exact")

    def counters(self) -> Mapping[str, int | float]:
        """How many met."""
        return {"unique_pairs": len(self._pairs), "raw_pairs": len(self._pairs), "steps": 1}

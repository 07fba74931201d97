"""Scenes of boxes for cells: made once for all methods, with the oracle's pairs and facts about them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

import choque
from choque._core.records import pack_records
from choque._core.types import Floats, Pairs
from choque.broad._auto_table import COORDINATES, coordinates
from choque.broad._survey import survey_boxes
from choque.errors import ChoqueError
from choque.lab.box_trial import BoxTrial, Frame
from choque.lab.contender import Contender

DEFINITION_UP_TO = 20_000
"""Up to here the oracle is the definition itself, in NumPy; it shares no code with the methods."""
BRUTE_UP_TO = 200_000
"""Up to here it is the method that tests all pairs; above, two unlike methods have to agree."""
UNLIKE = ("bvh", "sap-direct")


@dataclass(frozen=True)
class BoxInstance:
    """One scene by name, size and seed.

    With a folder to keep it in, frames and pairs are made by the first cell that asks and read by the others.
    """

    scene: str
    n: int
    seed: int
    frames: int = 1
    dimension: int = 3

    def trial(self, contender: Contender, scratch: Path | None) -> SceneTrial:
        """A contender on this scene."""
        return SceneTrial(contender, self, scratch)

    def boxes(self, scratch: Path | None = None) -> list[Frame]:
        """Lower and upper corners of each frame, each (n, d) float32."""
        path = self._path(scratch, ".npz")
        made = choque.scene.generate(self.scene, self.n, self.seed, self.dimension, self.frames)
        if path is not None and not path.exists():
            choque.scene.bake(path, made)
        read = made if path is None else choque.scene.load_boxes(path)
        return [read.frame(index) for index in range(self.frames)]

    def expected(self, last: Frame, scratch: Path | None = None) -> Pairs:
        """The true pairs of the last frame."""
        path = self._path(scratch, ".npy")
        if path is None:
            return oracle(*last)
        if not path.exists():
            choque.files.write_pairs(path, oracle(*last))
        found: Pairs = np.load(path)
        return found

    def _path(self, scratch: Path | None, suffix: str) -> Path | None:
        if scratch is None:
            return None
        scratch.mkdir(parents=True, exist_ok=True)
        return scratch / (hashlib.sha256(repr(self).encode()).hexdigest()[:20] + suffix)


class SceneTrial(BoxTrial):
    """A contender on a scene, checked against the oracle."""

    def __init__(self, contender: Contender, instance: BoxInstance, scratch: Path | None) -> None:
        frames = instance.boxes(scratch)
        super().__init__(contender, frames, expected=lambda: instance.expected(frames[-1], scratch))

    def facts(self) -> Mapping[str, int | float | str]:
        """Where the scene lies among all scenes: for `auto`, and its density, the spread of its sizes, its motion."""
        return self._facts

    @cached_property
    def _facts(self) -> dict[str, int | float | str]:
        lower, upper = self.frames[-1]
        size = (upper - lower).mean(axis=1, dtype=np.float64)
        small, large = np.percentile(size, [1, 99])
        pairs = self._expected() if self._expected is not None and self.answer is not None else None
        motion = _motion(self.frames, float(size.mean()))
        facts: dict[str, int | float | str] = {
            **_place(self.frames),
            "size_spread": float(large / small) if small > 0 else float("inf"),
            "motion": motion,
        }
        if pairs is not None:
            facts["density"] = 2 * len(pairs) / max(len(lower), 1)
        return facts


def oracle(lower: Floats, upper: Floats) -> Pairs:
    """The true pairs: by the definition, by testing all pairs, or by two unlike methods that agree, as size allows."""
    from choque.testing.oracle import overlapping_pairs

    if len(lower) <= DEFINITION_UP_TO:
        return overlapping_pairs(lower, upper)
    if len(lower) <= BRUTE_UP_TO:
        return choque.pairs(lower, upper, method="brute")
    one, other = (choque.pairs(lower, upper, method=name) for name in UNLIKE)
    if not np.array_equal(one, other):
        raise ChoqueError(f"{UNLIKE[0]} and {UNLIKE[1]} disagree on this scene, so there is no oracle for it.")
    return one


def _place(frames: Sequence[Frame]) -> dict[str, float]:
    """Where `auto` finds the last frame in its table; the number of boxes is a factor already."""
    previous, records = (pack_records(choque.bounds.Boxes(*frame), True, 1) for frame in (*frames[:1], *frames)[-2:])
    survey = survey_boxes(records, previous if len(frames) > 1 else None)
    place = zip(COORDINATES, coordinates(survey), strict=True)
    return {name: value for name, value in place if name != "n"}


def _motion(frames: Sequence[Frame], size: float) -> float:
    """How far a box moves in a frame, on average, in mean sizes."""
    if len(frames) < 2:
        return 0.0
    (before, _), (after, _) = frames[-2:]
    return float(np.linalg.norm(after.astype(np.float64) - before, axis=1).mean()) / size

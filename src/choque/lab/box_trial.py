"""A candidate on frames of boxes as a trial, and scenes of boxes with their true pairs.

The stages of a trial are create, update and pairs; its answer is checked by an oracle. A scene is made once for all
candidates.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from choque._core.records import pack_records
from choque._core.types import Floats, Pairs
from choque.bounds import Boxes
from choque.broad.auto import COORDINATES, survey_numbers
from choque.errors import ChoqueError
from choque.files import write_pairs
from choque.lab.candidate import Candidate
from choque.lab.stopwatch import Clock, Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict, judge
from choque.scene import generate, write
from choque.scene.files import read_boxes

Frame = tuple[Floats, Floats]

QUICK = 1.0
"""Seconds of a turn below which it is worth doing once before it is timed."""

COMPILING_COUNT = 256
"""The first run is on this many boxes, so that compiling and importing are not mistaken for speed."""
LADDER_FROM = 4_096
"""From this many boxes on, a sixteenth and a quarter of them must first show that all are affordable."""


class BoxTrial(Trial):
    """One pass over all frames: ``create`` and ``pairs`` where there is one, then ``update`` and ``pairs`` for each.

    With more than one frame the pairs of the first are a stage of their own, ``first``, so that ``update`` and
    ``pairs`` are those of the later frames alone.

    Parameters
    ----------
    frames
        (lower, upper) of each frame; the first is created, the others are updates.
    expected
        Gives the true pairs of the last frame; None leaves the answer unchecked.
    """

    def __init__(
        self,
        candidate: Candidate,
        frames: Sequence[Frame],
        *,
        expected: Callable[[], Pairs] | None = None,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.name = candidate.name
        self.candidate = candidate
        self.frames = frames
        self.clock = clock
        self.answer: Pairs | None = None
        """The pairs of the last frame, after the warm-up."""
        self.read: float | None = None
        """Seconds to turn the candidate's own answer into sorted pairs; in no other figure."""
        self._expected = expected
        self._counters: Mapping[str, int] = {}
        self._left: object = None
        self._seconds_taken = 0.0

    def run(self, watch: Stopwatch) -> None:
        """Go through all frames once."""
        self._left = self._pass(self.frames, watch)

    def prepare(self) -> None:
        """Go through all frames untimed, if that is quick, so that a steady state is measured."""
        if self._seconds_taken < QUICK:
            self._pass(self.frames, Stopwatch(self.clock))

    def release(self) -> None:
        """Free the structure and the answer of the last run."""
        self._left = None

    def warm_up(self, patience: float) -> None:
        """Run at growing sizes up to the whole, whose answer is kept; raise `CutOff` where it takes too long."""
        taken: list[tuple[int, float]] = []
        previous = self.frames
        self._pass(_thinned(self.frames, COMPILING_COUNT), Stopwatch(self.clock))
        for part in _ladder(self.frames):
            size = len(part[0][0])
            if _expected_seconds(taken, size) > patience:
                # A larger part may have been the first to need some kernel: only what it takes now counts.
                taken[-1] = (taken[-1][0], min(taken[-1][1], self._seconds(previous)))
            if (expected := _expected_seconds(taken, size)) > patience:
                raise CutOff(f"would take about {expected:.2g} s a turn; {patience:g} s are allowed")
            begin = self.clock()
            state, answer = self._pass(part, Stopwatch(self.clock))
            taken.append((size, self.clock() - begin))
            self._seconds_taken = taken[-1][1]
            previous = part
        begin = self.clock()
        self.answer = self.candidate.read(state, answer)
        self.read = self.clock() - begin
        self._counters = self.candidate.counters(state)

    def check(self) -> Verdict:
        """Compare the pairs of the last frame with the oracle's."""
        if self.answer is None:
            return Verdict("failed", "there is no answer")
        if self._expected is None:
            return Verdict("unchecked")
        return judged(self.candidate, self.answer, self._expected(), self.frames[-1])

    def counters(self) -> Mapping[str, int | float]:
        """Return the totals of one pass over all frames."""
        return {**self._counters, "pair_count": 0 if self.answer is None else len(self.answer)}

    def _seconds(self, frames: Sequence[Frame]) -> float:
        begin = self.clock()
        self._pass(frames, Stopwatch(self.clock))
        return self.clock() - begin

    def _pass(self, frames: Sequence[Frame], watch: Stopwatch) -> tuple[Any, Any]:
        candidate = self.candidate
        state = candidate.create(*frames[0])
        watch.lap("create")
        answer = candidate.pairs(state)
        watch.lap("pairs" if len(frames) == 1 else "first")
        for lower, upper in frames[1:]:
            state = candidate.update(state, lower, upper)
            watch.lap("update")
            answer = candidate.pairs(state)
            watch.lap("pairs")
        return state, answer


def judged(candidate: Candidate, answer: Pairs, expected: Pairs, frame: Frame) -> Verdict:
    """Judge an answer: methods of Choque must be exact, a peer may round differently."""
    if candidate.question != "boxes":
        return Verdict("other question", f"pairs of {candidate.question}")
    return judge(answer, expected, *frame, superset=candidate.superset, rounding=candidate.kind == "peer")


def _ladder(frames: Sequence[Frame]) -> list[Sequence[Frame]]:
    count = len(frames[0][0])
    if count < LADDER_FROM:
        return [frames]
    return [_thinned(frames, count // 16), _thinned(frames, count // 4), frames]


def _thinned(frames: Sequence[Frame], count: int) -> Sequence[Frame]:
    """Return the frames with about ``count`` of their boxes, evenly chosen."""
    step = max(len(frames[0][0]) // max(count, 1), 1)
    return [(np.ascontiguousarray(lower[::step]), np.ascontiguousarray(upper[::step])) for lower, upper in frames]


def _expected_seconds(taken: Sequence[tuple[int, float]], size: int) -> float:
    """Extrapolate the (size, seconds) seen to ``size``, by a power between linear and quadratic."""
    if not taken:
        return 0.0
    count, seconds = taken[-1]
    exponent = 1.0
    if len(taken) > 1:
        earlier_count, earlier = taken[-2]
        exponent = math.log(max(seconds, 1e-9) / max(earlier, 1e-9)) / math.log(count / earlier_count)
    return seconds * float((size / count) ** min(max(exponent, 1.0), 2.0))


DEFINITION_UP_TO = 20_000
"""Maximum number of boxes for which the oracle is the definition in NumPy, which shares no code with the methods."""
BRUTE_UP_TO = 200_000
"""Maximum number of boxes for which the oracle is ``brute``; above, two unlike methods have to agree."""
UNLIKE = ("bvh", "sap-direct")


@dataclass(frozen=True)
class BoxInstance:
    """One scene by name, size and seed.

    With a folder to keep it in, frames and pairs are made by the first cell that needs them and read by the others.
    """

    scene: str
    n: int
    seed: int
    frames: int = 1
    dimension: int = 3

    def trial(self, candidate: Candidate, scratch: Path | None) -> SceneTrial:
        """Return the trial of a candidate on this scene."""
        return SceneTrial(candidate, self, scratch)

    def boxes(self, scratch: Path | None = None) -> list[Frame]:
        """Lower and upper corners of each frame, each (n, d) float32."""
        path = self._path(scratch, ".npz")
        made = generate(self.scene, self.n, seed=self.seed, dimension=self.dimension, frames=self.frames)
        if path is not None and not path.exists():
            write(path, made)
        read = made if path is None else read_boxes(path)
        return [read.frame(index) for index in range(self.frames)]

    def expected(self, last: Frame, scratch: Path | None = None) -> Pairs:
        """Return the true pairs of the last frame."""
        path = self._path(scratch, ".npy")
        if path is None:
            return oracle(*last)
        if not path.exists():
            write_pairs(path, oracle(*last))
        found: Pairs = np.load(path)
        return found

    def _path(self, scratch: Path | None, suffix: str) -> Path | None:
        if scratch is None:
            return None
        scratch.mkdir(parents=True, exist_ok=True)
        return scratch / (hashlib.sha256(repr(self).encode()).hexdigest()[:20] + suffix)


class SceneTrial(BoxTrial):
    """A candidate on a scene, checked against the oracle."""

    def __init__(self, candidate: Candidate, instance: BoxInstance, scratch: Path | None) -> None:
        frames = instance.boxes(scratch)
        super().__init__(candidate, frames, expected=lambda: instance.expected(frames[-1], scratch))

    def facts(self) -> Mapping[str, int | float | str]:
        """Return the coordinates of the scene in the table of ``auto``, its density, spread of sizes, and motion."""
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
    """Return the true pairs: by definition, by testing all pairs, or by two methods that agree, as the size allows."""
    from choque import pairs
    from choque.testing.oracle import overlapping_pairs

    if len(lower) <= DEFINITION_UP_TO:
        return overlapping_pairs(lower, upper)
    if len(lower) <= BRUTE_UP_TO:
        return pairs(lower, upper, method="brute")
    one, other = (pairs(lower, upper, method=name) for name in UNLIKE)
    if not np.array_equal(one, other):
        raise ChoqueError(f"{UNLIKE[0]} and {UNLIKE[1]} disagree on this scene, so there is no oracle for it.")
    return one


def _place(frames: Sequence[Frame]) -> dict[str, float]:
    """Return the coordinates of the last frame in the table of ``auto``, without the number of boxes."""
    previous, records = (pack_records(Boxes(*frame), True, 1) for frame in (*frames[:1], *frames)[-2:])
    place = zip(COORDINATES, survey_numbers(records, previous if len(frames) > 1 else None).tolist(), strict=False)
    return {name: value for name, value in place if name != "n"}


def _motion(frames: Sequence[Frame], size: float) -> float:
    """Return the mean displacement of a box in a frame, in mean sizes."""
    if len(frames) < 2:
        return 0.0
    (before, _), (after, _) = frames[-2:]
    return float(np.linalg.norm(after.astype(np.float64) - before, axis=1).mean()) / size

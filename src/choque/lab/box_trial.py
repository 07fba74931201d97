"""A contender on frames of boxes, as a trial: the stages create, update and pairs, and the oracle's judgement."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from choque._core.types import Floats, Pairs
from choque.lab.contender import Contender
from choque.lab.stopwatch import Clock, Stopwatch
from choque.lab.trial import CutOff, Trial
from choque.lab.verdict import Verdict, judge

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
        contender: Contender,
        frames: Sequence[Frame],
        *,
        expected: Callable[[], Pairs] | None = None,
        clock: Clock = time.perf_counter,
    ) -> None:
        self.name = contender.name
        self.contender = contender
        self.frames = frames
        self.clock = clock
        self.answer: Pairs | None = None
        """The pairs of the last frame, once rehearsed."""
        self.read: float | None = None
        """Seconds to turn the contender's own answer into sorted pairs; in no other figure."""
        self._expected = expected
        self._counters: Mapping[str, int] = {}
        self._left: object = None
        self._seconds_taken = 0.0

    def run(self, watch: Stopwatch) -> None:
        """Go through all frames once."""
        self._left = self._pass(self.frames, watch)

    def prepare(self) -> None:
        """Go through all frames untimed, if that is quick: what is measured is work that goes on, not that starts."""
        if self._seconds_taken < QUICK:
            self._pass(self.frames, Stopwatch(self.clock))

    def release(self) -> None:
        """Free the structure and the answer of the last run."""
        self._left = None

    def rehearse(self, patience: float) -> None:
        """Run at growing size, up to the whole, whose answer is kept; stop where it takes too long."""
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
        self.answer = self.contender.read(state, answer)
        self.read = self.clock() - begin
        self._counters = self.contender.counters(state)

    def check(self) -> Verdict:
        """Compare the pairs of the last frame with the oracle's."""
        if self.answer is None:
            return Verdict("failed", "there is no answer")
        if self._expected is None:
            return Verdict("unchecked")
        return judged(self.contender, self.answer, self._expected(), self.frames[-1])

    def counters(self) -> Mapping[str, int | float]:
        """Totals of one pass over all frames."""
        return {**self._counters, "pair_count": 0 if self.answer is None else len(self.answer)}

    def _seconds(self, frames: Sequence[Frame]) -> float:
        begin = self.clock()
        self._pass(frames, Stopwatch(self.clock))
        return self.clock() - begin

    def _pass(self, frames: Sequence[Frame], watch: Stopwatch) -> tuple[Any, Any]:
        contender = self.contender
        state = contender.create(*frames[0])
        watch.lap("create")
        answer = contender.pairs(state)
        watch.lap("pairs" if len(frames) == 1 else "first")
        for lower, upper in frames[1:]:
            state = contender.update(state, lower, upper)
            watch.lap("update")
            answer = contender.pairs(state)
            watch.lap("pairs")
        return state, answer


def judged(contender: Contender, answer: Pairs, expected: Pairs, frame: Frame) -> Verdict:
    """Judge an answer: ours are held to the oracle exactly, a peer may compute with other roundings."""
    if contender.question != "boxes":
        return Verdict("other question", f"pairs of {contender.question}")
    return judge(answer, expected, *frame, superset=contender.superset, rounding=contender.kind == "peer")


def _ladder(frames: Sequence[Frame]) -> list[Sequence[Frame]]:
    count = len(frames[0][0])
    if count < LADDER_FROM:
        return [frames]
    return [_thinned(frames, count // 16), _thinned(frames, count // 4), frames]


def _thinned(frames: Sequence[Frame], count: int) -> Sequence[Frame]:
    """The same frames with about ``count`` of their boxes, taken evenly."""
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

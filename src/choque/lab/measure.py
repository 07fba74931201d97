"""Contenders side by side in one process, on the measuring core that studies use: `choque.lab.sampling`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from choque._core.types import Pairs, Progress
from choque.errors import InvalidInput
from choque.lab.box_trial import BoxTrial, Frame
from choque.lab.contender import Contender
from choque.lab.sampling import Outcome, Plan, Status, sample
from choque.lab.stopwatch import Clock, Reading

__all__ = ["Frame", "Measurement", "Sample", "Spread", "measure"]


@dataclass(frozen=True)
class Sample:
    """One contender in one round; seconds."""

    contender: str
    round: int
    create: float
    update: float | None
    """The median over the frames after the first; None where there is one frame."""
    pairs: float
    """One frame: its pairs. More: the median over the frames after the first."""

    @property
    def total(self) -> float:
        """What a user waits for: update and pairs, or create and pairs where there is one frame."""
        return self.pairs + (self.create if self.update is None else self.update)


@dataclass
class Measurement:
    """All that was seen of one contender."""

    contender: Contender
    status: Status = "measured"
    note: str = ""
    samples: list[Sample] = field(default_factory=list)
    answer: Pairs | None = None
    """The pairs of the last frame."""
    read: float | None = None
    """Seconds to turn the contender's own answer into sorted pairs; in no other figure."""
    counters: Mapping[str, int | float] = field(default_factory=dict)
    """Totals of one run over all frames."""


@dataclass(frozen=True)
class Spread:
    """Where the repetitions lie; seconds."""

    median: float
    minimum: float
    lower_quartile: float
    upper_quartile: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Summarise at least one value."""
        low, middle, high = (float(each) for each in np.percentile(values, [25, 50, 75]))
        return cls(middle, min(values), low, high)


def measure(
    contenders: Sequence[Contender],
    frames: Sequence[Frame],
    *,
    rounds: int = 5,
    budget: float = 30.0,
    clock: Clock = time.perf_counter,
    progress: Progress | None = None,
) -> list[Measurement]:
    """Time every contender on the same frames, taking turns.

    Parameters
    ----------
    contenders
        Who takes part.
    frames
        (lower, upper) of each frame; the first is created, the others are updates.
    rounds
        How many turns each contender gets.
    budget
        Seconds that one contender may spend. One that would need more for a single turn is marked as cut
        off, and one that has spent it gets no further turns.
    clock
        Seconds from any origin.
    progress
        Called after a contender's warm-up and after each turn, with its name.
    """
    if rounds < 1:
        raise InvalidInput(f"rounds is {rounds}; it must be at least 1.")
    if not frames:
        raise InvalidInput("There are no frames to measure; give at least one (lower, upper).")
    plan = Plan(fewest=rounds, most=rounds, precision=None, budget=budget)
    trials = [BoxTrial(contender, frames, clock=clock) for contender in contenders]
    return [_measurement(outcome) for outcome in sample(trials, plan, progress)]


def _measurement(outcome: Outcome[BoxTrial]) -> Measurement:
    trial = outcome.trial
    samples = [_sample(trial.name, turn, reading) for turn, reading in enumerate(outcome.readings)]
    return Measurement(
        trial.contender, outcome.status, outcome.note, samples, trial.answer, trial.read, trial.counters()
    )


def _sample(name: str, turn: int, reading: Reading) -> Sample:
    return Sample(name, turn, reading.stages["create"], reading.median("update"), reading.median("pairs") or 0.0)

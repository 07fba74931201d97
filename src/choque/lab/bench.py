"""Candidates side by side on scenes, in one process: what ``choque bench`` shows.

A quick view of what the study ``comparison`` measures in many processes: the same candidates, trials, clock and oracle.
The candidates take turns. Every answer is checked; only right ones are ranked, by the ratio to the fastest of them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from choque._core.types import Pairs, Progress
from choque.broad import names as method_names
from choque.errors import InvalidInput, UnknownName
from choque.lab import machine
from choque.lab import peers as libraries
from choque.lab.box_trial import BoxTrial, Frame, judged
from choque.lab.candidate import FACADE, Candidate, Facade, Method, compared_methods
from choque.lab.sampling import Outcome, Plan, Status, sample
from choque.lab.stopwatch import Clock, Reading
from choque.lab.table import Row, Table
from choque.lab.verdict import RANKED, RIGHT, Verdict
from choque.scene import generate


@dataclass(frozen=True)
class Sample:
    """One candidate in one round [s]."""

    candidate: str
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
    """The samples and the answer of one candidate."""

    candidate: Candidate
    status: Status = "measured"
    note: str = ""
    samples: list[Sample] = field(default_factory=list)
    answer: Pairs | None = None
    """The pairs of the last frame."""
    read: float | None = None
    """Seconds to turn the candidate's own answer into sorted pairs; in no other figure."""
    counters: Mapping[str, int | float] = field(default_factory=dict)
    """Totals of one run over all frames."""


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of repetitions [s]."""

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
    candidates: Sequence[Candidate],
    frames: Sequence[Frame],
    *,
    rounds: int = 5,
    budget: float = 30.0,
    clock: Clock = time.perf_counter,
    progress: Progress | None = None,
) -> list[Measurement]:
    """Time every candidate on the same frames, taking turns.

    Parameters
    ----------
    candidates
        The candidates to measure.
    frames
        (lower, upper) of each frame; the first is created, the others are updates.
    rounds
        Turns of each candidate.
    budget
        Seconds that one candidate may spend. One that would need more for a single turn is marked as cut
        off, and one that has spent it gets no further turns.
    clock
        Seconds from any origin.
    progress
        Called after a candidate's warm-up and after each turn, with its name.
    """
    if rounds < 1:
        raise InvalidInput(f"rounds is {rounds}; it must be at least 1.")
    if not frames:
        raise InvalidInput("There are no frames to measure; give at least one (lower, upper).")
    plan = Plan(minimum=rounds, maximum=rounds, precision=None, budget=budget)
    trials = [BoxTrial(candidate, frames, clock=clock) for candidate in candidates]
    return [_measurement(outcome) for outcome in sample(trials, plan, progress)]


def _measurement(outcome: Outcome[BoxTrial]) -> Measurement:
    trial = outcome.trial
    samples = [_sample(trial.name, turn, reading) for turn, reading in enumerate(outcome.readings)]
    return Measurement(
        trial.candidate, outcome.status, outcome.note, samples, trial.answer, trial.read, trial.counters()
    )


def _sample(name: str, turn: int, reading: Reading) -> Sample:
    return Sample(name, turn, reading.stages["create"], reading.median("update"), reading.median("pairs") or 0.0)


BRUTE_UP_TO = 20_000
"""Up to this many boxes the oracle is brute force; above, where that takes minutes, it is the façade."""


def bench(
    scenes: Sequence[str] = ("uniform",),
    counts: Sequence[int] = (1_000, 10_000),
    methods: Sequence[str] | None = None,
    peers: Sequence[str] = (),
    *,
    dimension: int = 3,
    frames: int = 1,
    seed: int = 0,
    threads: int | None = None,
    repetitions: int = 5,
    budget: float = 10.0,
    progress: Progress | None = None,
) -> Table:
    """Measure candidates on scenes, check every answer and rank the right ones.

    Parameters
    ----------
    scenes, counts, dimension, frames, seed
        Arguments of `choque.scene.generate`, once for each scene and each number of boxes.
    methods
        Names of `choque.broad`, or ``"choque.pairs"`` for the façade; None for `default_methods`.
    peers
        Names of `choque.lab.peers`; those that cannot take the dimension are left out.
    threads
        Threads of each candidate that lets them be chosen; None for all.
    repetitions
        Rounds in which the candidates take turns.
    budget
        Seconds for each candidate on each scene; one that would need more is cut off and marked.
    progress
        Called after every run.
    """
    chosen = default_methods() if methods is None else list(methods)
    candidates = [*(_method(name, threads) for name in chosen), *_peers(peers, dimension, threads)]
    if not candidates:
        raise InvalidInput("There is nothing to compare; name at least one method, or a peer that takes the dimension.")
    for count in counts:
        if count < 2:
            raise InvalidInput(f"A scene of {count} boxes has no pairs; give at least 2.")
    distributions = dict.fromkeys(libraries.get(name).distribution for name in peers)
    table = Table(machine=machine.describe(distributions))
    settings = list(product(scenes, counts))
    for number, (scene, count) in enumerate(settings):
        baked = generate(scene, count, seed=seed, dimension=dimension, frames=frames)
        boxes = [baked.frame(index) for index in range(frames)]
        part = None if progress is None else _part(progress, number, len(settings), f"{scene}, {count:,} boxes")
        measured = measure(candidates, boxes, rounds=repetitions, budget=budget, progress=part)
        table.rows += rows_of(measured, scene, boxes)
    return table


def _part(progress: Progress, number: int, parts: int, where: str) -> Progress:
    """Return the progress of one of several parts of equal length."""
    return lambda done, steps, about: progress(number * steps + done, parts * steps, f"{where}: {about}")


def default_methods() -> list[str]:
    """Name the façade and every method that is compared by default."""
    return [FACADE, *compared_methods()]


def oracle(frame: Frame) -> Pairs:
    """Find the pairs to believe: by brute force where it is affordable, by the façade above."""
    lower, upper = frame
    from choque import pairs

    return pairs(lower, upper, method="brute" if len(lower) <= BRUTE_UP_TO else "auto")


def rows_of(measured: Sequence[Measurement], scene: str, frames: Sequence[Frame]) -> list[Row]:
    """Make the rows of one scene: every answer judged, every right one set in ratio to the fastest."""
    expected = oracle(frames[-1])
    verdicts = [(each, _judge(each, expected, frames[-1])) for each in measured]
    right = [each for each, verdict in verdicts if verdict.judgement in RIGHT and each.samples]
    best = min((Spread.of([sample.total for sample in each.samples]).median for each in right), default=None)
    return [_row(each, verdict, scene, frames, best) for each, verdict in verdicts]


def _judge(measured: Measurement, expected: Pairs, frame: Frame) -> Verdict:
    if measured.status != "measured" or measured.answer is None:
        return Verdict("failed" if measured.status == "measured" else measured.status, measured.note)
    return judged(measured.candidate, measured.answer, expected, frame)


def _row(measured: Measurement, verdict: Verdict, scene: str, frames: Sequence[Frame], best: float | None) -> Row:
    candidate, samples = measured.candidate, measured.samples
    total = Spread.of([sample.total for sample in samples]) if samples else None
    updates = [sample.update for sample in samples if sample.update is not None]
    is_ranked = total is not None and best is not None and verdict.judgement in RANKED
    return Row(
        scene=scene,
        dimension=frames[0][0].shape[1],
        count=len(frames[0][0]),
        frames=len(frames),
        candidate=candidate.name,
        kind=candidate.kind,
        threads=candidate.threads,
        pair_count=None if measured.answer is None else len(measured.answer),
        create=_median([sample.create for sample in samples]),
        update=_median(updates),
        pairs=_median([sample.pairs for sample in samples]),
        total=total.median if total else None,
        total_minimum=total.minimum if total else None,
        total_lower_quartile=total.lower_quartile if total else None,
        total_upper_quartile=total.upper_quartile if total else None,
        read=measured.read if candidate.kind == "peer" else None,
        rounds=len(samples),
        ratio=total.median / best if is_ranked and total and best else None,
        tests=_whole(measured.counters.get("tests")),
        peak_bytes=_whole(measured.counters.get("peak_bytes")),
        verdict=verdict.judgement,
        note=verdict.note,
    )


def _median(values: Sequence[float]) -> float | None:
    return Spread.of(values).median if values else None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _method(name: str, threads: int | None) -> Candidate:
    known = [FACADE, *method_names()]
    if name not in known:
        raise UnknownName("method", name, known, "choque methods")
    return Facade(threads) if name == FACADE else Method(name, threads)


def _peers(names: Sequence[str], dimension: int, threads: int | None) -> list[Candidate]:
    found = [libraries.get(name, threads) for name in names]
    return [peer for peer in found if dimension in peer.dimensions]

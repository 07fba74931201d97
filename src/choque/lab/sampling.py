"""How trials are measured: warm up, then repeat in turns until the interval is narrow or the budget is spent.

Machines drift: another job starts, the clock of the processor falls. Trials that take turns drift together, so
their ratios hold where their times do not. `choque bench` measures many trials in one process this way; a cell of
a study is one trial in a process of its own.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import count
from typing import Any, Generic, Literal, TypeVar

import numpy as np

from choque._core.types import Progress
from choque.errors import InvalidInput
from choque.lab.statistics import median_interval
from choque.lab.stopwatch import Reading, Stopwatch
from choque.lab.trial import CutOff, Trial

Work = TypeVar("Work", bound=Trial)
Status = Literal["measured", "cut off", "failed"]


@dataclass(frozen=True)
class Plan:
    """Repetitions and time limits of a trial [s]."""

    minimum: int = 5
    """Minimum number of repetitions."""
    maximum: int = 50
    precision: float | None = 0.03
    """Stop when the 95 % interval of the median is within this share of it; None to use the maximum of repetitions."""
    budget: float = 10.0
    """Seconds for all repetitions together."""
    patience: float | None = None
    """A trial whose single run would take longer is cut off; None for the budget."""
    limit: float = 60.0
    """Seconds after which a process that is still measuring is ended, warm-up included."""

    def __post_init__(self) -> None:
        for name in ("minimum", "maximum"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} is {getattr(self, name)}; it must be at least 1.")
        for name in ("budget", "limit"):
            if not getattr(self, name) > 0:
                raise InvalidInput(f"{name} is {getattr(self, name)} s; it must be more than 0.")

    def to_json(self) -> dict[str, Any]:
        """Give the fields as a JSON object."""
        return asdict(self)


@dataclass
class Outcome(Generic[Work]):
    """The readings and the status of one trial."""

    trial: Work
    status: Status = "measured"
    note: str = ""
    readings: list[Reading] = field(default_factory=list)
    warm_up_seconds: float = 0.0
    """Seconds of warming up; in no other figure."""
    spent: float = 0.0

    def wants_more(self, plan: Plan) -> bool:
        """Return whether another turn is allowed and useful."""
        if self.status != "measured" or self.spent > plan.budget:
            return False
        if plan.precision is None or len(self.readings) < plan.minimum:
            return True
        middle = median_interval([each.total for each in self.readings], resamples=300)
        return max(middle.upper - middle.value, middle.value - middle.lower) > plan.precision * middle.value

    def fail(self, problem: Exception) -> None:
        """Record the failure, and continue with the other trials."""
        self.status, self.readings = "failed", []
        self.note = " ".join(f"{type(problem).__name__}: {problem}".split())


REST = 0.03
"""Seconds between turns: thread pools of other libraries spin for a while after their work."""


def sample(trials: Sequence[Work], plan: Plan, progress: Progress | None = None) -> list[Outcome[Work]]:
    """Warm up every trial, then let them take turns.

    ``progress`` is called after each warm-up and after each turn, taken or not, so that the number of steps is known
    beforehand: ``most + 1`` for each trial.
    """
    steps, done = len(trials) * (plan.maximum + 1), count(1)

    def tell(outcome: Outcome[Work]) -> None:
        if progress is not None:
            progress(next(done), steps, outcome.trial.name)

    outcomes = []
    with settled_memory():
        for trial in trials:
            outcomes.append(_warmed_up(trial, plan))
            tell(outcomes[-1])
    with settled_memory():
        _take_turns(outcomes, plan, tell, to_the_end=progress is not None)
    for outcome in outcomes:
        _check_stages(outcome)
    return outcomes


MAX_ROUNDS = 300


def sample_in_rounds(trials: Sequence[Work], plan: Plan) -> list[Outcome[Work]]:
    """Warm up every trial, then let all of them take a turn in every round, so that rounds can be compared.

    There are ``plan.minimum`` rounds at least, and more while the budget lasts, which each trial brings along. A trial
    that breaks has no readings; all others have the same number.
    """
    with settled_memory():
        outcomes = [_warmed_up(trial, plan) for trial in trials]
    with settled_memory():
        for number in range(MAX_ROUNDS):
            standing = [outcome for outcome in outcomes if outcome.status == "measured"]
            spent = sum(outcome.spent for outcome in standing)
            if not standing or (number >= plan.minimum and spent > plan.budget * len(standing)):
                break
            shift = number % len(standing)
            for outcome in [*standing[shift:], *standing[:shift]]:
                _take_turn(outcome)
    return outcomes


def _take_turns(
    outcomes: Sequence[Outcome[Work]], plan: Plan, tell: Callable[[Outcome[Work]], None], *, to_the_end: bool
) -> None:
    for turn in range(plan.maximum):
        # The trial after heavy work finds cold caches, so the order changes each round.
        shift = turn % max(len(outcomes), 1)
        for outcome in [*outcomes[shift:], *outcomes[:shift]]:
            if outcome.wants_more(plan):
                time.sleep(REST if len(outcomes) > 1 else 0.0)
                _take_turn(outcome)
            tell(outcome)
        if not to_the_end and not any(outcome.wants_more(plan) for outcome in outcomes):
            break


def _warmed_up(trial: Work, plan: Plan) -> Outcome[Work]:
    outcome = Outcome(trial)
    begin = trial.clock()
    try:
        with without_collector():
            trial.warm_up(plan.patience or plan.budget)
    except CutOff as reason:
        outcome.status, outcome.note = "cut off", str(reason)
    except Exception as problem:
        outcome.fail(problem)
    outcome.warm_up_seconds = trial.clock() - begin
    return outcome


def _take_turn(outcome: Outcome[Any]) -> None:
    trial = outcome.trial
    begin = trial.clock()
    try:
        with without_collector():
            trial.prepare()
            watch = Stopwatch(trial.clock)
            trial.run(watch)
            outcome.readings.append(watch.stop())
            trial.release()
    except Exception as problem:
        outcome.fail(problem)
    outcome.spent += trial.clock() - begin


TELLING = 3
"""Minimum number of readings for stages that do not add up to be a failure."""


def _check_stages(outcome: Outcome[Any]) -> None:
    # One reading may be off because the machine looked away; half of three or more may not.
    if len(outcome.readings) >= TELLING and np.mean([each.adds_up for each in outcome.readings]) < 0.5:
        example = outcome.readings[0]
        share = sum(example.stages.values()) / example.total
        outcome.status = "failed"
        outcome.note = f"the stages add up to {share:.0%} of the total; every part of a run belongs to a stage"


@contextmanager
def settled_memory() -> Iterator[None]:
    """Freeze the objects that exist already, so that collecting before each turn costs little.

    Objects that were frozen before stay frozen.
    """
    gc.collect()
    was_spared = gc.get_freeze_count() > 0
    gc.freeze()
    try:
        yield
    finally:
        if not was_spared:
            gc.unfreeze()


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the garbage collector from running within a timed part, and collect before it."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()

"""The stopwatch: stages, repetitions, budgets and warm-up."""

from __future__ import annotations

import gc

import pytest
from planted import Clock

from choque.errors import InvalidInput
from choque.lab.sampling import Plan, sample, settled_memory
from choque.lab.stopwatch import Stopwatch
from choque.lab.trial import CutOff, Trial


class Steps(Trial):
    """Takes the given seconds for each stage, and ``hidden`` more that no stage is charged for."""

    def __init__(self, clock: Clock, stages: dict[str, float], hidden: float = 0.0, jitter: float = 0.0) -> None:
        self.clock = clock
        self.ticking = clock
        self.stages = stages
        self.hidden = hidden
        self.jitter = jitter
        self.runs = 0

    def run(self, watch: Stopwatch) -> None:
        self.runs += 1
        for stage, seconds in self.stages.items():
            self.ticking.now += seconds * (1 + self.jitter * (self.runs % 3))
            watch.lap(stage)
        self.ticking.now += self.hidden


def test_laps_are_charged_to_stages_and_skips_to_none() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    for stage, seconds in (("create", 2.0), ("pairs", 3.0), ("", 10.0), ("pairs", 5.0)):
        clock.now += seconds
        watch.lap(stage) if stage else watch.skip()
    reading = watch.stop()
    assert reading.stages == {"create": 2.0, "pairs": 8.0}
    assert reading.laps["pairs"] == (3.0, 5.0)
    assert reading.median("pairs") == 4.0
    assert reading.median("update") is None
    assert reading.total == 10.0
    assert reading.adds_up


@pytest.mark.parametrize(("hidden", "status"), [(0.04, "measured"), (0.2, "failed")])
def test_stages_must_add_up_to_the_total(hidden: float, status: str) -> None:
    clock = Clock()
    (outcome,) = sample([Steps(clock, {"create": 0.5, "pairs": 0.5}, hidden)], Plan(maximum=3, precision=None))
    assert outcome.status == status
    assert ("add up to 83 %" in outcome.note.replace("83%", "83 %")) == (status == "failed")


def test_repetitions_end_when_the_interval_is_narrow() -> None:
    clock = Clock()
    steady, jittery = Steps(clock, {"pairs": 0.01}), Steps(clock, {"pairs": 0.01}, jitter=0.5)
    plan = Plan(minimum=4, maximum=40, precision=0.05, budget=100)
    calm, wild = sample([steady, jittery], plan)
    assert len(calm.readings) == 4
    assert len(wild.readings) == 40


def test_the_budget_ends_repetitions_and_the_warm_up_is_separate() -> None:
    clock = Clock()
    plan = Plan(minimum=2, maximum=40, precision=0.01, budget=5)
    (outcome,) = sample([Steps(clock, {"pairs": 1.0}, jitter=0.5)], plan)
    assert 2 <= len(outcome.readings) <= 6
    assert outcome.warm_up_seconds == pytest.approx(1.5)


def test_a_trial_that_says_it_would_take_too_long_is_cut_off() -> None:
    class Endless(Steps):
        def warm_up(self, patience: float) -> None:
            raise CutOff(f"more than {patience:g} s")

    (outcome,) = sample([Endless(Clock(), {"pairs": 1.0})], Plan(budget=3))
    assert (outcome.status, outcome.note, outcome.readings) == ("cut off", "more than 3 s", [])


def test_the_collector_is_spared_what_is_old_and_no_longer_than_that() -> None:
    gc.unfreeze()
    try:
        with settled_memory():
            assert gc.get_freeze_count() > 0
        assert gc.get_freeze_count() == 0
    finally:
        gc.freeze()
    with settled_memory():
        pass
    assert gc.get_freeze_count() > 0  # frozen before by other code


@pytest.mark.parametrize("wrong", [{"minimum": 0}, {"maximum": 0}, {"budget": 0.0}, {"limit": -1.0}])
def test_plans_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        Plan(**wrong)  # type: ignore[arg-type]

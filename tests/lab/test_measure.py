"""Measuring candidates in turns, with budgets and time limits."""

# ruff: noqa: ARG002
from __future__ import annotations

import csv
import gc
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import Clock, Planted

from choque._core.types import Floats, Pairs
from choque.errors import InvalidInput
from choque.lab.bench import Frame, Sample, Spread, measure
from choque.lab.csv_rows import write_dataclasses


def frames(count: int, number: int = 1) -> list[Frame]:
    generator = np.random.default_rng(5)
    lower = generator.random((count, 3)) * (count**0.5)
    return [(lower + shift, lower + shift + 1) for shift in range(number)]


def stages(sample: Sample) -> tuple[float, float, float, float]:
    return sample.create, sample.update or 0, sample.pairs, sample.total


def test_stages_are_timed_apart() -> None:
    clock = Clock()
    (still,) = measure([Planted("p", clock, (3, 5, 7))], frames(1_000), rounds=2, budget=100, clock=clock)
    assert [each.update for each in still.samples] == [None, None]
    assert [stages(each) for each in still.samples] == [pytest.approx((3, 0, 7, 10))] * 2
    assert still.read == 1.0
    assert still.answer is not None
    assert still.counters == {"tests": 7, "peak_bytes": 11, "pair_count": len(still.answer)}
    (moving,) = measure([Planted("p", clock, (3, 5, 7))], frames(1_000, 3), rounds=1, budget=100, clock=clock)
    assert [stages(each) for each in moving.samples] == [pytest.approx((3, 5, 7, 12))]


def test_candidates_take_turns_and_the_first_changes() -> None:
    clock = Clock()
    seen: list[tuple[int, int, str]] = []
    candidates = [Planted(name, clock, (0.1, 0, 0)) for name in "abc"]
    measure(candidates, frames(300), rounds=3, budget=100, clock=clock, progress=lambda *step: seen.append(step))
    assert "".join(about for _, _, about in seen) == "abc" + "abc" + "bca" + "cab"
    assert [step[:2] for step in seen] == [(done, 12) for done in range(1, 13)]


def test_a_spent_budget_ends_the_turns_of_that_candidate_only() -> None:
    clock = Clock()
    slow, fast = Planted("slow", clock, (4, 0, 0)), Planted("fast", clock, (1, 0, 0))
    results = measure([slow, fast], frames(1_000), rounds=6, budget=10, clock=clock)
    assert [len(each.samples) for each in results] == [3, 6]
    assert {each.status for each in results} == {"measured"}


def test_a_candidate_that_would_take_too_long_is_cut_off_before_it_does() -> None:
    class Silent(Planted):
        def read(self, state: Any, answer: Any) -> Pairs:
            return np.empty((0, 2), np.int32)

    clock = Clock()
    quadratic = Silent("quadratic", clock, (1e-3, 0, 0), power=2)
    linear = Silent("linear", clock, (1e-3, 0, 0))
    results = measure([quadratic, linear], frames(100_000), rounds=1, budget=5, clock=clock)
    assert [each.status for each in results] == ["cut off", "measured"]
    assert results[0].samples == []
    assert "10 s" in results[0].note
    assert clock.now < 10


def test_a_candidate_that_breaks_is_marked_and_the_others_go_on() -> None:
    class Broken(Planted):
        def pairs(self, state: Any) -> Any:
            raise RuntimeError("no\nluck")

    clock = Clock()
    results = measure([Broken("b", clock, (1, 1, 1)), Planted("p", clock, (1, 1, 1))], frames(50), clock=clock)
    assert [each.status for each in results] == ["failed", "measured"]
    assert results[0].note == "RuntimeError: no luck"
    assert len(results[1].samples) == 5


def test_a_candidate_that_breaks_in_a_later_turn_loses_its_samples() -> None:
    class Tired(Planted):
        def create(self, lower: Floats, upper: Floats) -> Any:
            self.power += 1
            if self.power > 4:
                raise MemoryError
            return super().create(lower, upper)

    clock = Clock()
    (result,) = measure([Tired("t", clock, (1, 1, 1))], frames(50), clock=clock)
    assert (result.status, result.samples, result.note) == ("failed", [], "MemoryError:")


def test_the_collector_rests_while_the_clock_runs_and_works_again_after() -> None:
    class Watching(Planted):
        def pairs(self, state: Any) -> Any:
            assert not gc.isenabled()
            return super().pairs(state)

    clock = Clock()
    (result,) = measure([Watching("w", clock, (1, 1, 1))], frames(50), clock=clock)
    assert result.status == "measured"
    assert gc.isenabled()


def test_nonsense_is_refused() -> None:
    with pytest.raises(InvalidInput, match="rounds"):
        measure([], frames(5), rounds=0)
    with pytest.raises(InvalidInput, match="budget"):
        measure([], frames(5), budget=0)
    with pytest.raises(InvalidInput, match="frames"):
        measure([], [])


def test_spread() -> None:
    spread = Spread.of([5.0, 1.0, 2.0, 3.0, 4.0])
    assert (spread.minimum, spread.lower_quartile, spread.median, spread.upper_quartile) == (1, 2, 3, 4)


def test_csv_holds_remarks_rows_and_gaps(tmp_path: Path) -> None:
    @dataclass
    class Line:
        name: str
        value: float | None

    path = tmp_path / "lines.csv"
    write_dataclasses(path, [Line('a, "b"', 0.1), Line("c", None)], {"processor": "quick"})
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "# processor: quick"
    assert list(csv.reader(lines[1:])) == [["name", "value"], ['a, "b"', "0.1"], ["c", ""]]

"""Benchmarks of methods: ratios, wrong answers, time limits and failures."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from planted import Clock, Planted
from rich.console import Console

from choque.errors import ChoqueError, InvalidInput, UnknownName
from choque.lab import bench as module
from choque.lab.bench import Frame, bench, measure, rows_of
from choque.lab.table import Table, duration, render


def frames(count: int = 200) -> list[Frame]:
    lower = np.random.default_rng(2).random((count, 3)) * 4
    return [(lower, lower + 1)]


def test_ratios_are_to_the_fastest_right_answer_and_wrong_ones_have_none() -> None:
    clock = Clock()
    candidates = [
        Planted("wrong", clock, (0.1, 0, 0), lost=1),
        Planted("slow", clock, (6, 0, 0)),
        Planted("fast", clock, (2, 0, 0)),
    ]
    rows = rows_of(measure(candidates, frames(), clock=clock, budget=1e6), "planted", frames())
    assert [(row.candidate, row.verdict) for row in rows] == [("wrong", "wrong"), ("slow", "exact"), ("fast", "exact")]
    assert rows[0].ratio is None
    assert rows[0].note == "1 missing, 0 too many"
    assert rows[1].ratio == pytest.approx(3)
    assert rows[2].ratio == 1
    assert not Table(rows).is_right
    assert Table(rows[1:]).is_right


def test_another_question_is_compared_but_never_the_measure() -> None:
    clock = Clock()
    spheres = Planted("spheres", clock, (1, 0, 0), lost=5)
    spheres.question = "spheres"
    candidates = [spheres, Planted("boxes", clock, (2, 0, 0))]
    rows = rows_of(measure(candidates, frames(), clock=clock, budget=1e6), "planted", frames())
    assert [(row.verdict, row.ratio) for row in rows] == [("other question", pytest.approx(0.5)), ("exact", 1)]


def test_cut_off_and_failed_stay_in_the_table_with_their_reason() -> None:
    clock = Clock()
    late = Planted("late", clock, (1, 0, 0), power=2)
    big = [tuple(np.repeat(corners, 50, axis=0) for corners in frames()[0])]
    rows = rows_of(measure([late], big, clock=clock, budget=3), "planted", big)  # type: ignore[arg-type]
    assert [(row.verdict, row.total, row.ratio, row.rounds) for row in rows] == [("cut off", None, None, 0)]
    assert "allowed" in rows[0].note


def test_bench_runs_methods_on_a_scene_and_tells_its_progress(tmp_path: Path) -> None:
    steps: list[tuple[int, int, str]] = []
    table = bench(
        ["uniform"], [300], ["brute", "choque.pairs"], repetitions=2, progress=lambda *step: steps.append(step)
    )
    assert [row.candidate for row in table.rows] == ["brute", "choque.pairs"]
    assert {row.verdict for row in table.rows} == {"exact"}
    assert min(row.ratio for row in table.rows if row.ratio) == 1
    assert [step[0] for step in steps] == list(range(1, 7))
    assert {step[1] for step in steps} == {6}
    table.to_csv(tmp_path / "table.csv")
    lines = (tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()
    read = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    assert [row["candidate"] for row in read] == ["brute", "choque.pairs"]
    assert json.loads(table.to_json())["rows"][0]["count"] == 300


def test_bench_follows_a_moving_scene() -> None:
    table = bench(["brownian"], [200], ["brute", "all"], repetitions=1, frames=3, dimension=2)
    assert [(row.frames, row.dimension) for row in table.rows] == [(3, 2)] * 2
    assert [row.verdict for row in table.rows] == ["exact", "superset"]
    assert all(row.update is not None for row in table.rows)


def test_the_oracle_above_brute_force_agrees_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    brute = module.oracle(frames()[0])
    monkeypatch.setattr(module, "BRUTE_UP_TO", 10)
    np.testing.assert_array_equal(module.oracle(frames()[0]), brute)
    assert len(brute) > 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"methods": ["brutt"]}, "brute"),
        ({"peers": ["ipctk"]}, "ipctk-lbvh"),
        ({"scenes": ["unifrom"]}, "uniform"),
        ({"counts": [1]}, "at least 2"),
        ({"methods": []}, "nothing to compare"),
    ],
)
def test_bad_arguments_are_refused_in_a_sentence(arguments: dict[str, object], message: str) -> None:
    with pytest.raises((InvalidInput, UnknownName), match=message) as caught:
        bench(**{"methods": ["brute"], "counts": [100], **arguments})  # type: ignore[arg-type]
    assert isinstance(caught.value, ChoqueError)


def test_render_shows_the_fastest_first_and_says_what_is_wrong() -> None:
    clock = Clock()
    candidates = [
        Planted("slow", clock, (6, 0, 0)),
        Planted("fast", clock, (2, 0, 0)),
        Planted("off", clock, (1, 0, 0), lost=2),
    ]
    rows = rows_of(measure(candidates, frames(), clock=clock, budget=1e6), "planted", frames())
    text = io.StringIO()
    Console(file=text, width=160).print(render(Table(rows, {"processor": "quick"})))
    shown = text.getvalue()
    assert shown.index("fast") < shown.index("slow") < shown.index("off")
    assert "3.00x" in shown
    assert "wrong: 2 missing, 0 too many" in shown
    assert "processor quick" in shown


def test_durations_have_three_digits_and_a_unit() -> None:
    assert [duration(each) for each in (12.3456, 0.0123456, 1.23456e-5, None)] == ["12.3 s", "12.3 ms", "12.3 µs", ""]

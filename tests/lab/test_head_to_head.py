"""Head-to-head comparisons: which methods meet the selector, in turns, and the verdict."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from choque.lab import Plan, Result, Study, Trial, execution, report, resume, run, studies
from choque.lab.head_to_head import MAX_OPPONENTS, head_to_head_cells, head_to_heads, judge_selector
from choque.lab.records import Records
from choque.lab.reporting import head_to_head_table
from choque.lab.sampling import sample_in_rounds
from choque.lab.statistics import turn_medians
from choque.lab.stopwatch import Stopwatch


@pytest.fixture(scope="module")
def selecting_study(ready_study: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The planted study with ``slow`` for a selector, which takes three times as long as ``fast``."""
    text = Path(ready_study).read_text(encoding="utf-8")
    path = tmp_path_factory.mktemp("study") / "selecting.py"
    path.write_text(text.replace('regions=("n", "density"),', 'regions=("n", "density"),\n    selector="slow",'))
    return str(path)


@pytest.fixture(scope="module")
def held(selecting_study: str, tmp_path_factory: pytest.TempPathFactory) -> Result:
    levels: dict[str, list[Any]] = {"n": [100], "scene": ["still"]}
    folder = tmp_path_factory.mktemp("lab") / "held"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("choque.lab.reporting.draw", lambda *_: [])
        return run(selecting_study, quick=True, output=folder, factors=levels)


def test_the_selector_meets_the_best_in_turns_and_its_ratio_is_found(held: Result) -> None:
    (compared,) = head_to_heads(held)
    assert compared.best == "fast"
    assert compared.ratio.lower < 3 < compared.ratio.upper or compared.ratio.value == pytest.approx(3, rel=0.03)
    counts = {level: len(rows) for (level,), rows in held.turns.groups("method")}
    assert set(counts) == {"slow", "fast"}  # a level with a wrong answer has no opponents
    assert len(set(counts.values())) == 1
    finding = judge_selector(held)
    assert (finding.verdict, finding.measured) == ("refuted", "0 of 1 cells")
    assert "against fast" in finding.note
    page = (held.folder / "report.html").read_text(encoding="utf-8")
    assert "met the best of each setting turn by turn" in page
    assert f"{compared.ratio.value - 1:+.0%} [" in page


def test_comparisons_are_kept_and_read_again(held: Result, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])
    monkeypatch.setattr(execution, "run_cell", lambda *_: pytest.fail("a finished comparison was measured again"))
    assert resume(held.folder, study=held.study).turns.values("total") == held.turns.values("total")
    assert report(held.folder).claims == held.claims
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in (held.folder / "cells").glob("*.json")]
    assert sum("turns" in answer for answer in kept) == 1
    assert len(kept) == len(held.cells) + 1


def test_those_far_from_the_best_and_wrong_ones_are_not_asked(selecting_study: str) -> None:
    study = studies.find(selecting_study)
    seconds = {"slow": 1.0, "fast": 1.0, "a": 1.1, "b": 1.2, "c": 1.3, "d": 1.4, "far": 9.0, "wrong": 0.1}
    setting = {"scene": "still", "n": 100, "seed": 0}
    rows = [
        {"cell": name, **setting, "method": name, "verdict": "wrong" if name == "wrong" else "exact", "note": ""}
        | {"repetition": 0, "total": value}
        for name, value in seconds.items()
    ]
    result = Result(study, Path(), {}, Records(rows))
    design = study.design(study.levels(), plan=study.plan)
    (cell,) = head_to_head_cells(result, design)
    assert list(cell.opponents) == ["fast", "a", "b", "c"]
    assert len(cell.opponents) == MAX_OPPONENTS
    assert "in turns with fast, a, b, c" in str(cell)
    assert cell.key not in {each.key for each in design.cells()}
    without = Result(study, Path(), {}, Records(row for row in rows if row["method"] != "slow"))
    assert head_to_head_cells(without, design) == []
    assert judge_selector(without).verdict == "not testable here"


def _turned(study: Study, chosen: str, seconds: dict[str, float], turns: dict[str, float]) -> Result:
    """A run in one setting whose selector, ``slow``, does the work of ``chosen``; and what was seen in turns."""
    setting = {"scene": "still", "n": 100, "seed": 0}
    rows = [
        {"cell": name, **setting, "method": name, "verdict": "exact", "note": "", "repetition": 0, "total": value}
        | ({"chosen": chosen} if name == "slow" else {})
        for name, value in seconds.items()
    ]
    held = [{**setting, "method": name, "turn": 0, "total": value} for name, value in turns.items()]
    return Result(study, Path(), {}, Records(rows), Records(held))


def test_who_only_chooses_does_not_meet_its_choice(selecting_study: str) -> None:
    study = studies.find(selecting_study)
    design = study.design(study.levels(), plan=study.plan)
    near = {"slow": 1.3, "fast": 1.0, "a": 1.2, "far": 9.0}
    (cell,) = head_to_head_cells(_turned(study, "fast", near, {}), design)
    assert list(cell.opponents) == ["a"]
    (compared,) = head_to_heads(_turned(study, "fast", near, {"slow": 1.0, "a": 1.2}))
    assert (compared.best, compared.ratio.value, compared.seconds["fast"]) == ("fast", 1.0, compared.seconds["slow"])
    (compared,) = head_to_heads(_turned(study, "fast", near, {"slow": 1.5, "a": 1.2}))
    assert compared.best == "a"
    assert compared.ratio.value == pytest.approx(1.25)
    wrong = _turned(study, "a", near, {})
    (cell,) = head_to_head_cells(wrong, design)
    assert list(cell.opponents) == ["fast"]
    assert head_to_heads(wrong) == []  # whether it was wrong has to be seen


def test_a_choice_far_ahead_needs_no_comparison(selecting_study: str) -> None:
    study = studies.find(selecting_study)
    alone = _turned(study, "fast", {"slow": 1.3, "fast": 1.0, "far": 9.0}, {})
    assert head_to_head_cells(alone, study.design(study.levels(), plan=study.plan)) == []
    (compared,) = head_to_heads(alone)
    assert (compared.best, compared.ratio.value, compared.was_measured) == ("fast", 1.0, False)
    assert judge_selector(alone).verdict == "confirmed"
    (row,) = head_to_head_table(alone)
    assert (row["slow"], row["others"]) == ("chose it", "far behind")
    missed = _turned(study, "far", {"slow": 9.0, "fast": 1.0, "far": 9.0}, {})
    assert [
        list(cell.opponents) for cell in head_to_head_cells(missed, study.design(study.levels(), plan=study.plan))
    ] == [["fast"]]


class Ticking(Trial):
    """Takes ``seconds`` of a clock that all share, and fails in the third turn if wanted."""

    now: ClassVar[list[float]] = [0.0]

    def __init__(self, seconds: float, breaks: bool = False) -> None:
        self.seconds, self.breaks, self.turns = seconds, breaks, 0
        self.clock = lambda: self.now[0]

    def run(self, watch: Stopwatch) -> None:
        self.turns += 1
        if self.breaks and self.turns > 3:
            raise RuntimeError("planted")
        self.now[0] += self.seconds
        watch.lap("work")


def test_everyone_has_a_turn_in_every_round_and_who_breaks_is_out() -> None:
    one, two, broken = sample_in_rounds([Ticking(1.0), Ticking(3.0), Ticking(1.0, True)], Plan(minimum=4, budget=10.0))
    assert len(one.readings) == len(two.readings) >= 4
    assert sum(each.total for each in one.readings + two.readings) <= 20 + 4 + 1
    assert (broken.status, broken.readings) == ("failed", [])
    fewest = sample_in_rounds([Ticking(50.0)], Plan(minimum=4, budget=10.0, patience=99.0))
    assert len(fewest[0].readings) == 4


def test_turns_that_the_machine_slowed_do_not_change_who_is_faster() -> None:
    random = np.random.default_rng(0)
    slowed = np.exp(random.uniform(0, 1.5, (41, 1)))
    turns = np.array([1.0, 1.1, 2.0]) * slowed * np.exp(random.normal(0, 0.02, (41, 3)))
    turns[::9, 0] *= 5.0  # and some were looked away from
    middle = turn_medians(turns)
    np.testing.assert_allclose(middle / middle[0], [1.0, 1.1, 2.0], rtol=0.03)

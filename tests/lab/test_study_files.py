"""Files that users write: what lies beside them, and what their functions return, is met with a sentence."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choque.errors import ChoqueError, InvalidInput
from choque.lab import Result, reporting, run, studies
from choque.lab.records import read_parquet
from choque.lab.sampling import Plan
from choque.lab.worker import answer, write_answer

ONE: dict[str, Any] = {"quick": True, "factors": {"n": [100], "scene": ["still"]}, "methods": ["fast"]}
"""A single cell."""


@pytest.fixture(autouse=True)
def _path_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading a study lets files beside it be imported, which is not for the tests that follow."""
    monkeypatch.setattr(sys, "path", [*sys.path])


def written(source: str, path: Path, *changes: tuple[str, str]) -> str:
    """A copy of the study of ``source`` with some of its text changed."""
    text = Path(source).read_text(encoding="utf-8")
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_files_beside_a_study_may_be_imported_and_hide_nothing(
    planted_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cells are processes that start in the user's folder, where a file may be called as a module of Python is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])
    for name in ("queue", "json", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('the wrong file')\n", encoding="utf-8")
    (tmp_path / "beside_the_study.py").write_text("FACTOR = 1.0\n", encoding="utf-8")
    path = written(planted_study, tmp_path / "mine.py", ("import os\n", "import beside_the_study\nimport os\n"))
    result = run(path, output=tmp_path / "run", **ONE)
    assert [(row["verdict"], row["note"]) for row in result.cells] == [("exact", "")]


def test_a_figure_that_is_none_is_named(finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = finished.study.figures[0]
    monkeypatch.setattr(finished.study, "figures", [type(maker)("void", "Nothing", "", lambda _: None)])
    with pytest.raises(ChoqueError, match=r"figure 'void' cannot be drawn.*None.*choque lab report"):
        reporting.draw(finished, tmp_path / "figures")


def test_a_metric_that_raises_ends_the_run_and_keeps_the_samples(ready_study: str, tmp_path: Path) -> None:
    metric = 'Metric("total", "s", "seconds"'
    path = written(ready_study, tmp_path / "mine.py", (metric, metric + ', of=lambda row: row["total"] / 0'))
    with pytest.raises(ChoqueError, match=r"metric 'total'.*ZeroDivisionError.*1 of 1 cells are finished and kept"):
        run(path, output=tmp_path / "run", **ONE)
    assert len(read_parquet(tmp_path / "run" / "samples.parquet")) == 3


def test_a_metric_that_no_sample_has_is_not_taken_for_wrong_answers(finished: Result) -> None:
    with pytest.raises(InvalidInput, match="No sample has a column 'totl'"):
        finished.ratio("slow", "fast", metric="totl")
    with pytest.raises(InvalidInput, match="No sample has a column 'totl'"):
        finished.fit("slow", metric="totl")
    with pytest.raises(InvalidInput, match="'wrong' has no right answer there"):
        finished.ratio("wrong", "fast")


@pytest.mark.parametrize("returned", ["True", 'Verdict("right")'])
def test_a_check_that_returns_no_verdict_is_reported(planted_study: str, tmp_path: Path, returned: str) -> None:
    judging = 'Verdict("wrong", "1 missing, 0 too many") if self.name == "wrong" else Verdict("exact")'
    path = written(planted_study, tmp_path / "mine.py", (judging, returned))
    reply = answer(order(path))
    assert reply["verdict"] == "failed"
    assert re.search(r"the check returned .*; it must be a Verdict of exact, ", reply["note"])


def test_numbers_of_numpy_may_be_counted(planted_study: str, tmp_path: Path) -> None:
    path = written(planted_study, tmp_path / "mine.py", ('{"tests": 7 * self.n', '{"tests": np.int64(7) * self.n'))
    reply = answer(order(path))
    assert isinstance(reply["counters"]["tests"], np.int64)
    write_answer(str(tmp_path / "answer.json"), reply)
    assert json.loads((tmp_path / "answer.json").read_text(encoding="utf-8"))["counters"]["tests"] == 700


def order(path: str) -> dict[str, Any]:
    """The order of a worker."""
    study = studies.find(path)
    parameters = {"scene": "still", "n": 100, "method": "fast", "seed": 0}
    plan = Plan(minimum=1, maximum=1, precision=None).to_json()
    return {"study": study.to_json(), "parameters": parameters, "plan": plan}

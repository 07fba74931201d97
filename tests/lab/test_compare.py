"""Comparing two runs of a study: what counts as a regression."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from choque.cli import main
from choque.errors import InvalidInput
from choque.lab import Result, compare
from choque.lab.records import Records, read_parquet


def changed(finished: Result, folder: Path, change: Any) -> Path:
    """A copy of a run in which every row of the samples went through ``change``."""
    shutil.copytree(finished.folder, folder)
    rows = [change(dict(row)) for row in read_parquet(folder / "samples.parquet")]
    Records(row for row in rows if row).to_parquet(folder / "samples.parquet")
    return folder


def test_a_run_is_no_regression_of_itself(finished: Result) -> None:
    found = compare(finished.folder, finished.folder)
    assert (found.cells, found.missing, found.changes, found.time_ratio) == (12, 0, [], 1.0)


@pytest.mark.parametrize(("growth", "regressions"), [(1.04, 0), (1.06, 4), (0.5, 0)])
def test_a_counter_that_grows_beyond_the_threshold_is_a_regression(
    finished: Result, tmp_path: Path, growth: float, regressions: int
) -> None:
    grown = changed(
        finished,
        tmp_path / "grown",
        lambda row: row | ({"tests": round(row["tests"] * growth)} if row["method"] == "slow" else {}),
    )
    found = compare(finished.folder, grown, threshold=0.05)
    assert len(found.regressions) == regressions
    assert {change.figure for change in found.changes} == {"tests"}


def test_a_right_answer_that_is_wrong_now_is_a_regression_and_times_are_not(finished: Result, tmp_path: Path) -> None:
    def worse(row: dict[str, Any]) -> dict[str, Any]:
        verdict = "wrong" if row["method"] == "fast" else row["verdict"]
        return row | {"verdict": verdict, "total": row["total"] * 5}

    found = compare(finished.folder, changed(finished, tmp_path / "worse", worse))
    assert {(change.figure, change.before, change.after) for change in found.regressions} == {
        ("verdict", "exact", "wrong")
    }
    assert found.time_ratio == pytest.approx(5)


def test_cells_that_are_missing_are_counted(finished: Result, tmp_path: Path) -> None:
    fewer = changed(finished, tmp_path / "fewer", lambda row: None if row["n"] == 200 else row)
    assert (compare(finished.folder, fewer).cells, compare(finished.folder, fewer).missing) == (6, 6)


def test_nonsense_is_refused(finished: Result, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="threshold"):
        compare(finished.folder, finished.folder, threshold=-1)
    with pytest.raises(InvalidInput, match="Did you mean 'tests'"):
        compare(finished.folder, finished.folder, counters=["test"])
    with pytest.raises(InvalidInput, match="no counter called 'verdict'"):
        compare(finished.folder, finished.folder, counters=["verdict"])  # a word, which has no ratio
    elsewhere = changed(finished, tmp_path / "elsewhere", lambda row: row | {"n": row["n"] + 1})
    with pytest.raises(InvalidInput, match="no cell in common"):
        compare(finished.folder, elsewhere)


def test_a_study_may_be_compared_on_counters_of_its_own(
    finished: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (
        changed(finished, tmp_path / name, lambda row, nodes=nodes: row | {"nodes": nodes})
        for name, nodes in (("one", 100), ("other", 200))
    )
    assert main(["lab", "compare", str(one), str(other)]) == 0
    assert main(["lab", "compare", str(one), str(other), "--counter", "tests,nodes"]) == 1
    shown = capsys.readouterr().out
    assert "12 regressions" in shown
    assert "still, n 100, fast, seed 0" in shown


def test_the_verbs_show_and_fail(
    finished: Result, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])
    grown = changed(finished, tmp_path / "grown", lambda row: row | {"peak_bytes": 2 * row["peak_bytes"]})
    assert main(["lab", "compare", str(finished.folder), str(finished.folder)]) == 0
    assert "0 regressions beyond 5%" in capsys.readouterr().out
    assert main(["lab", "compare", str(finished.folder), str(grown)]) == 1
    assert "12 regressions" in capsys.readouterr().out
    assert main(["lab", "report", str(grown)]) == 1
    shown = capsys.readouterr().out
    assert "threefold" in shown
    assert "wrong: still, n 100, wrong, seed 0: 1 missing, 0 too many" in shown
    assert main(["lab", "list"]) == 0
    assert "comparison" in capsys.readouterr().out


def test_an_interrupted_run_says_so_once_and_how_to_go_on(
    ready_study: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("choque.lab.execution.Execution._do", interrupted)
    folder = tmp_path / "run"
    assert main(["lab", "run", ready_study, "--quick", "--output", str(folder)]) == 130
    printed = capsys.readouterr().err.splitlines()
    assert printed == [
        f"choque: 0 of 12 cells are finished and kept; continue with: choque lab resume {folder} --study {ready_study}",
        "choque: Interrupted.",
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "comparision"], "Did you mean 'comparison'"),
        (["run", "comparison", "--methods", "gird", "--output", "never"], "Did you mean 'grid'"),
        (["run", "comparison", "--factor", "n", "--output", "never"], "name=level"),
        (["run", "comparison", "--factor", "m=3", "--output", "never"], "factor"),
        (["resume", "nowhere"], "holds no run"),
        (["report", "nowhere"], "holds no run"),
    ],
)
def test_bad_words_are_one_line_and_a_non_zero_exit(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
    assert not Path("never").exists()

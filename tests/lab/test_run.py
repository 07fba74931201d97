"""Running the planted study: the right ratio, wrong answers left out, cut off rather than lost, nothing done twice."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from choque.cli import main
from choque.errors import ChoqueError, InvalidInput, UnknownName, UnreadableFile
from choque.lab import Result, execution, read, report, resume, run
from choque.lab.records import Records, read_parquet
from choque.lab.sampling import Plan

SMALL: dict[str, Any] = {"quick": True, "factors": {"n": [100]}, "methods": ["fast", "slow"]}
"""Four cells."""


def table_of(folder: Path) -> Records:
    """The samples, without what is different on every run: the machine's memory."""
    rows = read_parquet(folder / "samples.parquet")
    return Records({k: v for k, v in row.items() if k not in ("process_bytes", "baseline_bytes")} for row in rows)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that are about something else: drawing is what takes the time of a report."""
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])


def test_a_planted_slow_method_is_found_slower_with_the_right_ratio(finished: Result) -> None:
    ratio = finished.ratio("slow", "fast")
    assert ratio.lower < 3 < ratio.upper or ratio.value == pytest.approx(3, rel=0.03)
    (claim,) = finished.claims
    assert (claim.id, claim.verdict) == ("threefold", "confirmed")
    assert claim.interval is not None
    ranks = {row["method"]: row["ratio"] for row in finished.ranking.where(scene="still", n=200) if "ratio" in row}
    assert ranks["fast"] == 1
    assert ranks["slow"] == pytest.approx(3, rel=0.1)


def test_a_planted_wrong_method_is_reported_and_left_out_of_the_ranking(finished: Result) -> None:
    wrong = finished.cells.where(method="wrong")
    assert set(wrong.values("verdict")) == {"wrong"}
    assert wrong.values("note") == ["1 missing, 0 too many"] * 4
    assert "wrong" not in finished.right.levels("method")
    assert all("ratio" not in row for row in finished.ranking.where(method="wrong"))
    with pytest.raises(InvalidInput, match="no right answer"):
        finished.ratio("wrong", "fast")
    page = (finished.folder / "report.html").read_text(encoding="utf-8")
    assert "1 missing, 0 too many" in page


def test_the_folder_holds_raw_samples_record_and_report(finished: Result) -> None:
    record = json.loads((finished.folder / "study.json").read_text(encoding="utf-8"))
    assert record["machine"]["cores"] >= 1
    assert record["seed"] == 0
    assert record["finished"]
    samples = read_parquet(finished.folder / "samples.parquet")
    assert len(samples) == 2 * 2 * 3 * 3
    stages = [row["create"] + row["pairs"] for row in samples]  # type: ignore[operator]
    assert stages == pytest.approx(samples.values("total"), rel=0.05)
    assert set(samples.values("threads")) == {1}
    assert all(value > 0 for value in samples.values("process_bytes"))
    names = {path.name for path in finished.folder.iterdir()}
    assert names >= {"samples.csv", "cells.csv", "claims.csv", "report.html", "figures", "performance-map.json"}
    assert not (finished.folder / "scenes").exists()


@pytest.mark.usefixtures("undrawn")
def test_troubles_are_marked_and_the_others_go_on(planted_study: str, tmp_path: Path) -> None:
    methods = ["fast", "slow", "late", "broken", "fatal", "sleepy"]
    result = run(
        planted_study,
        quick=True,
        output=tmp_path / "run",
        methods=methods,
        factors={"scene": ["still"], "n": [200]},
        plan=Plan(minimum=3, maximum=3, precision=None, limit=3.0),
        side_by_side=2,
    )
    verdicts = {row["method"]: row["verdict"] for row in result.cells}
    assert verdicts == {
        "fast": "exact",
        "slow": "exact",
        "late": "cut off",
        "broken": "failed",
        "fatal": "failed",
        "sleepy": "cut off",
    }
    notes = {row["method"]: str(row["note"]) for row in result.cells}
    assert notes["broken"] == "RuntimeError: planted trouble"
    assert notes["late"] == "would take about 200 s"
    assert notes["sleepy"] == "still measuring after 3 s, which is its limit"
    assert "the process ended while measuring" in notes["fatal"]
    assert "sleepy" not in result.right.levels("method")


@pytest.mark.usefixtures("undrawn")
def test_what_is_larger_than_a_cell_that_was_cut_off_is_not_tried(ready_study: str, tmp_path: Path) -> None:
    notes: list[dict[Any, str]] = []
    for seed in (0, 3):
        levels: dict[str, list[Any]] = {"scene": ["still"], "n": [200, 800], "method": ["late"]}
        result = run(ready_study, quick=True, output=tmp_path / str(seed), factors=levels, seed=seed)
        assert set(result.cells.values("verdict")) == {"cut off"}
        notes.append({row["n"]: str(row["note"]) for row in result.cells})
    # The seed decides which of the two comes first.
    assert {each[200] for each in notes} == {"would take about 200 s"}
    assert {each[800] for each in notes} == {"would take about 800 s", "not tried: n 200 was cut off already"}


def test_a_run_without_a_right_answer_still_has_its_report(planted_study: str, tmp_path: Path) -> None:
    levels: dict[str, list[Any]] = {"n": [100], "scene": ["still"], "method": ["wrong"]}
    result = run(planted_study, quick=True, output=tmp_path / "run", factors=levels, side_by_side=2)
    assert [claim.verdict for claim in result.claims] == ["not testable here"]
    assert "1 missing, 0 too many" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def whole(ready_study: str, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """The two cells of `killed_after` without interruption."""
    levels: dict[str, list[Any]] = {"n": [100], "scene": ["still"], "method": ["fast", "slow"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("choque.lab.reporting.draw", lambda *_: [])
        return run(ready_study, quick=True, factors=levels, output=tmp_path_factory.mktemp("lab") / "whole")


INTERRUPTIBLE = """
import signal, sys
from choque.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main())
"""
"""The command, also where the tests run in the background of a shell and ignore Ctrl-C."""


def killed_after_one(how: signal.Signals, planted_study: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run two cells in another process, one of which hangs, and end it once the other is finished."""
    arguments = ["lab", "run", planted_study, "--quick", "--methods", "fast,slow", "--factor", "n=100"]
    arguments += ["--factor", "scene=still", "--side-by-side", "2"]
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTIBLE, *arguments, "--output", str(folder)],
        env=os.environ | {"PLANTED_HANGING": "slow"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    begin = time.monotonic()
    while len(list((folder / "cells").glob("*.json"))) < 1 and time.monotonic() - begin < 300:
        time.sleep(0.02)
    process.send_signal(how)
    out, errors = process.communicate(timeout=300)
    return subprocess.CompletedProcess(arguments, process.returncode, out, errors)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_killed_and_resumed_gives_the_same_table(
    how: signal.Signals, whole: Result, planted_study: str, tmp_path: Path
) -> None:
    folder = tmp_path / "ended"
    ended = killed_after_one(how, planted_study, folder)
    kept = {path.name: path.stat().st_mtime_ns for path in (folder / "cells").glob("*.json")}
    assert len(kept) == 1
    if how == signal.SIGINT:
        assert ended.returncode == 130
        assert "1 of 2 cells are finished and kept" in " ".join(ended.stderr.split())
        assert "choque lab resume" in ended.stderr
        assert len(read_parquet(folder / "samples.parquet")) == 3
    again = resume(folder, study=planted_study)
    assert again.measured == 1
    assert {name: (folder / "cells" / name).stat().st_mtime_ns for name in kept} == kept
    assert table_of(folder) == table_of(whole.folder)
    assert [claim.verdict for claim in again.claims] == [claim.verdict for claim in whole.claims]


@pytest.mark.usefixtures("undrawn")
def test_a_finished_run_is_not_measured_again_and_the_verb_says_so(
    finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    (folder / "samples.parquet").unlink()
    monkeypatch.setattr(execution, "run_cell", lambda *_: pytest.fail("a finished cell was run again"))
    again = resume(folder, study=finished.study)
    assert again.cells.values("cell") == finished.cells.values("cell")
    assert (finished.measured, again.measured) == (12, 0)
    assert table_of(folder) == table_of(finished.folder)
    words = ["lab", "resume", str(folder), "--study", str(finished.study.origin)]
    assert main(words) == 1  # a method of the study is wrong
    shown = capsys.readouterr().out
    assert "Nothing was left to measure: every cell was finished. The report was written again." in shown
    assert main([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["measured"] == 0


@pytest.mark.usefixtures("undrawn")
def test_a_fraction_is_kept_when_a_run_is_resumed(
    ready_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = run(ready_study, **SMALL, fraction=0.5, output=tmp_path / "part")
    assert whole.record["whole"] == 4
    assert whole.cells.values("method") == ["fast", "slow"]
    assert len({*whole.cells.values("seed")}) == 1
    assert "--fraction 0.5" in (whole.folder / "report.html").read_text(encoding="utf-8")
    monkeypatch.setattr(execution, "run_cell", lambda *_: pytest.fail("a cell outside of the fraction was run"))
    assert resume(whole.folder, study=ready_study).cells.values("cell") == whole.cells.values("cell")


@pytest.mark.usefixtures("undrawn")
def test_other_code_makes_finished_cells_stale(
    finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    monkeypatch.setattr("choque.lab.study.code_version", lambda: "other")
    orders: list[Any] = []
    answers = [json.loads(path.read_text(encoding="utf-8")) for path in (folder / "cells").glob("*.json")]
    known = next(each for each in answers if each["verdict"] == "exact")

    def answer(order: Any, *_: Any) -> Any:
        orders.append(order)
        return known

    monkeypatch.setattr(execution, "run_cell", answer)
    resume(folder, study=finished.study)
    assert len(orders) == 12


def test_the_report_is_written_again_from_the_raw_samples(finished: Result, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    shutil.rmtree(folder / "cells")
    (folder / "report.html").unlink()
    again = report(folder)
    assert (folder / "report.html").stat().st_size > 10_000
    assert again.claims == finished.claims
    assert read(folder).ranking == finished.ranking


@pytest.mark.usefixtures("undrawn")
def test_one_process_for_each_cell_pinned_to_its_threads(
    planted_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[dict[str, str]] = []
    popen = subprocess.Popen

    def watched(arguments: list[str], **options: Any) -> Any:
        if "choque.lab.worker" in arguments:
            started.append(options["env"])
        return popen(arguments, **options)

    monkeypatch.setattr("choque.lab.cell.subprocess.Popen", watched)
    levels: dict[str, list[Any]] = {"n": [100], "scene": ["still"], "method": ["fast", "slow"]}
    run(planted_study, quick=True, output=tmp_path / "run", threads=2, factors=levels, side_by_side=2)
    assert [each["CHOQUE_THREADS"] + each["OMP_NUM_THREADS"] for each in started] == ["22", "22"]


@pytest.mark.usefixtures("undrawn")
def test_a_full_disk_is_a_sentence_and_the_finished_cells_are_kept(
    ready_study: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells, sync = tmp_path / "run" / "cells", os.fsync

    def full(handle: int) -> None:
        if list(cells.glob("*.json")):
            raise OSError(errno.ENOSPC, "No space left on device")
        sync(handle)

    with monkeypatch.context() as patch:
        patch.setattr("choque.files.atomic.os.fsync", full)
        with pytest.raises(ChoqueError, match=r"the disk is full.*1 of 4 cells are finished and kept") as caught:
            run(ready_study, **SMALL, output=tmp_path / "run")
    assert "Traceback" not in str(caught.value)
    assert len(list(cells.glob("*.json"))) == 1
    assert len(resume(tmp_path / "run", study=ready_study).cells) == 4


def test_a_claim_without_a_verdict_ends_the_run_and_keeps_the_samples(ready_study: str, tmp_path: Path) -> None:
    text = Path(ready_study).read_text(encoding="utf-8")
    text += '\n@STUDY.claim("mute", source="x", printed="y")\ndef mute(result):\n    return None\n'
    (tmp_path / "mute.py").write_text(text, encoding="utf-8")
    with pytest.raises(ChoqueError, match="'mute' has no verdict"):
        run(str(tmp_path / "mute.py"), **SMALL, output=tmp_path / "run")
    assert len(read_parquet(tmp_path / "run" / "samples.parquet")) == 12
    assert json.loads((tmp_path / "run" / "study.json").read_text(encoding="utf-8"))["finished"] is None


def test_bad_input_is_refused_in_a_sentence(ready_study: str, finished: Result, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'comparison'"):
        run("comparision")
    with pytest.raises(UnknownName, match="factor called 'colour'"):
        run(ready_study, factors={"colour": [1]}, output=tmp_path / "run")
    with pytest.raises(UnknownName, match="method called 'quick'"):
        run(ready_study, methods=["quick"], output=tmp_path / "run")
    with pytest.raises(InvalidInput, match="threads is 0"):
        run(ready_study, threads=0, output=tmp_path / "run")
    with pytest.raises(InvalidInput, match="seed is -1; it must be a whole number of at least 0"):
        run(ready_study, seed=-1, output=tmp_path / "run")
    for fraction in (0.0, 1.5, float("nan"), "half"):
        with pytest.raises(InvalidInput, match=r"fraction is .*; it must be above 0 and at most 1"):
            run(ready_study, fraction=fraction, output=tmp_path / "run")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="The study is None"):
        run(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match=r"it must be a choque\.lab\.Plan"):
        run(Path(ready_study), plan={}, output=tmp_path / "run")  # type: ignore[arg-type]
    nowhere = replace(finished.study, name="homeless", origin="")
    with pytest.raises(InvalidInput, match="'homeless' is in no file"):
        run(nowhere, output=tmp_path / "run")
    for address in ("nonsense", "tcp://", "tcp://host", "a b:1"):
        with pytest.raises(InvalidInput, match="as in tcp://host:8786"):
            run(ready_study, cluster=address, output=tmp_path / "run")
    with pytest.raises(InvalidInput, match="another study, 'planted'"):
        run("comparison", output=finished.folder)
    with pytest.raises(InvalidInput, match="finished run of this study"):
        run(ready_study, output=finished.folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "diary.txt").touch()
    with pytest.raises(InvalidInput, match="not empty"):
        run(ready_study, output=tmp_path / "full")
    with pytest.raises(UnreadableFile, match="holds no run"):
        resume(tmp_path)
    with pytest.raises(UnreadableFile, match="no study"):
        run(str(tmp_path / "nothing.py"))
    (tmp_path / "empty.py").touch()
    with pytest.raises(InvalidInput, match="defines no study"):
        run(str(tmp_path / "empty.py"))
    assert not (tmp_path / "run").exists()


@pytest.mark.usefixtures("undrawn")
def test_damaged_files_are_named(finished: Result, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    table = folder / "samples.parquet"
    table.write_bytes(table.read_bytes()[:200])
    with pytest.raises(UnreadableFile, match=r"samples\.parquet.*choque lab resume"):
        report(folder)
    one = next((folder / "cells").glob("*.json"))
    one.write_text('{"verdict": "ex', encoding="utf-8")
    assert table_of(resume(folder, study=finished.study).folder) == table_of(finished.folder)
    whole = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    for lacking in ("study", "levels", "plan"):
        damaged = {name: value for name, value in whole.items() if name != lacking}
        (folder / "study.json").write_text(json.dumps(damaged), encoding="utf-8")
        with pytest.raises(UnreadableFile, match=rf"study\.json is damaged: it does not say {lacking}"):
            resume(folder)
    with pytest.raises(UnreadableFile, match="holds no run"):
        report(folder / "report.html")
    (folder / "study.json").write_text("{", encoding="utf-8")
    with pytest.raises(UnreadableFile, match=r"study\.json"):
        report(folder)


def test_a_clock_that_does_not_exist_is_refused(tmp_path) -> None:
    with pytest.raises(UnknownName, match="clock"):
        run("comparison", quick=True, clock="sundial", output=tmp_path / "run")

"""Folders of strangers: reading, comparing and reporting a run executes no file that the folder names."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from choque.cli import main
from choque.errors import ChoqueError, InvalidInput, UnreadableFile
from choque.lab import Result, compare, read, report, resume, runs

FULL = os.environ.get("CHOQUE_FULL") == "1"

CALLS: dict[str, Callable[[Path], Any]] = {
    "read": read,
    "report": report,
    "compare": lambda folder: compare(folder, folder),
    "resume": resume,
}


@pytest.fixture
def trap(finished: Result, tmp_path: Path) -> Path:
    """Return a folder whose record names a file that leaves a mark where it is executed."""
    folder = tmp_path / "stranger"
    shutil.copytree(finished.folder, folder)
    (tmp_path / "trap.py").write_text(f"open({str(tmp_path / 'EXECUTED')!r}, 'w').close()\n", encoding="utf-8")
    change(folder, study={"name": "planted", "origin": str(tmp_path / "trap.py"), "version": 1})
    return folder


def change(folder: Path, **changes: Any) -> None:
    """Change the record of a run."""
    path = folder / "study.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


@pytest.mark.parametrize("call", CALLS)
def test_no_file_that_a_folder_names_is_executed(call: str, trap: Path, tmp_path: Path) -> None:
    if call == "resume":
        with pytest.raises(InvalidInput, match=r"executes the file .*trap\.py.*If you trust .* --study .*trap\.py"):
            resume(trap)
    else:
        CALLS[call](trap)
    assert not (tmp_path / "EXECUTED").exists()


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("where", ["origin", "name"])
def test_no_file_is_executed_without_a_declaration_either(
    where: str, call: str, trap: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Records of earlier versions have none; and a name is never taken for a path."""
    monkeypatch.chdir(tmp_path)
    reference = {"name": "planted", "origin": "", "version": 1, where: "trap.py"}
    record = json.loads((trap / "study.json").read_text(encoding="utf-8"))
    del record["declaration"]
    (trap / "study.json").write_text(json.dumps({**record, "study": reference}), encoding="utf-8")
    with pytest.raises(ChoqueError, match=r"trap\.py"):
        CALLS[call](trap)
    assert not (tmp_path / "EXECUTED").exists()


@pytest.mark.parametrize("words", [["report", "F"], ["compare", "F", "F"], ["resume", "F"], ["report", "F", "--json"]])
def test_no_verb_executes_it(words: list[str], trap: Path, tmp_path: Path) -> None:
    arguments = [str(trap) if word == "F" else word for word in words]
    assert main(["lab", *arguments]) == (2 if words[0] == "resume" else 1 if words[0] == "report" else 0)
    assert not (tmp_path / "EXECUTED").exists()


def test_a_run_is_read_from_its_record_as_by_its_study(finished: Result, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    bare, full = read(folder), read(folder, study=finished.study)
    assert bare.claims == full.claims == finished.claims
    assert bare.cells == full.cells
    assert bare.ranking == full.ranking
    (folder / "report.html").unlink()
    again = report(folder)
    assert again.claims == finished.claims
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert all(figure.title in page for figure in finished.study.figures)
    assert (folder / "report.html").stat().st_size > 10_000


def test_a_figure_outside_the_folder_is_not_put_into_the_report(finished: Result, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    (tmp_path / "secret.svg").write_text("<svg>secret</svg>", encoding="utf-8")
    (folder / "figures" / "linked.svg").symlink_to(tmp_path / "secret.svg")
    figures = [{"name": name, "title": f"T-{name}", "caption": ""} for name in ("../../secret", "linked", "none")]
    change(folder, declaration={**finished.study.declaration(), "figures": figures})
    report(folder)
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "T-" not in page


def test_resuming_executes_the_file_that_is_given(trap: Path, finished: Result, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"holds 'planted', version 1; the study there is now 'comparison'"):
        resume(trap, study="comparison")
    assert resume(trap, study=finished.study.origin).cells == finished.cells
    record = json.loads((trap / "study.json").read_text(encoding="utf-8"))
    assert record["study"]["origin"] == finished.study.origin, "its processes read the file that was given"
    assert not (tmp_path / "EXECUTED").exists()


VALUES: list[Any] = [None, 7, "words", [], {}, ["a"], {"a": 1}, True, -1.5, [{}], [None], {"name": 1}]


@pytest.mark.parametrize("call", CALLS)
def test_records_of_any_values_are_refused_in_a_sentence_or_read(
    call: str, finished: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("choque.lab.reporting.draw", lambda *_: [])
    monkeypatch.setattr(runs, "Execution", lambda *_: pytest.fail("a study of a file was resumed"))
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    whole = json.loads((folder / "study.json").read_text(encoding="utf-8"))
    places = [(name,) for name in whole if name != "format"]
    places += [(name, inner) for name in ("study", "declaration") for inner in whole[name]]
    refused = 0
    for number, place in enumerate(places):
        for value in VALUES if FULL else [VALUES[(number + shift) % len(VALUES)] for shift in (0, 3)]:
            record = json.loads(json.dumps(whole))
            where = record
            for name in place[:-1]:
                where = where[name]
            where[place[-1]] = value
            (folder / "study.json").write_text(json.dumps(record), encoding="utf-8")
            try:
                CALLS[call](folder)
            except ChoqueError:
                refused += 1
    assert refused > len(places) // (1 if FULL else 4)


@pytest.mark.parametrize(
    "changes", [{"name": 7}, {"name": None}, {"origin": ["x.py"]}, {"origin": 3}, {"version": "1"}, {"version": True}]
)
def test_a_study_whose_name_is_no_text_is_damage(changes: dict[str, Any], finished: Result, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(finished.folder, folder)
    change(folder, study={**finished.study.to_json(), **changes})
    for call in CALLS.values():
        with pytest.raises(UnreadableFile, match="which study it is"):
            call(folder)

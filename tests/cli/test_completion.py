"""Completion of verbs, options, and names of methods, scenes and studies."""

from __future__ import annotations

from pathlib import Path

import pytest

import choque
from choque.cli import _completion, main  # completion without a shell


@pytest.mark.parametrize(
    ("complete", "word", "found"),
    [
        (_completion.complete_methods, "sap-i", ["sap-incremental"]),
        (_completion.complete_methods, "grid,bv", ["grid,bvh"]),
        (_completion.complete_broad_phases, "SAPO", ["SAPOBB"]),
        (_completion.complete_box_scenes, "unif", ["uniform"]),
        (_completion.complete_body_scenes, "bowl", ["bowling"]),
        (_completion.complete_kinetic_scenes, "three", ["three-objects"]),
        (_completion.complete_studies, "fing", ["fingsics"]),
    ],
)
def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, complete: object, word: str, found: list[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert complete(word) == found


def test_files_beside_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bowl[1].xml").touch()
    assert _completion.complete_body_scenes("bowl[") == ["bowl[1].xml"]
    assert set(_completion.complete_methods("")) == set(choque.broad.names())


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_in_a_shell(shell: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    line = "choque pairs boxes.npy --method sap-i"
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": "4"},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }
    monkeypatch.setenv("_CHOQUE_COMPLETE", f"complete_{shell}")
    for name, value in asked[shell].items():
        monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit):
        main([])
    assert "sap-incremental" in capsys.readouterr().out

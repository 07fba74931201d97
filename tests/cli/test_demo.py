from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

import choque
from choque.bounds import Boxes
from choque.cli._performance import perform
from choque.testing.oracle import overlapping_pairs

if TYPE_CHECKING:
    from conftest import Command


def test_every_method_is_run_checked_and_drawn(command: Command, tmp_path: Path) -> None:
    text = command.succeeds("demo", "--n", 1_500, "--output", tmp_path / "new" / "folder")
    rows = {line.split()[0]: line for line in text.splitlines() if line.strip()}
    for name in choque.broad.names():
        assert ("superset" if name == "all" else "exact") in rows[name]
    assert (tmp_path / "new" / "folder" / "demo.png").read_bytes().startswith(b"\x89PNG")
    assert str(tmp_path / "new" / "folder" / "demo.png") in text


@pytest.mark.parametrize("arguments", [("--n", 1), ("--output", "boxes.npy")])
def test_bad_arguments(
    command: Command, boxes_file: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...]
) -> None:
    monkeypatch.chdir(boxes_file.parent)
    command.fails("demo", *arguments)


@pytest.fixture
def frames() -> list[Boxes]:
    return [Boxes(*frame) for frame in choque.scene.generate("moving", 700, frames=3, step=0.3).frames()]


@pytest.mark.parametrize("method", ["brute", "sap-incremental", "all"])
def test_a_wrong_answer_is_seen(frames: list[Boxes], method: str) -> None:
    expected = {index: overlapping_pairs(boxes.lower, boxes.upper) for index, boxes in enumerate(frames)}
    assert perform(method, frames, expected).is_right
    planted = {**expected, 1: np.array([[1, 0]], np.int32)}  # no method reports a pair that way round
    performance = perform(method, frames, planted)
    assert not performance.is_right
    assert performance.verdict.judgement == "wrong"


def test_a_failing_method_is_a_verdict(frames: list[Boxes]) -> None:
    performance = perform("lost", frames, {})
    assert not performance.is_right
    assert "lost" in performance.verdict.note


def test_a_failing_method_is_exit_code_1(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choque.broad, "names", lambda: ["brute", "lost"])
    outcome = command("demo", "--n", 300, "--output", tmp_path)
    assert outcome.code == 1
    assert "failed" in outcome.out


def test_without_matplotlib_there_is_a_sentence(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    monkeypatch.setattr(choque.broad, "names", lambda: ["brute"])
    assert "No picture: " in command.succeeds("demo", "--n", 300, "--output", tmp_path)

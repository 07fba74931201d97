"""The command called as a shell would, but in this process."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from choque.cli import main


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


class Command:
    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self.capture = capture

    def __call__(self, *arguments: object) -> Outcome:
        self.capture.readouterr()
        code = main([str(each) for each in arguments])
        return Outcome(code, *self.capture.readouterr())

    def succeeds(self, *arguments: object) -> str:
        """What a call prints that must end well."""
        outcome = self(*arguments)
        assert outcome.code == 0, outcome.err
        return outcome.out

    def fails(self, *arguments: object) -> str:
        """The one line of a call that must end with exit code 2."""
        outcome = self(*arguments)
        assert outcome.code == 2
        assert outcome.out == ""
        lines = [line for line in outcome.err.splitlines() if "compiling kernels" not in line]
        assert len(lines) == 1, outcome.err
        assert lines[0].startswith("choque: ")
        return lines[0].removeprefix("choque: ")


@pytest.fixture(autouse=True)
def _without_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for a quiet machine: no times are tested here."""
    monkeypatch.setattr("choque.lab.sampling.REST", 0.0)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def boxes_file(tmp_path: Path) -> Path:
    """Three boxes in 2D: the first two touch, the third is alone."""
    path = tmp_path / "boxes.npy"
    np.save(path, np.array([[0, 0, 1, 1], [1, 0, 2, 1], [5, 5, 6, 6]], np.float32))
    return path

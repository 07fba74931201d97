"""Verbs that read files: they say what they do meanwhile, and which file an error is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from choque._core.progress import Line

if TYPE_CHECKING:
    from conftest import Command

BALLS = ("ball:4", "ball:8")
TETRAHEDRON = "OFF\n4 4 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("parts").mkdir()
    for name in ("a.off", "parts/a.off", "parts/b.off"):
        Path(name).write_text(TETRAHEDRON)
    Path("boxes.csv").write_text("0,0,1,1\n0.5,0.5,2,2\n")
    Path("swapped.csv").write_text("xmin,ymin,xmax,ymax,score\n0,0,1,1,0.5\n3,0,1,1,0.5\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("pairs", "boxes.csv", "--output", "p.csv"), ["Reading boxes.csv …", "Searching …", "Writing p.csv …"]),
        (("explain", "boxes.csv"), ["Reading boxes.csv …"]),
        (("mesh", "check", "a.off"), ["Checking a.off …"]),
        (("mesh", "collide", "ball:4", "a.off"), ["Reading ball:4 and a.off …", "Testing 1 pose …"]),
        (("mesh", "clearance", "ball:4", "a.off"), ["Reading ball:4 and a.off …", "Measuring …"]),
        (("clash", "parts"), ["reading a.off", "reading b.off"]),
        (("volume", "info", "ball:4"), ["Reading ball:4 …", "Measuring …"]),
        (("volume", "collide", *BALLS), ["Reading ball:4 …", "Reading ball:8 …", "Searching …"]),
        (("volume", "convert", "ball:4", "ball.evm"), ["Reading ball:4 …", "Writing ball.evm …"]),
        (("picture", "boxes.csv", "boxes.png"), ["Drawing boxes.png …"]),
    ],
)
def test_a_verb_says_what_it_does(
    command: Command, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: list[str]
) -> None:
    told: list[str] = []
    monkeypatch.setattr("choque._core.progress.REDRAW", 0.0)
    monkeypatch.setattr(Line, "listeners", [told.append])
    command.succeeds(*arguments)
    said = iter(told)
    assert all(any(text.endswith(each) for text in said) for each in words), told
    assert told[-1] == "", "the line is removed before the answer is printed"


@pytest.mark.parametrize(
    "arguments",
    [
        ("pairs", "swapped.csv"),
        ("explain", "swapped.csv"),
        ("suppress", "swapped.csv"),
        ("join", "boxes.csv", "swapped.csv"),
        ("join", "swapped.csv", "boxes.csv"),
    ],
)
def test_a_row_that_is_wrong_is_named_with_its_file(command: Command, arguments: tuple[str, ...]) -> None:
    assert command.fails(*arguments).startswith("swapped.csv: Row 1 has lower > upper: 3.0 to 1.0 in column 0")

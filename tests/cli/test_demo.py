"""The tour: each stop shows what it says, what is wrong is seen, and a page holds it all."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import choque
from choque.cli import tour

if TYPE_CHECKING:
    from conftest import Command


@pytest.fixture
def without_films(monkeypatch: pytest.MonkeyPatch) -> None:
    """Films in perspective take seconds here; tests/view proves them."""
    monkeypatch.setitem(sys.modules, "pyvista", None)


@pytest.fixture
def already_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.cli.demo._make_ready", lambda _: None)


@pytest.mark.usefixtures("without_films", "already_compiled")
def test_the_tour(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    told = json.loads(command.succeeds("demo", "--quick", "--json", "--output", folder))
    assert told["right"] is True
    assert list(told["stops"]) == [stop.title for stop in tour.STOPS]
    page = (folder / "report.html").read_text()
    marks = {".png": b"\x89PNG", ".gif": b"GIF8"}
    for title, shown in told["stops"].items():
        picture = Path(shown["picture"])
        assert picture.read_bytes().startswith(marks[picture.suffix])
        assert f"<h2>{title}</h2>" in page
    assert page.count("base64,") == len(tour.STOPS)
    assert "http" not in page, "the page needs nothing but itself"
    assert set(told["stops"]["Every method, checked"]) >= set(choque.broad.names()) - {"all"}
    assert told["stops"]["Two solids collide"]["shared"] > 0
    assert "equal to the last bit" in command.succeeds("replay", folder, "--verify")


def test_every_stop_can_make_itself_ready() -> None:
    for stop in tour.STOPS:
        if stop.title != "Every method, checked":  # the quick tour has all of them at work
            stop.ready()


@pytest.mark.usefixtures("already_compiled")
def test_a_wrong_answer_is_exit_code_1(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tour, "STOPS", (tour.METHODS,))
    monkeypatch.setattr(choque.broad, "names", lambda: ["brute", "lost"])
    outcome = command("demo", "--quick", "--output", tmp_path / "here")
    assert outcome.code == 1
    assert "lost: " in outcome.out
    assert 'class="wrong"' in (tmp_path / "here" / "report.html").read_text()


def test_a_folder_that_cannot_be_made(command: Command, boxes_file: Path) -> None:
    assert "No folder can be made" in command.fails("demo", "--output", boxes_file)


def test_without_matplotlib_there_is_a_sentence(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'choque[lab]'" in command.fails("demo", "--output", tmp_path / "here")
    assert not (tmp_path / "here").exists()

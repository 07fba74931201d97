"""The demo: each section checks its answer, a wrong answer is reported, and one page holds everything."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import choque
from choque._core.kernel import announcement
from choque.cli.demo import sections
from choque.cli.demo._section import Section
from choque.cli.demo.methods import METHODS

if TYPE_CHECKING:
    from conftest import Command


@pytest.fixture
def without_films(monkeypatch: pytest.MonkeyPatch) -> None:
    """Films in perspective take seconds here; tests/studio tests them."""
    monkeypatch.setitem(sys.modules, "pyvista", None)


@pytest.fixture
def already_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.cli.demo._prepare", lambda _: None)


@pytest.mark.usefixtures("without_films", "already_compiled")
def test_every_section_is_right_and_on_the_page(command: Command, tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    printed = json.loads(command.succeeds("demo", "--quick", "--json", "--output", folder))
    assert printed["right"] is True
    assert list(printed["sections"]) == [section.title for section in sections()]
    page = (folder / "report.html").read_text()
    marks = {".png": b"\x89PNG", ".gif": b"GIF8"}
    for title, shown in printed["sections"].items():
        picture = Path(shown["picture"])
        assert picture.read_bytes().startswith(marks[picture.suffix])
        assert f"<h2>{title}</h2>" in page
    assert page.count("base64,") == len(sections())
    assert "http" not in page, "the page needs nothing but itself"
    assert set(printed["sections"]["Every method, checked"]) >= set(choque.broad.names()) - {"all"}
    assert printed["sections"]["Two solids collide"]["shared"] > 0
    assert "equal to the last bit" in command.succeeds("replay", folder, "--verify")


@pytest.mark.usefixtures("without_films")
@pytest.mark.parametrize(
    "section", [each for each in sections() if each.title != METHODS.title], ids=lambda each: each.title
)
def test_a_section_compiles_nothing_after_it_was_prepared(section: Section, tmp_path: Path) -> None:
    section.prepare()
    before = announcement.count
    shown = section.show(tmp_path, True, lambda *_: None)
    assert announcement.count == before
    assert shown.is_right
    assert shown.picture.stat().st_size > 0


@pytest.mark.usefixtures("already_compiled")
def test_a_wrong_answer_is_exit_code_1(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.cli.demo.sections", lambda: (METHODS,))
    monkeypatch.setattr(choque.broad, "names", lambda: ["brute", "bvh"])
    monkeypatch.setattr("choque.broad._bvh.Bvh.emit", lambda *_: None)
    outcome = command("demo", "--quick", "--output", tmp_path / "here")
    assert outcome.code == 1
    assert "bvh: " in outcome.out
    assert 'class="wrong"' in (tmp_path / "here" / "report.html").read_text()


def test_a_folder_that_cannot_be_made(command: Command, boxes_file: Path) -> None:
    assert "No folder can be made" in command.fails("demo", "--output", boxes_file)


def test_without_matplotlib_there_is_a_sentence(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "pip install 'choque[lab]'" in command.fails("demo", "--output", tmp_path / "here")
    assert not (tmp_path / "here").exists()

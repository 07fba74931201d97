"""The demo: each section checks its answer, a wrong answer is reported, and one page holds everything."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import choque
from choque._core.kernel import announcement
from choque.cli import demo
from choque.cli._compiling import Outlook, outlook  # patched: nothing is compiled before the demo
from choque.cli.demo import HELPER, SAMPLE, sections
from choque.cli.demo._section import Section  # sections of the test's own
from choque.cli.demo.methods import METHODS

if TYPE_CHECKING:
    from conftest import Command


@pytest.fixture
def without_films(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where ffmpeg is not installed: pictures take the place of films."""
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)


@pytest.fixture
def already_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.cli.demo._prepare", lambda _: None)


@pytest.mark.usefixtures("already_compiled")
def test_every_section_is_right_and_on_the_page(command: Command, tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg, of the extra 'video', is not installed")
    folder = tmp_path / "new" / "folder"
    printed = json.loads(command.succeeds("demo", "--quick", "--json", "--output", folder))
    assert printed["right"] is True
    assert list(printed["sections"]) == [section.title for section in sections()]
    page = (folder / "report.html").read_text()
    marks = {".png": b"\x89PNG", ".webp": b"RIFF"}
    for title, shown in printed["sections"].items():
        picture = Path(shown["picture"])
        assert picture.read_bytes().startswith(marks[picture.suffix])
        assert f"<h2>{title}</h2>" in page
    assert page.count("base64,") == 2 * len(sections()) - 1  # films and charts; the first section has no chart
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
    assert shown.picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="there are no kernels")
def test_the_sample_that_tells_what_is_on_disk_has_kernels() -> None:
    assert outlook(SAMPLE).kernels > 0


@pytest.mark.parametrize("code", ["open('kept', 'w').close()", "raise SystemExit(1)"])
def test_another_process_compiles_for_the_later_sections(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CHOQUE_THREADS", "2")
    monkeypatch.setattr("choque.cli.demo.HELPER", code)
    monkeypatch.setattr("choque.cli.demo._is_cold", lambda: True)
    prepared: list[tuple[int, bool]] = []
    parts = tuple(
        replace(METHODS, prepare=lambda at=at: prepared.append((at, Path("kept").exists()))) for at in range(3)
    )
    demo._prepare(parts)
    assert [at for at, _ in prepared] == [0, 1, 2]
    assert prepared[1][1] == prepared[2][1] == code.startswith("open")
    compile(HELPER, "helper", "exec")


def test_no_other_process_is_started_where_kernels_are_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choque.cli._compiling.Popen", lambda *_, **__: pytest.fail("a process was started"))
    for kernels in (Outlook(3, 9), Outlook(0, 0), Outlook(9, 9)):
        monkeypatch.setattr("choque.cli._compiling.outlook", lambda _, kernels=kernels: kernels)
        demo._prepare(())


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

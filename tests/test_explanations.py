"""The explanation pages: each has its figure, its guarantees and names that exist."""

from __future__ import annotations

import importlib
import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "explanation"
PAGES = sorted(path for path in FOLDER.glob("*.md") if path.stem != "index")


def test_the_index_lists_every_page() -> None:
    listed = re.findall(r"^([a-z_]+)$", (FOLDER / "index.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == [page.stem for page in PAGES]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_page_is_whole(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    (image,) = re.findall(r"\{figure\} \.\./images/(\S+)", text)
    assert image.startswith(f"explanation_{page.stem}.")
    assert (ROOT / "docs" / "images" / image).stat().st_size < 120 * 1024
    assert f"def {page.stem}()" in "".join(file.read_text() for file in (FOLDER / "drawn").glob("*.py"))
    assert "\n| --- |" in text, "its guarantees are a table"
    assert "**Use" in text
    assert "## In the library" in text


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"\{py:obj\}`([\w.]+)`", text):
        module, _, member = name.rpartition(".")
        found = importlib.import_module(module)
        assert member in getattr(found, "__all__", vars(found)), name  # modules of theses have no list
    for place in re.findall(r"`(src/choque/[\w/*.]+)`", text):
        assert list(ROOT.glob(place)), place
    for script in re.findall(r"\(\.\./gallery/([\w/]+)\.rst\)", text):
        assert (ROOT / "examples" / f"{script}.py").exists(), script
    for other in re.findall(r"\]\((\w+)\.md\)", text):
        assert (FOLDER / f"{other}.md").exists(), other


@pytest.mark.skipif(os.environ.get("CHOQUE_FULL") != "1", reason="only with CHOQUE_FULL=1: drawing takes minutes")
@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_a_figure_can_be_drawn_again(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures show what internal modules have computed, whose names and arguments change."""
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    figures = importlib.import_module("figures")
    with figures.figure_style():
        function, _ = figures.FIGURES[page.stem]
        assert function().axes

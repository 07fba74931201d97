"""F-001-54: every option of the verbs that run, replay, test and film is in the manual, and so is every mode."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer

from choque.cli import build
from choque.theses.fingsics.config import RUN_MODES
from choque.theses.fingsics.log import COLUMNS

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "running.md"


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the documents are not part of this copy of the source")
    return PAGE.read_text("utf-8")


@pytest.mark.parametrize("verb", ["run", "replay", "test-scenes", "video"])
def test_every_option_is_explained(verb: str, page: str) -> None:
    root: Any = typer.main.get_command(build())
    options = {word for each in root.commands[verb].params for word in each.opts if word.startswith("--")}
    assert "--json" in options
    assert [option for option in sorted(options) if f"`{option}" not in page] == []


def test_modes_and_columns(page: str) -> None:
    assert [mode for mode in RUN_MODES if f"| {mode} |" not in page] == []
    assert [column for column in COLUMNS if f"`{column}`" not in page] == []

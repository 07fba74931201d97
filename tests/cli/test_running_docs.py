"""F-001-54: every option of the verbs that run, replay, test and film is in the manual, and so is every mode."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from choque.cli.replay import replay
from choque.cli.run import run
from choque.cli.test_scenes import test_scenes as scenes_verb
from choque.cli.video import video
from choque.record.logs import COLUMNS
from choque.scene.formats.config_txt import RUN_MODES

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "running.md"


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.is_file():
        pytest.skip("the documents are not part of this copy of the source")
    return PAGE.read_text("utf-8")


@pytest.mark.parametrize("verb", [run, replay, scenes_verb, video], ids=lambda verb: verb.__name__)
def test_every_option_is_explained(verb: object, page: str) -> None:
    options = set(re.findall(r'"(--[a-z-]+)"', inspect.getsource(verb))) | {"--json", "--threads", "--option"}
    assert [option for option in sorted(options) if f"`{option}" not in page] == []


def test_modes_and_columns(page: str) -> None:
    assert [mode for mode in RUN_MODES if f"| {mode} |" not in page] == []
    assert [column for column in COLUMNS if f"`{column}`" not in page] == []

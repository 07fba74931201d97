"""Folders for the output of runs."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from choque.cli._options import new_folder  # at the same second twice, which no verb can be made to do
from choque.errors import InvalidInput


def test_two_runs_two_folders(tmp_path: Path) -> None:
    """F-001-41."""
    moment = datetime(2021, 10, 11, 10, 41, 3)
    names = [new_folder(tmp_path / "output", "my scene/1", moment).name for _ in range(3)]
    first = "my-scene-1--2021-10-11--10-41-03"
    assert names == [first, f"{first}--2", f"{first}--3"]
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidInput, match="No folder can be made"):
        new_folder(tmp_path / "file", "scene")

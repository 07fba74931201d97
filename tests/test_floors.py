"""The oldest versions of dependencies that are allowed were installed and used."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(not (ROOT / ".ci").is_dir(), reason="not in a checkout")
def test_every_floor_was_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / ".ci"), *sys.path])
    import floors

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {each for extra in floors.EXTRAS for each in project["optional-dependencies"][extra]}
    wanted = [*floors.floors(project["dependencies"]), *floors.floors(sorted(extras))]
    tried = floors.TRIED.read_text(encoding="utf-8").split()
    assert tried == wanted, "run 'make floors', which installs the oldest versions and writes down those that work"

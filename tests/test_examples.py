"""Every script in ``examples/`` runs to its end, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 7


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs(script: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not list(tmp_path.iterdir()), "it left files behind"


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_it_tells_a_story(script: Path) -> None:
    text = script.read_text()
    assert text.startswith('"""')
    assert text.count("\n# %% ") >= 3

"""What the tests of this folder share: planted candidates and studies, and one finished run of the planted study."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

if TYPE_CHECKING:
    from choque.lab import Result


@pytest.fixture(autouse=True)
def _without_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time is judged here, so no test waits for other threads."""
    monkeypatch.setattr("choque.lab.sampling.REST", 0.0)


@pytest.fixture(scope="session")
def planted_study() -> str:
    return str(HERE / "planted_study.py")


@pytest.fixture(scope="session")
def ready_study(planted_study: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The planted study with one small run of ``fast`` before all others: its cells are copies of that process.

    Starting a process for each takes longer than the tests.
    """
    text = Path(planted_study).read_text(encoding="utf-8")
    small = 'kernels=lambda levels: [{"scene": "still", "n": 1, "method": "fast", "seed": 0}],'
    path = tmp_path_factory.mktemp("study") / "ready.py"
    path.write_text(text.replace('regions=("n", "density"),', f'regions=("n", "density"),\n    {small}'))
    return str(path)


@pytest.fixture(scope="session")
def finished(ready_study: str, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A quick run of the planted study; its folder must not be changed."""
    from choque.lab import run

    return run(ready_study, quick=True, output=tmp_path_factory.mktemp("lab") / "finished")

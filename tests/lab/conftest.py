"""What the tests of this folder share: planted contenders and studies, and one finished run of the planted study."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

if TYPE_CHECKING:
    from choque.lab import Result


@pytest.fixture(scope="session")
def planted_study() -> str:
    return str(HERE / "planted_study.py")


@pytest.fixture(scope="session")
def finished(planted_study: str, tmp_path_factory: pytest.TempPathFactory) -> Result:
    """A quick run of the planted study; nobody may change its folder."""
    from choque.lab import run

    return run(planted_study, quick=True, output=tmp_path_factory.mktemp("lab") / "finished", side_by_side=2)

"""What tests of body scenes share: the original's data where they are, and scenes compared column by column."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from choque.scene import BodyScene

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def fingsics() -> Path:
    """The data of the original, which are not in this repository."""
    given = os.environ.get("CHOQUE_FINGSICS")
    folder = Path(given) if given else REPOSITORY.parent / "shared" / "data" / "fingsics"
    if not folder.is_dir():
        pytest.skip(f"the Fingsics data are not at {folder}; set CHOQUE_FINGSICS to where they are")
    return folder


@pytest.fixture(scope="session")
def assert_same() -> Callable[[BodyScene, BodyScene], None]:
    """Compare all columns and the camera, to the last bit."""

    def compare(first: BodyScene, second: BodyScene) -> None:
        for each in fields(first.bodies):
            one, other = getattr(first.bodies, each.name), getattr(second.bodies, each.name)
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other, err_msg=each.name)
        assert first.camera == second.camera

    return compare

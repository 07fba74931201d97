"""Tests of the kernels of cards: all of them run on Warp's CPU device; those marked ``gpu`` only where a card is."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator

import pytest

collect_ignore_glob = [] if importlib.util.find_spec("warp") else ["test_*.py"]  # without the extra ``gpu``


@pytest.fixture
def _forgetful() -> Iterator[None]:
    """Notes are given once in a process; here each test gets them."""
    from choque.gpu import devices as _devices

    _devices._fallen_back.cache_clear()
    yield
    _devices._fallen_back.cache_clear()

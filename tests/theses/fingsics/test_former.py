"""Settings that say ``legacy``, as files written before the rename do, still make the same world."""

from __future__ import annotations

from typing import Any

import pytest

from choque.world.settings import current_settings


@pytest.mark.parametrize(
    ("written", "current"),
    [
        ({"narrow": "legacy", "response": "legacy", "integrator": "legacy"}, ("fingsics", "fingsics")),
        ({"narrow": "exact", "response": "legacy", "integrator": "exact"}, ("exact", "fingsics-impulse")),
        ({"narrow": "exact", "response": "legacy"}, ("exact", "fingsics-impulse")),
        ({"narrow": "exact", "response": "impulse", "integrator": "exact"}, ("exact", "impulse")),
    ],
)
def test_former_words_have_current_ones(written: dict[str, Any], current: tuple[str, str]) -> None:
    found = current_settings(written)
    assert (found["narrow"], found["response"]) == current
    assert "integrator" not in found

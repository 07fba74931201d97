"""The limit of readers inside a ``with`` block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from choque.files.budget import VARIABLE


@contextmanager
def limited(byte_count: int) -> Iterator[None]:
    """Set the limit of all readers inside a ``with`` block [bytes]."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(VARIABLE, str(byte_count))
        yield

"""Threads for few bodies, so that small tests see what large scenes do."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from choque._core import threads


@contextmanager
def parallel_at_any_size() -> Iterator[None]:
    """Inside, few bodies are shared among threads as many would be. It holds for the whole process."""
    before = threads.SERIAL_BELOW, threads.STREAM_SERIAL_BELOW
    threads.SERIAL_BELOW = threads.STREAM_SERIAL_BELOW = 0
    try:
        yield
    finally:
        threads.SERIAL_BELOW, threads.STREAM_SERIAL_BELOW = before

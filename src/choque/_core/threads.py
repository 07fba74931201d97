"""The only module that knows about threads: serial, GIL-free kernels run over ranges on a small pool that sleeps.

The pool is shared by the whole process, is made when first needed and made again after a fork. Tasks never wait for
other tasks, so any number of callers may use it at once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import TypeVar

from choque._core import check
from choque.errors import InvalidInput

Result = TypeVar("Result")

SERIAL_BELOW = 4_000
"""Fewer bodies than this are handled by the calling thread alone: waking another costs more than it gains."""

STREAM_SERIAL_BELOW = 50_000
"""The same for a pass that only reads and writes each item once, a few nanoseconds of work apiece."""

_lock = threading.Lock()
_pool: tuple[int, ThreadPoolExecutor] | None = None  # worker count, executor


def available_count() -> int:
    """How many processors this process may use; the variable ``CHOQUE_THREADS`` lowers or raises it."""
    wanted = os.environ.get("CHOQUE_THREADS", "").strip()
    if wanted:
        if not wanted.isdecimal() or int(wanted) < 1:
            raise InvalidInput(
                f"The environment variable CHOQUE_THREADS is {wanted!r}; it must be a whole number of at least 1."
            )
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def resolve_count(requested: int | None, work: int) -> int:
    """The number of threads for ``work`` bodies: what was ``requested``, all when None, one for little work."""
    if requested is not None:
        requested = check.whole_number(requested, "threads", 1, otherwise="None for all")
    if work < SERIAL_BELOW:
        return 1
    return available_count() if requested is None else requested


def ranges(total: int, parts: int) -> list[tuple[int, int]]:
    """Split ``range(total)`` into at most ``parts`` contiguous, nearly equal, non-empty (first, last) ranges."""
    parts = max(1, min(parts, total))
    return [(total * part // parts, total * (part + 1) // parts) for part in range(parts)]


def run(task: Callable[[int], Result], thread_count: int) -> list[Result]:
    """Call ``task(0) … task(thread_count - 1)`` side by side and return the results in that order.

    The caller's own thread takes the last one; with one thread nothing else is touched.
    """
    if thread_count == 1:
        return [task(0)]
    pending = [_executor(thread_count - 1).submit(task, part) for part in range(thread_count - 1)]
    try:
        own = task(thread_count - 1)
    finally:
        # Even when the caller's share fails, the arrays must outlive the workers that still write to them.
        done = [future.exception() for future in pending]
    for problem in done:
        if problem is not None:
            raise problem
    return [*(future.result() for future in pending), own]


def aside(name: str) -> ThreadPoolExecutor:
    """A thread of its own that does what it is handed, in order, while the caller goes on; shut it down in the end.

    For work that waits for a disk. The shared pool is not for it: a kernel would wait for its share behind the disk.
    """
    return ThreadPoolExecutor(1, thread_name_prefix=f"choque-{name}")


def streams(thread_count: int, total: int) -> int:
    """How many of ``thread_count`` threads are worth waking for one light pass over ``total`` items."""
    return thread_count if total >= STREAM_SERIAL_BELOW else 1


def over_ranges(kernel: Callable[..., Result], total: int, thread_count: int, *arguments: object) -> list[Result]:
    """Run the light pass ``kernel(first, last, *arguments)`` over shares of ``range(total)``, one for each thread."""
    shares: Sequence[tuple[int, int]] = ranges(total, streams(thread_count, total))
    return run(lambda part: kernel(*shares[part], *arguments), len(shares))


def block_supply(total: int, block: int) -> Callable[[], tuple[int, int] | None]:
    """A supply of (first, last) blocks of ``range(total)`` that several threads may draw from until it is empty."""
    numbers = count()  # next() on it is atomic: it runs in one bytecode-level call into C

    def draw() -> tuple[int, int] | None:
        first = next(numbers) * block
        return (first, min(first + block, total)) if first < total else None

    return draw


def _forget_pool() -> None:
    """After a fork the child has neither the workers nor whoever held the lock."""
    global _lock, _pool
    _lock, _pool = threading.Lock(), None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _executor(worker_count: int) -> ThreadPoolExecutor:
    global _pool
    with _lock:
        if _pool is None or _pool[0] < worker_count:
            _pool = (worker_count, ThreadPoolExecutor(worker_count, thread_name_prefix="choque"))
        return _pool[1]

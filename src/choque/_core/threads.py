"""The thread pool: serial kernels without the GIL run over ranges, on workers that sleep when idle.

The process has one pool, made on first use and again after a fork. Tasks never wait for other tasks, so any number of
callers may use it at once. Results do not depend on the number of threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import wraps
from itertools import count
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.errors import BusyObject, InvalidInput

Result = TypeVar("Result")

SERIAL_BELOW = 4_000
"""Fewer bodies than this are handled by the calling thread: waking another one costs more than it gains."""

BODY = 3  # the work of a pass over bodies with their poses and velocities, in that of a pass over as many boxes

STREAM_SERIAL_BELOW = 50_000  # the same for a pass with a few nanoseconds of work for each item

PASSES_IN_A_ROW = 2
"""Several short passes, each of which wakes the other threads, pay from this many times as many items on.

At 50,000 boxes, rows and sorts on one thread make `choque.pairs` 7 % faster, at 100,000 they make it 6 % slower.
"""

MAX_WORKERS = 256  # limit of the threads of the pool; further tasks run on the calling thread


class _Worker:
    """A thread that sleeps until it is given a task, and signals the end of it.

    Each worker has locks of its own: half the time of waking one through the queue of a `ThreadPoolExecutor`.
    """

    def __init__(self) -> None:
        self._tasks: list[tuple[Callable[[int], object], int]] = []  # at most one; its append and pop are atomic
        self._result: object = None
        self._problem: BaseException | None = None
        self._is_done = False
        self._wake, self._done = threading.Lock(), threading.Lock()
        self._wake.acquire()
        self._done.acquire()
        threading.Thread(target=self._work, name="choque", daemon=True).start()

    def start(self, task: Callable[[int], object], part: int) -> None:
        """Begin ``task(part)``."""
        self._is_done = False
        self._tasks.append((task, part))
        if self._wake.locked():  # else it was woken for a task that was taken back, and has not seen it yet
            self._wake.release()

    def take_back(self) -> bool:
        """Tell whether the task had not begun; then it never will, and has no result."""
        try:
            self._tasks.pop()
        except IndexError:
            return False
        self._is_done = True
        return True

    def finish(self) -> tuple[object, BaseException | None]:
        """Wait for the task; return its result and the exception that ended it. If interrupted, call it again.

        A task that has not begun is taken back.
        """
        self.take_back()
        while not self._is_done:
            self._done.acquire()
        return self._result, self._problem

    def forget(self) -> None:
        """Drop the result, so that a sleeping worker keeps nothing alive."""
        self._result = self._problem = None

    def _work(self) -> None:
        while True:
            self._wake.acquire()
            try:
                task, part = self._tasks.pop()
            except IndexError:  # it was taken back
                continue
            try:
                self._result = task(part)
            except BaseException as problem:
                self._problem = problem
            del task  # a sleeping worker keeps no arrays alive
            self._is_done = True
            if self._done.locked():  # not if an interrupted `finish` saw the end before it took the lock
                self._done.release()


class Gate:
    """Lets one thread at a time into an object that is not for several, and refuses the others; see `one_thread`.

    The thread that is inside may enter again. A copy is a gate of its own, open.
    """

    __slots__ = ("enter", "leave")

    def __init__(self) -> None:
        lock = threading.RLock()
        self.enter, self.leave = lock.acquire, lock.release

    def __reduce__(self) -> tuple[type[Gate], tuple[()]]:
        return Gate, ()


Method = TypeVar("Method", bound=Callable[..., Any])


def one_thread(method: Method) -> Method:
    """Make a method raise `BusyObject` while another thread is in a method of the same object, by its ``_gate``.

    Kernels run without the GIL, so that two threads in one object would corrupt memory.
    """

    @wraps(method)
    def guarded(self: Any, *arguments: Any, **options: Any) -> Any:
        gate = self._gate
        if not gate.enter(False):
            raise BusyObject(
                f"Another thread is inside this {type(self).__name__}, and {method.__name__} was called; one object is "
                "for one thread at a time. Use a lock around it, or a copy for each thread."
            )
        try:
            return method(self, *arguments, **options)
        finally:
            gate.leave()

    return cast("Method", guarded)


_idle: list[_Worker] = []  # its append and pop are atomic
_worker_count = 0


def available_count() -> int:
    """Return the number of processors this process may use; the variable ``CHOQUE_THREADS`` overrides it."""
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
    """Return the number of threads for ``work`` bodies: as ``requested``, all if None, one for little work."""
    if requested is not None and not (type(requested) is int and requested > 0):  # the check costs a microsecond
        requested = check.whole_number(requested, "threads", 1, otherwise="None for all")
    if work < SERIAL_BELOW:
        return 1
    return available_count() if requested is None else requested


@contextmanager
def parallel_at_any_size() -> Iterator[None]:
    """Share few bodies among threads as many would be, for tests. It holds for the whole process."""
    global SERIAL_BELOW, STREAM_SERIAL_BELOW
    before = SERIAL_BELOW, STREAM_SERIAL_BELOW
    SERIAL_BELOW = STREAM_SERIAL_BELOW = 0
    try:
        yield
    finally:
        SERIAL_BELOW, STREAM_SERIAL_BELOW = before


def ranges(total: int, parts: int) -> list[tuple[int, int]]:
    """Split ``range(total)`` into at most ``parts`` contiguous, nearly equal, non-empty (first, last) ranges."""
    parts = max(1, min(parts, total))
    return [(total * part // parts, total * (part + 1) // parts) for part in range(parts)]


def even_borders(starts: NDArray[np.integer[Any]], parts: int) -> list[int]:
    """Return borders between units so that each of ``parts`` stretches holds about as many items."""
    if parts == 1:
        return [0, len(starts) - 1]
    borders = np.searchsorted(starts, np.arange(parts + 1) * int(starts[-1]) // parts).tolist()
    borders[0], borders[-1] = 0, len(starts) - 1
    return [int(border) for border in borders]


def run(task: Callable[[int], Result], thread_count: int) -> list[Result]:
    """Call ``task(0) … task(thread_count - 1)`` in parallel and return the results in that order.

    The calling thread takes the last one, and then those that no other thread has begun: on a busy machine a thread may
    wake too late to be of use. With one thread the pool is not used.
    """
    if thread_count == 1:
        return [task(0)]
    workers: list[_Worker] = []
    while len(workers) < thread_count - 1 and (worker := _free_worker()) is not None:
        worker.start(task, len(workers))
        workers.append(worker)
    late: dict[int, Result] = {}
    try:
        own = [task(part) for part in range(len(workers), thread_count)]
        for part, worker in enumerate(workers):
            if worker.take_back():
                late[part] = task(part)
    finally:
        # Even if the caller's share fails, the arrays must outlive the workers that still write to them.
        ended = _finish_all(workers)
    for _, problem in ended:
        if problem is not None:
            raise problem
    begun = (late[part] if part in late else cast("Result", result) for part, (result, _) in enumerate(ended))
    return [*begun, *own]


def _finish_all(workers: list[_Worker]) -> list[tuple[object, BaseException | None]]:
    """Wait for all ``workers``, also if this thread is interrupted while it waits; return how their tasks ended."""
    interruption: BaseException | None = None
    while True:
        try:
            ended = [worker.finish() for worker in workers]
            break
        except BaseException as problem:
            interruption = problem
    for worker in workers:
        worker.forget()
    _idle.extend(workers)
    if interruption is not None:
        raise interruption
    return ended


def aside(name: str) -> ThreadPoolExecutor:
    """Return an executor with one thread of its own, for work that waits for a disk; shut it down in the end.

    On the shared pool, kernels would have to wait for the disk.
    """
    return ThreadPoolExecutor(1, thread_name_prefix=f"choque-{name}")


def streams(thread_count: int, total: int) -> int:
    """Return how many of ``thread_count`` threads pay for several light passes over ``total`` items."""
    return thread_count if total >= PASSES_IN_A_ROW * STREAM_SERIAL_BELOW else 1


def over_ranges(kernel: Callable[..., Result], total: int, thread_count: int, *arguments: object) -> list[Result]:
    """Run the light pass ``kernel(first, last, *arguments)`` over shares of ``range(total)``, one for each thread."""
    if thread_count == 1 or total < STREAM_SERIAL_BELOW:
        return [kernel(0, total, *arguments)]
    return over_shares(kernel, total, thread_count, *arguments)


def over_shares(kernel: Callable[..., Result], total: int, thread_count: int, *arguments: object) -> list[Result]:
    """Do the same for a heavy pass, such as a search for each item, which is worth several threads for few items."""
    shares = ranges(total, thread_count)
    return run(lambda part: kernel(*shares[part], *arguments), len(shares))


def block_supply(total: int, block: int) -> Callable[[], tuple[int, int] | None]:
    """Return a function that gives the next (first, last) block of ``range(total)``, then None; safe for threads."""
    numbers = count()  # next() on it is atomic: it runs in one bytecode-level call into C

    def draw() -> tuple[int, int] | None:
        first = next(numbers) * block
        return (first, min(first + block, total)) if first < total else None

    return draw


def _forget_pool() -> None:
    """Drop the workers in a forked child, which does not have their threads."""
    global _idle, _worker_count
    _idle, _worker_count = [], 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)


def _free_worker() -> _Worker | None:
    """Return a sleeping worker, a new one if there is none, or None at the limit."""
    global _worker_count
    try:
        return _idle.pop()
    except IndexError:
        if _worker_count >= MAX_WORKERS:
            return None
        _worker_count += 1
        return _Worker()

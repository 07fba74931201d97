"""Where tasks run: processes of this machine, a Dask cluster, or any executor of `concurrent.futures`.

A task is a function and its arguments. `completed` hands tasks out and gives one whose worker died to another worker;
scheduling within a cluster, its retries and its dashboard are Dask's.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from choque._core import check
from choque._core.threads import available_count
from choque.errors import ChoqueError, InvalidInput, require

Task = TypeVar("Task")
ATTEMPTS = 3  # attempts for a task whose worker died
CONNECT_SECONDS = 15

_ADDRESS = re.compile(r"(inproc://.+|(\w+://)?(\[[0-9a-fA-F:]+\]|[^\s:/\[\]]+):\d+)")
"""Of a Dask scheduler: tcp://host:8786, tls://[::1]:8786, host:8786."""


class WorkerLost(ChoqueError):
    """A process that ran a task has died."""


@dataclass(frozen=True)
class Workers:
    """An executor, and the number of tasks that it runs at once."""

    executor: Executor
    width: int
    is_local: bool
    memory: int | None = None  # what all of them together may use [bytes]; None if unknown

    def start(self) -> None:
        """Start local processes now, so that they load their libraries while something else is done."""
        if isinstance(self.executor, LocalProcesses):
            self.executor.start(self.width)


class _Here(Executor):
    """Runs a task when it is submitted, in this process."""

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(task(*arguments, **options))
        except Exception as problem:
            future.set_exception(problem)
        return future


class LocalProcesses(Executor):
    """Runs tasks in processes of this machine: ``python -m choque.scale.worker``, started when they are needed.

    They do not import the program that calls, so that it needs no guard around its main part. Functions and arguments
    are pickled. A process whose program has ended, for any reason, ends too. A task whose process dies raises
    `WorkerLost`; the next one gets another process.
    """

    def __init__(self, count: int) -> None:
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="choque-scale")
        self._lock = threading.Lock()
        self._idle: list[subprocess.Popen[bytes]] = []
        self._all: list[subprocess.Popen[bytes]] = []
        self._is_closed = False

    def submit(self, task: Callable[..., Any], /, *arguments: Any, **options: Any) -> Future[Any]:
        """Run ``task`` in a process; raises at once if it cannot be pickled."""
        order = _pickled((task, arguments, options))
        return self._threads.submit(self._run, order)

    def start(self, count: int) -> None:
        """Start ``count`` processes before the first task."""
        with self._lock:
            self._idle += [self._new_process() for _ in range(count - len(self._all))]

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: after their tasks if ``wait``, otherwise at once."""
        if wait and not cancel_futures:
            self._threads.shutdown(wait=True)
        with self._lock:
            self._is_closed = True
        for process in self._all:
            process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._all:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with suppress(OSError):
                        stream.close()

    def _run(self, order: bytes) -> Any:
        process = self._take()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(order).to_bytes(8, "little") + order)
            process.stdin.flush()
            head = process.stdout.read(8)
            size = int.from_bytes(head, "little")
            answer = process.stdout.read(size)
            if len(head) < 8 or len(answer) < size:
                raise EOFError
        except (OSError, EOFError) as problem:
            process.kill()
            raise WorkerLost(f"the process {process.pid} ended with code {process.wait()}") from problem
        with self._lock:
            self._idle.append(process)
        is_done, value = pickle.loads(answer)
        if not is_done:
            raise value
        return value

    def _take(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._is_closed:
                raise WorkerLost("the processes were ended")
            while self._idle:
                process = self._idle.pop()
                if process.poll() is None:
                    return process
            return self._new_process()

    def _new_process(self) -> subprocess.Popen[bytes]:
        started = subprocess.Popen(
            [sys.executable, "-m", "choque.scale.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Where this process finds modules, its workers find them too.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(path or os.getcwd() for path in sys.path)},
        )
        self._all.append(started)
        return started


def _pickled(order: Any) -> bytes:
    """Pickle an order; cloudpickle, if it is installed, also takes functions of a main program and of a session."""
    try:
        from cloudpickle import dumps
    except ImportError:
        from pickle import dumps
    try:
        return bytes(dumps(order))
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise InvalidInput(f"A task cannot be sent to another process: {problem}. Use functions of a module.") from None


@contextmanager
def find_workers(workers: int | None = None, client: Any = None, executor: Executor | None = None) -> Iterator[Workers]:
    """Give what the caller named: a Dask client or the address of its scheduler, an executor, or local processes.

    ``workers`` is the number of local processes, one for each processor if None; with 1, tasks run in this process.
    For an executor it is the number of tasks that it runs at once.
    """
    if client is not None and executor is not None:
        raise InvalidInput("client and executor are both given; give one of them.")
    if client is not None:
        distributed = require("distributed", extra="scale", purpose="to use a cluster")
        if isinstance(client, distributed.Client):
            with client.get_executor(pure=False) as tasks:
                yield Workers(tasks, *_size(client))
        else:
            with cluster_workers(client) as found:
                yield found
        return
    count = available_count() if workers is None else check.whole_number(workers, "workers", 1)
    if executor is not None:
        if not isinstance(executor, Executor):
            raise InvalidInput(f"executor is a {type(executor).__name__}; it must be a concurrent.futures.Executor.")
        yield Workers(executor, count, is_local=False)
        return
    if count == 1:
        yield Workers(_Here(), 1, is_local=True)
        return
    processes = LocalProcesses(count)
    try:
        yield Workers(processes, count, is_local=True)
    finally:
        processes.shutdown(cancel_futures=True)


def require_address(address: str) -> None:
    """Raise if this cannot be the address of a scheduler."""
    if not isinstance(address, str) or not _ADDRESS.fullmatch(address):
        raise InvalidInput(f"The cluster is {address!r}; write the scheduler's address as in tcp://host:8786.")


@contextmanager
def cluster_workers(address: str) -> Iterator[Workers]:
    """Use the workers of a Dask scheduler, such as ``tcp://host:8786``.

    Dask itself gives a task whose worker is lost to another worker. Choque must be installed on each of them.
    """
    require_address(address)
    distributed = require("distributed", extra="scale", purpose="to use a cluster")
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        raise InvalidInput(
            f"No Dask scheduler answers at {address!r}: {problem}. Start one, or run without a cluster."
        ) from problem
    with client, client.get_executor(pure=False) as executor:
        yield Workers(executor, *_size(client))


def _size(client: Any) -> tuple[int, bool, int | None]:
    """Return how many tasks a cluster runs at once, that it is not local, and its memory."""
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"].values()
    except TypeError:  # an older Dask, which always lists all of them
        workers = client.scheduler_info()["workers"].values()
    if not workers:
        raise InvalidInput(
            f"The Dask scheduler at {client.scheduler.address!r} has no workers; start some, then run again."
        )
    limits = [each.get("memory_limit") for each in workers]
    return sum(each["nthreads"] for each in workers), False, sum(limits) if all(limits) else None


def completed(
    workers: Workers, tasks: Iterable[Task], submit: Callable[[Task], Future[Any]]
) -> Iterator[tuple[Task, Any]]:
    """Yield each task and its result as they finish; ``submit`` hands one to the executor.

    At most as many tasks as there are workers, and one more for each, are handed out at a time. A task whose worker was
    lost is handed out again, `ATTEMPTS` times in all; other exceptions are raised, after the tasks that run have ended.
    """
    waiting = list(enumerate(tasks))[::-1]
    pending: dict[Future[Any], tuple[int, Task]] = {}
    lost: Counter[int] = Counter()
    problem: BaseException | None = None
    while pending or (waiting and problem is None):
        while waiting and problem is None and len(pending) < 2 * workers.width:
            number, task = waiting.pop()
            pending[submit(task)] = number, task
        ready, _ = wait(pending, return_when=FIRST_COMPLETED)
        for future in ready:
            number, task = pending.pop(future)
            if future.cancelled():
                continue
            failure = future.exception()
            if failure is None:
                yield task, future.result()
                continue
            lost[number] += _is_loss(failure)
            if _is_loss(failure) and lost[number] < ATTEMPTS:
                waiting.append((number, task))
            elif problem is None:
                problem = failure
                if _is_loss(failure):
                    problem = ChoqueError(f"{task} was lost {ATTEMPTS} times with its worker ({failure}).")
                for other in pending:
                    other.cancel()
    if problem is not None:
        raise problem


def _is_loss(problem: BaseException) -> bool:
    """Return whether a task failed because its worker died."""
    return isinstance(problem, WorkerLost | BrokenExecutor) or type(problem).__name__ == "KilledWorker"

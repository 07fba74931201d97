"""One cell in its own process: start it, enforce its time limit, and read its answer."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from choque.lab.stopwatch import WALL
from choque.lab.worker import BEGUN, CHECKING, ENDED, MEASURING, Answer, Order

AROUND = 900.0
"""Maximum seconds of preparing and of checking; the oracle of a large scene is slow."""

PATIENCE = 20
"""How many times its limit a cell that is timed by the processor may take by the wall."""

THREAD_VARIABLES = (
    "CHOQUE_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

CAN_COPY = sys.platform == "linux"
"""Whether a process that has loaded libraries can be copied safely."""

_running: set[subprocess.Popen[str]] = set()
_lock = threading.Lock()


def run_cell(order: Order, ready: ReadyProcesses | None = None) -> Answer:
    """Measure one cell, in a copy of a process that is ready if there are any; every failure becomes an answer.

    ``order`` is that of `choque.lab.worker.answer`, with ``threads`` to pin and ``alone``: whether no other timed cell
    may run on this machine meanwhile; the answer says how many seconds were ``waited`` for that. Everything in it and
    in the answer is JSON, so that it can cross a network.
    """
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="choque-") as folder, _turn(order["alone"]):
        about = {"threads": order["threads"], "waited": time.perf_counter() - begin}
        path, errors = Path(folder) / "answer.json", Path(folder) / "errors"
        served = None if ready is None else ready.serve(order, path, errors)
        code, phase = served or _serve(order, path, errors)
        if path.exists():
            return {**json.loads(path.read_text(encoding="utf-8")), **about}
        return {**_excuse(order, code, phase, errors), **about}


def end_all() -> None:
    """End every process that measures a cell of this process."""
    with _lock:
        for process in list(_running):
            _end(process)


def _serve(order: Order, path: Path, errors: Path) -> tuple[int | None, str]:
    """Run the worker; return its exit code, None if it exceeded its time, and its phase."""
    with errors.open("wb") as log:
        process = _started(["choque.lab.worker", str(path)], order, log)
    try:
        return _followed(process, order, order)
    finally:
        _ended(process)


class ReadyProcess:
    """A process that has loaded and compiled what a study calls; each cell runs in a copy, one at a time.

    See `choque.lab.ready`. A cell that must be ended takes it along.
    """

    def __init__(self, order: Order) -> None:
        self.count = 0
        """Cells that it served."""
        begin = time.perf_counter()
        with _turn(order["alone"]):
            self.waited = time.perf_counter() - begin
            """Seconds in which another run measured."""
            self._process = _started(["choque.lab.ready"], order, subprocess.DEVNULL)
            self.compiled: int | None = None
            """The number of kernels that it compiled; None if it failed."""
            deadline = _Deadline(self._process)
            deadline.set(AROUND)
            try:
                assert self._process.stdout is not None
                _write(self._process, order)
                with suppress(ValueError):
                    self.compiled = json.loads(self._process.stdout.readline())["compiled"]
            except BaseException:
                self.close()
                raise
            finally:
                deadline.cancel()

    @property
    def is_there(self) -> bool:
        """Whether it is ready for a cell."""
        return self.compiled is not None and self._process.poll() is None

    def serve(self, order: Order, path: Path, errors: Path) -> tuple[int | None, str]:
        """Measure a cell in a copy; return its exit code, None if it exceeded its time, and its phase."""
        errors.touch()
        self.count += 1
        task = {"order": order, "answer": str(path), "errors": str(errors)}
        return _followed(self._process, task, order)

    def close(self) -> None:
        """End the process."""
        _ended(self._process)


class ReadyProcesses:
    """Processes to copy, as many as cells run side by side.

    Parameters
    ----------
    first
        The one that is there already.
    order
        What a further one is to get ready for.
    most
        Cells that each serves before another takes its place; 0 for any number: then only the first is there, and
        when it has ended, cells have processes of their own.
    """

    def __init__(self, first: ReadyProcess, order: Order, most: int = 0) -> None:
        self._order, self._most = {**order, "alone": False}, most  # a cell that waits for one has its turn
        self._idle = [first]
        self._lock = threading.Lock()

    def serve(self, order: Order, path: Path, errors: Path) -> tuple[int | None, str] | None:
        """Measure a cell in a copy; see `ReadyProcess.serve`. None if no process is ready."""
        with self._lock:
            ready = self._idle.pop() if self._idle else None
        if ready is None and self._most:
            ready = ReadyProcess(self._order)
        if ready is None or not ready.is_there:
            return None
        try:
            return ready.serve(order, path, errors)
        finally:
            if ready.is_there and not (self._most and ready.count >= self._most):
                with self._lock:
                    self._idle.append(ready)
            else:
                ready.close()

    def close(self) -> None:
        """End the processes that serve no cell."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()


def _started(module: list[str], order: Order, log: IO[bytes] | int) -> subprocess.Popen[str]:
    # -P: a file of the present folder, such as queue.py, must not replace a module of the standard library.
    return subprocess.Popen(
        [sys.executable, "-P", "-m", *module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(order["threads"])),
        start_new_session=True,
    )


def _followed(process: subprocess.Popen[str], task: dict[str, Any], order: Order) -> tuple[int | None, str]:
    """Give a process its task and enforce the time of each phase; return its exit code and last phase."""
    with _lock:
        _running.add(process)
    deadline = _Deadline(process, by_processor=order.get("clock", WALL) != WALL)
    phase = "preparing"
    try:
        assert process.stdout is not None
        deadline.set(AROUND)
        _write(process, task)
        for line in process.stdout:
            if line.startswith(ENDED):
                return int(line.split()[1]), phase
            if line.startswith(BEGUN):
                deadline.follow(int(line.split()[1]))
                deadline.set(AROUND)
                continue
            phase = line.strip()
            deadline.set(order["plan"]["limit"] if phase == MEASURING else AROUND)
        code = process.wait()
    finally:
        deadline.cancel()
        with _lock:
            _running.discard(process)
    return (None if deadline.passed else code), phase


def _write(process: subprocess.Popen[str], task: dict[str, Any]) -> None:
    assert process.stdin is not None
    with suppress(BrokenPipeError):
        process.stdin.write(json.dumps(task) + "\n")
        process.stdin.flush()


def _ended(process: subprocess.Popen[str]) -> None:
    _end(process)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with suppress(OSError):
                pipe.close()


class _Deadline:
    """Ends a process when its time is over; every phase restarts the time.

    The time is that of the wall; ``by_processor`` it is the processor time of the process, so that a busy machine cuts
    no cell off, but at most `PATIENCE` times as long by the wall: a process that waits for ever spends no time.
    """

    def __init__(self, process: subprocess.Popen[str], *, by_processor: bool = False) -> None:
        self.passed = False
        self._process, self._spending = process, process.pid
        self._timer: threading.Timer | None = None
        self._by_processor = by_processor and processor_seconds(process.pid) is not None

    def follow(self, copy: int) -> None:
        """Look at the time of a copy of the process, which spends none itself."""
        self._spending = copy

    def set(self, seconds: float) -> None:
        self.cancel()
        spent = (processor_seconds(self._spending) or 0.0) if self._by_processor else 0.0
        self._wait(seconds, spent + seconds, time.monotonic() + PATIENCE * seconds)

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, seconds: float, most: float, last: float) -> None:
        self._timer = threading.Timer(seconds, self._pass, (most, last))
        self._timer.daemon = True
        self._timer.start()

    def _pass(self, most: float, last: float) -> None:
        if threading.current_thread() is not self._timer:  # cancelled at the last moment
            return
        spent = processor_seconds(self._spending) if self._by_processor else None
        if spent is not None and spent < most and time.monotonic() < last:
            self._wait(max(most - spent, 0.05), most, last)
            return
        self.passed = True
        _end(self._process)


def processor_seconds(process: int) -> float | None:
    """Return the processor time that a process has spent [s]; None where the system does not say."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


def _excuse(order: Order, code: int | None, phase: str, errors: Path) -> Answer:
    limit = order["plan"]["limit"] if phase == MEASURING else AROUND
    if code is None and phase != CHECKING:
        return _without_samples("cut off", f"still {phase} after {limit:g} s, which is its limit")
    if code is None:
        return _without_samples("failed", f"the oracle was still at work after {AROUND:g} s")
    words = errors.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    last = words[-1] if words else "it said nothing"
    if code < 0:
        last = f"it was ended by {_signal_name(-code)}; perhaps the memory was not enough"
    return _without_samples("failed", f"the process ended while {phase}: {last}")


def _without_samples(verdict: str, note: str) -> Answer:
    empty: dict[str, Any] = {"readings": [], "counters": {}, "facts": {}}
    return {"verdict": verdict, "note": note, **empty}


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


@contextmanager
def _turn(alone: bool) -> Iterator[None]:
    """Wait until no other timed cell runs on this machine; the lock is released when this process ends."""
    try:
        import fcntl
    except ImportError:  # Windows: two runs at once disturb each other's times
        yield
        return
    if not alone:
        yield
        return
    with _lock_file().open("a+") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        yield


def _lock_file() -> Path:
    return Path(tempfile.gettempdir()) / f"choque-lab-{os.getuid()}.lock"


def other_run() -> int | None:
    """Return the process that measures a cell of another run on this machine now, 0 if it is unknown; else None."""
    try:
        import fcntl

        with _lock_file().open("r+") as handle:
            try:
                fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                words = handle.read(20)
                owner = int(words) if words.isdigit() else 0
                return None if owner == os.getpid() else owner
    except (ImportError, OSError):
        pass
    return None

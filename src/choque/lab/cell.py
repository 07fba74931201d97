"""One cell in a process of its own: started, held to its time limit, and its answer brought back."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from choque.lab.worker import CHECKING, MEASURING, Answer, Order

AROUND = 900.0
"""Seconds that preparing and checking may take, each: the oracle of a large scene is slow, not endless."""

THREAD_VARIABLES = (
    "CHOQUE_THREADS",
    "NUMBA_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)

_running: set[subprocess.Popen[str]] = set()
_lock = threading.Lock()


def run_cell(order: Order) -> Answer:
    """Measure one cell; whatever happens to its process, there is an answer.

    ``order`` is that of `choque.lab.worker.answer`, with ``threads`` to pin and ``alone``: whether no other timed cell
    may run on this machine meanwhile. Everything in it and in the answer is JSON, so that it can cross a network.
    """
    with tempfile.TemporaryDirectory(prefix="choque-") as folder, _turn(order["alone"]):
        path, errors = Path(folder) / "answer.json", Path(folder) / "errors"
        with errors.open("wb") as log:
            code, phase = _serve(order, path, log)
        if path.exists():
            return {**json.loads(path.read_text(encoding="utf-8")), "threads": order["threads"]}
        return {**_excuse(order, code, phase, errors), "threads": order["threads"]}


def end_all() -> None:
    """End every process that this one has started and that still runs."""
    with _lock:
        for process in list(_running):
            _end(process)


def _serve(order: Order, path: Path, log: IO[bytes]) -> tuple[int | None, str]:
    """Run the worker; give its exit code, None if it was ended for being late, and the phase it was in."""
    process = subprocess.Popen(
        [sys.executable, "-m", "choque.lab.worker", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env=os.environ | dict.fromkeys(THREAD_VARIABLES, str(order["threads"])),
        start_new_session=True,
    )
    with _lock:
        _running.add(process)
    deadline = _Deadline(process)
    phase = "preparing"
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        deadline.set(AROUND)
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
        for line in process.stdout:
            phase = line.strip()
            deadline.set(order["plan"]["limit"] if phase == MEASURING else AROUND)
        code = process.wait()
    finally:
        deadline.cancel()
        _end(process)
        with _lock:
            _running.discard(process)
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()
    return (None if deadline.passed else code), phase


class _Deadline:
    """Ends a process when its time is over; every phase sets the time anew."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.passed = False
        self._process = process
        self._timer: threading.Timer | None = None

    def set(self, seconds: float) -> None:
        self.cancel()
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True
        self._timer.start()

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _pass(self) -> None:
        self.passed = True
        _end(self._process)


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
    """Wait until no other timed cell runs on this machine; the system lets go when this process ends."""
    try:
        import fcntl
    except ImportError:  # Windows: whoever starts two runs at once spoils both
        yield
        return
    if not alone:
        yield
        return
    path = Path(tempfile.gettempdir()) / f"choque-lab-{os.getuid()}.lock"
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield

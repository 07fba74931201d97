"""Kernels of a first call, compiled by several processes side by side.

A first call compiles up to thirty kernels, each when it is reached. ``first_calls.json`` lists the kernels of common
first calls with the types of their arguments. When a kernel of a list is found missing on disk, other processes begin
to compile the list from its end, and this process finds their kernels on disk when it comes to them. The list has no
part in any answer: one that is out of date costs time. ``python .ci/first_calls.py`` records it.

The processes end with this one, or after some seconds without work. They are not started on one processor, in a
process of `multiprocessing`, in a program that embeds Python, or with ``CHOQUE_COMPILERS=1`` in the environment.
"""

from __future__ import annotations

import atexit
import gc
import json
import multiprocessing
import os
import signal
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from subprocess import DEVNULL, PIPE, Popen
from threading import Condition, Thread
from typing import Any, NamedTuple

import numba
import numpy as np
from numba.core import types

from choque._core import threads

MAX_PROCESSES = 4  # processes that compile at a time, this one included; each takes about 200 MB
PATIENCE = 20.0  # seconds for which a kernel that another process compiles is waited for
PROGRAM = "import json, sys; sys.path[:] = json.loads(input()); from choque._core.compile_beside import serve; serve()"


class FirstCall(NamedTuple):
    """A function, and the kernels that a first call of it needs, in order: names, and arguments as `encoded`."""

    function: str
    kernels: list[Any]


@cache
def first_calls() -> list[FirstCall]:
    """Return the recorded calls; of several with the same beginning the first one is expected."""
    content = Path(__file__).with_name("first_calls.json").read_text("utf-8")
    return [FirstCall(*each) for each in json.loads(content).values()]


def call_under_way(function: Any, arguments: Any) -> tuple[int, int] | None:
    """Return the number of the recorded call that needs a kernel now, and the kernel's place in its list."""
    kernel = [f"{function.__module__}:{function.__qualname__}", [encoded(each) for each in arguments]]
    frame: Any = sys._getframe(1)
    called = set()
    while frame is not None:
        called.add(f"{frame.f_globals.get('__name__')}:{frame.f_code.co_qualname}")
        frame = frame.f_back
    calls = [(number, each) for number, each in enumerate(first_calls()) if each.function in called]
    if compilers.call >= 0:
        calls.insert(0, (compilers.call, first_calls()[compilers.call]))
    return next(((number, each.kernels.index(kernel)) for number, each in calls if kernel in each.kernels), None)


def encoded(kind: Any) -> Any:
    """Return a type of Numba as text; a tuple as a list, and a NamedTuple as a list under its name."""
    if isinstance(kind, types.Array):
        return f"{kind.dtype}[{kind.ndim}]{kind.layout}{'' if kind.mutable else ' read-only'}"
    if not isinstance(kind, types.BaseTuple):
        return str(kind)
    items = [encoded(each) for each in kind.types]  # type: ignore[attr-defined]
    made = getattr(kind, "instance_class", tuple)
    return items if made is tuple else {f"{made.__module__}:{made.__qualname__}": items}


class Compilers:
    """The processes that compile beside this one."""

    def __init__(self) -> None:
        self.call = -1  # number of the call whose kernels are compiled
        self.processes: list[Popen[str]] = []
        self.count = 0  # kernels that they have compiled
        self._begun: set[tuple[int, int]] = set()
        self._ended: set[tuple[int, int]] = set()
        self._news = Condition()

    def begin(self, function: Any, arguments: Any) -> tuple[int, int] | None:
        """Compile beside what a call needs after a missing kernel; return the call and the kernel's place in it."""
        found = call_under_way(function, arguments)
        if found is None:
            return None
        call, place = found
        if call != self.call:
            self.call = call
            kernels = [(call, number, *each) for number, each in enumerate(first_calls()[call].kernels)][place + 1 :]
            for _ in range(min(allowed() - 1, len(kernels)) - len(self.processes)):
                self._start()
            for share, each in enumerate(self.processes):
                _write(each.stdin, kernels[-1 - share :: -len(self.processes)])
        return found

    def have_compiled(self, function: Any, arguments: Any) -> bool:
        """Return whether a kernel that was missing on disk is there by now, and have those compiled that come after.

        If the kernel is being compiled, its end is waited for.
        """
        found = self.begin(function, arguments)
        if found is None:
            return False
        with self._news:
            waited = found in self._begun and self.processes
            self._news.wait_for(lambda: not waited or found in self._ended or not self.processes, PATIENCE)
            return found in self._ended

    def stop(self) -> None:
        """End the processes."""
        for each in list(self.processes):
            each.terminate()
            each.wait()

    def forget(self) -> None:
        """Leave the processes to the one that has started them, of which this one is a copy."""
        for each in self.processes:
            each.returncode = 0  # not to be waited for
            each.stdin.close()  # type: ignore[union-attr]
        self.processes, self._news = [], Condition()

    def _start(self) -> None:
        alone = {**os.environ, "CHOQUE_COMPILERS": "1"}
        started = Popen([sys.executable, "-c", PROGRAM], stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=alone, text=True)
        self.processes.append(started)
        _write(started.stdin, sys.path)
        Thread(target=self._listen, args=(started,), daemon=True).start()

    def _listen(self, process: Popen[str]) -> None:
        with suppress(OSError, ValueError), process:
            for line in process.stdout or ():
                call, place, compiled = json.loads(line)
                with self._news:
                    (self._ended if (call, place) in self._begun else self._begun).add((call, place))
                    self.count += compiled
                    self._news.notify_all()
        with self._news:
            self.processes.remove(process)
            self._news.notify_all()


def _write(stream: Any, message: Any) -> None:
    with suppress(OSError, ValueError):  # the process has ended
        stream.write(f"{json.dumps(message)}\n")
        stream.flush()


def allowed() -> int:
    """Return how many processes may compile at a time."""
    is_python = Path(sys.executable or "").name.lower().startswith("python") and not hasattr(sys, "frozen")
    if not is_python or multiprocessing.parent_process() is not None:
        return 1
    wanted = os.environ.get("CHOQUE_COMPILERS", "").strip()
    return int(wanted) if wanted.isdecimal() else min(threads.available_count(), MAX_PROCESSES)


def serve() -> None:
    """Compile the kernels that are asked for on stdin, each between two lines on stdout.

    Another process has started this one. It ends when stdin ends, or after some seconds without work.
    """
    from choque._core.kernel import announcement

    gc.disable()  # the process ends soon
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has started this one
    asked: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            asked.put(line)
        asked.put("")

    def report(*about: int) -> None:
        sys.stdout.write(f"{json.dumps(about)}\n")
        sys.stdout.flush()

    Thread(target=listen, daemon=True).start()
    with suppress(Empty, OSError):
        while line := asked.get(timeout=PATIENCE):
            for call, place, name, arguments in json.loads(line):
                if not asked.empty():
                    break
                report(call, place, 0)
                before = announcement.count
                with suppress(Exception):  # the list is out of date
                    callable_from_python(name).compile(tuple(map(numba.typeof, map(example, arguments))))
                report(call, place, announcement.count - before)


def callable_from_python(name: str) -> Any:
    """Return the dispatcher whose kernels are kept on disk: of a helper, the one that Python calls."""
    found = named(name)
    return getattr(found, "alone", found)


def example(code: Any) -> Any:
    """Return a value of a type that `encoded` has written."""
    if isinstance(code, dict):
        ((name, items),) = code.items()
        return named(name)(*map(example, items))
    if isinstance(code, list):
        return tuple(map(example, code))
    scalar, bracket, form = code.partition("[")
    if not bracket:
        return None if code == "none" else np.dtype(scalar).type(0)
    dimension, layout = int(form[0]), form[2]
    values = np.zeros((4,) * dimension, scalar, order="F" if layout == "F" else "C")
    values = values[(slice(None, None, 2),) * dimension] if layout == "A" else values
    values.flags.writeable = not form.endswith("read-only")
    return values


def named(name: str) -> Any:
    """Return what a module defines, by ``module:name``."""
    module, _, inside = name.partition(":")
    return getattr(import_module(module), inside)


compilers = Compilers()
atexit.register(compilers.stop)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=compilers.forget)

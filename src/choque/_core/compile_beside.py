"""Kernels of a first call, compiled by several processes side by side.

A first call compiles up to thirty kernels, each when it is reached. ``first_calls.json`` lists the kernels of common
first calls with the types of their arguments. When a kernel of a list is found missing on disk, other processes compile
the largest of those that come after it, one after the other, and this process finds them on disk when it comes to them.
The list has no part in any answer: one that is out of date costs time. ``python .ci/first_calls.py`` records it.

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

import numpy as np

from choque._core import threads

MAX_PROCESSES = 4  # processes that compile at a time, this one included; each takes about 200 MB
PATIENCE = 20.0  # seconds to wait for a kernel that another process compiles; a process without work ends after as many
PROGRAM = "import json, sys; sys.path[:] = json.loads(input()); from choque._core.compile_beside import serve; serve()"


class FirstCall(NamedTuple):
    """A function, and the kernels that a first call of it needs, in order: names, and arguments as `encoded`."""

    function: str
    kernels: list[Any]
    sizes: tuple[int, ...] = ()  # of the code of each kernel [kB]
    title: str = ""

    def largest_first(self) -> list[Any]:
        """Return the kernels, the smallest last, so that several processes finish at about the same time."""
        order = sorted(enumerate(self.sizes or [0] * len(self.kernels)), key=lambda each: (each[1], each[0]))
        return [self.kernels[place] for place, _ in reversed(order)]


@cache
def first_calls() -> list[FirstCall]:
    """Return the recorded calls; where several begin alike, the first one is taken for the one under way."""
    recorded = json.loads(Path(__file__).with_name("first_calls.json").read_text("utf-8"))
    return [
        FirstCall(function, [each[:2] for each in kernels], tuple(each[2] for each in kernels), title)
        for title, (function, kernels) in recorded.items()
    ]


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
    from numba.core import types  # not above: the first process is started while Numba is imported

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
        self._left: list[Any] = []  # kernels that no process has begun, the largest first
        self._work: dict[Popen[str], str] = {}  # which kernel a process compiles, as text
        self._done: set[str] = set()  # what they have compiled, or found on disk
        self._news = Condition()

    def begin(self, function: Any, arguments: Any) -> Any:
        """Compile beside what a call needs after a missing kernel; return that kernel, None if no call is known."""
        found = call_under_way(function, arguments)
        if found is None:
            return None
        call, place = found
        self._expect(call, place)
        return first_calls()[call].kernels[place]

    def start(self, count: int = MAX_PROCESSES) -> None:
        """Start the processes, at most ``count``: they are ready in half a second."""
        for _ in range(min(allowed() - 1, count) - len(self.processes)):
            alone = {**os.environ, "CHOQUE_COMPILERS": "1"}
            command = [sys.executable, "-c", PROGRAM]
            started = Popen(command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=alone, text=True)
            _write(started.stdin, sys.path)
            self.processes.append(started)
            Thread(target=self._listen, args=(started,), daemon=True).start()

    def begin_ahead(self, title: str) -> None:
        """Compile beside what a recorded call needs, before it is made."""
        if self.call < 0:
            self._expect(next(number for number, each in enumerate(first_calls()) if each.title == title), -1)

    def have_compiled(self, function: Any, arguments: Any) -> bool:
        """Return whether a kernel that was missing on disk is there by now, and have those compiled that come after.

        While another process compiles it, this one compiles small ones that will be needed.
        """
        kernel = self.begin(function, arguments)
        if kernel is None:
            return False
        self._take(kernel)
        text = json.dumps(kernel)
        while text in self._work.values() and (spare := self._take()) is not None:
            compile_one(*spare)
        with self._news:
            self._news.wait_for(lambda: text not in self._work.values(), PATIENCE)
            return text in self._done

    def stop(self) -> None:
        """End the processes."""
        for each in list(self.processes):
            each.terminate()
            each.wait()

    def forget(self) -> None:
        """Leave the processes to the parent, after a fork."""
        for each in self.processes:
            each.returncode = 0  # not to be waited for
            each.stdin.close()  # type: ignore[union-attr]
        self.processes, self._work, self._news = [], {}, Condition()

    def _expect(self, call: int, place: int) -> None:
        """Compile beside the kernels of a call that come after a place in its list."""
        if call == self.call:
            return
        self.call = call
        later = first_calls()[call].kernels[place + 1 :]
        with self._news:
            known = self._done.union(self._work.values())
            wanted = (each for each in first_calls()[call].largest_first() if each in later)
            self._left = [each for each in wanted if json.dumps(each) not in known]
        self.start(len(self._left))
        for each in self.processes:
            if each not in self._work:
                self._give(each)

    def _take(self, kernel: Any = None) -> Any:
        """Return a kernel that this process compiles, the smallest one unless it is given; None if it is not left."""
        with self._news:
            taken = self._left[-1] if kernel is None and self._left else kernel
            if taken not in self._left:
                return None
            self._left.remove(taken)
            return taken

    def _give(self, process: Popen[str]) -> None:
        """Give a process the largest kernel that is left."""
        with self._news:
            if self._left:
                self._work[process] = json.dumps(self._left[0])
                _write(process.stdin, self._left.pop(0))

    def _listen(self, process: Popen[str]) -> None:
        with suppress(OSError, ValueError), process:
            for line in process.stdout or ():
                with self._news:
                    self.count += int(line)
                    self._done.add(self._work.pop(process))
                    self._news.notify_all()
                self._give(process)
        with self._news:
            self.processes.remove(process)
            self._work.pop(process, None)
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
    """Compile the kernels that are asked for, a line of stdin each; answer by a line that says how many were missing.

    Another process has started this one. It ends when stdin ends, or after some seconds without work.
    """
    gc.disable()  # the process ends soon
    from choque._core.kernel import announcement

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has started this one
    asked: SimpleQueue[str] = SimpleQueue()

    def listen() -> None:
        for line in sys.stdin:
            asked.put(line)
        asked.put("")

    Thread(target=listen, daemon=True).start()
    with suppress(Empty, OSError):
        while line := asked.get(timeout=PATIENCE):
            before = announcement.count
            compile_one(*json.loads(line))
            sys.stdout.write(f"{announcement.count - before}\n")
            sys.stdout.flush()


def compile_one(name: str, arguments: list[Any]) -> None:
    """Compile a kernel for arguments as `encoded`."""
    import numba

    with suppress(Exception):  # the list is out of date
        callable_from_python(name).compile(tuple(map(numba.typeof, map(example, arguments))))


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

"""Decorators that compile kernels and their helpers: serial functions over arrays, cached on disk, without the GIL.

Kernels are never compiled with ``parallel=True``: a parallel region of Numba costs seconds of compiling and spins
while it waits. `choque._core.threads` runs serial kernels over ranges instead. Compiled kernels are kept beside the
module, or in the user's cache folder where the package is read-only, until a file that they are compiled from changes;
`choque._core.kernel_cache` says how. Where no folder can be written, they are compiled in every process.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from time import perf_counter
from typing import Any, ParamSpec, TypeVar, cast
from weakref import WeakSet

import numba
from numba.core import config, event, types
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from choque._core.kernel_cache import KernelCache, keep_on_disk, troubles
from choque._core.progress import Line, count_words

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

TRIED = (0, 63), (0, 68)  # the oldest and the newest Numba whose inner names `kernel_compiler` was tried with


def _pipelines() -> tuple[Any, Any]:
    """Return how kernels and their parts are compiled: by Numba's own pipeline if ours was not tried with it.

    Numba's own is also used if it is asked to check indices or to note where code comes from, for debuggers.
    """
    is_tried = TRIED[0] <= numba.version_info.short <= TRIED[1]
    if not is_tried or config.BOUNDSCHECK or config.DEBUGINFO_DEFAULT:  # type: ignore[attr-defined]
        return Compiler, Compiler
    from choque._core.kernel_compiler import KernelCompiler, PartCompiler

    return KernelCompiler, PartCompiler


KERNEL_PIPELINE, PART_PIPELINE = _pipelines()

# A kernel may allocate, also one that a part calls: without ``_nrt`` it would inherit the option of the part.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True, "_nrt": True}
# Parts count no references, and Python cannot call them:
PART_OPTIONS: dict[str, Any] = {**OPTIONS, "_nrt": False, "no_cpython_wrapper": True}


def kernel(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile ``function`` at its first call for each combination of argument types.

    Under ``NUMBA_DISABLE_JIT=1`` the function stays plain Python, so that coverage and debuggers see inside.
    """
    return _compiled(function, OPTIONS)


def inline(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Put the text of ``function`` into every kernel that calls it, so that both are vectorised together.

    For the few innermost loops where the compiler must see that outputs do not overlap inputs; each use costs
    compile time.
    """
    return _compiled(function, {**OPTIONS, "inline": "always"})


def helper(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile ``function`` as a part of the kernels that call it: it borrows the arrays it is given, allocates none.

    A kernel counts references to every array that it passes on, with atomic instructions: half the time of a query
    that takes a few hundred nanoseconds. The caller of a helper holds the arrays anyway. Helpers are not kept on disk:
    the kernels are, with their helpers inside. A kernel that another one calls becomes a program of its own as well,
    which takes 50 to 100 ms each; as helpers, the twenty functions of a mesh query compile in half the time.
    """
    return _part(function, PART_OPTIONS)


def forceinline(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Compile a `helper` that LLVM always merges with its caller.

    LLVM does not inline large helpers, and a call passes nine numbers for each array: a fifth of the time in the loops
    of EPA. Parts with one caller compile fastest in this way, and each further use costs compile time.
    """
    return _part(function, {**PART_OPTIONS, "forceinline": True})


class _Part(CPUDispatcher):
    """A function whose code is linked into kernels; a call from Python compiles it a second time, as a kernel."""

    @cached_property
    def alone(self) -> Callable[..., Any]:
        return _compiled(self.py_func, {**OPTIONS, "_nrt": False})

    def __call__(self, *arguments: Any) -> Any:
        return self.alone(*arguments)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Compile the part once for all constants that it is called with: LLVM puts them in where it pays."""
        return super().get_call_template(tuple(map(types.unliteral, args)), kws)


def _part(function: Callable[Parameters, Result], options: dict[str, Any]) -> Callable[Parameters, Result]:
    compiled = numba.njit(pipeline_class=PART_PIPELINE, **options)(function)
    if isinstance(compiled, CPUDispatcher):  # not if functions stay plain Python
        compiled.__class__ = _Part
    _ours.add(compiled)
    return cast("Callable[Parameters, Result]", compiled)


def _compiled(function: Callable[Parameters, Result], options: dict[str, Any]) -> Callable[Parameters, Result]:
    compiled = numba.njit(pipeline_class=KERNEL_PIPELINE, **options)(function)
    keep_on_disk(compiled)
    _ours.add(compiled)
    return cast("Callable[Parameters, Result]", compiled)


def compile_ahead(needed: Any, title: str = "") -> None:
    """Start the processes that compile a first call, unless ``needed``, one of its kernels, is on disk.

    They begin as soon as the title of the call is known.
    """
    if hasattr(needed, "_cache") and isinstance(needed._cache, KernelCache) and needed._cache.is_empty():
        from choque._core.compile_beside import compilers

        with suppress(Exception):  # no process may be started here
            compilers.start()
            if title:
                compilers.begin_ahead(title)


_ours: WeakSet[Any] = WeakSet()  # kernels and parts; functions of users are not announced
SECONDS_EACH = 0.25  # typical time to compile one kernel, until this process has compiled some itself


class _Announcement(event.Listener):
    """Counts the kernels that this process compiles, and shows a line meanwhile."""

    def __init__(self) -> None:
        self.count = 0  # kernels that this process has compiled, without those that it loaded from disk
        self.seconds = 0.0  # time spent compiling them
        self._depth, self._begin, self._collects = 0, 0.0, True
        self._call, self._expected = -1, 0
        self._line = Line(at_once=True)

    @property
    def seconds_each(self) -> float:
        """Mean time to compile a kernel."""
        return self.seconds / self.count if self.seconds and self.count else SECONDS_EACH

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] not in _ours:
            return
        self._depth += 1
        if self._depth > 1:  # a kernel compiles what it calls while it is compiled
            return
        self._begin, self._collects = perf_counter(), gc.isenabled()
        gc.disable()  # hundreds of thousands of objects that live until the end: searching them took a quarter
        done, processes = self._expect(event.data["dispatcher"].py_func, event.data["args"])
        left = (self._expected - done) * self.seconds_each / processes
        self.count += 1
        if not troubles.unkept:  # that was said, and holds for every run
            words = count_words(done + 1, self._expected, left) + " so far" * (done >= self._expected)
            self._line.show(f"compiling kernels, once for this machine: {words}")

    def on_end(self, event: Any) -> None:
        if event.data["dispatcher"] not in _ours:
            return
        self._depth -= 1
        if self._depth == 0:
            self.seconds += perf_counter() - self._begin
            if self._collects:
                if gc.get_freeze_count() == 0:  # count what is left as old, at no cost: all of it stays
                    gc.freeze()
                    gc.unfreeze()
                gc.enable()
            self._line.remove()

    def _expect(self, function: Any, arguments: Any) -> tuple[int, int]:
        """Note how many kernels the call under way needs; return how many are compiled, and by how many processes."""
        from choque._core.compile_beside import call_under_way, compilers, first_calls

        done = self.count + compilers.count
        found = call_under_way(function, arguments)
        if found is not None and found[0] != self._call:
            self._call = found[0]
            self._expected = done + len(first_calls()[self._call].kernels) - found[1]
        return done, 1 + len(compilers.processes)


announcement = _Announcement()
event.register("numba:compile", announcement)  # type: ignore[no-untyped-call]

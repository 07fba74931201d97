"""Which kernels are compiled already, and how to compile them before they are needed.

Numba compiles a kernel at its first call, once for each combination of argument types, and keeps the result on disk.
This module is the one place that knows about it: `outlook` says how many kernels of some packages are still to be
compiled and about how long that takes, `prepare` makes small calls that compile them and reports each one,
`compiling_beside` compiles in another process, and `choque._core.kernel.announcement` counts what this one compiled.
"""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import DEVNULL, Popen
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from choque._core import threads
from choque._core.kernel import announcement
from choque._core.kernel_cache import Damaged, KernelCache, KernelFiles, sources_of
from choque._core.shipped_kernels import present_family
from choque._core.types import Progress

Result = TypeVar("Result")

TIMED_AGAIN = 5.0
"""Work that takes at most this long beside compiling is done twice for the times shown [s]."""

KERNEL_BYTES = 200_000
"""Size of a large kernel on disk."""


def working_time() -> float:
    """Return a clock that stands while kernels are compiled [s], for times that are shown to users."""
    return perf_counter() - announcement.seconds


def timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return what ``work`` returns, and its time beside compiling [s].

    Quick work is done twice, and the time is that of the second run: the first one also loads libraries and kernels.
    """
    for _ in range(2):
        begin = working_time()
        found = work()
        seconds = working_time() - begin
        if seconds > TIMED_AGAIN:
            break
    return found, seconds


class Outlook(NamedTuple):
    """How many kernels there are, and how many of them are on disk."""

    compiled: int
    kernels: int

    @property
    def missing(self) -> int:
        """How many kernels are compiled at their first call."""
        return self.kernels - self.compiled

    @property
    def seconds(self) -> float:
        """Expected time to compile what is missing, for one combination of argument types each."""
        return self.missing * announcement.seconds_each


def outlook(package: str) -> Outlook:
    """Count the kernels of a package, such as ``"choque.broad"``; all of its modules are imported."""
    kernels = kernels_of(package)
    return Outlook(sum(map(is_on_disk, kernels)), len(kernels))


def kernels_of(package: str) -> list[Any]:
    """List the kernels that a package defines; parts that are inlined are compiled with their callers and left out."""
    root = importlib.import_module(package)
    found = []
    for info in pkgutil.walk_packages(root.__path__, f"{package}."):
        for value in vars(importlib.import_module(info.name)).values():
            function = getattr(value, "py_func", None)
            is_own = function is not None and function.__module__ == info.name
            if is_own and not is_part(value):
                found.append(value)
    return found


def is_part(kernel: Any) -> bool:
    """Return whether a function is merged with its callers, and never compiled for itself."""
    return kernel.targetoptions.get("inline") == "always" or bool(kernel.targetoptions.get("no_cpython_wrapper"))


def is_on_disk(kernel: Any) -> bool:
    """Return whether the cache has an index of the kernel that is no older than its sources, or the wheel has one."""
    if not isinstance(kernel._cache, KernelCache):
        return False
    if present_family() is not None and kernel._cache.shipped.index.is_file():
        return True
    index = kernel._cache.files.index
    newest = max(Path(each).stat().st_mtime for each in sources_of(kernel.py_func))
    return index.is_file() and index.stat().st_mtime >= newest


def cache_folder(kernels: Iterable[Any]) -> Path | None:
    """Return where compiled kernels are kept; None where they are not kept."""
    return next((each._cache.files.folder for each in kernels if isinstance(each._cache, KernelCache)), None)


def why_unwritable(folder: Path) -> str:
    """Return why a kernel cannot be written to a folder, by writing one; empty if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as handle:
            handle.write(bytes(KERNEL_BYTES))
            handle.flush()
    except OSError as problem:
        return (problem.strerror or str(problem)).lower()
    return ""


def repair(kernels: Iterable[Any]) -> list[Path]:
    """Remove damaged files of kernels, so that the kernels are compiled again; return those files."""
    found = [path for each in kernels if isinstance(each._cache, KernelCache) for path in _damaged(each._cache.files)]
    for path in found:
        with suppress(OSError):
            path.unlink()
    return found


def _damaged(files: KernelFiles) -> list[Path]:
    """Return the files of a kernel that are not what was written."""
    try:
        names = files.names()
    except (OSError, ImportError, AttributeError):
        return []
    except Exception:
        return [files.index]
    found = []
    for name in names.values():
        try:
            files.require_whole(name, (files.folder / name).read_bytes())
        except OSError:
            continue
        except Damaged:
            found.append(files.folder / name)
    return found


@contextmanager
def compiling_beside(code: str | None) -> Iterator[Popen[bytes] | None]:
    """Run Python code in another process during the block, if a second processor may be used.

    It compiles kernels, and keeps them on disk, where this process finds them when it needs them.
    """
    if code is None or threads.available_count() < 2:
        yield None
        return
    before = os.environ.get("CHOQUE_COMPILERS", "")
    os.environ["CHOQUE_COMPILERS"] = "1"  # neither process starts further ones
    helper = Popen([sys.executable, "-c", code], stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL)
    try:
        yield helper
    finally:
        os.environ["CHOQUE_COMPILERS"] = before
        helper.terminate()
        helper.wait()


def prepare(calls: Mapping[str, Callable[[], object]], progress: Progress | None = None) -> dict[str, str]:
    """Make every call, so that the kernels it needs are compiled or loaded.

    Parameters
    ----------
    calls
        What to call, each under a name for ``progress``.
    progress
        Called before each call, and once at the end.

    Returns
    -------
    dict
        The calls that failed, with the reason; the others are made all the same.
    """
    failed: dict[str, str] = {}
    report = progress or (lambda *_: None)
    for done, (name, call) in enumerate(calls.items()):
        report(done, len(calls), name)
        try:
            call()
        except Exception as problem:
            failed[name] = " ".join(f"{type(problem).__name__}: {problem}".split())
    report(len(calls), len(calls), "")
    return failed

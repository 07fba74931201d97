"""Detect kernels on disk that are out of date because a file that they are compiled from has changed.

Numba checks the kernel's own file alone. The functions that a kernel calls and the constants that it names are compiled
into it, too: after an upgrade that changed only those, an old kernel would run unnoticed.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache, cached_property
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

_IMPORT = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n(]+)", re.MULTILINE)


def follow_sources(compiled: Any) -> None:
    """Make a dispatcher of Numba treat its kernels on disk as stale when any of its sources has changed.

    No effect on a function that is not compiled, or if a version of Numba keeps its stamps elsewhere.
    """
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = Stamp(compiled.py_func)
        file._load_index = _tolerant(file._load_index)


def _tolerant(load: Callable[[], dict[Any, Any]]) -> Callable[[], dict[Any, Any]]:
    """Return a reader of Numba's index that finds nothing where the index names a class that is gone.

    The index names the classes of NamedTuple arguments. After an upgrade that moved one, it cannot be read.
    """

    def load_index() -> dict[Any, Any]:
        try:
            return load()
        except (ImportError, AttributeError):
            return {}

    return load_index


class Stamp:
    """A hash of the sources of a function, computed on first use, when everything is imported."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def word(self) -> str:
        """Hash of all source files."""
        digest = hashlib.sha256()
        for path in sorted(sources_of(self._function)):
            digest.update(hashlib.sha256(_content(path)).digest())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return str(other) == self.word

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return self.word

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (self.word,)


def sources_of(function: Callable[..., Any]) -> set[str]:
    """Return the files that ``function`` is compiled from: its own, and those of functions and constants it names."""
    files: set[str] = set()
    waiting, seen = [function], {function}
    while waiting:
        here: Any = waiting.pop()
        files.add(here.__code__.co_filename)
        for value, file in _named(here):
            if file is not None:
                files.add(file)
            called = getattr(value, "py_func", None)
            if called is not None and called not in seen:
                seen.add(called)
                waiting.append(called)
    return files


def _named(function: Any) -> Iterator[tuple[Any, str | None]]:
    """Yield the values that a function names, and the file that a constant of its package was imported from."""
    package = function.__module__.partition(".")[0]
    imported = _imports(function.__code__.co_filename)
    names = set(_names(function.__code__))
    for name in names:
        value = function.__globals__.get(name)
        if isinstance(value, ModuleType):
            if value.__name__.partition(".")[0] == package:
                yield None, value.__file__
                yield from ((getattr(value, each, None), None) for each in names)
        elif hasattr(value, "py_func"):
            yield value, None
        elif imported.get(name, "").partition(".")[0] == package:
            yield None, getattr(sys.modules.get(imported[name]), "__file__", None)


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _imports(path: str) -> dict[str, str]:
    """Return the module that each name of a file was imported from."""
    return {
        part.split()[-1]: module
        for module, names in _IMPORT.findall(_content(path).decode("utf-8", "replace"))
        for part in names.strip("()").split(",")
        if part.strip()
    }


@cache
def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError:  # inside an archive, which is replaced as a whole
        return b""

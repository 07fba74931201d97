"""When a kernel on disk is out of date: when its own file has changed, or that of anything it is compiled from.

Numba looks at the kernel's own file alone. What a kernel calls becomes part of it, though, and so do the constants that
it names: after an upgrade that changed only those, it would go on as before, and nobody would know.
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
    """Let a dispatcher of Numba take what it keeps on disk for stale when any of its sources has changed.

    A version of Numba that keeps its stamps elsewhere, or a function that is not compiled, is left as it is.
    """
    file: Any = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(file, "_source_stamp"):
        file._source_stamp = Stamp(compiled.py_func)


class Stamp:
    """What a function is compiled from, as one word; looked for when it is first asked, for then all is imported."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    @cached_property
    def word(self) -> str:
        """A hash of all source files."""
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
    """The files that ``function`` is compiled from: its own, those of all that it calls, and of constants it names."""
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
    """What a function names, and the file of its package that a constant was imported from."""
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
    """The module that each name of a file was imported from."""
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
    except OSError:  # within an archive, which is replaced as a whole
        return b""

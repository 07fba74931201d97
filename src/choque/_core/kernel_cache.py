"""Compiled kernels on disk: used only if they are whole and nothing that they are compiled from has changed.

Numba checks the kernel's own file alone. The functions that a kernel calls and the constants that it names are compiled
into it, too: after an upgrade that changed only those, an old kernel would run unnoticed. Numba also trusts its files:
one that was cut by a power failure stops every program, and a changed bit runs as machine code. Here every file has a
digest; data are written before the index that names them, so that no index names the data of older sources; and what
is damaged, missing or cannot be written is compiled in memory.
"""

from __future__ import annotations

import glob
import hashlib
import io
import pickle
import re
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.serialize import dumps

from choque._core import shipped_kernels

_IMPORT = re.compile(r"^from ([\w.]+) import (\([^)]*\)|[^\n(]+)", re.MULTILINE)

MARK = b"-choque-"  # end of an index, after its digest; an index that Numba wrote has neither
DIGEST_BYTES = 16
COMPILERS = [str(Path(__file__).with_name(name)) for name in ("kernel_compiler.py", "kernel_lowering.py")]
MINIMUM_AGE = 60.0  # seconds after which data that no index names are removed: theirs may be about to be written
collecting = False  # whether kernels are also kept in `shipped_kernels.FOLDER`: while a wheel with kernels is built


class Damaged(Exception):
    """A file of compiled kernels is not what was written."""


class Troubles:
    """What went wrong with the kernels on disk in this process; each kind is printed once."""

    def __init__(self) -> None:
        self.damaged: list[Path] = []  # indexes that were discarded: they, or data that they name, were damaged
        self.unkept = ""  # why kernels cannot be kept; empty while they are

    def discard(self, path: Path) -> None:
        """Remove a damaged index."""
        if not self.damaged:
            _say(f"compiled kernels in {path.parent} were damaged and are compiled again.")
        self.damaged.append(path)
        with suppress(OSError):
            path.unlink()

    def keep_nothing(self, reason: str) -> None:
        """Note that kernels cannot be kept."""
        if not self.unkept:
            _say(f"compiled kernels cannot be kept, so that each run compiles again: {reason}. {ADVICE}")
        self.unkept = reason


ADVICE = "Set NUMBA_CACHE_DIR to a folder that can be written and has space; 'choque doctor' checks it."
troubles = Troubles()


def _say(sentence: str) -> None:
    print(f"choque: {sentence}", file=sys.stderr)  # noqa: T201


def keep_on_disk(compiled: Any) -> None:
    """Give a dispatcher of Numba its `KernelCache`; one for which no folder can be written compiles in memory.

    No effect on a function that is not compiled.
    """
    if not hasattr(compiled, "_cache"):
        return
    try:
        compiled._cache = KernelCache(compiled.py_func)
    except (RuntimeError, OSError) as problem:
        troubles.keep_nothing(" ".join(str(problem).split()))


class KernelCache(FunctionCache):
    """The kernels on disk of one function. A failure of any sort leads to compiling, never to an exception."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        base = self._impl.filename_base
        self.files = KernelFiles(Path(self.cache_path), base, function)
        self.shipped = KernelFiles(shipped_kernels.FOLDER, f"{function.__module__}.{base}", function)

    def is_empty(self) -> bool:
        """Return whether the function was never compiled here, and could be kept."""
        return not (troubles.unkept or self.files.index.exists() or self.shipped.index.exists())

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the kernel for a signature from the user's cache or the wheel; None if it has to be compiled."""
        if self.is_empty():
            with suppress(Exception):  # no process may be started here
                _compilers().begin(self._py_func, sig)  # they start while Numba loads its knowledge of types
        found = self._load(sig, target_context)
        if found is None and not troubles.unkept:
            with suppress(Exception):
                if _compilers().have_compiled(self._py_func, sig):
                    return self._load(sig, target_context)
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        _leave_blas()
        target_context.refresh()
        key = self._key(sig, target_context.codegen())
        try:
            data = self.files.load(key)
            if data is not None:
                return self._impl.rebuild(target_context, data)
        except Exception:  # damaged bytes may raise anything when they are unpickled
            troubles.discard(self.files.index)
            return None
        family = shipped_kernels.present_family()
        if family is None:
            return None
        try:
            data = self.shipped.load(shipped_kernels.key_in_family(key, family))
            return None if data is None else self._impl.rebuild(target_context, data)
        except Exception:  # damaged, or of a Numba that keeps its kernels in another way: they are compiled
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was compiled, if possible."""
        try:
            if self._impl.check_cachable(data):
                self._impl.locator.ensure_cache_path()
                key, content = self._key(sig, data.codegen), self._impl.reduce(data)
                self.files.save(key, content)
                if collecting:
                    self.shipped.folder.mkdir(parents=True, exist_ok=True)
                    self.shipped.save(key, content)
        except OSError as problem:
            troubles.keep_nothing(f"{self.files.folder}: {(problem.strerror or str(problem)).lower()}")

    def _key(self, sig: Any, codegen: Any) -> Any:
        return self._index_key(sig, codegen)  # type: ignore[no-untyped-call]


@cache
def _leave_blas() -> None:
    """Keep Numba from importing SciPy to see whether there is BLAS: it looks again where a function needs it."""
    if find_spec("scipy") is None:
        return
    linalg: Any = import_module("numba.np.linalg")
    with suppress(AttributeError):  # a Numba that does so in another way
        look, linalg.ensure_blas = linalg.ensure_blas, str
        arraymath: Any = import_module("numba.np.arraymath")
        linalg.ensure_blas = arraymath.ensure_blas = look


def _compilers() -> Any:
    from choque._core.compile_beside import compilers  # most processes compile nothing

    return compilers


class KernelFiles:
    """The index of one function, and a file of data for each signature, whose name has the digest of its content."""

    def __init__(self, folder: Path, base: str, function: Callable[..., Any]) -> None:
        self.folder, self.index = folder, folder / f"{base}.nbi"
        self._base, self._function = base, function

    def load(self, key: Any) -> Any:
        """Return what was saved under a key; None if nothing was, or if sources have changed since."""
        name = self.names().get(key)
        if name is None:
            return None
        try:
            content = (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        self.require_whole(name, content)
        return pickle.loads(content)

    def save(self, key: Any, data: Any) -> None:
        """Write data, then the index that names them."""
        content: bytes = dumps(data)  # type: ignore[no-untyped-call]
        name = f"{self._base}.{_digest(content).hex()}.nbc"
        _write(self.folder / name, content)
        try:
            names = self.names()
        except Exception:  # damaged: written again
            names = {}
        names[key] = name
        body: bytes = pickle.dumps(numba.__version__, protocol=-1)
        body += dumps((stamp_of(self._function), names))  # type: ignore[no-untyped-call]
        _write(self.index, body + _digest(body) + MARK)
        self._remove_others(set(names.values()))

    def names(self) -> dict[Any, str]:
        """Return the file of data of each key; none if there is no index, or one of other sources."""
        try:
            content = self.index.read_bytes()
        except FileNotFoundError:
            return {}
        if content.endswith(MARK):
            body, digest = content[: -DIGEST_BYTES - len(MARK)], content[-DIGEST_BYTES - len(MARK) : -len(MARK)]
            if _digest(body) != digest:
                raise Damaged(self.index)
        stream = io.BytesIO(content)
        if pickle.load(stream) != numba.__version__:
            return {}
        try:
            stamp, names = pickle.load(stream)
        except (ImportError, AttributeError):  # a class of NamedTuple arguments has moved since
            return {}
        return names if stamp == stamp_of(self._function) else {}

    def require_whole(self, name: str, content: bytes) -> None:
        """Raise `Damaged` if a file is not what was written."""
        digest = name.removeprefix(f"{self._base}.").removesuffix(".nbc")
        if len(digest) == 2 * DIGEST_BYTES and _digest(content).hex() != digest:
            raise Damaged(self.folder / name)

    def _remove_others(self, names: set[str]) -> None:
        """Remove data of older sources, and what processes left that were ended while they wrote."""
        with suppress(OSError):
            for path in self.folder.glob(f"{glob.escape(self._base)}.*"):
                if path.name not in {self.index.name, *names} and time.time() - path.stat().st_mtime > MINIMUM_AGE:
                    path.unlink()


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=DIGEST_BYTES).digest()


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    beside = path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex[:16]}")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise


@cache
def stamp_of(function: Callable[..., Any]) -> str:
    """Return a hash of all source files of a function and of what compiles it; everything must be imported."""
    digest = hashlib.sha256()
    for path in (*sorted(sources_of(function)), *COMPILERS):
        digest.update(hashlib.sha256(_content(path)).digest())
    return digest.hexdigest()


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

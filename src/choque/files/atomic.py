"""Writing files: whole or not at all, and files that grow while a program runs."""

from __future__ import annotations

import errno
import os
import platform
import re
import secrets
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from choque.errors import ChoqueError, InvalidInput, check_installed

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def beside(path: str | os.PathLike[str], suffix: str | None = None) -> Iterator[Path]:
    """Yield the name of a new file that replaces ``path`` when the block ends without an exception.

    The file is hidden, in the folder of ``path``, and has its suffix, for programs that go by it, or the one given.
    After any exception, ``KeyboardInterrupt`` included, it is removed and ``path`` is unchanged.
    """
    target = writable_target(path)
    # In the folder of the target, because a rename is atomic only within one file system.
    _remove_abandoned(target.parent)
    name = f"{_PREFIX}{_machine()}-{os.getpid()}-{secrets.token_hex(6)}"
    partial = target.with_name(f"{name}{target.suffix if suffix is None else suffix}")
    try:
        yield partial
        partial.replace(target)
    except OSError as problem:
        raise ChoqueError(
            f"The file {path} could not be written: {reason_of(problem)}. Nothing was changed; free some space "
            "or choose another place, and try again."
        ) from problem
    finally:
        partial.unlink(missing_ok=True)


_PREFIX = ".choque-"
_ABANDONED = re.compile(r"\.choque-([0-9a-f]{8})-(\d+)-[0-9a-f]{12}(\..+)?")
"""The name of an unfinished file: the machine and the process that write it."""

_MINIMUM_AGE = 60.0  # seconds since the last change after which an unfinished file of an ended process is removed
_looked_at: set[Path] = set()


def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _remove_abandoned(folder: Path) -> None:
    """Remove unfinished files of processes of this machine that have been killed; once a folder and process."""
    if folder in _looked_at or os.name != "posix":
        return
    _looked_at.add(folder)
    with suppress(OSError):
        for entry in os.scandir(folder):
            found = _ABANDONED.fullmatch(entry.name)
            is_ended = found and found[1] == _machine() and not _is_alive(int(found[2]))
            if is_ended and time.time() - entry.stat().st_mtime > _MINIMUM_AGE:
                os.unlink(entry.path)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # of another user, or no number of a process
        return True
    return True


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a seekable binary handle to a file `beside` ``path``, which it replaces when the block ends well."""
    # Not the suffix of ``path``: a search by suffix must not find unfinished files.
    with beside(path, suffix=".partial") as partial:
        try:
            handle = partial.open("xb")
        except OSError as problem:
            raise InvalidInput(f"The file {path} cannot be written: {reason_of(problem)}.") from problem
        with handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())


def writable_target(path: str | os.PathLike[str]) -> Path:
    """Resolve the links of ``path``; raise `InvalidInput` unless it is absent or a regular file."""
    try:
        target = Path(path).resolve()
        exists = target.exists()
    except (OSError, ValueError, RuntimeError) as problem:
        raise InvalidInput(f"The file {path!r} cannot be written: {problem}.") from problem
    if target.is_symlink():
        raise InvalidInput(f"The file {path} cannot be written: its links lead in a circle.")
    if target.is_dir():
        raise InvalidInput(f"{path} is a folder; give the name of a file in it.")
    if exists and not target.is_file():
        raise InvalidInput(f"{path} is a device or a pipe; give the name of an ordinary file.")
    if not target.parent.is_dir():
        raise InvalidInput(f"The file {path} cannot be written: there is no folder {target.parent}. Make it first.")
    return target


LIBRARIES: dict[str, tuple[str, str, str]] = {
    ".parquet": ("pyarrow", "lab", "Parquet tables"),
    ".nii": ("nibabel", "volumes", "NIfTI files"),
    ".nii.gz": ("nibabel", "volumes", "NIfTI files"),
    ".nrrd": ("nrrd", "volumes", "NRRD files"),
    ".tif": ("tifffile", "volumes", "TIFF stacks"),
    ".tiff": ("tifffile", "volumes", "TIFF stacks"),
}
"""The module that writes files of a suffix, the extra that brings it, and what they are."""


def check_output(path: str | os.PathLike[str]) -> None:
    """Raise if a file cannot be written to ``path``, or not without a library that is missing; before any work."""
    target = writable_target(path)
    for suffix, (module, extra, what) in LIBRARIES.items():
        if target.name.lower().endswith(suffix):
            check_installed(module, extra=extra, purpose=f"to write {what}")


def create_new(path: Path, what: str) -> FileIO:
    """Create a file that grows while a program runs, so that a crash leaves what was written before.

    Recordings and logs are written this way instead of by `replacing`. ``what`` names the content in error messages,
    such as "recording".
    """
    try:
        # Unbuffered: a failed write then raises at its call and leaves nothing to fail later.
        return path.open("xb", buffering=0)
    except FileExistsError as problem:
        raise InvalidInput(f"There is a file {path} already; give the {what} another name.") from problem
    except (OSError, ValueError) as problem:
        raise InvalidInput(f"The {what} {path} cannot be written: {reason_of(problem)}.") from problem


def write_all(handle: FileIO, data: bytes) -> None:
    """Write all of ``data``; the system may accept only a part at a time."""
    left = memoryview(data)
    while left:
        left = left[handle.write(left) :]


def reason_of(problem: OSError | ValueError) -> str:
    """Return the reason of a failed write in a few words."""
    if getattr(problem, "errno", None) in _FULL:
        return "the disk is full"
    return (getattr(problem, "strerror", None) or str(problem) or type(problem).__name__).lower()

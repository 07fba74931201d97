"""Writing that either happens whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from choque.errors import ChoqueError, InvalidInput

_FULL = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def beside(path: str | os.PathLike[str], suffix: str | None = None) -> Iterator[Path]:
    """Give the name of a new file whose content takes the place of ``path`` once the block ends well.

    It lies hidden in the folder of ``path``, which it replaces in one step, and has its suffix, for programs that go
    by it, or the one given. After any exception, ``KeyboardInterrupt`` included, it is removed and ``path`` is as it
    was before.
    """
    target = writable_target(path)
    # Beside the target, because a rename is one step only within one file system.
    partial = target.with_name(f".choque-{secrets.token_hex(6)}{target.suffix if suffix is None else suffix}")
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


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a seekable binary handle to a file `beside` ``path``, whose place it takes once the block ends well."""
    # Not the suffix of ``path``: who lists a folder by suffix must not find what is half written, or was left so.
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
    """Find the file that ``path`` leads to through links, refused unless it is absent or a regular file."""
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


def reason_of(problem: OSError | ValueError) -> str:
    """Why a file cannot be written, in a few words."""
    if getattr(problem, "errno", None) in _FULL:
        return "the disk is full"
    return (getattr(problem, "strerror", None) or str(problem) or type(problem).__name__).lower()

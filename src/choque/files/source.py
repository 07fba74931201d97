"""The first look at a file: whether it is there, may be read, and is what its suffix says."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from choque.errors import ChoqueError, UnreadableFile

HEAD_LENGTH = 4096

_SIGNATURES = (
    (b"\x93NUMPY", "a NumPy array"),
    (b"PK", "a zip archive, such as NumPy's .npz"),
    (b"PAR1", "a Parquet table"),
    (b"\x89HDF", "an HDF5 file"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x80\x04\x95", "a Python pickle"),
    (b"\x89PNG", "a PNG picture"),
    (b"%PDF", "a PDF document"),
    (b"<?xml", "an XML document"),
)


def read_head(path: Path) -> bytes:
    """Read the first bytes of ``path``, or say why it is not a readable file with something in it."""
    try:
        if path.is_dir():
            raise UnreadableFile(f"{path} is a folder; give the name of a file.")
        if path.exists() and not path.is_file():
            raise UnreadableFile(f"{path} is a device or a pipe; give the name of an ordinary file.")
        with path.open("rb") as handle:
            head = handle.read(HEAD_LENGTH)
    except UnreadableFile:
        raise
    except FileNotFoundError as problem:
        raise UnreadableFile(f"There is no file {path}.") from problem
    except PermissionError as problem:
        raise UnreadableFile(f"The file {path} may not be read: permission denied.") from problem
    except (OSError, ValueError) as problem:
        raise UnreadableFile(f"The file {str(path)!r} cannot be read: {problem}.") from problem
    if not head:
        raise UnreadableFile(f"The file {path} is empty.")
    return head


def require_signature(path: Path, signature: bytes, kind: str) -> None:
    """Refuse ``path`` unless it starts with ``signature``, the mark of ``kind`` such as "a Parquet table"."""
    head = read_head(path)
    if not head.startswith(signature):
        raise UnreadableFile(f"The file {path} is not {kind}: it looks like {describe(head)}.")


@contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Turn whatever a parser raises on the bytes of ``path`` into an `UnreadableFile`.

    Parsers that others wrote raise nearly anything on damaged bytes: NumPy, which reads its headers as
    Python code, a tokenizer's errors. Hence every exception, and no warning on the way.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ChoqueError:
        raise
    except Exception as problem:
        reason = next(iter(str(problem).splitlines()), "").rstrip(". ") or type(problem).__name__
        raise UnreadableFile(f"The file {path} is truncated or damaged: {reason}.") from problem


def describe(head: bytes) -> str:
    """Say in a few words what a file that starts with ``head`` looks like."""
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    return "text" if is_text(head) else "binary data of another kind"


def is_text(head: bytes) -> bool:
    """Tell whether ``head`` is UTF-8 without zero bytes; a character cut off at its very end is forgiven."""
    if b"\0" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as problem:
        return problem.reason == "unexpected end of data" and len(head) == HEAD_LENGTH
    return True


def lower_suffix(path: str | os.PathLike[str]) -> str:
    """Give the suffix of ``path`` in small letters, dot included."""
    return Path(path).suffix.lower()

"""The first look at a file: whether it exists, is readable, and is what its suffix says."""

from __future__ import annotations

import os
import warnings
from array import array
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from choque.errors import ChoqueError, UnreadableFile
from choque.files.budget import check_size

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAD_LENGTH = 4096
MAX_LINE = 1 << 20  # longest line of a text file that is read line by line [characters]

DOCUMENT_MEMORY = 40
"""Memory of a parsed document for each byte of its text, at worst: nested tables of short values [bytes]."""

NUMBER_MEMORY = 32
"""Memory for each number gathered from text: eight bytes, while it grows and while it is checked and copied."""

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
    """Return the first bytes of ``path``; raise `UnreadableFile` if it is not a readable, non-empty file."""
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


def read_text(path: Path, what: str) -> str:
    """Return the text of ``path`` (UTF-8); ``what`` describes the content in errors, as in "TOML, which is text".

    The memory that a parser may take for the text is checked first; see `DOCUMENT_MEMORY`.
    """
    require_text(path, what)
    check_size(DOCUMENT_MEMORY * path.stat().st_size, path)
    with naming_damage(path):
        return path.read_text("utf-8-sig")


def text_lines(path: Path, *, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of ``path`` (UTF-8), so that text of any length takes the memory of a line."""
    with path.open(encoding="utf-8-sig", errors=errors) as handle:
        number = 1
        while line := handle.readline(MAX_LINE):
            if len(line) == MAX_LINE:
                raise UnreadableFile(f"{path}, line {number}: the line has more than {MAX_LINE:,} characters.")
            yield line
            number += 1


class Numbers:
    """Numbers gathered from a text file, 8 bytes each; a file of too many is refused while it is read.

    The ``kind`` is "d" for float64, "q" for int64.
    """

    def __init__(self, path: Path, kind: Literal["d", "q"]) -> None:
        self._path = path
        self._values: array[Any] = array(kind)
        self._checked = 0

    def __len__(self) -> int:
        return len(self._values)

    def extend(self, values: Iterable[float]) -> None:
        """Add ``values``."""
        self._values.extend(values)
        if len(self._values) > 2 * self._checked:
            self._checked = len(self._values)
            check_size(NUMBER_MEMORY * len(self._values), self._path)

    def array(self) -> NDArray[Any]:
        """Return the numbers (n,) as an array of their own; they cannot grow any more."""
        import numpy as np

        check_size(NUMBER_MEMORY * len(self._values), self._path)
        return np.frombuffer(self._values or b"", self._values.typecode)


def check_suffix(path: Path, suffix: str, known: Iterable[str], what: str, also: str = "") -> None:
    """Raise `UnreadableFile` unless ``suffix`` is one that is ``known`` for ``what``, such as "meshes"."""
    if suffix not in (suffixes := sorted(known)):
        read_head(path)
        raise UnreadableFile(
            f"The file {path} ends in {suffix!r}; {what} are read from files that end in {', '.join(suffixes)}{also}."
        )


def require_text(path: Path, kind: str) -> bytes:
    """Return the first bytes of ``path``; raise `UnreadableFile` unless they are text, which ``kind`` is."""
    head = read_head(path)
    if not is_text(head):
        raise UnreadableFile(f"The file {path} is not {kind}: it looks like {describe(head)}.")
    return head


def require_signature(path: Path, signature: bytes, kind: str) -> None:
    """Raise `UnreadableFile` unless ``path`` starts with ``signature``, that of ``kind``, such as "a PLY mesh"."""
    head = read_head(path)
    if not head.startswith(signature):
        raise UnreadableFile(f"The file {path} is not {kind}: it looks like {describe(head)}.")


@contextmanager
def naming_damage(path: Path) -> Iterator[None]:
    """Turn any exception of a parser about the content of ``path`` into an `UnreadableFile`; silence its warnings.

    Third-party parsers raise nearly any exception on damaged bytes: NumPy, which reads its headers as Python code,
    raises errors of a tokenizer. Hence every exception is caught.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except ChoqueError:
        raise
    except MemoryError as problem:
        raise UnreadableFile(f"The file {path} needs more memory than this machine has free.") from problem
    except UnicodeDecodeError as problem:
        raise UnreadableFile(f"The file {path} is not text in {problem.encoding.upper()} throughout.") from problem
    except Exception as problem:
        reason = next(iter(str(problem).splitlines()), "").rstrip(". ")
        if isinstance(problem, KeyError):
            reason = f"it has no {reason}"
        elif not reason or isinstance(problem, LookupError | TypeError | AttributeError):  # which are about code
            reason = "something is missing or of another kind than the format asks for"
        raise UnreadableFile(f"The file {path} is truncated or damaged: {reason}.") from problem


def describe(head: bytes) -> str:
    """Describe in a few words what a file that starts with ``head`` looks like."""
    for signature, kind in _SIGNATURES:
        if head.startswith(signature):
            return kind
    return "text" if is_text(head) else "binary data of another kind"


def is_text(head: bytes) -> bool:
    """Return whether ``head`` is UTF-8 without zero bytes; it may end within a character."""
    if b"\0" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as problem:
        return problem.reason == "unexpected end of data" and len(head) == HEAD_LENGTH
    return True


def lower_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of ``path`` in lower case, dot included."""
    return Path(path).suffix.lower()

"""The memory that a reader may allocate for one file: small files can announce, or unpack to, any size."""

from __future__ import annotations

import os
import re
from io import BufferedIOBase
from math import prod
from pathlib import Path
from typing import Any

from choque.errors import InvalidInput, UnreadableFile

VARIABLE = "CHOQUE_READ_LIMIT"  # environment variable that sets the limit, as in ``16G``
DEFAULT_LIMIT = 4 << 30  # limit without the variable [bytes]
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def read_limit() -> int:
    """Return the largest size of what a reader makes from one file [bytes]."""
    text = os.environ.get(VARIABLE, "").strip()
    return byte_count_of(text, VARIABLE) if text else DEFAULT_LIMIT


def byte_count_of(text: str, name: str) -> int:
    """Return the number of bytes that ``text`` names, as in ``16G``, ``500 MiB``; units are binary."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?) *([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if match is None:
        raise InvalidInput(f"{name} is {text!r}; give a number of bytes, such as 16G or 500M.")
    return int(float(match[1]) * _UNITS[match[2].upper()])


def check_size(byte_count: float, path: Path) -> None:
    """Raise `UnreadableFile` if ``path`` would take more memory than a reader may allocate."""
    limit = read_limit()
    if byte_count > limit:
        raise UnreadableFile(
            f"The file {path} takes {in_words(byte_count)} of memory; readers take up to {in_words(limit)}. If the "
            f"file is what you expect, set the environment variable {VARIABLE}, for example to "
            f"{in_words(2 * byte_count).replace(' ', '').removesuffix('iB')}."
        )


def check_array(shape: tuple[int, ...], dtype: Any, path: Path) -> None:
    """Raise `UnreadableFile` if an array in ``path`` would take more memory than a reader may allocate."""
    import numpy as np

    check_size(prod(float(size) for size in shape) * np.dtype(dtype).itemsize, path)


def read_exactly(stream: BufferedIOBase, byte_count: int, path: Path) -> bytes:
    """Return the ``byte_count`` bytes of a packed stream; raise `UnreadableFile` for more, without unpacking them."""
    found = stream.read(byte_count + 1)
    if len(found) != byte_count:
        size = "more" if len(found) > byte_count else f"{len(found):,}"
        raise UnreadableFile(f"The file {path} is damaged: it announces {byte_count:,} bytes and unpacks to {size}.")
    return found


def in_words(byte_count: float) -> str:
    """Return a number of bytes with three digits and a binary unit."""
    for unit in ("T", "G", "M", "K"):
        if byte_count >= _UNITS[unit]:
            return f"{byte_count / _UNITS[unit]:.3g} {unit}iB"
    return f"{byte_count:.0f} bytes"

"""Pairs in a file: the answer of a broad phase."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput, UnknownName
from choque.files import csv_table, numpy_array, parquet_table
from choque.files.source import lower_suffix

COLUMN_NAMES = ["first", "second"]

WRITERS: dict[str, Callable[[Path, NDArray[Any]], None]] = {
    ".npy": numpy_array.write_array,
    ".csv": lambda path, pairs: csv_table.write_table(path, COLUMN_NAMES, pairs),
    ".parquet": lambda path, pairs: parquet_table.write_table(path, COLUMN_NAMES, pairs),
}


def write_pairs(path: str | os.PathLike[str], pairs: ArrayLike) -> None:
    """Write pairs, (m, 2) integers, as an array or as the columns ``first`` and ``second`` of a table."""
    suffix = lower_suffix(path)
    if suffix not in WRITERS:
        raise UnknownName("format for pairs", suffix, WRITERS)
    table = np.asarray(pairs)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise InvalidInput(f"pairs is {table.dtype} of shape {table.shape}; it must be integers of shape (m, 2).")
    WRITERS[suffix](Path(path), table)

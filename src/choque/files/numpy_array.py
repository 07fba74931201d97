"""NumPy's ``.npy``: one array in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.files.atomic import replacing
from choque.files.columns import BoxArrays, FloatArray, boxes_from_table, table_from_boxes
from choque.files.source import naming_damage, require_signature

SIGNATURE = b"\x93NUMPY"


def read_boxes(path: Path) -> BoxArrays:
    """Read boxes from an array of shape (n, 2·d), lower columns first, or (n, 2, d)."""
    require_signature(path, SIGNATURE, "a NumPy array")
    with naming_damage(path):
        # A mapped array is checked against the length of the file before any memory is asked for.
        table = np.load(path, mmap_mode="r", allow_pickle=False)
    return boxes_from_table(table, path)


def write_boxes(path: Path, lower: FloatArray, upper: FloatArray) -> None:
    """Write boxes as one (n, 2·d) array."""
    write_array(path, table_from_boxes(lower, upper))


def write_array(path: Path, array: NDArray[Any]) -> None:
    """Write any plain array, as it is."""
    with replacing(path) as handle:
        np.save(handle, array, allow_pickle=False)

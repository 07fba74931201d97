"""Boxes in a file: one set of bounds, from any of the formats."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from numpy.typing import ArrayLike

from choque.errors import UnknownName, UnreadableFile
from choque.files import aabbs, csv_table, frames, numpy_archive, numpy_array, parquet_table
from choque.files.columns import BoxArrays, FloatArray, checked_boxes
from choque.files.frame_store import checked_frame
from choque.files.source import lower_suffix, read_head

BoxesReader: TypeAlias = Callable[[Path], BoxArrays]
BoxesWriter: TypeAlias = Callable[[Path, FloatArray, FloatArray], None]

READERS: dict[str, BoxesReader] = {
    ".npy": numpy_array.read_boxes,
    ".csv": csv_table.read_boxes,
    ".parquet": parquet_table.read_boxes,
}
"""The formats of a single frame; those of many are in `frames.FORMATS`."""

WRITERS: dict[str, BoxesWriter] = {
    ".npy": numpy_array.write_boxes,
    ".npz": numpy_archive.write_boxes,
    ".csv": csv_table.write_boxes,
    ".parquet": parquet_table.write_boxes,
    ".aabbs": aabbs.write_boxes,
}


def read_boxes(path: str | os.PathLike[str], frame: int = 0) -> BoxArrays:
    """Read lower and upper bounds, each (n, d) and C-contiguous, with d = 2 or 3.

    =============  ======================================================================================
    suffix         content
    =============  ======================================================================================
    ``.npy``       an array (n, 2·d), lower columns first, or (n, 2, d)
    ``.npz``       arrays ``lower`` and ``upper``, (n, d) or (frames, n, d)
    ``.csv``       columns x_lower, y_lower[, z_lower], x_upper, …; or 4 or 6 columns without a header
    ``.parquet``   the same columns
    ``.aabbs``     a Broadmark scene
    =============  ======================================================================================

    float32 and float64 stay what they are, integers become float64; the bounds are not judged here. ``frame``
    chooses one of a moving scene. What cannot be read is a `choque.errors.UnreadableFile` that says why.
    """
    path = Path(path)
    suffix = lower_suffix(path)
    if suffix in frames.FORMATS:
        return frames.open_frames(path).frame(frame)
    if suffix not in READERS:
        read_head(path)
        known = sorted([*READERS, *frames.FORMATS])
        raise UnreadableFile(
            f"The file {path} ends in {suffix!r}; boxes are read from files that end in {', '.join(known)}."
        )
    checked_frame(frame, 1)
    return READERS[suffix](path)


def write_boxes(path: str | os.PathLike[str], lower: ArrayLike, upper: ArrayLike) -> None:
    """Write lower and upper bounds, each (n, d), in the format that the suffix of ``path`` names.

    Reading them back gives the same values; ``.csv`` comes back as float64 and ``.aabbs`` as float32.
    """
    suffix = lower_suffix(path)
    if suffix not in WRITERS:
        raise UnknownName("format for boxes", suffix, WRITERS)
    WRITERS[suffix](Path(path), *checked_boxes(lower, upper))

"""Boxes and pairs in files, by suffix: one set of bounds, many frames of them, and the pairs of a broad phase."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files import aabbs, csv_table, numpy_boxes, parquet_table
from choque.files.box_arrays import BoxArrays, FloatArray, FrameStore, check_boxes, check_frame
from choque.files.source import lower_suffix, read_head

BoxesReader: TypeAlias = Callable[[Path], BoxArrays]
BoxesWriter: TypeAlias = Callable[[Path, FloatArray, FloatArray], None]
FramesWriter: TypeAlias = Callable[[Path, str, int, BoxArrays, Iterable[BoxArrays]], None]
PairsWriter: TypeAlias = Callable[[Path, NDArray[Any]], None]

READERS: dict[str, BoxesReader] = {
    ".npy": numpy_boxes.read_boxes,
    ".csv": csv_table.read_boxes,
    ".parquet": parquet_table.read_boxes,
}
"""Formats of a single frame, by suffix."""

FRAME_FORMATS: dict[str, tuple[Callable[[Path], FrameStore], FramesWriter]] = {
    ".aabbs": (aabbs.open_frames, aabbs.write_frames),
    ".npz": (numpy_boxes.open_frames, numpy_boxes.write_frames),
}
"""Formats of many frames, by suffix."""

WRITERS: dict[str, BoxesWriter] = {
    ".npy": numpy_boxes.write_boxes,
    ".npz": numpy_boxes.write_archive,
    ".csv": csv_table.write_boxes,
    ".parquet": parquet_table.write_boxes,
    ".aabbs": aabbs.write_boxes,
}

PAIR_COLUMNS = ["first", "second"]

PAIR_WRITERS: dict[str, PairsWriter] = {
    ".npy": numpy_boxes.write_array,
    ".csv": lambda path, pairs: csv_table.write_table(path, PAIR_COLUMNS, pairs),
    ".parquet": lambda path, pairs: parquet_table.write_table(path, PAIR_COLUMNS, pairs),
}


def read_boxes(path: str | os.PathLike[str], *, frame: int = 0) -> BoxArrays:
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

    float32 and float64 are kept, integers become float64; the bounds themselves are not checked. ``frame`` selects
    one frame of a moving scene. Raises `choque.errors.UnreadableFile` with the reason.
    """
    path = Path(path)
    suffix = lower_suffix(path)
    if suffix in FRAME_FORMATS:
        return open_boxes(path).frame(frame)
    if suffix not in READERS:
        read_head(path)
        known = sorted([*READERS, *FRAME_FORMATS])
        raise UnreadableFile(
            f"The file {path} ends in {suffix!r}; boxes are read from files that end in {', '.join(known)}."
        )
    check_frame(frame, 1)
    return READERS[suffix](path)


def write_boxes(path: str | os.PathLike[str], lower: ArrayLike, upper: ArrayLike) -> None:
    """Write lower and upper bounds, each (n, d), in the format of the suffix of ``path``.

    Reading returns the same values; ``.csv`` comes back as float64 and ``.aabbs`` as float32.
    """
    suffix = lower_suffix(path)
    if suffix not in WRITERS:
        raise UnknownName("format for boxes", suffix, WRITERS)
    WRITERS[suffix](Path(path), *check_boxes(lower, upper))


def open_boxes(path: str | os.PathLike[str]) -> FrameStore:
    """Map the frames of a Broadmark ``.aabbs`` or a NumPy ``.npz`` file; only requested frames are read."""
    path = Path(path)
    suffix = lower_suffix(path)
    if suffix not in FRAME_FORMATS:
        read_head(path)
        raise UnreadableFile(
            f"The file {path} ends in {suffix!r}; frames are read from files in {' or '.join(FRAME_FORMATS)}."
        )
    return FRAME_FORMATS[suffix][0](path)


def write_frames(
    path: str | os.PathLike[str],
    frames: Iterable[tuple[ArrayLike, ArrayLike]],
    *,
    frame_count: int,
    name: str | None = None,
) -> None:
    """Stream ``frame_count`` frames of (lower, upper), each (n, d), to a file in the format of its suffix.

    No file is left behind when ``frames`` raises, has another length than ``frame_count``, or changes its shape.
    ``name`` is the name of the scene; None for that of the file.
    """
    path = Path(path)
    suffix = lower_suffix(path)
    if suffix not in FRAME_FORMATS:
        raise UnknownName("format for frames", suffix, FRAME_FORMATS)
    coming = _checked_frames(frames, frame_count)
    first = next(coming)
    FRAME_FORMATS[suffix][1](path, path.stem if name is None else name, frame_count, first, chain([first], coming))


def _checked_frames(frames: Iterable[tuple[ArrayLike, ArrayLike]], frame_count: int) -> Iterator[BoxArrays]:
    """Yield the frames as arrays of one shape and type, exactly ``frame_count`` of them, at least one."""
    if frame_count < 1:
        raise InvalidInput(f"frame_count is {frame_count}; a scene has at least one frame.")
    like: BoxArrays | None = None
    seen = 0
    for lower, upper in frames:
        boxes = check_boxes(lower, upper)
        like = like or boxes
        if seen == frame_count:
            raise InvalidInput(f"More than the {frame_count} frames of frame_count were given.")
        if boxes[0].shape != like[0].shape or boxes[0].dtype != like[0].dtype:
            raise InvalidInput(
                f"Frame {seen} is {boxes[0].dtype} of shape {boxes[0].shape}; frame 0 is {like[0].dtype} of "
                f"shape {like[0].shape}, and all frames must be alike."
            )
        seen += 1
        yield boxes
    if seen != frame_count:
        raise InvalidInput(f"Only {seen} of the {frame_count} frames of frame_count were given.")


def write_pairs(path: str | os.PathLike[str], pairs: ArrayLike) -> None:
    """Write pairs, (m, 2) integers, as an array or as the columns ``first`` and ``second`` of a table."""
    suffix = lower_suffix(path)
    if suffix not in PAIR_WRITERS:
        raise UnknownName("format for pairs", suffix, PAIR_WRITERS)
    table = np.asarray(pairs)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise InvalidInput(f"pairs is {table.dtype} of shape {table.shape}; it must be integers of shape (m, 2).")
    PAIR_WRITERS[suffix](Path(path), table)

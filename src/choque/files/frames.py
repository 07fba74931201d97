"""Moving boxes, many frames in a file, read and written one frame at a time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from numpy.typing import ArrayLike

from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files import aabbs, numpy_archive
from choque.files.columns import BoxArrays, checked_boxes
from choque.files.frame_store import FrameStore
from choque.files.source import lower_suffix, read_head

FramesWriter: TypeAlias = Callable[[Path, str, int, BoxArrays, Iterable[BoxArrays]], None]

FORMATS: dict[str, tuple[Callable[[Path], FrameStore], FramesWriter]] = {
    ".aabbs": (aabbs.open_frames, aabbs.write_frames),
    ".npz": (numpy_archive.open_frames, numpy_archive.write_frames),
}


def open_frames(path: str | os.PathLike[str]) -> FrameStore:
    """Map the frames of a Broadmark ``.aabbs`` or a NumPy ``.npz`` file; only what is asked for is read."""
    path = Path(path)
    suffix = lower_suffix(path)
    if suffix not in FORMATS:
        read_head(path)
        raise UnreadableFile(
            f"The file {path} ends in {suffix!r}; frames are read from files in {' or '.join(FORMATS)}."
        )
    return FORMATS[suffix][0](path)


def write_frames(
    path: str | os.PathLike[str],
    frames: Iterable[tuple[ArrayLike, ArrayLike]],
    *,
    frame_count: int,
    name: str | None = None,
) -> None:
    """Write ``frame_count`` frames of (lower, upper), each (n, d), as they come, in the format of the suffix.

    Nothing is left behind when ``frames`` raises, ends early, goes on for too long or changes its shape on
    the way. ``name`` is the scene's; it is the file's own when None.
    """
    path = Path(path)
    suffix = lower_suffix(path)
    if suffix not in FORMATS:
        raise UnknownName("format for frames", suffix, FORMATS)
    coming = _checked_frames(frames, frame_count)
    first = next(coming)
    FORMATS[suffix][1](path, path.stem if name is None else name, frame_count, first, chain([first], coming))


def _checked_frames(frames: Iterable[tuple[ArrayLike, ArrayLike]], frame_count: int) -> Iterator[BoxArrays]:
    """Pass on the frames as arrays of one shape and type, exactly ``frame_count`` of them, at least one."""
    if frame_count < 1:
        raise InvalidInput(f"frame_count is {frame_count}; a scene has at least one frame.")
    like: BoxArrays | None = None
    seen = 0
    for lower, upper in frames:
        boxes = checked_boxes(lower, upper)
        like = like or boxes
        if seen == frame_count:
            raise InvalidInput(f"More than the {frame_count} frames that were promised were given.")
        if boxes[0].shape != like[0].shape or boxes[0].dtype != like[0].dtype:
            raise InvalidInput(
                f"Frame {seen} is {boxes[0].dtype} of shape {boxes[0].shape}; frame 0 is {like[0].dtype} of "
                f"shape {like[0].shape}, and all frames must be alike."
            )
        seen += 1
        yield boxes
    if seen != frame_count:
        raise InvalidInput(f"Only {seen} of the {frame_count} frames that were promised were given.")

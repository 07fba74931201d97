"""Bytes to arrays and back: boxes, moving boxes and pairs, in NumPy, CSV, Parquet and Broadmark files.

A file is read by its suffix and confirmed by its content; whatever is wrong with it becomes one sentence in
a `choque.errors.UnreadableFile`. A file is written beside its target and then takes the target's place, so
that nobody ever meets half a file.
"""

from __future__ import annotations

from choque.files.atomic import replacing
from choque.files.boxes import read_boxes, write_boxes
from choque.files.frame_store import FrameStore
from choque.files.frames import open_frames, write_frames
from choque.files.pairs import write_pairs

__all__ = [
    "FrameStore",
    "open_frames",
    "read_boxes",
    "replacing",
    "write_boxes",
    "write_frames",
    "write_pairs",
]

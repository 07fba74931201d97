"""Broadmark's ``.aabbs``: the frames of a moving scene as flat little-endian float32.

======  =====================================================================================================
offset  content
======  =====================================================================================================
0       the scene's name, 128 bytes, padded with zeros
128     the type of its objects, 128 bytes, padded with zeros
256     int32: number of objects; int32: number of frames after the first one; two int32 zeros
272     the box around the world, 32 bytes
304     for each frame, the start included, a box for each object
======  =====================================================================================================

A box is two vectors, lower then upper, of four floats; the fourth is padding. The format has three axes: a scene in
2D is written with a third axis of [0, 1] and with the object type `FLAT_TYPE`. A scene at rest has one frame, so its
header says 0.

The format is that of Serpa and Rodrigues, "Broadmark: a testing framework for broad-phase collision detection
algorithms", Computer Graphics Forum 39(1), 2020.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Floats
from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.files.box_arrays import BoxArrays, FrameStore
from choque.files.boxes import FrameFormat
from choque.files.source import describe, naming_damage, read_head

SOLID_TYPE = "boxes"
FLAT_TYPE = "boxes-2d"

HEADER = struct.Struct("<128s128siiii8f")
BOX_LENGTH = 32
MAX_BOXES = 2**31 - 1


def open_frames(path: Path) -> FrameStore:
    """Map the frames of ``path``: the start, and as many more as the header says."""
    head = read_head(path)
    length = path.stat().st_size
    if length < HEADER.size:
        raise UnreadableFile(
            f"The file {path} is not a Broadmark scene: it has {length} bytes and the header alone takes {HEADER.size}."
        )
    name, kind, box_count, later_count, *rest = HEADER.unpack(head[: HEADER.size])
    if any(rest[:2]) or box_count < 0 or later_count < 0:
        raise UnreadableFile(f"The file {path} is not a Broadmark scene: it looks like {describe(head)}.")
    needed = HEADER.size + (later_count + 1) * box_count * BOX_LENGTH
    if length != needed:
        raise UnreadableFile(
            f"The file {path} is truncated or not a Broadmark scene: {box_count} objects in "
            f"1 + {later_count} frames take {needed} bytes and it has {length}."
        )
    shape = (later_count + 1, box_count, 2, 4)
    with naming_damage(path):
        boxes = np.memmap(path, dtype="<f4", mode="r", offset=HEADER.size, shape=shape)
    dimension = 2 if _text(kind) == FLAT_TYPE else 3
    return FrameStore(_text(name), boxes[:, :, 0, :dimension], boxes[:, :, 1, :dimension])


def write_frames(path: Path, name: str, frame_count: int, first: BoxArrays, frames: Iterable[BoxArrays]) -> None:
    """Stream ``frame_count`` frames, each like ``first``, with one frame in memory at a time.

    float64 is rounded to the nearest float32: boxes that touch still touch, boxes that nearly touch may begin to.
    """
    box_count, dimension = first[0].shape
    if box_count > MAX_BOXES:
        raise InvalidInput(f"{path} would hold {box_count} boxes; this format holds at most {MAX_BOXES}.")
    kind = FLAT_TYPE if dimension == 2 else SOLID_TYPE
    block = np.zeros((box_count, 2, 4), dtype="<f4")
    block[:, 1, 2] = 1
    world = np.zeros((2, 4), dtype="<f4") if not box_count else np.repeat([[np.inf], [-np.inf]], 4, axis=1)
    with replacing(path) as handle:
        handle.write(bytes(HEADER.size))
        for lower, upper in frames:
            block[:, 0, :dimension] = _narrowed(lower)
            block[:, 1, :dimension] = _narrowed(upper)
            handle.write(block.data)
            if box_count:
                world[0] = np.minimum(world[0], block[:, 0].min(axis=0))
                world[1] = np.maximum(world[1], block[:, 1].max(axis=0))
        # The box around the world is known after the last frame.
        handle.seek(0)
        handle.write(
            HEADER.pack(_padded(name), _padded(kind), box_count, frame_count - 1, 0, 0, *world.ravel().tolist())
        )


AABBS = FrameFormat(open_frames, write_frames)


def _narrowed(values: Floats) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        narrow = values.astype(np.float32)
    if values.dtype != np.float32 and np.any(np.isinf(narrow) & np.isfinite(values)):
        raise InvalidInput("A bound beyond ±3.4e38 does not fit in this format, which is float32; write .npz instead.")
    return narrow


def _padded(text: str) -> bytes:
    encoded = text.encode()
    if len(encoded) > 127 or "\0" in text:
        raise InvalidInput(f"The name {text[:40]!r}… has {len(encoded)} bytes; this format holds 127, without zeros.")
    return encoded


def _text(field: bytes) -> str:
    return field.partition(b"\0")[0].decode("utf-8", errors="replace")

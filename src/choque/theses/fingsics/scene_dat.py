"""The recordings of the Fingsics engine, ``scene.dat``, read and written bit for bit.

    u32 bodies · u32 frames · u32 frames a second
    for each body, 16 bytes: u8 kind (0 sphere, 1 capsule, 2 tile, 3 rocket) · u8 drawn (0 or 255) ·
        u8 red, green, blue · 3 bytes of nothing ·
        f32 radius, or length of a tile · f32 length of a capsule, or width of a tile
    for each body, for each frame: its position, 3 f32
    for each body, for each frame: its rotation matrix by rows, 9 f32

Little-endian, 12 + n(16 + 48 f) bytes. Frames are spread over the whole file, so it is memory-mapped for
reading, and also for writing, a block of frames at a time.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque._core.types import Progress
from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.files.box_arrays import check_frame
from choque.files.source import read_head
from choque.narrow.shapes import CAPSULE, KIND_NAMES, SPHERE, TILE
from choque.record.frames import BodyTable, Frames, Poses, no_hulls
from choque.scene.body_scene import Camera

NAME = "scene.dat"
BODY = np.dtype(
    [("kind", "u1"), ("drawn", "u1"), ("color", "u1", 3), ("nothing", "u1", 3), ("first", "<f4"), ("second", "<f4")]
)
"""The record of a body: 16 bytes."""

ROCKET = 3
KINDS = np.array([SPHERE, CAPSULE, TILE, CAPSULE], np.int8)
"""The kinds of bodies by their numbers in a file."""

BLOCK_BYTES = 1 << 26
"""Bytes of poses that are gathered before they are written."""

_HEAD = struct.Struct("<III")


def file_size(body_count: int, frame_count: int) -> int:
    """Return the length of a file in bytes."""
    return _HEAD.size + body_count * (BODY.itemsize + 48 * frame_count)


class SceneDat:
    """An open ``scene.dat``, memory-mapped: any frame on request.

    Attributes
    ----------
    records
        (n,) records of type `BODY`, unused bytes included, so that writing gives the same file.
    """

    pattern: ClassVar[str] = NAME

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = _file_of(Path(path))
        head = read_head(self.path)
        if len(head) < _HEAD.size:
            raise UnreadableFile(f"The file {self.path} has {len(head)} bytes; a scene.dat has 12 at least.")
        self._body_count, self._frame_count, self._rate = _HEAD.unpack(head[: _HEAD.size])
        size, wanted = self.path.stat().st_size, file_size(self._body_count, self._frame_count)
        if size != wanted:
            raise UnreadableFile(
                f"The file {self.path} has {size:,} bytes; a scene.dat of {self._body_count:,} bodies and "
                f"{self._frame_count:,} frames has {wanted:,}. It is truncated, or of another kind."
            )
        if self._rate == 0 or self._frame_count == 0:
            raise UnreadableFile(
                f"The file {self.path} has {self._frame_count} frames at {self._rate} a second; it must be at least 1 "
                "of each."
            )
        content = np.memmap(self.path, np.uint8, "r")
        poses = _HEAD.size + BODY.itemsize * self._body_count
        self.records: NDArray[Any] = np.array(content[_HEAD.size : poses]).view(BODY)
        turns = poses + 12 * self._body_count * self._frame_count
        shape = (self._body_count, self._frame_count)
        self._position = content[poses:turns].view("<f4").reshape(*shape, 3)
        self._rotation = content[turns:].view("<f4").reshape(*shape, 3, 3)
        if self._body_count and self.records["kind"].max() > ROCKET:
            row = int(np.argmax(self.records["kind"] > ROCKET))
            raise UnreadableFile(
                f"Body {row} of {self.path} is of kind {self.records['kind'][row]}; kinds go from 0 to {ROCKET}."
            )
        self._bodies = _table_of(self.records)

    @property
    def name(self) -> str:
        """The name of its folder, where the engine keeps the name of the scene, or of the file."""
        parent = self.path.resolve().parent.name
        return (parent if self.path.name == NAME and parent else self.path.stem).partition("--")[0]

    @property
    def frame_count(self) -> int:
        """How many frames there are."""
        return int(self._frame_count)

    @property
    def frames_per_second(self) -> float:
        """Frames per second."""
        return float(self._rate)

    @property
    def camera(self) -> Camera:
        """The default camera of the engine; the file holds none."""
        return Camera()

    def bodies(self, index: int = 0) -> BodyTable:
        """Return the bodies."""
        check_frame(index, self.frame_count)
        return self._bodies

    def frame(self, index: int) -> Poses:
        """Return the poses of frame ``index``."""
        check_frame(index, self.frame_count)
        return Poses(
            np.array(self._position[:, index], np.float32, order="C"),
            np.array(self._rotation[:, index], np.float32, order="C"),
        )


def write_scene_dat(path: str | os.PathLike[str], frames: Frames, *, progress: Progress | None = None) -> None:
    """Write ``frames`` to a ``scene.dat``; ``progress`` is called after each block.

    Poses are float32 in both, so nothing is rounded. Convex bodies and grounds, which the format does not have, are
    refused, and so are bodies that were added or removed and a rate that is not a whole number.
    """
    frame_count = frames.frame_count
    if frame_count < 1:
        raise InvalidInput(f"The recording {frames.name!r} has no frames to write.")
    bodies = frames.records if isinstance(frames, SceneDat) else _records_of(frames.bodies(0))
    rate = round(frames.frames_per_second)
    if not np.isclose(rate, frames.frames_per_second) or not 1 <= rate < 2**32:
        raise InvalidInput(
            f"The recording {frames.name!r} has {frames.frames_per_second:g} frames a second; a scene.dat needs a "
            "whole number of them."
        )
    if frame_count >= 2**32 or len(bodies) >= 2**32:
        raise InvalidInput(f"{len(bodies):,} bodies and {frame_count:,} frames are too many for a scene.dat.")
    with replacing(path) as handle:
        handle.write(_HEAD.pack(len(bodies), frame_count, rate) + bodies.tobytes())
        _reserve(handle, file_size(len(bodies), frame_count))
        if len(bodies):
            _write_poses(handle.name, frames, len(bodies), progress)


def _reserve(handle: BinaryIO, size: int) -> None:
    """Make the file ``size`` bytes long, all allocated: a full disk must fail here, not in mapped memory."""
    handle.flush()
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle.fileno(), 0, size)
        return
    zeros = bytes(min(size, BLOCK_BYTES))
    while (left := size - handle.tell()) > 0:
        handle.write(zeros[:left])
    handle.flush()


def _write_poses(path: str, frames: Frames, count: int, progress: Progress | None) -> None:
    """Write the poses in blocks of frames, since every part of the file is visited once for each block."""
    total, start = frames.frame_count, _HEAD.size + BODY.itemsize * count
    position = np.memmap(path, "<f4", "r+", start, (count, total, 3))
    rotation = np.memmap(path, "<f4", "r+", start + 12 * count * total, (count, total, 3, 3))
    bodies = frames.bodies(0)
    block = max(1, BLOCK_BYTES // (48 * count))
    for first in range(0, total, block):
        last = min(first + block, total)
        poses = []
        for index in range(first, last):
            if frames.bodies(index) is not bodies:
                raise InvalidInput(f"Bodies were added or removed at frame {index}; a scene.dat cannot hold that.")
            poses.append(frames.frame(index))
        position[:, first:last] = np.stack([pose.position for pose in poses], axis=1)
        rotation[:, first:last] = np.stack([pose.rotation for pose in poses], axis=1)
        if progress is not None:
            progress(last, total, NAME)
    position.flush()
    rotation.flush()


def _table_of(bodies: NDArray[Any]) -> BodyTable:
    count = len(bodies)
    size = np.zeros((count, 3), np.float32)
    size[:, 0], size[:, 1] = bodies["first"], bodies["second"]
    kind = KINDS[bodies["kind"]]
    size[kind == SPHERE, 1] = 0.0  # the file holds unused bytes there
    return BodyTable(
        ids=np.arange(count, dtype=np.int32),
        kind=kind,
        size=size,
        color=np.array(bodies["color"]),
        drawn=bodies["drawn"] != 0,
        rocket=bodies["kind"] == ROCKET,
        static=kind == TILE,
        hull=np.full(count, -1, np.int32),
        **no_hulls(),
    )


def _records_of(table: BodyTable) -> NDArray[Any]:
    foreign = ~np.isin(table.kind, (SPHERE, CAPSULE, TILE))
    if foreign.any():
        row = int(np.argmax(foreign))
        raise InvalidInput(
            f"Body {int(table.ids[row])} is of kind {KIND_NAMES[table.kind[row]]!r}, which a scene.dat cannot hold; it "
            "knows spheres, capsules and tiles."
        )
    bodies = np.zeros(len(table), BODY)
    bodies["kind"] = np.where(table.rocket, ROCKET, table.kind)
    bodies["drawn"] = np.where(table.drawn, 255, 0)
    bodies["color"] = table.color
    bodies["first"], bodies["second"] = table.size[:, 0], table.size[:, 1]
    return bodies


def _file_of(path: Path) -> Path:
    return path / NAME if path.is_dir() else path

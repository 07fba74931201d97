"""A chunk: consecutive frames of one cast, with the step, time and hash of each, as one block of bytes."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile
from choque.record._poses import BYTES_PER_POSE, Poses32, decode, encode

CHUNK_BYTES = 1 << 26
CHUNK_FRAMES = 60
"""A chunk ends after these many bytes of poses or these many frames, whatever comes first; it has one at least."""

_HEAD = struct.Struct("<QII")
_PER_FRAME = 24


def frames_per_chunk(body_count: int) -> int:
    """How many frames of ``body_count`` bodies go into one chunk."""
    return max(1, min(CHUNK_FRAMES, CHUNK_BYTES // (BYTES_PER_POSE * max(body_count, 1))))


@dataclass(eq=False)
class Chunk:
    """Frames from number ``first`` on.

    ``step`` (the dt that led to a frame) and ``time`` (of the world) are (k,) float64, ``hash`` (k,) uint64,
    ``position`` (k, n, 3) and ``rotation`` (k, n, 3, 3) float32.
    """

    first: int
    segment: int
    step: NDArray[np.float64]
    time: NDArray[np.float64]
    hash: NDArray[np.uint64]
    position: Poses32
    rotation: Poses32

    @classmethod
    def empty(cls, first: int, segment: int, frame_count: int, body_count: int) -> Chunk:
        """Make room for ``frame_count`` frames."""
        return cls(
            first,
            segment,
            np.empty(frame_count),
            np.empty(frame_count),
            np.empty(frame_count, np.uint64),
            np.empty((frame_count, body_count, 3), np.float32),
            np.empty((frame_count, body_count, 3, 3), np.float32),
        )

    def pack(self, frame_count: int) -> bytes:
        """Pack the first ``frame_count`` frames."""
        head = _HEAD.pack(self.first, frame_count, self.segment)
        columns = (self.step.astype("<f8"), self.time.astype("<f8"), self.hash.astype("<u8"))
        poses = encode(self.position[:frame_count], self.rotation[:frame_count])
        return b"".join((head, *(column[:frame_count].tobytes() for column in columns), poses))


@dataclass(frozen=True)
class ChunkHead:
    """What the first bytes of a packed chunk say."""

    first: int
    frame_count: int
    segment: int

    @classmethod
    def read(cls, payload: bytes) -> ChunkHead:
        """Read the head; the claimed number of frames fits into the bytes and into memory."""
        if len(payload) < _HEAD.size:
            raise UnreadableFile("it ends too soon")
        head = cls(*_HEAD.unpack(payload[: _HEAD.size]))
        if not 1 <= head.frame_count <= min(CHUNK_FRAMES, (len(payload) - _HEAD.size) // _PER_FRAME):
            raise UnreadableFile(f"it claims {head.frame_count:,} frames, which is impossible")
        return head


def unpack_columns(payload: bytes) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint64]]:
    """Give steps, times and hashes of a packed chunk without its poses."""
    count = ChunkHead.read(payload).frame_count
    floats = np.frombuffer(payload, "<f8", 2 * count, _HEAD.size).astype(np.float64)
    hashes = np.frombuffer(payload, "<u8", count, _HEAD.size + 16 * count).astype(np.uint64)
    return floats[:count], floats[count:], hashes


def unpack(payload: bytes, body_count: int) -> Chunk:
    """Undo `Chunk.pack`; a claim of more poses than a chunk may have is refused before room is made for them."""
    head = ChunkHead.read(payload)
    if head.frame_count > frames_per_chunk(body_count):
        raise UnreadableFile(f"it claims {head.frame_count:,} frames of {body_count:,} bodies, which is impossible")
    start = _HEAD.size + _PER_FRAME * head.frame_count
    poses = decode(memoryview(payload)[start:], head.frame_count, body_count)
    return Chunk(head.first, head.segment, *unpack_columns(payload), *poses)

"""Chunks: consecutive frames of the same bodies, with the step, time and hash of each, as one block of bytes.

A body that coasts moves by the same step in each frame. So a number is predicted from the two frames before it, and the
difference in units of the last place is stored: floats are numbered in their order, the differences are integers that
wrap, and nothing is rounded. Small differences have zeros in their high bytes, which are gathered into planes of their
own (byte shuffling) and compressed. A body at rest for a whole chunk costs one bit.

Guarantee: ``decode(encode(x)) == x`` in every bit, also of −0.0, infinities and NaN payloads. Time and memory are
linear in the number of poses; working memory is a twelfth of them.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import inline, kernel
from choque._core.types import F32, F64, U8, U32, Integer
from choque.errors import UnreadableFile
from choque.record._blocks import Unpacker, pack

BYTES_PER_POSE = 48  # a position and a rotation matrix of float32: twelve numbers
_BYTE_PLANES = 4
MASK = 0xFFFFFFFF
SIGN = 0x80000000
OTHERS = 0x7FFFFFFF
CHUNK_BYTES = 1 << 26
CHUNK_FRAMES = 60
"""A chunk ends after this many bytes of poses or this many frames, whichever comes first; it has at least one frame."""

_HEAD = struct.Struct("<QII")
_PER_FRAME = 24


def frames_per_chunk(body_count: int) -> int:
    """Return how many frames of ``body_count`` bodies fit into one chunk."""
    return max(1, min(CHUNK_FRAMES, CHUNK_BYTES // (BYTES_PER_POSE * max(body_count, 1))))


@dataclass(eq=False)
class Chunk:
    """Frames from number ``first`` on.

    ``step`` (the dt that led to a frame) and ``time`` (of the world) are (k,) float64, ``hash`` (k,) uint64,
    ``position`` (k, n, 3) and ``rotation`` (k, n, 3, 3) float32.
    """

    first: int
    segment: int
    step: F64
    time: F64
    hash: NDArray[np.uint64]
    position: F32
    rotation: F32

    @classmethod
    def empty(cls, first: int, segment: int, frame_count: int, body_count: int) -> Chunk:
        """Return a chunk for ``frame_count`` frames, not filled yet."""
        columns: Any = [np.empty(frame_count, kind) for kind in (np.float64, np.float64, np.uint64)]
        poses: Any = [np.empty((frame_count, body_count, *shape), np.float32) for shape in ((3,), (3, 3))]
        return cls(first, segment, *columns, *poses)

    def pack(self, frame_count: int) -> bytes:
        """Pack the first ``frame_count`` frames."""
        head = _HEAD.pack(self.first, frame_count, self.segment)
        columns = (self.step.astype("<f8"), self.time.astype("<f8"), self.hash.astype("<u8"))
        poses = encode(self.position[:frame_count], self.rotation[:frame_count])
        return b"".join((head, *(column[:frame_count].tobytes() for column in columns), poses))


@dataclass(frozen=True)
class ChunkHead:
    """The first bytes of a packed chunk."""

    first: int
    frame_count: int
    segment: int

    @classmethod
    def read(cls, payload: bytes) -> ChunkHead:
        """Read the head; refuse a number of frames that cannot fit into the bytes."""
        if len(payload) < _HEAD.size:
            raise UnreadableFile("it ends too soon")
        head = cls(*_HEAD.unpack(payload[: _HEAD.size]))
        if not 1 <= head.frame_count <= min(CHUNK_FRAMES, (len(payload) - _HEAD.size) // _PER_FRAME):
            raise UnreadableFile(f"it claims {head.frame_count:,} frames, which is impossible")
        return head


def unpack_columns(payload: bytes) -> tuple[F64, F64, NDArray[np.uint64]]:
    """Return steps, times and hashes of a packed chunk, without unpacking its poses."""
    count = ChunkHead.read(payload).frame_count
    floats = np.frombuffer(payload, "<f8", 2 * count, _HEAD.size).astype(np.float64)
    hashes = np.frombuffer(payload, "<u8", count, _HEAD.size + 16 * count).astype(np.uint64)
    return floats[:count], floats[count:], hashes


def unpack(payload: bytes, body_count: int) -> Chunk:
    """Undo `Chunk.pack`; refuse more poses than a chunk may have before allocating anything."""
    head = ChunkHead.read(payload)
    if head.frame_count > frames_per_chunk(body_count):
        raise UnreadableFile(f"it claims {head.frame_count:,} frames of {body_count:,} bodies, which is impossible")
    start = _HEAD.size + _PER_FRAME * head.frame_count
    poses = decode(memoryview(payload)[start:], head.frame_count, body_count)
    return Chunk(head.first, head.segment, *unpack_columns(payload), *poses)


def encode(position: F32, rotation: F32) -> bytes:
    """Pack ``position`` (k, n, 3) and ``rotation`` (k, n, 3, 3), k >= 1."""
    frame_count, body_count = position.shape[:2]
    return _encode_numbers(position) + _encode_numbers(rotation.reshape(frame_count, body_count, 9))


def decode(data: bytes | memoryview, frame_count: int, body_count: int) -> tuple[F32, F32]:
    """Undo `encode`: positions (k, n, 3) and rotations (k, n, 3, 3)."""
    source = Unpacker(data)
    position = _decode_numbers(source, frame_count, body_count, 3)
    rotation = _decode_numbers(source, frame_count, body_count, 9)
    source.finish()
    return position, rotation.reshape(frame_count, body_count, 3, 3)


def _encode_numbers(values: F32) -> bytes:
    """Pack (k, n, c) numbers: the first frame, which bodies move after it, and how each of these moves."""
    bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
    moves = np.zeros(bits.shape[1], np.uint8)
    _find_movers(bits, moves)
    movers = np.flatnonzero(moves)
    parts = [pack(_planes(bits[0])), pack(np.packbits(moves))]
    planes = np.empty((_BYTE_PLANES, len(movers) * (len(bits) - 1)), np.uint8)
    for column in range(bits.shape[2]):
        _split_surprises(bits, movers, column, planes)
        parts += [pack(plane) for plane in planes]
    return b"".join(parts)


def _decode_numbers(source: Unpacker, frame_count: int, body_count: int, columns: int) -> F32:
    numbers = body_count * columns
    first = _joined(source.take(_BYTE_PLANES * numbers), numbers).reshape(body_count, columns)
    movers = np.flatnonzero(np.unpackbits(source.take((body_count + 7) // 8), count=body_count))
    bits = np.empty((frame_count, body_count, columns), np.uint32)
    bits[:] = first
    planes = np.empty((_BYTE_PLANES, len(movers) * (frame_count - 1)), np.uint8)
    for column in range(columns):
        for plane in planes:
            plane[:] = source.take(plane.size)
        _join_surprises(bits, movers, column, planes)
    return bits.view(np.float32)


def _planes(numbers: U32) -> U8:
    """Gather the lowest bytes of all ``numbers``, then the next …: (4, count)."""
    flat = np.ascontiguousarray(numbers, dtype="<u4").reshape(-1)
    return np.ascontiguousarray(flat.view(np.uint8).reshape(-1, _BYTE_PLANES).T)


def _joined(planes: U8, count: int) -> U32:
    """Undo `_planes`."""
    return np.ascontiguousarray(planes.reshape(_BYTE_PLANES, count).T).view("<u4").reshape(-1).astype(np.uint32)


@inline
def _numbered(bits: Integer) -> Any:
    """Map the bits of a float to its number in the order of floats, or back."""
    return bits ^ OTHERS if bits & SIGN else bits


@kernel
def _split_surprises(bits: Any, movers: Any, column: Integer, planes: Any) -> None:
    """Write how far each number of ``column`` is from its prediction, byte by byte.

    ``bits`` (k, n, c) uint32 are floats; ``movers`` (m,) int64 the bodies to look at; ``planes`` (4, m · (k − 1))
    uint8 gets the lowest bytes first, all frames of a body together. The prediction repeats the previous step, which
    is 0 for the second frame. Differences of either sign are folded: 0, −1, 1, −2 … to 0, 1, 2, 3 …
    """
    later = bits.shape[0] - 1
    for row in range(movers.size):
        body = movers[row]
        before = _numbered(np.int64(bits[0, body, column]))
        step = np.int64(0)
        place = row * later
        for frame in range(later):
            number = _numbered(np.int64(bits[frame + 1, body, column]))
            moved = (number - before) & MASK
            surprise = (moved - step) & MASK
            folded = ((surprise << 1) & MASK) ^ (MASK if surprise & SIGN else 0)
            planes[0, place] = folded & 255
            planes[1, place] = (folded >> 8) & 255
            planes[2, place] = (folded >> 16) & 255
            planes[3, place] = folded >> 24
            before, step = number, moved
            place += 1


@kernel
def _join_surprises(bits: Any, movers: Any, column: Integer, planes: Any) -> None:
    """Undo `_split_surprises`: fill the frames after the first of ``column`` for the ``movers``."""
    later = bits.shape[0] - 1
    for row in range(movers.size):
        body = movers[row]
        number = _numbered(np.int64(bits[0, body, column]))
        step = np.int64(0)
        place = row * later
        for frame in range(later):
            folded = np.int64(planes[0, place]) | (np.int64(planes[1, place]) << 8)
            folded |= (np.int64(planes[2, place]) << 16) | (np.int64(planes[3, place]) << 24)
            surprise = (folded >> 1) ^ (MASK if folded & 1 else 0)
            step = (step + surprise) & MASK
            number = (number + step) & MASK
            bits[frame + 1, body, column] = _numbered(number)
            place += 1


@kernel
def _find_movers(bits: Any, moves: Any) -> None:
    """Mark in ``moves`` (n,) uint8 which bodies differ in any frame from their first."""
    for frame in range(1, bits.shape[0]):
        for body in range(bits.shape[1]):
            for column in range(bits.shape[2]):
                if bits[frame, body, column] != bits[0, body, column]:
                    moves[body] = 1

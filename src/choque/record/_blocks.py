"""The container of a recording: a mark, blocks with checksums, and an index that can be rebuilt.

    mark (8 bytes) · version u32 · zero u32
    block: kind (4 letters) · CRC-32 of the payload u32 · length of the payload u64 · payload
    …
    tail: mark of the end (8 bytes) · place of the index block u64

Integers are little-endian. The tail is written last; without it, the blocks are found by scanning from head to head, up
to the first that is incomplete. So everything that was written before a run stopped stays readable.

Payloads are compressed: a plane of zeros costs nothing, compressible bytes are deflated, and noise is copied. A table
is a line of JSON and then the bytes of named arrays; reading one executes nothing and allocates no more than its
bytes can hold.
"""

from __future__ import annotations

import json
import math
import os
import struct
import weakref
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.types import U8
from choque.errors import UnreadableFile
from choque.files.atomic import write_all
from choque.files.source import describe, read_head

MARK = b"\x93choque\n"
END_MARK = b"choque\x93\n"
VERSION = 1
HEADER, SEGMENT, FRAMES, INDEX = b"HEAD", b"BODY", b"POSE", b"INDX"
KINDS = (HEADER, SEGMENT, FRAMES, INDEX)
_START = struct.Struct("<8sII")
_BLOCK = struct.Struct("<4sIQ")
_TAIL = struct.Struct("<8sQ")
FIRST_BLOCK = _START.size


@dataclass(frozen=True)
class Block:
    """A block: its kind, the position of its payload, the length and checksum of the payload."""

    kind: bytes
    place: int
    length: int
    checksum: int

    @property
    def start(self) -> int:
        """The position of its head."""
        return self.place - _BLOCK.size

    @property
    def end(self) -> int:
        """The position after its last byte."""
        return self.place + self.length


def write_start(handle: FileIO) -> None:
    """Write the mark and the version."""
    write_all(handle, _START.pack(MARK, VERSION, 0))


def write_block(handle: FileIO, kind: bytes, payload: bytes) -> int:
    """Append a block; return the position of its head."""
    start = handle.tell()
    write_all(handle, _BLOCK.pack(kind, zlib.crc32(payload), len(payload)))
    write_all(handle, payload)
    return start


def write_tail(handle: FileIO, index_start: int) -> None:
    """Write the tail, which marks the recording as complete."""
    write_all(handle, _TAIL.pack(END_MARK, index_start))


class BlockFile:
    """The blocks of a file, read one at a time; every length is checked against the file before anything is read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        head = read_head(self.path)
        if not head.startswith(MARK):
            raise UnreadableFile(f"The file {self.path} is not a recording: it looks like {describe(head)}.")
        if len(head) < _START.size:
            raise UnreadableFile(f"The recording {self.path} ends within its first bytes: nothing was recorded.")
        _, version, zero = _START.unpack(head[: _START.size])
        if version != VERSION or zero != 0:
            raise UnreadableFile(
                f"The recording {self.path} has format version {version}; this version of Choque reads format "
                f"{VERSION}. Read it with the version that wrote it, or record it again."
            )
        self._handle = self.path.open("rb")
        weakref.finalize(self, self._handle.close)  # closing is optional
        self._size = os.fstat(self._handle.fileno()).st_size
        self.surplus = 0  # bytes after the end of the recording; known once the index was looked for

    def close(self) -> None:
        """Close the file."""
        self._handle.close()

    def scan(self) -> Iterator[Block]:
        """Yield all complete blocks from the first, reading their heads only."""
        place = FIRST_BLOCK
        while (block := self.block_at(place)) is not None:
            yield block
            place = block.end

    def block_at(self, start: int) -> Block | None:
        """Return the block whose head is at ``start``; None if there is no complete one."""
        if not FIRST_BLOCK <= start <= self._size - _BLOCK.size:
            return None
        self._handle.seek(start)
        kind, checksum, length = _BLOCK.unpack(self._handle.read(_BLOCK.size))
        place = start + _BLOCK.size
        if kind not in KINDS or length > self._size - place:
            return None
        return Block(kind, place, length, checksum)

    def index_block(self) -> Block | None:
        """Return the index block that the tail points to; None if the recording is not complete.

        The tail is at the end of the file, or after the index if other bytes follow, which `surplus` then counts.
        """
        found = self._index_of_tail(self._size - _TAIL.size)
        if found is None:
            index = next((block for block in self.scan() if block.kind == INDEX), None)
            if index is not None:
                found = self._index_of_tail(index.end)
                self.surplus = 0 if found is None else self._size - index.end - _TAIL.size
        return found

    def _index_of_tail(self, place: int) -> Block | None:
        """Return the index block of the tail at ``place``; None if there is no tail."""
        if not FIRST_BLOCK <= place <= self._size - _TAIL.size:
            return None
        self._handle.seek(place)
        mark, start = _TAIL.unpack(self._handle.read(_TAIL.size))
        block = self.block_at(start) if mark == END_MARK else None
        return block if block is not None and block.kind == INDEX else None

    def read(self, block: Block) -> bytes:
        """Return a payload; raise an error if its checksum is wrong."""
        if self._handle.closed:
            raise UnreadableFile(f"The recording {self.path} is closed; open it again to read from it.")
        self._handle.seek(block.place)
        payload = self._handle.read(block.length)
        if len(payload) != block.length or zlib.crc32(payload) != block.checksum:
            raise UnreadableFile(
                f"The recording {self.path} is damaged at byte {block.place:,}: {block.length:,} bytes of it are not "
                "what was written."
            )
        return payload


ZEROS, PLAIN, DEFLATED = range(3)
LEVEL = 1  # zlib's fastest: higher levels gain a few per cent and cost several times the time
SAMPLE = 1 << 14
WORTHWHILE = 0.92  # a sample that does not shrink below this share is noise, such as the last bits of a measured number
_PLANE = struct.Struct("<BI")


def pack(plane: U8) -> bytes:
    """Pack the bytes of ``plane``, C-contiguous, with a head that names the encoding."""
    if not plane.any():
        return _PLANE.pack(ZEROS, 0)
    flat = plane.reshape(-1)
    if flat.size > 4 * SAMPLE:
        begin = (flat.size - SAMPLE) // 2
        if len(_deflated(flat[begin : begin + SAMPLE])) > WORTHWHILE * SAMPLE:
            return _PLANE.pack(PLAIN, flat.size) + flat.tobytes()
    small = _deflated(flat)
    if len(small) < flat.size:
        return _PLANE.pack(DEFLATED, len(small)) + small
    return _PLANE.pack(PLAIN, flat.size) + flat.tobytes()


def _deflated(flat: U8) -> bytes:
    """Deflate with run lengths and byte frequencies only.

    Prediction errors of poses do not repeat in longer words: searching for them took twice the time and gave more
    bytes.
    """
    engine = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_RLE)
    return engine.compress(flat.data) + engine.flush()


class Unpacker:
    """Takes packed planes off a block of bytes one by one; never allocates more than the size of a plane."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._place = 0

    def take(self, size: int) -> U8:
        """Return the next plane, which must have ``size`` bytes."""
        way, length = _PLANE.unpack(self._bytes(_PLANE.size))
        if way == ZEROS and length == 0:
            return np.zeros(size, np.uint8)
        if way == PLAIN and length == size:
            return np.frombuffer(self._bytes(size), np.uint8)
        if way == DEFLATED and length < size:
            return np.frombuffer(inflated(self._bytes(length), size), np.uint8)
        raise UnreadableFile("its packed bytes are not as long as its head says")

    def finish(self) -> None:
        """Refuse remaining bytes."""
        if self._place != len(self._data):
            raise UnreadableFile("it has more bytes than its head says")

    def _bytes(self, length: int) -> memoryview:
        piece = self._data[self._place : self._place + length]
        if len(piece) != length:
            raise UnreadableFile("it ends too soon")
        self._place += length
        return piece


def inflated(data: bytes | memoryview, size: int) -> bytes:
    """Decompress to exactly ``size`` bytes; never allocate much more than that."""
    engine = zlib.decompressobj()
    try:
        content = engine.decompress(data, size + 1)
    except zlib.error as problem:
        raise UnreadableFile(f"its packed bytes are damaged ({problem})") from problem
    if len(content) != size or not engine.eof:
        raise UnreadableFile("its packed bytes are not as long as its head says")
    return content


TYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64")
MAX_COMPRESSION = 1032  # the largest compression ratio of zlib; a claim beyond it is false
_TABLE = struct.Struct("<IQ")
Arrays = dict[str, NDArray[Any]]


def pack_table(values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Pack plain ``values`` (of JSON types) and ``arrays`` of bools, whole numbers and floats."""
    native = {name: np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    layout = [[name, array.dtype.name, list(array.shape)] for name, array in native.items()]
    text = json.dumps({"values": dict(values), "arrays": layout}, allow_nan=False).encode()
    body = text + b"".join(array.tobytes() for array in native.values())
    return _TABLE.pack(len(text), len(body)) + zlib.compress(body, LEVEL)


def unpack_table(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Undo `pack_table`; errors say what is wrong, and no more is allocated than the bytes can hold."""
    if len(data) < _TABLE.size:
        raise UnreadableFile("it ends too soon")
    text_length, length = _TABLE.unpack(data[: _TABLE.size])
    if text_length > length or length > MAX_COMPRESSION * len(data):
        raise UnreadableFile("its lengths are impossible")
    body = inflated(memoryview(data)[_TABLE.size :], length)
    try:
        content = json.loads(body[:text_length])
        values = dict(content["values"])
        layout = [(str(name), str(kind), shape) for name, kind, shape in content["arrays"]]
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise UnreadableFile("its description is damaged") from problem
    arrays: Arrays = {}
    place = text_length
    for name, kind, shape in layout:
        if kind not in TYPES or not _is_shape(shape):
            raise UnreadableFile(f"its array {name!r} is described as {kind!r} of shape {shape!r}")
        dtype = np.dtype(kind).newbyteorder("<")
        size = math.prod(shape) * dtype.itemsize
        if size > length - place:
            raise UnreadableFile(f"its array {name!r} is longer than what is there")
        flat = np.frombuffer(body, dtype, math.prod(shape), place)
        arrays[name] = flat.reshape(shape).astype(dtype.newbyteorder("="))
        place += size
    if place != length:
        raise UnreadableFile("it has more bytes than it describes")
    return values, arrays


def _is_shape(shape: object) -> bool:
    """Tell whether NumPy accepts it as a shape, and no side exceeds what a file can hold, even beside a side of 0."""
    if not isinstance(shape, list) or len(shape) > 3 or not all(type(side) is int and side >= 0 for side in shape):
        return False
    return int(math.prod(max(side, 1) for side in shape)) < 1 << 48

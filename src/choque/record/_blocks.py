"""The container of a recording: a mark, blocks with checksums, and an index that can be rebuilt.

    mark (8 bytes) · version u32 · zero u32
    block: kind (4 letters) · CRC-32 of the payload u32 · length of the payload u64 · payload
    …
    tail: mark of the end (8 bytes) · place of the index block u64

Integers are little-endian. The tail is written last; without it, the blocks are found by scanning from head to head, up
to the first that is incomplete. So everything that was written before a run stopped stays readable.
"""

from __future__ import annotations

import os
import struct
import weakref
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

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
        """Return the index block that the tail points to; None if the recording is not complete."""
        if self._size < FIRST_BLOCK + _TAIL.size:
            return None
        self._handle.seek(self._size - _TAIL.size)
        mark, start = _TAIL.unpack(self._handle.read(_TAIL.size))
        block = self.block_at(start) if mark == END_MARK else None
        return block if block is not None and block.kind == INDEX else None

    def read(self, block: Block) -> bytes:
        """Return a payload; raise an error if its checksum is wrong."""
        self._handle.seek(block.place)
        payload = self._handle.read(block.length)
        if len(payload) != block.length or zlib.crc32(payload) != block.checksum:
            raise UnreadableFile(
                f"The recording {self.path} is damaged at byte {block.place:,}: {block.length:,} bytes of it are not "
                "what was written."
            )
        return payload

"""Bytes made smaller where that is cheap: nothing for zeros, deflate for what yields, a plain copy for noise."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile

ZEROS, PLAIN, DEFLATED = range(3)
LEVEL = 1
"""zlib's fastest: higher levels gain a few per cent and cost several times the time."""

SAMPLE = 1 << 14
WORTHWHILE = 0.92
"""A sample that does not shrink below this share is noise, such as the last bits of a measured number."""

_HEAD = struct.Struct("<BI")


def pack(plane: NDArray[np.uint8]) -> bytes:
    """Pack the bytes of ``plane``, C-contiguous, with a head that says how."""
    if not plane.any():
        return _HEAD.pack(ZEROS, 0)
    flat = plane.reshape(-1)
    if flat.size > 4 * SAMPLE:
        begin = (flat.size - SAMPLE) // 2
        if len(_deflated(flat[begin : begin + SAMPLE])) > WORTHWHILE * SAMPLE:
            return _HEAD.pack(PLAIN, flat.size) + flat.tobytes()
    small = _deflated(flat)
    if len(small) < flat.size:
        return _HEAD.pack(DEFLATED, len(small)) + small
    return _HEAD.pack(PLAIN, flat.size) + flat.tobytes()


def _deflated(flat: NDArray[np.uint8]) -> bytes:
    """Deflate by runs and the frequencies of bytes alone.

    What is left of poses after prediction does not repeat in longer words: looking for these took twice the time and
    gave more bytes.
    """
    engine = zlib.compressobj(LEVEL, zlib.DEFLATED, zlib.MAX_WBITS, 9, zlib.Z_RLE)
    return engine.compress(flat.data) + engine.flush()


class Unpacker:
    """Takes packed planes off a block of bytes one by one; never gives or allocates more than was asked for."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._data = memoryview(data)
        self._place = 0

    def take(self, size: int) -> NDArray[np.uint8]:
        """Give the next plane, which must be of ``size`` bytes."""
        way, length = _HEAD.unpack(self._bytes(_HEAD.size))
        if way == ZEROS and length == 0:
            return np.zeros(size, np.uint8)
        if way == PLAIN and length == size:
            return np.frombuffer(self._bytes(size), np.uint8)
        if way == DEFLATED and length < size:
            return np.frombuffer(inflated(self._bytes(length), size), np.uint8)
        raise UnreadableFile("its packed bytes are not as long as its head says")

    def finish(self) -> None:
        """Refuse bytes that are left over."""
        if self._place != len(self._data):
            raise UnreadableFile("it has more bytes than its head says")

    def _bytes(self, length: int) -> memoryview:
        piece = self._data[self._place : self._place + length]
        if len(piece) != length:
            raise UnreadableFile("it ends too soon")
        self._place += length
        return piece


def inflated(data: bytes | memoryview, size: int) -> bytes:
    """Undo zlib, refused unless it gives exactly ``size`` bytes; never allocates much more than that."""
    engine = zlib.decompressobj()
    try:
        content = engine.decompress(data, size + 1)
    except zlib.error as problem:
        raise UnreadableFile(f"its packed bytes are damaged ({problem})") from problem
    if len(content) != size or not engine.eof:
        raise UnreadableFile("its packed bytes are not as long as its head says")
    return content

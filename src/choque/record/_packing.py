"""Compressed bytes: planes of poses, and tables of named arrays with a line of JSON that describes them.

A plane of zeros costs nothing, compressible bytes are deflated, and noise is copied. A table is a line of JSON and then
the bytes of each array; reading one executes nothing and allocates no more than its bytes can hold.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections.abc import Mapping
from typing import Any

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
    """Pack the bytes of ``plane``, C-contiguous, with a head that names the encoding."""
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

    def take(self, size: int) -> NDArray[np.uint8]:
        """Return the next plane, which must have ``size`` bytes."""
        way, length = _HEAD.unpack(self._bytes(_HEAD.size))
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
MAX_COMPRESSION = 1032
"""The largest compression ratio of zlib; a claim beyond it is false."""

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
        values, layout = (
            dict(content["values"]),
            [(str(name), str(kind), shape) for name, kind, shape in content["arrays"]],
        )
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

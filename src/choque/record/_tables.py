"""Named arrays as bytes: a line of JSON that says what follows, then the bytes of each array; never code."""

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
from choque.record._planes import LEVEL, inflated

TYPES = ("bool", "int8", "uint8", "int32", "int64", "uint64", "float32", "float64")
LARGEST_SHRINKAGE = 1032
"""zlib cannot make bytes smaller than by this factor, so a claim beyond it is a lie."""

_HEAD = struct.Struct("<IQ")

Arrays = dict[str, NDArray[Any]]


def pack_table(values: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Pack plain ``values`` (what JSON can hold) and ``arrays`` of bools, whole numbers and floats."""
    native = {name: np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    layout = [[name, array.dtype.name, list(array.shape)] for name, array in native.items()]
    text = json.dumps({"values": dict(values), "arrays": layout}, allow_nan=False).encode()
    body = text + b"".join(array.tobytes() for array in native.values())
    return _HEAD.pack(len(text), len(body)) + zlib.compress(body, LEVEL)


def unpack_table(data: bytes) -> tuple[dict[str, Any], Arrays]:
    """Undo `pack_table`; whatever is wrong is named, and no more is allocated than the bytes can hold."""
    if len(data) < _HEAD.size:
        raise UnreadableFile("it ends too soon")
    text_length, length = _HEAD.unpack(data[: _HEAD.size])
    if text_length > length or length > LARGEST_SHRINKAGE * len(data):
        raise UnreadableFile("its lengths are impossible")
    body = inflated(memoryview(data)[_HEAD.size :], length)
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
    """Tell whether NumPy would take it: few sides, none beyond what a file could hold, even beside one of 0."""
    if not isinstance(shape, list) or len(shape) > 3 or not all(type(side) is int and side >= 0 for side in shape):
        return False
    return int(math.prod(max(side, 1) for side in shape)) < 1 << 48

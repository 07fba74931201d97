"""Columns of numbers and texts out of Arrow's C stream, by the C structures themselves: no library of Arrow is needed.

The structures are those of the Arrow C data interface (arrow.apache.org/docs/format/CDataInterface.html). Everything is
copied out of a batch before the batch is released. Missing numbers become NaN.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput

NUMBERS = dict(zip("cCsSiIlLefg", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"], strict=True))
"""NumPy's types by Arrow's letters."""

TEXTS = {"u": np.int32, "U": np.int64, "vu": None}  # types of the offsets of texts; None for views


class HasStream(Protocol):
    """Something that exports Arrow's C stream."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return a capsule with the stream."""


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]


def opened(given: Any) -> Any:
    """Return a dict of columns for what has only Arrow's C stream, which may be read once; others as they are."""
    if isinstance(given, Mapping) or hasattr(given, "columns") or not hasattr(given, "__arrow_c_stream__"):
        return given
    return read_stream(given)


def read_stream(table: HasStream) -> dict[str, NDArray[Any]]:
    """Return the columns of a table by name; those that hold neither numbers nor texts are left out."""
    capsule = table.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = ctypes.cast(pointer(capsule, b"arrow_array_stream"), ctypes.POINTER(_Stream))
    parts: list[list[NDArray[Any]]] = []
    with _filled(_Schema(), stream, "get_schema") as schema:
        if schema.format != b"+s":
            raise InvalidInput("The Arrow stream is no table; it must have columns by name.")
        columns = [schema.children[k].contents for k in range(schema.n_children)]
        formats = [column.format.decode() if not column.dictionary else "" for column in columns]
        places = [k for k, kind in enumerate(formats) if kind in NUMBERS or kind in TEXTS]
        names = [(columns[k].name or b"").decode("utf-8", "replace") for k in places]
        while True:
            with _filled(_Array(), stream, "get_next") as batch:
                if not batch.release:
                    break
                parts.append([_values(batch.children[k].contents, formats[k], batch) for k in places])
    parts = parts or [[np.empty(0, NUMBERS.get(formats[k], np.object_)) for k in places]]
    return {name: np.concatenate(column) for name, column in zip(names, zip(*parts, strict=True), strict=True)}


@contextmanager
def _filled(value: Any, stream: Any, by: str) -> Iterator[Any]:
    """Let a function of the stream fill a structure, and release it in the end."""
    if getattr(stream.contents, by)(stream, ctypes.byref(value)) != 0:
        problem = stream.contents.get_last_error(stream) or b"no reason was given"
        raise InvalidInput(f"The Arrow stream cannot be read: {problem.decode('utf-8', 'replace')}.")
    try:
        yield value
    finally:
        if value.release:
            value.release(ctypes.byref(value))


def _values(array: Any, kind: str, batch: Any) -> NDArray[Any]:
    """Return a copy of a column of a batch; the offset of the batch counts for its columns too."""
    first, count = array.offset + batch.offset, batch.length
    if kind in NUMBERS:
        found = _buffer(array, 1, NUMBERS[kind], first, count).copy()
        has_gaps = array.null_count != 0 and bool(array.buffers[0])
        if not has_gaps:
            return found
        bits = np.unpackbits(_buffer(array, 0, np.uint8, 0, (first + count + 7) // 8), bitorder="little")
        return np.where(bits[first : first + count] == 1, found, np.nan)
    return np.array([each.decode("utf-8", "replace") for each in _texts(array, kind, first, count)], np.object_)


def _texts(array: Any, kind: str, first: int, count: int) -> Iterator[bytes]:
    """Give the texts of a column, one after the other or by views: of up to twelve bytes, or of a place elsewhere."""
    if TEXTS[kind] is not None:
        borders = _buffer(array, 1, TEXTS[kind], first, count + 1).tolist()
        for begin, end in pairwise(borders):
            yield _buffer(array, 2, np.uint8, begin, end - begin).tobytes()
        return
    for place in range(first, first + count):
        length, _, buffer, begin = _buffer(array, 1, np.int32, 4 * place, 4).tolist()
        inside = _buffer(array, 1, np.uint8, 16 * place + 4, min(length, 12))
        yield (inside if length <= 12 else _buffer(array, 2 + buffer, np.uint8, begin, length)).tobytes()


def _buffer(array: Any, number: int, dtype: Any, first: int, count: int) -> NDArray[Any]:
    """Return a view of a buffer."""
    if count == 0:
        return np.empty(0, dtype)
    size = np.dtype(dtype).itemsize
    memory = (ctypes.c_uint8 * (count * size)).from_address(array.buffers[number] + first * size)
    return np.frombuffer(memory, dtype)

"""The Polygon File Format of Stanford: a text header, then vertices and faces as text or in binary."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile
from choque.files.atomic import replacing
from choque.files.meshes import Mesh, check_mesh, fan_rows, fans
from choque.files.source import naming_damage, require_signature

_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
_ENDIAN = {"binary_little_endian": "<", "binary_big_endian": ">"}

Property = tuple[str, str, str]  # name, type, and the type of its length if it is a list
Element = tuple[str, int, list[Property]]


def read(path: Path) -> Mesh:
    """Read positions and faces of a PLY file, text or binary; all other properties are skipped."""
    require_signature(path, b"ply", "a PLY mesh")
    with naming_damage(path):
        stream = BytesIO(path.read_bytes())
        encoding, elements = _header(stream, path)
        vertices, faces = np.empty((0, 3)), np.empty((0, 3), np.int64)
        for name, count, properties in elements:
            columns = [item[0] for item in properties]
            if name == "face" and columns[:1] in (["vertex_indices"], ["vertex_index"]):
                equal = _equal_polygons(stream, encoding, count, properties)
                if equal is not None:
                    faces = fan_rows(equal)
                    continue
            rows = _rows(stream, encoding, count, properties)
            if name == "vertex":
                places = [columns.index(axis) for axis in "xyz"]
                vertices = np.array([[row[place] for place in places] for row in rows], np.float64).reshape(-1, 3)
            elif name == "face":
                place = next(at for at, column in enumerate(columns) if column in ("vertex_indices", "vertex_index"))
                faces = fans([[int(corner) for corner in row[place]] for row in rows])
        return check_mesh(vertices, faces, UnreadableFile, f"The file {path}")


def _header(stream: BinaryIO, path: Path) -> tuple[str, list[Element]]:
    encoding, elements = "", list[Element]()
    for line in iter(stream.readline, b""):
        words = line.decode("ascii").split()
        if words[:1] == ["format"]:
            encoding = words[1]
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:2] == ["property", "list"]:
            elements[-1][2].append((words[4], _TYPES[words[3]], _TYPES[words[2]]))
        elif words[:1] == ["property"]:
            elements[-1][2].append((words[2], _TYPES[words[1]], ""))
        elif words[:1] == ["end_header"]:
            return encoding, elements
    raise UnreadableFile(f"The file {path} is truncated: its header does not end.")


def _rows(stream: BinaryIO, encoding: str, count: int, properties: list[Property]) -> list[list[Any]]:
    """The values of one element, row by row; lists are nested."""
    if not properties:
        return []
    _check_count(stream, encoding, count, properties)
    if encoding == "ascii":
        return [_text_row(stream.readline().split(), properties) for _ in range(count)]
    mark = _ENDIAN[encoding]
    if not any(length for _, _, length in properties):
        record = np.dtype([(f"c{at}", mark + kind) for at, (_, kind, _) in enumerate(properties)])
        return [list(row) for row in np.frombuffer(_take(stream, count * record.itemsize), record).tolist()]
    rows = []
    for _ in range(count):
        row: list[Any] = []
        for _, kind, length in properties:
            size = int(_numbers(stream, mark + length, 1)[0]) if length else 1
            values = _numbers(stream, mark + kind, size).tolist()
            row.append(values if length else values[0])
        rows.append(row)
    return rows


def _check_count(stream: BinaryIO, encoding: str, count: int, properties: list[Property]) -> None:
    """Refuse more rows than the rest of the file can hold, before any of them is read."""
    if encoding == "ascii":
        shortest = 2 * len(properties)  # a digit and a blank or the end of the line
    else:
        shortest = sum(np.dtype(length or kind).itemsize for _, kind, length in properties)
    start = stream.tell()
    left = stream.seek(0, 2) - start
    stream.seek(start)
    if not 0 <= count * shortest <= left + 1:
        raise EOFError(f"it announces {count:,} rows, and {left:,} bytes are left for them")


def _equal_polygons(
    stream: BinaryIO, encoding: str, count: int, properties: list[Property]
) -> NDArray[np.int64] | None:
    """Return binary faces (count, k) at once if each is one list of equal length; None, without reading, if not."""
    start = stream.tell()
    if encoding == "ascii" or count == 0 or len(properties) != 1 or not properties[0][2]:
        return None
    _check_count(stream, encoding, count, properties)
    mark, (_, kind, length) = _ENDIAN[encoding], properties[0]
    size = int(_numbers(stream, mark + length, 1)[0])
    stream.seek(start)
    record = np.dtype([("count", mark + length), ("corners", mark + kind, (size,))])
    data = stream.read(count * record.itemsize)
    if size >= 3 and len(data) == count * record.itemsize:
        rows = np.frombuffer(data, record)
        if (rows["count"] == size).all():
            return np.asarray(rows["corners"], np.int64)
    stream.seek(start)
    return None


def _text_row(words: list[bytes], properties: list[Property]) -> list[Any]:
    row: list[Any] = []
    at = 0
    for _, kind, length in properties:
        size = int(words[at]) if length else 1
        at += 1 if length else 0
        values = [float(word) if kind[0] == "f" else int(word) for word in words[at : at + size]]
        if len(values) < size:
            raise EOFError("a row ends too early")
        at += size
        row.append(values if length else values[0])
    return row


def _numbers(stream: BinaryIO, kind: str, count: int) -> NDArray[np.generic]:
    dtype = np.dtype(kind)
    return np.frombuffer(_take(stream, count * dtype.itemsize), dtype)


def _take(stream: BinaryIO, size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the data end too early")
    return data


def write(path: Path, vertices: NDArray[np.float64], faces: NDArray[np.int64]) -> None:
    """Write little-endian binary PLY; reading it gives the same floats back."""
    rows = np.zeros(len(faces), np.dtype([("count", "u1"), ("corners", "<i4", 3)]))
    rows["count"], rows["corners"] = 3, faces
    with replacing(path) as handle:
        handle.write(
            f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\nproperty double x\n"
            f"property double y\nproperty double z\nelement face {len(faces)}\n"
            "property list uchar int vertex_indices\nend_header\n".encode()
        )
        handle.write(vertices.astype("<f8").tobytes())
        handle.write(rows.tobytes())

"""The Polygon File Format of Stanford: a text header, then vertices and faces as text or in binary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from choque._core.types import F64, I64, U8
from choque.errors import UnreadableFile
from choque.files.atomic import replacing
from choque.files.budget import check_size
from choque.files.meshes import MeshArrays, check_mesh, fans
from choque.files.source import MAX_LINE, NUMBER_MEMORY, Numbers, require_signature

_KINDS = ("i1", "u1", "i2", "u2", "i4", "u4", "f4", "f8")
_TYPES = {
    **dict(zip(("char", "uchar", "short", "ushort", "int", "uint", "float", "double"), _KINDS, strict=True)),
    **{np.dtype(kind).name: kind for kind in _KINDS},  # int8, uint8, …
}
_ENDIAN = {"binary_little_endian": "<", "binary_big_endian": ">"}
Property = tuple[str, str, str]  # name, type, and the type of its length if it is a list
Element = tuple[str, int, list[Property]]


def read(path: Path) -> MeshArrays:
    """Read positions and faces of a PLY file, text or binary; all other properties are skipped."""
    require_signature(path, b"ply", "a PLY mesh")
    with path.open("rb") as stream:
        encoding, elements = _header(stream, path)
        vertices, faces = np.empty((0, 3)), np.empty((0, 3), np.int64)
        for name, count, properties in elements:
            _check_count(stream, encoding, count, properties)
            element = _Element(path, stream, encoding, count, properties)
            if name == "vertex":
                vertices = element.positions()
            elif name == "face":
                faces = element.triangles()
            else:
                for _ in element.rows():
                    pass
        return check_mesh(vertices, faces, UnreadableFile, f"The file {path}")


def _header(stream: BinaryIO, path: Path) -> tuple[str, list[Element]]:
    encoding, elements = "", list[Element]()
    while line := stream.readline(MAX_LINE):
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


@dataclass(frozen=True)
class _Element:
    """The rows of one element, of which nothing is read yet."""

    path: Path
    stream: BinaryIO
    encoding: str
    count: int
    properties: list[Property]

    def positions(self) -> F64:
        """Read x, y, z of each row (n, 3)."""
        names = [item[0] for item in self.properties]
        places = [names.index(axis) for axis in "xyz"]
        if self.encoding != "ascii" and not any(length for _, _, length in self.properties):
            mark = _ENDIAN[self.encoding]
            record = np.dtype([(f"c{at}", mark + kind) for at, (_, kind, _) in enumerate(self.properties)])
            check_size(self.count * (record.itemsize + 3 * NUMBER_MEMORY), self.path)
            rows = np.frombuffer(_take(self.stream, self.count * record.itemsize), record)
            return np.stack([rows[f"c{place}"].astype(np.float64) for place in places], axis=1)
        numbers = Numbers(self.path, "d")
        for row in self.rows():
            numbers.extend(row[place] for place in places)
        return numbers.array().reshape(-1, 3)

    def triangles(self) -> I64:
        """Read the lists of corners, and split them into triangles (m, 3)."""
        names = [item[0] for item in self.properties]
        place = next(at for at, name in enumerate(names) if name in ("vertex_indices", "vertex_index"))
        equal = self._equal_polygons() if len(names) == 1 else None
        if equal is not None:
            return fans(equal.reshape(-1), np.full(len(equal), equal.shape[1]))
        corners, sizes = Numbers(self.path, "q"), Numbers(self.path, "q")
        for row in self.rows():
            corners.extend(int(corner) for corner in row[place])
            sizes.extend([len(row[place])])
        return fans(corners.array(), sizes.array())

    def rows(self) -> Iterator[list[Any]]:
        """Yield the values of each row; lists are nested."""
        stream, properties = self.stream, self.properties
        if not properties:
            return
        if self.encoding == "ascii":
            for _ in range(self.count):
                yield _text_row(stream.readline(MAX_LINE).split(), properties)
            return
        mark = _ENDIAN[self.encoding]
        for _ in range(self.count):
            row: list[Any] = []
            for _, kind, length in properties:
                size = int(_numbers(stream, mark + length, 1)[0]) if length else 1
                values = _numbers(stream, mark + kind, size).tolist()
                row.append(values if length else values[0])
            yield row

    def _equal_polygons(self) -> I64 | None:
        """Return binary faces (count, k) at once if all lists have one length; None, without reading, if not."""
        stream, (_, kind, length) = self.stream, self.properties[0]
        if self.encoding == "ascii" or self.count == 0 or not length:
            return None
        start, mark = stream.tell(), _ENDIAN[self.encoding]
        size = int(_numbers(stream, mark + length, 1)[0])
        stream.seek(start)
        if size < 3:
            return None
        record = np.dtype([("count", mark + length), ("corners", mark + kind, (size,))])
        if self.count * record.itemsize > _bytes_left(stream):
            return None
        check_size(self.count * (record.itemsize + (3 * size - 6) * NUMBER_MEMORY), self.path)
        rows = np.frombuffer(_take(stream, self.count * record.itemsize), record)
        if (rows["count"] == size).all():
            return np.asarray(rows["corners"], np.int64)
        stream.seek(start)
        return None


def _check_count(stream: BinaryIO, encoding: str, count: int, properties: list[Property]) -> None:
    """Refuse more rows than the rest of the file can hold, before any of them is read."""
    if encoding == "ascii":
        shortest = 2 * len(properties)  # a digit and a blank or the end of the line
    else:
        shortest = sum(np.dtype(length or kind).itemsize for _, kind, length in properties)
    left = _bytes_left(stream)
    if not 0 <= count * shortest <= left + 1:
        raise EOFError(f"it announces {count:,} rows, and {left:,} bytes are left for them")


def _bytes_left(stream: BinaryIO) -> int:
    start = stream.tell()
    end = stream.seek(0, 2)
    stream.seek(start)
    return end - start


def _text_row(words: list[bytes], properties: list[Property]) -> list[Any]:
    row: list[Any] = []
    at = 0
    for _, kind, length in properties:
        size = int(words[at]) if length else 1
        at += 1 if length else 0
        values = [float(word) if kind[0] == "f" else int(word) for word in words[at : at + size]]
        if not 0 <= size <= len(values):
            raise EOFError("a row ends too early")
        at += size
        row.append(values if length else values[0])
    return row


def _numbers(stream: BinaryIO, kind: str, count: int) -> NDArray[np.generic]:
    dtype = np.dtype(kind)
    return np.frombuffer(_take(stream, count * dtype.itemsize), dtype)


def _take(stream: BinaryIO, size: int) -> bytes:
    # Negative sizes would read the whole file, and large ones are allocated before anything is read.
    if size < 0 or (size > MAX_LINE and size > _bytes_left(stream)):
        raise EOFError("the data end too early")
    data = stream.read(size)
    if len(data) < size:
        raise EOFError("the data end too early")
    return data


def write(path: Path, vertices: F64, faces: I64, colors: U8 | None = None) -> None:
    """Write little-endian binary PLY, with colors (n, 3) of the vertices if given; reading it gives the same floats."""
    points = np.zeros(len(vertices), np.dtype([("place", "<f8", 3), ("color", "u1", 3 if colors is not None else 0)]))
    points["place"] = vertices
    names = ""
    if colors is not None:
        points["color"] = colors
        names = "".join(f"property uchar {name}\n" for name in ("red", "green", "blue"))
    rows = np.zeros(len(faces), np.dtype([("count", "u1"), ("corners", "<i4", 3)]))
    rows["count"], rows["corners"] = 3, faces
    with replacing(path) as handle:
        handle.write(
            f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\nproperty double x\n"
            f"property double y\nproperty double z\n{names}element face {len(faces)}\n"
            "property list uchar int vertex_indices\nend_header\n".encode()
        )
        handle.write(points.tobytes())
        handle.write(rows.tobytes())

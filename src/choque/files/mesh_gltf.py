"""glTF 2.0: a tree of nodes with meshes, as JSON beside its buffers (.gltf) or in one file (.glb).

Positions and triangles of the scene are read, each node in its place; materials and animations are left out.
"""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from choque._core.types import F64, I64
from choque.errors import UnreadableFile
from choque.files.budget import check_size
from choque.files.meshes import MeshArrays, check_mesh
from choque.files.source import DOCUMENT_MEMORY, read_head

_TYPES = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}  # component types of indices and positions
_WIDTHS = {"SCALAR": 1, "VEC3": 3}
_JSON, _BINARY = 0x4E4F534A, 0x004E4942
_DEEPEST = 200  # nodes on the way from a root to a leaf


def read(path: Path) -> MeshArrays:
    """Read the triangles of the scene of a glTF file, in the coordinates of the scene."""
    head = read_head(path)
    check_size(2 * path.stat().st_size, path)
    data = path.read_bytes()
    text, binary = _chunks(data, path) if head.startswith(b"glTF") else (data, b"")
    check_size(DOCUMENT_MEMORY * len(text) + len(data), path)
    return _Document(path, json.loads(text), binary).mesh()


def _chunks(data: bytes, path: Path) -> tuple[bytes, bytes]:
    """Return the JSON and the binary chunk of a .glb file."""
    _, version, length = struct.unpack_from("<4sII", data)
    if version != 2:
        raise UnreadableFile(f"The file {path} is glTF {version}; version 2 is read.")
    if length > len(data):
        raise UnreadableFile(f"The file {path} is truncated: it announces {length:,} bytes and holds {len(data):,}.")
    found, place = {_JSON: b"", _BINARY: b""}, 12
    while place + 8 <= length:
        size, kind = struct.unpack_from("<II", data, place)
        if place + 8 + size > length:
            raise UnreadableFile(f"The file {path} is truncated: a chunk of {size:,} bytes ends behind the file.")
        if not found.get(kind, b"full"):
            found[kind] = data[place + 8 : place + 8 + size]
        place += 8 + size
    return found[_JSON], found[_BINARY]


class _Document:
    """The JSON of a file, and what it refers to."""

    def __init__(self, path: Path, content: Any, binary: bytes) -> None:
        self._path, self._content, self._binary = path, content, binary
        if not isinstance(content, dict) or "asset" not in content:
            raise UnreadableFile(f"The file {path} is not glTF: its JSON has no asset.")
        needed = [name for name in content.get("extensionsRequired", []) if "compression" in name or "draco" in name]
        if needed:
            raise UnreadableFile(f"The file {path} is compressed by {needed[0]}, which is not read; save it without.")
        self._buffers: dict[int, bytes] = {}
        self._points: list[F64] = []
        self._faces: list[I64] = []
        self._count = self._bytes = 0

    def mesh(self) -> MeshArrays:
        """Return all triangles of the scene; of all nodes without a parent if there is no scene."""
        nodes = self._content.get("nodes", [])
        scenes = self._content.get("scenes", [])
        if scenes:
            roots = scenes[self._content.get("scene", 0)].get("nodes", [])
        else:
            roots = sorted(set(range(len(nodes))) - {child for node in nodes for child in node.get("children", [])})
        stack = [(number, np.eye(4), 0) for number in reversed(roots)]
        while stack:
            number, above, depth = stack.pop()
            if depth > _DEEPEST:
                raise UnreadableFile(f"The file {self._path} has nodes more than {_DEEPEST} deep, or in a circle.")
            here = above @ _matrix(nodes[number])
            if "mesh" in nodes[number]:
                self._add(self._content["meshes"][nodes[number]["mesh"]], here)
            children = nodes[number].get("children", [])
            self._charge(200 * len(children))
            stack += [(child, here, depth + 1) for child in reversed(children)]
        points = np.concatenate([np.empty((0, 3)), *self._points])
        faces = np.concatenate([np.empty((0, 3), np.int64), *self._faces])
        return check_mesh(points, faces, UnreadableFile, f"The file {self._path}")

    def _charge(self, byte_count: int) -> None:
        """Count memory: a mesh may have a place in any number of nodes."""
        self._bytes += byte_count
        check_size(self._bytes, self._path)

    def _add(self, mesh: Any, matrix: F64) -> None:
        for part in mesh["primitives"]:
            mode = part.get("mode", 4)
            if mode not in (4, 5, 6):
                continue  # points and lines
            points = self._array(part["attributes"]["POSITION"], "VEC3").astype(np.float64)
            if "indices" in part:
                corners = self._array(part["indices"], "SCALAR").astype(np.int64).reshape(-1)
            else:
                corners = np.arange(len(points))
            if mode == 4:
                faces = corners[: len(corners) // 3 * 3].reshape(-1, 3)
            else:
                last = np.arange(2, max(len(corners), 2))
                first = last - 2 if mode == 5 else np.zeros_like(last)  # a strip, or a fan
                faces = np.stack((corners[first], corners[last - 1], corners[last]), axis=1)
                if mode == 5:
                    faces[1::2] = faces[1::2, [1, 0, 2]]
            check_mesh(points, faces, UnreadableFile, f"The file {self._path}")
            if np.linalg.det(matrix[:3, :3]) < 0:
                faces = faces[:, ::-1]
            self._charge(48 * len(points) + 48 * len(faces))
            self._points.append(points @ matrix[:3, :3].T + matrix[:3, 3])
            self._faces.append(faces + self._count)
            self._count += len(points)

    def _array(self, number: int, kind: str) -> NDArray[Any]:
        """Return the rows of an accessor."""
        accessor = self._content["accessors"][number]
        if "sparse" in accessor or "bufferView" not in accessor:
            raise UnreadableFile(f"The file {self._path} has sparse accessors, which are not read; save it without.")
        if accessor["type"] != kind or accessor["componentType"] not in _TYPES:
            raise UnreadableFile(
                f"The file {self._path} has {accessor['type']} of component type {accessor['componentType']} where "
                f"{kind} is needed."
            )
        view = self._content["bufferViews"][accessor["bufferView"]]
        buffer = self._buffer(view.get("buffer", 0))
        dtype, width, count = np.dtype(_TYPES[accessor["componentType"]]), _WIDTHS[kind], int(accessor["count"])
        stride = int(view.get("byteStride", width * dtype.itemsize))
        begin = int(view.get("byteOffset", 0)) + int(accessor.get("byteOffset", 0))
        end = begin + max(count - 1, 0) * stride + width * dtype.itemsize if count else begin
        if not (0 <= begin <= end <= len(buffer) and stride >= width * dtype.itemsize):
            raise UnreadableFile(
                f"The file {self._path} announces {count:,} values that need {end:,} bytes of a buffer; it has "
                f"{len(buffer):,}."
            )
        return np.ndarray((count, width), dtype, buffer, begin, (stride, dtype.itemsize))

    def _buffer(self, number: int) -> bytes:
        if number not in self._buffers:
            self._buffers[number] = self._read_buffer(number)
        return self._buffers[number]

    def _read_buffer(self, number: int) -> bytes:
        uri = self._content["buffers"][number].get("uri")
        if uri is None:
            return self._binary
        if uri.startswith("data:"):
            return base64.b64decode(uri.partition(",")[2])
        folder = self._path.parent.resolve()
        other = (folder / unquote(uri)).resolve()
        if "://" in uri or not other.is_relative_to(folder) or not other.is_file():
            raise UnreadableFile(f"The file {self._path} refers to {uri!r}; buffers are files in its own folder.")
        self._charge(other.stat().st_size)
        return other.read_bytes()


def _matrix(node: Any) -> F64:
    """Return the matrix (4, 4) of a node."""
    if "matrix" in node:
        return np.array(node["matrix"], np.float64).reshape(4, 4).T
    x, y, z, w = np.array(node.get("rotation", (0, 0, 0, 1)), np.float64)
    turn = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    matrix = np.eye(4)
    matrix[:3, :3] = np.array(turn) * np.array(node.get("scale", (1, 1, 1)), np.float64)
    matrix[:3, 3] = node.get("translation", (0, 0, 0))
    return matrix

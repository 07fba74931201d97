"""3MF: parts to be printed, as XML in a zip archive. The items to be built are read, each in its place."""

from __future__ import annotations

import zipfile
from pathlib import Path
from xml.parsers import expat

import numpy as np

from choque._core.types import F64
from choque.errors import UnreadableFile
from choque.files.budget import check_size, read_limit
from choque.files.meshes import MeshArrays, check_mesh
from choque.files.source import Numbers, require_signature

_CHUNK = 1 << 16
_DEEPEST = 50  # components within components


def read(path: Path) -> MeshArrays:
    """Read the triangles of all items to be built, in the unit of the file."""
    require_signature(path, b"PK", "a 3MF file")
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if name.lower().endswith(".model")]
        if not names:
            raise UnreadableFile(f"The file {path} is not 3MF: the archive has no .model file.")
        name = min(names, key=lambda each: (each.lower() != "3d/3dmodel.model", each))
        model = _Model(path)
        with archive.open(name) as stream:
            total = 0
            while chunk := stream.read(_CHUNK):
                total += len(chunk)
                if total > read_limit():
                    check_size(archive.getinfo(name).file_size or total, path)
                    check_size(total, path)
                model.feed(chunk)
        return model.mesh()


class _Model:
    """A parser of the model: meshes and components by the id of their object, and what is built."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._meshes: dict[str, tuple[Numbers, Numbers]] = {}
        self._components: dict[str, list[tuple[str, F64]]] = {}
        self._items: list[tuple[str, F64]] = []
        self._object = ""
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.StartDoctypeDeclHandler = self._refuse  # entities could grow without bounds

    def feed(self, chunk: bytes) -> None:
        """Parse a part of the text."""
        self._parser.Parse(chunk, False)

    def _refuse(self, *_: object) -> None:
        raise UnreadableFile(f"The file {self._path} defines a document type, which a 3MF file must not.")

    def _start(self, name: str, given: dict[str, str]) -> None:
        tag = name.rpartition(" ")[2]
        if tag == "vertex":
            self._meshes[self._object][0].extend([float(given["x"]), float(given["y"]), float(given["z"])])
        elif tag == "triangle":
            self._meshes[self._object][1].extend([int(given["v1"]), int(given["v2"]), int(given["v3"])])
        elif tag == "object":
            self._object = given["id"]
        elif tag == "mesh":
            self._meshes[self._object] = Numbers(self._path, "d"), Numbers(self._path, "q")
        elif tag in ("component", "item"):
            if any(key.endswith(" path") for key in given):
                raise UnreadableFile(f"The file {self._path} has objects in other model files, which are not read.")
            matrix = given.get("transform", "1 0 0 0 1 0 0 0 1 0 0 0").split()
            place = given["objectid"], np.array(matrix, np.float64).reshape(4, 3)  # for row vectors
            if tag == "item":
                self._items.append(place)
            else:
                self._components.setdefault(self._object, []).append(place)

    def mesh(self) -> MeshArrays:
        """Return all triangles that are built."""
        self._parser.Parse(b"", True)
        ready: dict[str, MeshArrays] = {}
        points, faces, count, size = [np.empty((0, 3))], [np.empty((0, 3), np.int64)], 0, 0
        stack = [(number, matrix, 0) for number, matrix in reversed(self._items)]
        while stack:
            number, above, depth = stack.pop()
            if depth > _DEEPEST:
                raise UnreadableFile(f"The file {self._path} has components more than {_DEEPEST} deep, or in a circle.")
            parts = self._components.get(number, [])
            if number in self._meshes:
                if number not in ready:
                    own, corners = (each.array().reshape(-1, 3) for each in self._meshes[number])
                    ready[number] = check_mesh(own, corners, UnreadableFile, f"The file {self._path}")
                own, corners = ready[number]
                points.append(own @ above[:3] + above[3])
                faces.append((corners[:, ::-1] if np.linalg.det(above[:3]) < 0 else corners) + count)
                count += len(own)
                size += 48 * (len(own) + len(corners))
            elif not parts:
                raise UnreadableFile(f"The file {self._path} builds the object {number!r}, which it does not have.")
            size += 200 * len(parts)
            check_size(size, self._path)  # an object may be built any number of times
            for part, matrix in reversed(parts):
                stack.append((part, np.vstack((matrix[:3] @ above[:3], matrix[3] @ above[:3] + above[3])), depth + 1))
        return check_mesh(np.concatenate(points), np.concatenate(faces), UnreadableFile, f"The file {self._path}")

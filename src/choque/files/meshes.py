"""Triangle meshes in files: OFF, STL, OBJ and PLY to arrays, and arrays to OFF, STL and PLY."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput, UnknownName, UnreadableFile
from choque.files import mesh_obj, mesh_off, mesh_ply, mesh_stl
from choque.files.mesh_arrays import Mesh, check_mesh
from choque.files.source import lower_suffix, read_head

Reader: TypeAlias = Callable[[Path], Mesh]
Writer: TypeAlias = Callable[[Path, NDArray[np.float64], NDArray[np.int64]], None]

READERS: dict[str, Reader] = {
    ".off": mesh_off.read,
    ".stl": mesh_stl.read,
    ".obj": mesh_obj.read,
    ".ply": mesh_ply.read,
}
WRITERS: dict[str, Writer] = {".off": mesh_off.write, ".stl": mesh_stl.write, ".ply": mesh_ply.write}


def read_mesh(path: str | os.PathLike[str]) -> Mesh:
    """Read the triangles of a mesh; faces with more corners are split into fans."""
    path = Path(path)
    suffix = lower_suffix(path)
    read_head(path)
    if suffix not in READERS:
        raise UnreadableFile(
            f"The file {path} ends in {suffix!r}; meshes are read from files that end in {', '.join(sorted(READERS))}."
        )
    return READERS[suffix](path)


def write_mesh(path: str | os.PathLike[str], vertices: ArrayLike, faces: ArrayLike) -> None:
    """Write vertices (n, 3) and triangles (m, 3) in the format that the suffix names; STL holds 32-bit floats."""
    suffix = lower_suffix(path)
    if suffix not in WRITERS:
        raise UnknownName("format for meshes", suffix, WRITERS)
    mesh = check_mesh(vertices, faces, InvalidInput, "The mesh")
    WRITERS[suffix](Path(path), mesh.vertices, mesh.faces)

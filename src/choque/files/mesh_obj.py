"""Wavefront OBJ: the lines that start with v and f."""

from __future__ import annotations

from pathlib import Path

from choque.errors import UnreadableFile
from choque.files.meshes import MeshArrays, check_mesh, fans
from choque.files.source import Numbers, describe, read_head, text_lines


def read(path: Path) -> MeshArrays:
    """Read the vertices and faces of all objects in the file as one mesh; texture and normals are left out."""
    head = read_head(path)
    if b"\0" in head:
        raise UnreadableFile(f"The file {path} is not an OBJ mesh, which is text: it looks like {describe(head)}.")
    positions, corners, sizes = Numbers(path, "d"), Numbers(path, "q"), Numbers(path, "q")
    # Comments and names of materials come in any encoding; numbers are the same in all of them.
    for line in text_lines(path, errors="replace"):
        kind, *words = line.partition("#")[0].split() or [""]
        if kind == "v":
            x, y, z = (float(word) for word in words[:3])
            positions.extend((x, y, z))
        elif kind == "f":
            known = len(positions) // 3
            numbers = [int(word.partition("/")[0]) for word in words]
            corners.extend([known + number if number < 0 else number - 1 for number in numbers])
            sizes.extend([len(numbers)])
    if not len(positions):
        raise UnreadableFile(f"The file {path} is not an OBJ mesh: no line of it gives a vertex (v x y z).")
    faces = fans(corners.array(), sizes.array())
    return check_mesh(positions.array().reshape(-1, 3), faces, UnreadableFile, f"The file {path}")

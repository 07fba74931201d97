"""Wavefront OBJ: the lines that start with v and f."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from choque.errors import UnreadableFile
from choque.files.meshes import Mesh, check_mesh, fans
from choque.files.source import describe, naming_damage, read_head


def read(path: Path) -> Mesh:
    """Read the vertices and faces of all objects in the file as one mesh; texture and normals are left out."""
    head = read_head(path)
    if b"\0" in head:
        raise UnreadableFile(f"The file {path} is not an OBJ mesh, which is text: it looks like {describe(head)}.")
    with naming_damage(path):
        vertices: list[list[float]] = []
        polygons: list[list[int]] = []
        # Comments and names of materials come in any encoding; numbers are the same in all of them.
        for line in path.read_text("utf-8", errors="replace").splitlines():
            kind, *words = line.partition("#")[0].split() or [""]
            if kind == "v":
                vertices.append([float(word) for word in words[:3]])
            elif kind == "f":
                corners = [int(word.partition("/")[0]) for word in words]
                polygons.append([corner - 1 if corner > 0 else len(vertices) + corner for corner in corners])
        if not vertices:
            raise UnreadableFile(f"The file {path} is not an OBJ mesh: no line of it gives a vertex (v x y z).")
        return check_mesh(np.array(vertices), fans(polygons), UnreadableFile, f"The file {path}")

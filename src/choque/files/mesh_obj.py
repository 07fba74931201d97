"""Wavefront OBJ: the lines that start with v and f."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from choque.errors import UnreadableFile
from choque.files.meshes import Mesh, check_mesh, fans
from choque.files.source import describe, is_text, naming_damage, read_head


def read(path: Path) -> Mesh:
    """Read the vertices and faces of all objects in the file as one mesh; texture and normals are left out."""
    head = read_head(path)
    if not is_text(head):
        raise UnreadableFile(f"The file {path} is not an OBJ mesh, which is text: it looks like {describe(head)}.")
    with naming_damage(path):
        vertices: list[list[float]] = []
        polygons: list[list[int]] = []
        for line in path.read_text("utf-8").splitlines():
            kind, _, rest = line.partition("#")[0].strip().partition(" ")
            if kind == "v":
                vertices.append([float(word) for word in rest.split()[:3]])
            elif kind == "f":
                corners = [int(word.partition("/")[0]) for word in rest.split()]
                polygons.append([corner - 1 if corner > 0 else len(vertices) + corner for corner in corners])
        if not vertices:
            raise UnreadableFile(f"The file {path} is not an OBJ mesh: no line of it gives a vertex (v x y z).")
        return check_mesh(np.array(vertices), fans(polygons), UnreadableFile, f"The file {path}")

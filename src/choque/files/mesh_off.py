"""The Object File Format of Geomview: a line OFF, three counts, vertices, faces."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from choque._core.types import F64, I64
from choque.errors import UnreadableFile
from choque.files.atomic import replacing
from choque.files.meshes import MeshArrays, check_mesh, fans
from choque.files.source import Numbers, describe, is_text, read_head, text_lines

_KINDS = (b"OFF", b"COFF", b"NOFF", b"CNOFF")
"""First words of text files: positions, with colours (C) and normals (N) after them."""


def read(path: Path) -> MeshArrays:
    """Read a text OFF file; colours after the corners are left out."""
    head = read_head(path)
    kind = head.split(maxsplit=1)[0] if is_text(head) and head.strip() else b""
    if kind not in _KINDS:
        raise UnreadableFile(
            f"The file {path} is not an OFF mesh: it does not start with OFF but looks like {describe(head)}."
        )
    rows = filter(None, (line.partition("#")[0].split() for line in text_lines(path)))
    counts = next(rows)[1:] or next(rows)  # the counts may follow OFF on its own line
    vertex_count, face_count = int(counts[0]), int(counts[1])
    positions, corners, sizes = Numbers(path, "d"), Numbers(path, "q"), Numbers(path, "q")
    for row in islice(rows, vertex_count):
        x, y, z = map(float, row[:3])
        positions.extend((x, y, z))
    for row in islice(rows, face_count):
        size = int(row[0])
        if not 0 <= size < len(row):
            raise EOFError("a row ends too early")
        corners.extend(map(int, row[1 : size + 1]))
        sizes.extend([size])
    found = len(positions) // 3 + len(sizes)
    if found < vertex_count + face_count:
        raise UnreadableFile(
            f"The file {path} is truncated: it announces {vertex_count} vertices and {face_count} faces and holds "
            f"{found} rows."
        )
    faces = fans(corners.array(), sizes.array())
    return check_mesh(positions.array().reshape(-1, 3), faces, UnreadableFile, f"The file {path}")


def write(path: Path, vertices: F64, faces: I64) -> None:
    """Write a text OFF file; reading it gives the same floats back."""
    with replacing(path) as handle:
        handle.write(f"OFF\n{len(vertices)} {len(faces)} 0\n".encode())
        for x, y, z in vertices.tolist():
            handle.write(f"{x!r} {y!r} {z!r}\n".encode())
        for one, two, three in faces.tolist():
            handle.write(f"3 {one} {two} {three}\n".encode())

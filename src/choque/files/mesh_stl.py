"""STL: loose triangles, as text or as 50 bytes each. Corners at the same place become one vertex."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from choque._core.types import F64, I64
from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.files.budget import check_size
from choque.files.meshes import MeshArrays, check_mesh, number_rows
from choque.files.source import Numbers, describe, is_text, read_head, text_lines

_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER = 84
TRIANGLE_MEMORY = 320
"""Memory for a binary triangle: its record, its corners, and their order while equal ones are found [bytes]."""

_MAX_TRAILING = 16  # number of bytes after the last triangle that are ignored: some writers pad their files


def read(path: Path) -> MeshArrays:
    """Read text or binary STL, distinguished by the size of the file because headers are unreliable."""
    head = read_head(path)
    size = path.stat().st_size
    count = int.from_bytes(head[80:_HEADER], "little") if len(head) >= _HEADER else -1
    is_whole = count >= 0 and 0 <= size - (_HEADER + count * _RECORD.itemsize) <= _MAX_TRAILING
    if is_whole and (count > 0 or not is_text(head)):
        check_size(count * TRIANGLE_MEMORY, path)
        corners = np.fromfile(path, _RECORD, count, offset=_HEADER)["corners"].astype(np.float64)
    elif is_text(head) and head.lstrip()[:5].lower() == b"solid":
        corners = _read_text(path)
    elif count >= 0 and not is_text(head):
        raise UnreadableFile(
            f"The file {path} is truncated, damaged or no STL mesh: it announces {count} triangles, which take "
            f"{_HEADER + count * _RECORD.itemsize} bytes, and has {size}."
        )
    else:
        raise UnreadableFile(f"The file {path} is not an STL mesh: it looks like {describe(head)}.")
    vertices, rows = number_rows(corners.reshape(-1, 3))
    return check_mesh(vertices, rows.reshape(-1, 3), UnreadableFile, f"The file {path}")


def _read_text(path: Path) -> F64:
    corners = Numbers(path, "d")
    is_ended = False
    for line in text_lines(path):
        words = line.lower().split()
        if words[:1] == ["solid"]:  # its name may be any text
            continue
        for place, word in enumerate(words):
            if word == "vertex":
                x, y, z = (float(number) for number in words[place + 1 : place + 4])
                corners.extend((x, y, z))
        if words:
            is_ended = "endsolid" in words
    if len(corners) % 9 or not is_ended:
        raise UnreadableFile(f"The file {path} is truncated: it ends inside a triangle or before 'endsolid'.")
    return corners.array().reshape(-1, 3, 3)


def write(path: Path, vertices: F64, faces: I64) -> None:
    """Write binary STL: coordinates become 32-bit floats."""
    if len(vertices) and np.abs(vertices).max() > np.finfo(np.float32).max:
        raise InvalidInput("A vertex is too far away for STL, which holds 32-bit floats; write OFF or PLY.")
    records = np.zeros(len(faces), _RECORD)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    records["normal"] = normals / np.where(lengths > 0, lengths, 1.0)
    records["corners"] = corners
    with replacing(path) as handle:
        handle.write(b"binary STL".ljust(80) + len(faces).to_bytes(4, "little"))
        handle.write(records.tobytes())

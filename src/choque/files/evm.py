"""The text format ``.evm`` of Ottogalli (2014): how many extreme vertices, their order, and one on each line.

Columns are always x, y, z; rows are sorted by the order that the first line names. After the last row may come comments
with the spacing and origin of the lattice, which the original lacks; without them the lattice is that of whole numbers.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnreadableFile
from choque.files.atomic import replacing
from choque.files.source import describe, is_text, naming_damage, read_head

_UNIT = (1.0, 1.0, 1.0)
_ZERO = (0.0, 0.0, 0.0)


class VertexFile(NamedTuple):
    """Extreme vertices (n, 3) as lattice points, the order of their rows, and the lattice."""

    points: NDArray[np.int64]
    order: str
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]


def read_evm(path: str | os.PathLike[str]) -> VertexFile:
    """Read extreme vertices; positions become lattice points, and whether they bound a solid is not judged here."""
    path = Path(path)
    head = read_head(path)
    if not is_text(head) or not head.lstrip().startswith(b"#EV:"):
        raise UnreadableFile(
            f"The file {path} is not an .evm file: it does not start with #EV: but looks like {describe(head)}."
        )
    with naming_damage(path):
        lines = path.read_text("utf-8").splitlines()
        words = lines[0].split()
        count, order = int(words[1]), words[3].lower()
        rows = [line.split() for line in lines[1:] if line.strip() and not line.startswith("#")]
        if len(rows) != count:
            raise UnreadableFile(
                f"The file {path} is truncated or damaged: it announces {count} vertices and holds {len(rows)}."
            )
        known = {"spacing": _UNIT, "origin": _ZERO}
        for line in lines[1:]:
            key, _, value = line.lstrip("# ").partition(":")
            if line.startswith("#") and key in known:
                x, y, z = (float(word) for word in value.split())
                known[key] = (x, y, z)
        places = np.array([[float(word) for word in row] for row in rows], np.float64).reshape(-1, 3)
        exact = (places - known["origin"]) / known["spacing"]
        points = np.rint(exact)
        # Six decimals are what the format holds; a vertex off the lattice by more than they explain is no vertex.
        wrong = np.flatnonzero((np.abs(exact - points) * known["spacing"] > 2e-6).any(axis=1))
        if len(wrong):
            raise UnreadableFile(
                f"The file {path} has a vertex off the lattice, {places[wrong[0]].tolist()}; the spacing "
                f"{known['spacing']} does not reach it. Add a line such as '# spacing: 0.5 0.5 0.5' at its end."
            )
    return VertexFile(points.astype(np.int64), order, known["spacing"], known["origin"])


def write_evm(path: str | os.PathLike[str], vertices: VertexFile) -> None:
    """Write extreme vertices; a lattice of whole numbers gives the original format, byte for byte."""
    places = vertices.points * np.array(vertices.spacing) + vertices.origin
    with replacing(path) as handle:
        handle.write(f"#EV: {len(places)} Order: {vertices.order.upper()}\n\n".encode())
        handle.writelines(f"{x + 0.0:.6f} {y + 0.0:.6f} {z + 0.0:.6f}\n".encode() for x, y, z in places.tolist())
        handle.write(b"\n")
        for key, value, usual in (("spacing", vertices.spacing, _UNIT), ("origin", vertices.origin, _ZERO)):
            if value != usual:
                handle.write(f"# {key}: {value[0]!r} {value[1]!r} {value[2]!r}\n".encode())

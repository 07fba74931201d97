"""The text formats of Ottogalli (2014) for voxel objects: ``.evm`` and ``.vox``.

``.evm``: the number of extreme vertices, their order, and one vertex on each line. Columns are always x, y, z; rows are
sorted in the order that the first line names. Comments after the last row can give the spacing and the origin of the
lattice, an extension; without them the lattice is that of whole numbers.

``.vox``: the corners of a box of voxels, then 0 or 1 for each. ``MIN`` and ``MAX`` are the first and the last voxel
along x, y, z; voxel i spans i to i + 1. Blocks follow along z, lines along y, values along x. Lines run from the
highest y down by default.
"""

from __future__ import annotations

import os
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import check
from choque.errors import InvalidInput, UnreadableFile
from choque.files.atomic import replacing
from choque.files.budget import check_size
from choque.files.source import Numbers, describe, is_text, naming_damage, read_head, text_lines
from choque.volumes import ExtremeVertices, Lattice, Volume
from choque.volumes.keys import ORDERS
from choque.volumes.reading import VolumeFormat

_UNIT = (1.0, 1.0, 1.0)
_ZERO = (0.0, 0.0, 0.0)

MIN_SPACING = 1e-5
"""Smallest edge of a voxel that ``.evm``, with six decimals, can hold."""


class VertexFile(NamedTuple):
    """Extreme vertices (n, 3) as lattice points, the order of their rows, and the lattice."""

    points: NDArray[np.int64]
    order: str
    spacing: tuple[float, float, float]
    origin: tuple[float, float, float]


def read_evm(path: str | os.PathLike[str]) -> VertexFile:
    """Read extreme vertices as lattice points; whether they bound a solid is not tested here."""
    path = Path(path)
    head = read_head(path)
    if not is_text(head) or not head.lstrip().startswith(b"#EV:"):
        raise UnreadableFile(
            f"The file {path} is not an .evm file: it does not start with #EV: but looks like {describe(head)}."
        )
    with naming_damage(path):
        lines = text_lines(path)
        words = next(lines).split()
        count, order = int(words[1]), words[3].lower()
        known = {"spacing": _UNIT, "origin": _ZERO}
        numbers = Numbers(path, "d")
        for line in lines:
            if line.startswith("#"):
                key, _, value = line.lstrip("# ").partition(":")
                if key in known:
                    x, y, z = (float(word) for word in value.split())
                    known[key] = (x, y, z)
            elif line.strip():
                x, y, z = (float(word) for word in line.split())
                numbers.extend((x, y, z))
        places = numbers.array().reshape(-1, 3)
        if len(places) != count:
            raise UnreadableFile(
                f"The file {path} is truncated or damaged: it announces {count} vertices and holds {len(places)}."
            )
        if not np.isfinite(places).all() or not np.isfinite([*known.values()]).all() or min(known["spacing"]) <= 0:
            raise UnreadableFile(
                f"The file {path} is damaged: coordinates, origin and spacing must be finite, and the spacing above 0."
            )
        exact = (places - known["origin"]) / known["spacing"]
        points = np.rint(exact)
        # The format has six decimals; a larger distance from the lattice is an error.
        wrong = np.flatnonzero((np.abs(exact - points) * known["spacing"] > 2e-6).any(axis=1))
        if len(wrong):
            raise UnreadableFile(
                f"The file {path} has a vertex off the lattice, {places[wrong[0]].tolist()}; the spacing "
                f"{known['spacing']} does not reach it. Add a line such as '# spacing: 0.5 0.5 0.5' at its end."
            )
    return VertexFile(points.astype(np.int64), order, known["spacing"], known["origin"])


def write_evm(path: str | os.PathLike[str], vertices: VertexFile) -> None:
    """Write extreme vertices; with the lattice of whole numbers the file has no extensions of the format."""
    if min(vertices.spacing) < MIN_SPACING:
        raise InvalidInput(
            f"The spacing is {vertices.spacing}; .evm holds six decimals and needs at least {MIN_SPACING:g}. "
            "Write .nii.gz or .nrrd instead, or use larger units."
        )
    places = vertices.points * np.array(vertices.spacing) + vertices.origin
    with replacing(path) as handle:
        handle.write(f"#EV: {len(places)} Order: {vertices.order.upper()}\n\n".encode())
        handle.writelines(f"{x + 0.0:.6f} {y + 0.0:.6f} {z + 0.0:.6f}\n".encode() for x, y, z in places.tolist())
        handle.write(b"\n")
        for key, value, usual in (("spacing", vertices.spacing, _UNIT), ("origin", vertices.origin, _ZERO)):
            if value != usual:
                handle.write(f"# {key}: {value[0]!r} {value[1]!r} {value[2]!r}\n".encode())


ROWS = ("descending", "ascending")
"""Sequences of the lines of ``.vox`` along y."""


def read_vox(
    path: str | os.PathLike[str], *, rows: str = "descending"
) -> tuple[NDArray[np.bool_], tuple[int, int, int]]:
    """Read a mask (x, y, z) and the position of its first voxel."""
    check.choice(rows, "sequence of lines", ROWS)
    path = Path(path)
    head = read_head(path)
    if not is_text(head) or not head.lstrip().startswith(b"MIN"):
        raise UnreadableFile(
            f"The file {path} is not a .vox volume: it does not start with MIN but looks like {describe(head)}."
        )
    with naming_damage(path):
        words, values = _header_and_values(path)
        low = [int(word) for word in words[1:4]]
        if words[4] != "MAX":
            raise UnreadableFile(f"The file {path} is damaged: MIN x y z must be followed by MAX x y z.")
        shape = [int(word) - first + 1 for word, first in zip(words[5:8], low, strict=True)]
        if min(shape) < 0 or len(values) != prod(shape):
            raise UnreadableFile(
                f"The file {path} is truncated or damaged: a box of {' × '.join(map(str, shape))} voxels needs "
                f"{prod(shape)} values, and it holds {len(values)}."
            )
        mask = np.frombuffer(values, np.bool_).reshape(shape[::-1]).transpose()
    return (mask[:, ::-1] if rows == "descending" else mask), (low[0], low[1], low[2])


def _header_and_values(path: Path) -> tuple[list[str], bytearray]:
    """Return the eight words before the values, and a byte, 0 or 1, for each value."""
    words, values = list[str](), bytearray()
    for line in text_lines(path):
        row = line.split()
        missing = 8 - len(words)
        words += row[:missing]
        wrong = set(row[missing:]) - {"0", "1"}
        if wrong:
            raise UnreadableFile(f"The file {path} holds the value {min(wrong)[:80]!r}; voxels are 0 or 1.")
        values += bytes(word == "1" for word in row[missing:])
        check_size(2 * len(values), path)
    return words, values


def write_vox(
    path: str | os.PathLike[str], mask: NDArray[Any], first: tuple[int, int, int], *, rows: str = "descending"
) -> None:
    """Write a mask (x, y, z) whose first voxel lies at ``first``."""
    check.choice(rows, "sequence of lines", ROWS)
    turned = (mask[:, ::-1] if rows == "descending" else mask).astype(np.uint8).transpose()
    last = [start + size - 1 for start, size in zip(first, mask.shape, strict=True)]
    with replacing(path) as handle:
        handle.write(f"MIN {first[0]} {first[1]} {first[2]}\nMAX {last[0]} {last[1]} {last[2]}\n".encode())
        for block in turned.tolist():
            handle.write(b"\n")
            handle.writelines((" ".join(map(str, line)) + "\n").encode() for line in block)


# As formats of volumes


def _read_vertices(path: str | os.PathLike[str], **options: Any) -> Volume:
    found = read_evm(path, **options)
    if found.order not in ORDERS[3]:
        raise UnreadableFile(f"The file {path} names the order {found.order!r}; orders are {', '.join(ORDERS[3])}.")
    try:
        model = ExtremeVertices.from_points(found.points, order=found.order)
    except InvalidInput as problem:
        raise UnreadableFile(f"The file {path} holds no solid. {problem}") from problem
    return Volume(model, Lattice.make(found.spacing, found.origin))


def _write_vertices(path: str | os.PathLike[str], volume: Volume, **options: Any) -> None:
    model, lattice = volume.model, volume.lattice
    write_evm(path, VertexFile(model.points, model.order, lattice.spacing, lattice.origin), **options)


def _read_voxels(path: str | os.PathLike[str], **options: Any) -> Volume:
    mask, first = read_vox(path, **options)
    return Volume(ExtremeVertices.from_mask(mask, offset=first), Lattice())


def _write_voxels(path: str | os.PathLike[str], volume: Volume, **options: Any) -> None:
    write_vox(path, volume.model.mask(), _whole_corner(volume), **options)


def _whole_corner(volume: Volume) -> tuple[int, int, int]:
    corner = volume.bounds[0]
    if volume.spacing != (1.0, 1.0, 1.0) or not np.array_equal(corner, np.rint(corner)):
        raise InvalidInput(
            f"The format .vox holds voxels of edge 1 at whole positions; these are {volume.spacing} at "
            f"{corner.tolist()}. Write .evm, .nii.gz or .nrrd instead."
        )
    return (int(corner[0]), int(corner[1]), int(corner[2]))


EVM = VolumeFormat(_read_vertices, _write_vertices)
VOX = VolumeFormat(_read_voxels, _write_voxels)

"""The text format ``.vox`` of Ottogalli (2014): the corners of a box of voxels, then 0 and 1 for each.

``MIN`` and ``MAX`` give the first and the last voxel along x, y, z; voxel i spans i to i + 1. Blocks follow along z,
lines along y, values along x. Lines run from the highest y down, unless said otherwise.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque.errors import UnknownName, UnreadableFile
from choque.files.atomic import replacing
from choque.files.source import describe, is_text, naming_damage, read_head

ROWS = ("descending", "ascending")


def read_vox(
    path: str | os.PathLike[str], *, rows: str = "descending"
) -> tuple[NDArray[np.bool_], tuple[int, int, int]]:
    """Read a mask (x, y, z) and where its first voxel lies."""
    _check_rows(rows)
    path = Path(path)
    head = read_head(path)
    if not is_text(head) or not head.lstrip().startswith(b"MIN"):
        raise UnreadableFile(
            f"The file {path} is not a .vox volume: it does not start with MIN but looks like {describe(head)}."
        )
    with naming_damage(path):
        words = path.read_text("utf-8").split()
        low = [int(word) for word in words[1:4]]
        if words[4] != "MAX":
            raise UnreadableFile(f"The file {path} is damaged: MIN x y z must be followed by MAX x y z.")
        shape = [int(word) - first + 1 for word, first in zip(words[5:8], low, strict=True)]
        values = words[8:]
        if min(shape) < 0 or len(values) != int(np.prod(shape)):
            raise UnreadableFile(
                f"The file {path} is truncated or damaged: a box of {' × '.join(map(str, shape))} voxels needs "
                f"{int(np.prod(shape))} values, and it holds {len(values)}."
            )
        wrong = set(values) - {"0", "1"}
        if wrong:
            raise UnreadableFile(f"The file {path} holds the value {min(wrong)!r}; voxels are 0 or 1.")
        mask = (np.array(values, "U1") == "1").reshape(shape[::-1]).transpose()
    return (mask[:, ::-1] if rows == "descending" else mask), (low[0], low[1], low[2])


def write_vox(
    path: str | os.PathLike[str], mask: NDArray[Any], first: tuple[int, int, int], *, rows: str = "descending"
) -> None:
    """Write a mask (x, y, z) whose first voxel lies at ``first``."""
    _check_rows(rows)
    turned = (mask[:, ::-1] if rows == "descending" else mask).astype(np.uint8).transpose()
    last = [start + size - 1 for start, size in zip(first, mask.shape, strict=True)]
    with replacing(path) as handle:
        handle.write(f"MIN {first[0]} {first[1]} {first[2]}\nMAX {last[0]} {last[1]} {last[2]}\n".encode())
        for block in turned.tolist():
            handle.write(b"\n")
            handle.writelines((" ".join(map(str, line)) + "\n").encode() for line in block)


def _check_rows(rows: str) -> None:
    if rows not in ROWS:
        raise UnknownName("sequence of lines", rows, ROWS)

"""Which sets of lattice points are the extreme vertices of something."""

from __future__ import annotations

import numpy as np

from choque.errors import InvalidInput
from choque.volumes._keys import AXES, BITS, VertexKeys, reorder, unpack


def check_vertices(keys: VertexKeys, order: str) -> None:
    """Refuse sorted keys unless every line along every axis holds an even number of vertices.

    That is also enough: the prefix sums modulo two then end, so the points bound a finite set of voxels.
    """
    repeated = np.flatnonzero(keys[1:] == keys[:-1])
    if len(repeated):
        point = unpack(keys[repeated[:1]], order)[0].tolist()
        raise InvalidInput(f"The vertex {point} is given twice; each extreme vertex belongs in the list once.")
    for axis in AXES[: len(order)]:
        along = reorder(keys, order, order.replace(axis, "") + axis)
        lines = along >> BITS
        wrong = _odd_line(lines)
        if wrong is not None:
            point = unpack(along[wrong : wrong + 1], order.replace(axis, "") + axis)[0].tolist()
            raise InvalidInput(
                f"These {len(keys)} vertices bound no solid: the line along {axis} through {point} holds an odd number "
                "of them. Give all extreme vertices, or build the volume from voxels."
            )


def _odd_line(lines: VertexKeys) -> int | None:
    """The position of a vertex on a line with an odd count, if there is one."""
    even = len(lines) // 2 * 2
    wrong = np.flatnonzero(lines[:even:2] != lines[1:even:2])
    if len(wrong):
        return int(2 * wrong[0])
    return len(lines) - 1 if len(lines) > even else None

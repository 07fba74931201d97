"""Sections kept once: the cross-sections of a solid between its planes of vertices, opened down to runs.

A slab lies between two neighbouring planes of vertices and holds one section; a section is a list of strips between two
lines of vertices; a strip holds runs, the pairs of ends between which it is full. Three flat arrays, so that a query
can start anywhere by binary search:

- ``slabs`` (s + 1, 4): coordinate of the slab's first plane, its first strip, and the range of its runs;
- ``strips`` (t + 1, 2): coordinate of the strip's first line, the position of its first end in ``ends``;
- ``ends`` (2 r,): the ends of the runs, start and stop in turn.

The last strip of every slab is empty: it only says where the strip before it stops.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.volumes._keys import BITS, LINE_MASK, PLANE_MASK, Points, VertexKeys, odd_ones_out, pack
from choque.volumes._merge import group_end, merge_xor

SectionArrays: TypeAlias = tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]
"""Slabs, strips and ends."""


class Sections(NamedTuple):
    """All sections of a solid, opened down to runs; coordinates are those of the keys."""

    slabs: NDArray[np.int32]
    strips: NDArray[np.int32]
    ends: NDArray[np.int32]

    @property
    def arrays(self) -> SectionArrays:
        """The three arrays as kernels take them: a plain tuple, whose type Numba knows in a tenth of the time."""
        return self.slabs, self.strips, self.ends

    @property
    def byte_count(self) -> int:
        """What the three arrays hold [bytes]."""
        return self.slabs.nbytes + self.strips.nbytes + self.ends.nbytes

    def boxes(self) -> tuple[Points, Points]:
        """Disjoint boxes that fill the solid, sorted: lower and upper corners (r, 3), columns in the order of the keys.

        The ordered union of disjoint boxes of Aguilera (1998): one box a run.
        """
        strip_of = np.repeat(np.arange(len(self.strips) - 1), np.diff(self.strips[:, 1]) // 2)
        slab_of = np.searchsorted(self.slabs[:, 1], strip_of, side="right") - 1
        lower = np.stack((self.slabs[slab_of, 0], self.strips[strip_of, 0], self.ends[::2]), axis=1)
        upper = np.stack((self.slabs[slab_of + 1, 0], self.strips[strip_of + 1, 0], self.ends[1::2]), axis=1)
        return lower.astype(np.int64), upper.astype(np.int64)


def open_sections(keys: VertexKeys) -> Sections:
    """The sections of sorted three-dimensional keys; linear in what it returns plus one merge for every plane."""
    return Sections(*_open(keys))


def keys_from_boxes(lower: Points, upper: Points, order: str) -> VertexKeys:
    """The vertices of the XOR of boxes, so of their union when they are disjoint; corners (n, d), columns x, y, z."""
    dimension = lower.shape[1]
    ends = (lower, upper)
    corners = [
        np.stack([ends[corner >> axis & 1][:, axis] for axis in range(dimension)], axis=1)
        for corner in range(1 << dimension)
    ]
    return odd_ones_out(pack(np.concatenate(corners), order))


@kernel
def grown(rows: NDArray[np.int32], needed: int) -> NDArray[np.int32]:
    """The same rows in an array that has room for ``needed``."""
    if needed <= rows.shape[0]:
        return rows
    larger = np.empty((max(needed, 2 * rows.shape[0]), rows.shape[1]), np.int32)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@kernel
def _open(keys: VertexKeys) -> SectionArrays:
    total = len(keys)
    section, next_section = np.empty(total, np.int64), np.empty(total, np.int64)
    line, next_line = np.empty(total, np.int64), np.empty(total, np.int64)
    slabs = np.empty((64, 4), np.int32)
    strips = np.empty((total // 2 + 64, 2), np.int32)
    ends = np.empty((total + 64, 1), np.int32)
    slab_count, strip_count, end_count, section_count, at = 0, 0, 0, 0, 0
    while at < total:
        plane = keys[at] >> 2 * BITS
        first = at
        at = group_end(keys, at, total, 2 * BITS, plane)
        section_count = merge_xor(section, section_count, keys, first, at, PLANE_MASK, next_section)
        section, next_section = next_section, section
        slabs = grown(slabs, slab_count + 1)
        slabs[slab_count, 0] = plane
        slabs[slab_count, 1] = strip_count
        lowest, highest = LINE_MASK, 0
        line_count, row = 0, 0
        while row < section_count:
            coordinate = section[row] >> BITS
            first = row
            row = group_end(section, row, section_count, BITS, coordinate)
            line_count = merge_xor(line, line_count, section, first, row, LINE_MASK, next_line)
            line, next_line = next_line, line
            strips = grown(strips, strip_count + 2)
            strips[strip_count, 0] = coordinate
            strips[strip_count, 1] = end_count
            strip_count += 1
            ends = grown(ends, end_count + line_count)
            for column in range(line_count):
                ends[end_count + column, 0] = line[column]
            end_count += line_count
            if line_count > 0:
                lowest = min(lowest, line[0])
                highest = max(highest, line[line_count - 1])
        slabs[slab_count, 2] = lowest
        slabs[slab_count, 3] = highest
        slab_count += 1
    strips[strip_count, 0] = 0
    strips[strip_count, 1] = end_count
    return slabs[:slab_count].copy(), strips[: strip_count + 1].copy(), ends[:end_count, 0].copy()

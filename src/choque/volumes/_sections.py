"""Sections: the cross-sections of a solid between its planes of vertices, as runs; and masks from and to vertices.

A slab lies between two neighbouring planes of vertices and has one section. A section is a list of strips between two
lines of vertices. A strip is a list of runs, pairs of ends between which it is full. They are three flat arrays, so
that a query can start anywhere by binary search:

- ``slabs`` (s + 1, 4): coordinate of the first plane of the slab, its first strip, and the range of its runs;
- ``strips`` (t + 1, 2): coordinate of the first line of the strip, the position of its first end in ``ends``;
- ``ends`` (2 r,): the ends of the runs, start and stop in turn.

The last strip of every slab is empty: it marks the end of the strip before it.

A lattice point is extreme when an odd number of the cells around it is full. So the vertices are the differences
modulo two of the occupancy along every axis, and the occupancy is the prefix sum modulo two of the vertices.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import I32, I64, U8, Bools
from choque.volumes import keys as cell_keys

SectionArrays: TypeAlias = tuple[I32, I32, I32]  # slabs, strips and ends


class Sections(NamedTuple):
    """All sections of a solid as runs; coordinates are those of the keys."""

    slabs: I32
    strips: I32
    ends: I32

    @property
    def arrays(self) -> SectionArrays:
        """The three arrays as a plain tuple for kernels: Numba recognises its type in a tenth of the time."""
        return self.slabs, self.strips, self.ends

    @property
    def byte_count(self) -> int:
        """Size of the three arrays [bytes]."""
        return self.slabs.nbytes + self.strips.nbytes + self.ends.nbytes

    def boxes(self) -> tuple[cell_keys.Points, cell_keys.Points]:
        """Return disjoint boxes that fill the solid, sorted: corners (r, 3), columns in the order of the keys.

        The ordered union of disjoint boxes of Aguilera (1998): one box for each run.
        """
        strip_of = np.repeat(np.arange(len(self.strips) - 1), np.diff(self.strips[:, 1]) // 2)
        slab_of = np.searchsorted(self.slabs[:, 1], strip_of, side="right") - 1
        lower = np.stack((self.slabs[slab_of, 0], self.strips[strip_of, 0], self.ends[::2]), axis=1)
        upper = np.stack((self.slabs[slab_of + 1, 0], self.strips[strip_of + 1, 0], self.ends[1::2]), axis=1)
        return lower.astype(np.int64), upper.astype(np.int64)


def open_sections(keys: cell_keys.VertexKeys) -> Sections:
    """Return the sections of sorted three-dimensional keys. Linear in the result, plus one merge for every plane."""
    return Sections(*_open(keys))


def keys_from_boxes(lower: cell_keys.Points, upper: cell_keys.Points, order: str) -> cell_keys.VertexKeys:
    """Return the vertices of the XOR of boxes, which is their union if they are disjoint; corners (n, d)."""
    dimension = lower.shape[1]
    ends = (lower, upper)
    corners = [
        np.stack([ends[corner >> axis & 1][:, axis] for axis in range(dimension)], axis=1)
        for corner in range(1 << dimension)
    ]
    return cell_keys.odd_ones_out(cell_keys.pack(np.concatenate(corners), order))


@kernel
def grown(rows: I32, needed: int) -> I32:
    """Return ``rows``, or a copy in a larger array where there are fewer than ``needed``."""
    if needed <= rows.shape[0]:
        return rows
    larger = np.empty((max(needed, 2 * rows.shape[0]), rows.shape[1]), np.int32)
    for row in range(rows.shape[0]):
        for column in range(rows.shape[1]):
            larger[row, column] = rows[row, column]
    return larger


@kernel
def _open(keys: cell_keys.VertexKeys) -> SectionArrays:
    total = len(keys)
    section, next_section = np.empty(total, np.int64), np.empty(total, np.int64)
    line, next_line = np.empty(total, np.int64), np.empty(total, np.int64)
    slabs = np.empty((64, 4), np.int32)
    strips = np.empty((total // 2 + 64, 2), np.int32)
    ends = np.empty((total + 64, 1), np.int32)
    slab_count, strip_count, end_count, section_count, at = 0, 0, 0, 0, 0
    while at < total:
        plane = keys[at] >> 2 * cell_keys.BITS
        first = at
        at = cell_keys.group_end(keys, at, total, 2 * cell_keys.BITS, plane)
        section_count = cell_keys.merge_xor(section, section_count, keys, first, at, cell_keys.PLANE_MASK, next_section)
        section, next_section = next_section, section
        slabs = grown(slabs, slab_count + 1)
        slabs[slab_count, 0] = plane
        slabs[slab_count, 1] = strip_count
        lowest, highest = cell_keys.LINE_MASK, 0
        line_count, row = 0, 0
        while row < section_count:
            coordinate = section[row] >> cell_keys.BITS
            first = row
            row = cell_keys.group_end(section, row, section_count, cell_keys.BITS, coordinate)
            line_count = cell_keys.merge_xor(line, line_count, section, first, row, cell_keys.LINE_MASK, next_line)
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


# Masks to vertices, and sections to masks


def keys_from_mask(mask: NDArray[Any]) -> cell_keys.VertexKeys:
    """Return the sorted extreme vertices of a boolean mask of one, two or three dimensions, in the order of its axes.

    Linear time; the memory is that of the vertices and of a few planes.
    """
    if 0 in mask.shape:
        return np.empty(0, np.int64)
    # Planes are taken along the slowest axis in memory: in many scans the first axis is the fastest.
    axes = sorted(range(mask.ndim), key=lambda axis: -abs(mask.strides[axis]))
    solid = mask.transpose(axes).astype(np.bool_, copy=False)
    keys = _solid_keys(solid.reshape((1,) * (3 - mask.ndim) + solid.shape))
    if mask.ndim < 3:
        # The extruded solid has the vertices of the flat one on the first plane (and line) of the added axes.
        keys = keys[keys < 1 << cell_keys.BITS * mask.ndim]
    return cell_keys.reorder(keys, "".join(cell_keys.AXES[axis] for axis in axes), cell_keys.AXES[: mask.ndim])


def _solid_keys(solid: Bools) -> cell_keys.VertexKeys:
    length, rows, columns = solid.shape
    previous = np.zeros((rows + 1, columns + 1), np.bool_)
    current = np.zeros_like(previous)
    difference = np.empty_like(previous)
    found = []
    for plane in range(length + 1):
        current[...] = False
        if plane < length:
            current[:rows, :columns] = solid[plane]
            np.not_equal(current[1:], current[:-1], out=difference[1:])
            current[1:] = difference[1:]
            np.not_equal(current[:, 1:], current[:, :-1], out=difference[:, 1:])
            current[:, 1:] = difference[:, 1:]
        np.not_equal(current, previous, out=difference)
        row, column = np.divmod(np.flatnonzero(difference), columns + 1)
        found.append((plane << 2 * cell_keys.BITS) | (row << cell_keys.BITS) | column)
        previous, current = current, previous
    return np.concatenate(found)


def extruded(keys: cell_keys.VertexKeys, dimension: int) -> cell_keys.VertexKeys:
    """Return the flat object of ``keys`` as a solid, one unit thick along the axes that it lacks."""
    for level in range(dimension, 3):
        keys = np.concatenate((keys, keys | (1 << cell_keys.BITS * level)))
    return keys


def paint(sections: Sections, first: I64, mask: Bools) -> None:
    """Set the voxels of a solid in a mask (a, b, c) that starts at the coordinates ``first``; others are left out."""
    _paint(sections.arrays, first, mask.view(np.uint8))


@kernel
def _paint(sections: SectionArrays, first: I64, mask: U8) -> None:
    slabs, strips, ends = sections
    for slab in range(slabs.shape[0] - 1):
        start, stop = max(slabs[slab, 0] - first[0], 0), min(slabs[slab + 1, 0] - first[0], mask.shape[0])
        if start >= stop:
            continue
        for strip in range(slabs[slab, 1], slabs[slab + 1, 1] - 1):
            low, high = max(strips[strip, 0] - first[1], 0), min(strips[strip + 1, 0] - first[1], mask.shape[1])
            for plane in range(start, stop):
                for row in range(low, high):
                    line = mask[plane, row]
                    for end in range(strips[strip, 1], strips[strip + 1, 1], 2):
                        begin, close = max(ends[end] - first[2], 0), min(ends[end + 1] - first[2], mask.shape[2])
                        if begin < close:
                            line[begin:close] = 1

"""Voxels to extreme vertices and back: differences and prefix sums modulo two along every axis.

A lattice point is extreme when an odd number of the cells around it is full, so the vertices are the mod-2 differences
of the occupancy, and the occupancy is the mod-2 prefix sum of the vertices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.volumes._keys import AXES, BITS, VertexKeys, reorder
from choque.volumes._sections import Sections


def keys_from_mask(mask: NDArray[Any]) -> VertexKeys:
    """The sorted extreme vertices of a boolean mask of one, two or three dimensions, in the order of its axes.

    Linear in the voxels; beyond the vertices it holds a few planes, whatever the size.
    """
    if 0 in mask.shape:
        return np.empty(0, np.int64)
    # Planes are cut where they lie together in memory: scans often come with the first axis fastest.
    axes = sorted(range(mask.ndim), key=lambda axis: -abs(mask.strides[axis]))
    solid = mask.transpose(axes).astype(np.bool_, copy=False)
    keys = _solid_keys(solid.reshape((1,) * (3 - mask.ndim) + solid.shape))
    if mask.ndim < 3:
        # The extruded solid has the flat one's vertices on the first plane (and line) of the axes that were added.
        keys = keys[keys < 1 << BITS * mask.ndim]
    return reorder(keys, "".join(AXES[axis] for axis in axes), AXES[: mask.ndim])


def _solid_keys(solid: NDArray[np.bool_]) -> VertexKeys:
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
        found.append((plane << 2 * BITS) | (row << BITS) | column)
        previous, current = current, previous
    return np.concatenate(found)


def extruded(keys: VertexKeys, dimension: int) -> VertexKeys:
    """The flat object of ``keys`` as a solid: one unit thick along the axes that it lacks."""
    for level in range(dimension, 3):
        keys = np.concatenate((keys, keys | (1 << BITS * level)))
    return keys


def paint(sections: Sections, mask: NDArray[np.bool_]) -> None:
    """Set the voxels of a solid in a mask (a, b, c) that contains it: as many writes as it has voxels."""
    _paint(*sections, mask.view(np.uint8))


@kernel
def _paint(
    slabs: NDArray[np.int32], strips: NDArray[np.int32], ends: NDArray[np.int32], mask: NDArray[np.uint8]
) -> None:
    for slab in range(slabs.shape[0] - 1):
        for plane in range(slabs[slab, 0], slabs[slab + 1, 0]):
            for strip in range(slabs[slab, 1], slabs[slab + 1, 1] - 1):
                for row in range(strips[strip, 0], strips[strip + 1, 0]):
                    line = mask[plane, row]
                    for end in range(strips[strip, 1], strips[strip + 1, 1], 2):
                        line[ends[end] : ends[end + 1]] = 1

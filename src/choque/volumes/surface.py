"""The boundary of a solid as a closed triangle mesh, oriented outward.

Every plane of vertices has faces that look up the axis (the section before minus the one after) and down it. They are
cut into rectangles, the sides of each are split at all corners of other rectangles that lie on them, and the result is
triangulated: neighbours share whole edges, so the mesh is closed, and its signed volume is that of the solid.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.volumes._model import ExtremeVertices
from choque.volumes.keys import AXES, BITS, Points, VertexKeys, pack, unpack

_ORDERS = ("xyz", "yzx", "zxy")


def closed_surface(model: ExtremeVertices) -> tuple[Points, NDArray[np.int64]]:
    """Return vertices (n, 3) [lattice] and triangles (m, 3), counter-clockwise from outside.

    Every edge is used equally often in both directions; four times in all where cells meet only in that edge.
    """
    rectangles = np.concatenate([_rectangles(model, order) for order in _ORDERS])
    if len(rectangles) == 0:
        return np.empty((0, 3), np.int64), np.empty((0, 3), np.int64)
    offset = np.array(model.offset, np.int64)
    corners = pack((rectangles - offset).reshape(-1, 3), "xyz")
    keys, numbers = np.unique(corners, return_inverse=True)
    numbers = numbers.reshape(-1, 4)
    pool, first, counts, backward = _splits(keys, corners.reshape(-1, 4))
    faces = np.empty((2 * len(numbers) + int(counts.sum()), 3), np.int64)
    _triangulate(numbers, pool, first, counts, backward, np.empty((2, int(counts.max()) * 2 + 4), np.int64), faces)
    return unpack(keys, "xyz") + offset, faces


def _rectangles(model: ExtremeVertices, order: str) -> Points:
    """Return the faces across the first axis of an order as rectangles (n, 4, 3), counter-clockwise from outside."""
    columns = [order.index(axis) for axis in AXES]
    found = []
    for coordinate, up, down in model.reordered(order).faces():
        for flat, outward in ((up, True), (down, False)):
            if flat.is_empty:
                continue
            lower, upper = flat.boxes()
            (left, bottom), (right, top) = lower.T, upper.T
            level = np.full(len(lower), coordinate)
            walk = [(left, bottom), (right, bottom), (right, top), (left, top)]
            if not outward:
                walk.reverse()
            found.append(np.stack([np.stack((level, *corner), axis=-1)[:, columns] for corner in walk], axis=1))
    return np.concatenate(found) if found else np.empty((0, 4, 3), np.int64)


def _splits(
    keys: VertexKeys, corners: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Find the vertices strictly inside the four sides of each rectangle.

    Return the numbers of all vertices in three orders, one after the other, and for each side (n, 4) the position of
    its first vertex there, their number, and whether they are passed in falling sequence.
    """
    pool = np.empty((3, len(keys)), np.int64)
    first, counts = np.zeros(corners.shape, np.int64), np.zeros(corners.shape, np.int64)
    backward = np.zeros(corners.shape, np.bool_)
    for number, axis in enumerate(AXES):
        order = AXES.replace(axis, "") + axis
        moved = pack(unpack(keys, "xyz"), order)
        pool[number] = np.argsort(moved)
        line = moved[pool[number]]
        start = pack(unpack(corners.reshape(-1), "xyz"), order).reshape(-1, 4)
        stop = np.roll(start, -1, axis=1)
        along = start >> BITS == stop >> BITS
        begin = np.searchsorted(line, np.minimum(start, stop)[along], side="right")
        counts[along] = np.searchsorted(line, np.maximum(start, stop)[along], side="left") - begin
        first[along] = begin + number * len(keys)
        backward[along] = (start > stop)[along]
    return pool.reshape(-1), first, counts, backward


@kernel
def _triangulate(
    corners: NDArray[np.int64],
    pool: NDArray[np.int64],
    first: NDArray[np.int64],
    counts: NDArray[np.int64],
    backward: NDArray[np.bool_],
    chains: NDArray[np.int64],
    faces: NDArray[np.int64],
) -> None:
    """Triangulate rectangles whose sides have further vertices; no triangle is degenerate.

    The vertices of the sides 1 and 3 are cut off as fans around the nearest vertices of the sides 0 and 2, and these
    two are then connected.
    """
    face = 0
    for row in range(corners.shape[0]):
        bottom, top = chains[0], chains[1]
        bottom_count, top_count = 0, 0
        for side in range(4):
            if side % 2 == 0:
                chain = bottom if side == 0 else top
                chain[0] = corners[row, side]
                total = counts[row, side]
                for at in range(total):
                    chain[at + 1] = pool[first[row, side] + (total - 1 - at if backward[row, side] else at)]
                chain[total + 1] = corners[row, side + 1]
                if side == 0:
                    bottom_count = total + 2
                else:
                    top_count = total + 2
        for side in range(1, 4, 2):
            total = counts[row, side]
            if total == 0:
                continue
            # A fan around the second to last vertex of the side before, which then ends there.
            if side == 1:
                apex, last = bottom[bottom_count - 2], bottom[bottom_count - 1]
                bottom_count -= 1
            else:
                apex, last = top[top_count - 2], top[top_count - 1]
                top_count -= 1
            for at in range(total + 1):
                following = corners[row, (side + 1) % 4]
                if at < total:
                    following = pool[first[row, side] + (total - 1 - at if backward[row, side] else at)]
                faces[face, 0], faces[face, 1], faces[face, 2] = apex, last, following
                face += 1
                last = following
        low, high = 0, top_count - 1
        while low < bottom_count - 1 or high > 0:
            if high == 0 or (low < bottom_count - 1 and low < top_count - high):
                faces[face, 0], faces[face, 1], faces[face, 2] = bottom[low], bottom[low + 1], top[high]
                low += 1
            else:
                faces[face, 0], faces[face, 1], faces[face, 2] = bottom[low], top[high - 1], top[high]
                high -= 1
            face += 1

"""The boundary of a solid as a closed triangle mesh, oriented outward.

Every plane of vertices has faces that look up the axis (the section before minus the one after) and down it. They are
cut into rectangles, the sides of each are split at all corners of other rectangles that lie on them, and the result is
triangulated: neighbours share whole edges, so the mesh is closed, and its signed volume is that of the solid.
"""

from __future__ import annotations

import numpy as np

from choque._core.kernel import kernel
from choque._core.parts import join, settle
from choque._core.types import F64, I64, Bools
from choque.volumes._model import ExtremeVertices
from choque.volumes.keys import AXES, BITS, Points, VertexKeys, pack, unpack

_ORDERS = ("xyz", "yzx", "zxy")


def closed_surface(model: ExtremeVertices) -> tuple[Points, I64]:
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


def manifold_surface(model: ExtremeVertices) -> tuple[F64, I64]:
    """Return `closed_surface` with every edge used twice, once in each direction, and one fan around every vertex.

    Where cells meet only in an edge or a corner, vertices are doubled, so that the cells are apart: around an edge with
    four triangles, the two on the sides of one cell stay together. Where both ends of such an edge are joined by other
    cells, two of its triangles get a vertex in its middle. O(m log m).
    """
    lattice, faces = closed_surface(model)
    points = lattice.astype(np.float64)
    if not len(faces):
        return points, faces
    parents = np.arange(faces.size)
    _join_corners(_paired_edges(points, faces)[0], parents)
    corners = faces.reshape(-1)
    kept = np.flatnonzero(parents == np.arange(len(corners)))
    kept = kept[np.argsort(corners[kept], kind="stable")]
    numbers = np.empty(len(corners), np.int64)
    numbers[kept] = np.arange(len(kept))
    points, faces = points[corners[kept]], numbers[parents].reshape(-1, 3)
    while True:
        pairs, edges = _paired_edges(points, faces)
        again = np.flatnonzero(edges[1:] == edges[:-1]) + 1
        if not len(again):
            return points, faces
        points, faces = _halved(points, faces, pairs[again])


def _paired_edges(points: F64, faces: I64) -> tuple[I64, I64]:
    """Return the half-edges (k, 2) that belong together, by edges, and the number (k,) of their edge.

    Half-edge h starts at corner h of the faces.

    Of four triangles around an edge, two bound the same quadrant of the solid: away from the edge along the triangle,
    and against its normal.
    """
    keys = np.empty(faces.size, np.int64)
    _fill_edge_keys(points, faces, keys)
    pairs = np.argsort(keys).reshape(-1, 2)
    return pairs, keys[pairs[:, 0]] // 125


@kernel
def _fill_edge_keys(points: F64, faces: I64, keys: I64) -> None:
    """Write for each half-edge the number of its edge times 125, and the number of its quadrant."""
    for face in range(faces.shape[0]):
        a, b, c = faces[face, 0], faces[face, 1], faces[face, 2]
        for corner in range(3):
            tail, head, third = faces[face, corner], faces[face, (corner + 1) % 3], faces[face, (corner + 2) % 3]
            key = min(tail, head) * points.shape[0] + max(tail, head)
            for axis in range(3):
                i, k = (axis + 1) % 3, (axis + 2) % 3
                normal = (points[b, i] - points[a, i]) * (points[c, k] - points[a, k])
                normal -= (points[b, k] - points[a, k]) * (points[c, i] - points[a, i])
                along = 0.0
                if points[head, axis] == points[tail, axis]:
                    along = points[third, axis] - points[tail, axis]
                key = 5 * key + np.int64(along > 0.0) - np.int64(along < 0.0) + 2
                key += np.int64(normal < 0.0) - np.int64(normal > 0.0)
            keys[3 * face + corner] = key


def _halved(points: F64, faces: I64, pairs: I64) -> tuple[F64, I64]:
    """Cut the triangles of pairs of half-edges (k, 2) in the middle of their edges, a triangle at most once."""
    rows = np.arange(len(pairs))
    first = np.full(len(faces), len(pairs))
    np.minimum.at(first, pairs // 3, rows[:, np.newaxis])
    chosen = pairs[(first[pairs // 3] == rows[:, np.newaxis]).all(axis=1)]
    middle = len(points) + np.arange(len(chosen))
    place = chosen // 3, chosen % 3
    tails, heads = faces[place], faces[place[0], (place[1] + 1) % 3]
    halves = faces[place[0]]
    np.put_along_axis(halves, place[1][..., np.newaxis], middle[:, np.newaxis, np.newaxis], axis=2)
    cut = faces.copy()
    cut[place[0], (place[1] + 1) % 3] = middle[:, np.newaxis]
    added = (points[tails[:, 0]] + points[heads[:, 0]]) / 2.0
    return np.concatenate((points, added)), np.concatenate((cut, halves.reshape(-1, 3)))


@kernel
def _join_corners(pairs: I64, parents: I64) -> None:
    """Join the corners of triangles on both ends of every pair of half-edges; ``parents`` then has one for each set.

    Half-edge h starts at corner h and ends at the next corner of its triangle.
    """
    for row in range(pairs.shape[0]):
        one, two = pairs[row, 0], pairs[row, 1]
        for end in range(2):
            a = one if end == 0 else one - one % 3 + (one + 1) % 3
            b = two - two % 3 + (two + 1) % 3 if end == 0 else two
            join(parents, a, b)
    settle(parents)


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


def _splits(keys: VertexKeys, corners: I64) -> tuple[I64, I64, I64, Bools]:
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
def _triangulate(corners: I64, pool: I64, first: I64, counts: I64, backward: Bools, chains: I64, faces: I64) -> None:
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

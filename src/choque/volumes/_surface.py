"""The boundary of a solid as triangles: closed, looking outward, with its holes left open.

Every plane of vertices carries faces that look up the axis (the section before minus the one after) and down it.
`closed_surface` cuts them into rectangles, splits the edges of each at every other rectangle's corner that lies on it,
and triangulates: neighbours then share whole edges, so the mesh is closed, and its signed volume is that of the solid.
`face_loops` gives the outlines themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque.volumes._keys import AXES, BITS, Points, VertexKeys, odd_ones_out, pack, unpack
from choque.volumes._model import ExtremeVertices

_ORDERS = ("xyz", "yzx", "zxy")


def closed_surface(model: ExtremeVertices) -> tuple[Points, NDArray[np.int64]]:
    """Vertices (n, 3) [lattice] and triangles (m, 3), counter-clockwise from outside.

    Every edge is used as often one way as the other; where cells meet in an edge only, four times.
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


def face_loops(model: ExtremeVertices) -> list[Points]:
    """The outlines of all faces, holes included, each a closed walk (k, 3) over the corners of the solid [lattice].

    Outer outlines run counter-clockwise seen from outside, holes clockwise. At a corner where a face only touches
    itself, the walk turns so that the two parts stay apart.
    """
    loops = []
    for order in _ORDERS:
        columns = [order.index(axis) for axis in AXES]
        for coordinate, up, down in model.reordered(order).faces():
            for flat, outward in ((up, True), (down, False)):
                for loop in _outlines(flat):
                    walk = loop if outward else loop[::-1]
                    points = np.column_stack((np.full(len(walk), coordinate), walk))
                    loops.append(points[:, columns])
    return loops


def covered_surface(model: ExtremeVertices) -> tuple[Points, NDArray[np.int64]]:
    """The surface as Ottogalli (2014) drew it: every outline filled, so that a hole is a further face that covers it.

    Kept to reproduce the published counts of vertices and triangles; not closed where faces have holes, and vertices
    may lie on the edges of neighbours.
    """
    rectangles = []
    for loop in face_loops(model):
        across = int(np.flatnonzero((loop == loop[0]).all(axis=0))[0])
        flat = np.delete(loop, across, axis=1)
        origin = flat.min(axis=0)
        inside = ExtremeVertices(odd_ones_out(pack(flat - origin, "xy")), "xy", tuple(origin.tolist()))
        (left, bottom), (right, top) = (corner.T for corner in inside.boxes())
        walk = [(left, bottom), (right, bottom), (right, top), (left, top)]
        corners = np.stack([np.stack(corner, axis=-1) for corner in walk], axis=1)
        rectangles.append(np.insert(corners, across, loop[0, across], axis=2))
    if not rectangles:
        return np.empty((0, 3), np.int64), np.empty((0, 3), np.int64)
    points, numbers = np.unique(np.concatenate(rectangles).reshape(-1, 3), axis=0, return_inverse=True)
    numbers = numbers.reshape(-1, 4)
    return points, np.concatenate((numbers[:, (0, 1, 2)], numbers[:, (0, 2, 3)]))


def solid_corners(model: ExtremeVertices) -> Points:
    """All corners of the solid (n, 3) [lattice], extreme or not, sorted."""
    loops = face_loops(model)
    if not loops:
        return np.empty((0, 3), np.int64)
    return np.unique(np.concatenate(loops), axis=0)


def _rectangles(model: ExtremeVertices, order: str) -> Points:
    """The faces across the first axis of an order as rectangles (n, 4, 3), counter-clockwise from outside."""
    columns = [order.index(axis) for axis in AXES]
    found = []
    for coordinate, up, down in model.reordered(order).faces():
        for flat, outward in ((up, True), (down, False)):
            if flat.is_empty():
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
    """The vertices strictly inside the four sides of each rectangle.

    Returns the numbers of all vertices in three orders, one after the other, and for each side (n, 4) where its own
    start there, how many they are, and whether they are met in falling sequence.
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
    """Triangles of rectangles whose sides hold further vertices, none of them flat.

    The vertices of the sides 1 and 3 are cut off as fans around the nearest vertices of the sides 0 and 2, and these
    two are sewn together.
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
            # A fan around the last vertex but one of the side before, which then ends there.
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


def _outlines(flat: ExtremeVertices) -> list[Points]:
    """The outlines of a region as walks over its corners (k, 2), the region on the left; touching parts stay apart."""
    if flat.is_empty():
        return []
    mask = np.pad(flat.mask(), 1)
    origin = np.array(flat.bounds[0])
    steps: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for axis in (0, 1):
        before = np.moveaxis(mask, axis, 0)
        change = before[1:].astype(np.int8) - before[:-1]
        for line, cell in zip(*np.nonzero(change), strict=True):
            enters = change[line, cell] > 0
            ends = [(int(line), int(cell) - 1), (int(line), int(cell))]
            if axis == 1:
                ends = [(b, a) for a, b in ends]
            if enters == (axis == 0):
                ends.reverse()
            steps.setdefault(ends[0], []).append(ends[1])
    return [np.array(loop, np.int64) + origin for loop in _walks(steps)]


def _walks(steps: dict[tuple[int, int], list[tuple[int, int]]]) -> list[list[tuple[int, int]]]:
    """Closed walks over unit steps, turning left where there is a choice, with straight points left out."""
    loops = []
    while steps:
        start = next(iter(steps))
        walk, at, heading = [start], start, (0, 0)
        while True:
            choices = steps[at]
            if len(choices) == 1:
                following = choices[0]
            else:  # cells touch in this corner: a left turn goes around the same cell
                left = (-heading[1], heading[0])
                following = next((c for c in choices if (c[0] - at[0], c[1] - at[1]) == left), choices[0])
            choices.remove(following)
            if not choices:
                del steps[at]
            heading = (following[0] - at[0], following[1] - at[1])
            at = following
            if at == start and (at not in steps or (len(walk) > 2 and _closes(steps[at], walk, heading))):
                break
            walk.append(at)
        loops.append(_bends(walk))
    return loops


def _closes(choices: list[tuple[int, int]], walk: list[tuple[int, int]], heading: tuple[int, int]) -> bool:
    """Whether the walk, back at its start with further steps from there, would turn left into its own first step."""
    start, second = walk[0], walk[1]
    left = (-heading[1], heading[0])
    return (second[0] - start[0], second[1] - start[1]) == left or not choices


def _bends(walk: list[tuple[int, int]]) -> list[tuple[int, int]]:
    bends = []
    for at, point in enumerate(walk):
        before, after = walk[at - 1], walk[(at + 1) % len(walk)]
        if (point[0] - before[0], point[1] - before[1]) != (after[0] - point[0], after[1] - point[1]):
            bends.append(point)
    return bends

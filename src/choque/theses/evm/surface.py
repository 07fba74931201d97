"""The surface as Ottogalli (2014) drew it, from the outlines of the faces; `choque.volumes` has a closed one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.volumes import ExtremeVertices
from choque.volumes.keys import AXES, Points, odd_ones_out, pack

_ORDERS = ("xyz", "yzx", "zxy")


def face_loops(model: ExtremeVertices) -> list[Points]:
    """Return the outlines of all faces and their holes, each a closed walk (k, 3) over the corners [lattice].

    Outer outlines run counter-clockwise seen from outside, holes clockwise. At a corner where a face only touches
    itself, the walk turns so that the two parts stay separate.
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
    """Return the surface of Ottogalli (2014): every outline is filled, so that a hole becomes a face that covers it.

    It reproduces the published counts of vertices and triangles. It is not closed where faces have holes, and vertices
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
    """Return all corners of the solid (n, 3) [lattice], extreme or not, sorted."""
    loops = face_loops(model)
    if not loops:
        return np.empty((0, 3), np.int64)
    return np.unique(np.concatenate(loops), axis=0)


def _outlines(flat: ExtremeVertices) -> list[Points]:
    """Return the outlines of a region as walks over its corners (k, 2), with the region on the left."""
    if flat.is_empty:
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
    """Return closed walks over unit steps, turning left at branches, without the points on straight lines."""
    loops = []
    while steps:
        start = next(iter(steps))
        walk, at, heading = [start], start, (0, 0)
        while True:
            choices = steps[at]
            if len(choices) == 1:
                following = choices[0]
            else:  # cells touch in this corner: a left turn stays on the same cell
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
    """Return whether a walk that is back at its start, where further steps begin, turns left into its first step."""
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

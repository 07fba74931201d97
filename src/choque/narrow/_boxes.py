"""The axis-aligned box around each shape."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.bounds import Boxes
from choque.narrow.shapes import CAPSULE, CONVEX, PLANE, SPHERE, TILE, Shapes

_SLACK = 8 * float(np.finfo(np.float64).eps)  # of some sums of products, in terms of the numbers added


def boxes_around(shapes: Shapes) -> Boxes:
    """Boxes, in float64, that hold their shapes whatever was rounded.

    A half-space reaches to infinity, except upward where its surface is level with two axes.
    """
    rotation, size = shapes.rotation.astype(np.float64), shapes.size.astype(np.float64)
    position = shapes.position.astype(np.float64)
    reach = np.zeros((len(shapes), 3))
    round_rows = np.isin(shapes.kind, (SPHERE, CAPSULE))
    reach[round_rows] = size[round_rows, :1]
    capsules, tiles = shapes.kind == CAPSULE, shapes.kind == TILE
    reach[capsules] += 0.5 * size[capsules, 1:2] * np.abs(rotation[capsules, :, 2])
    for column, axis in ((0, 0), (1, 2)):
        reach[tiles] += 0.5 * size[tiles, column : column + 1] * np.abs(rotation[tiles, :, axis])
    lower, upper = -reach, reach.copy()
    for row in np.flatnonzero(shapes.kind == CONVEX).tolist():
        points = _vertices(shapes, row) * size[row] @ rotation[row].T
        lower[row], upper[row] = points.min(axis=0), points.max(axis=0)
    planes = np.flatnonzero(shapes.kind == PLANE)
    lower[planes], upper[planes] = -np.inf, np.inf
    up = rotation[planes, :, 1]
    for axis in range(3):
        others = [other for other in range(3) if other != axis]
        level = (up[:, others] == 0).all(axis=1)
        upper[planes[level & (up[:, axis] > 0)], axis] = 0.0
        lower[planes[level & (up[:, axis] < 0)], axis] = 0.0
    lower += position
    upper += position
    finite = np.maximum(np.abs(lower), np.abs(upper))
    slack = _SLACK * (np.where(np.isfinite(finite), finite, 0.0) + np.abs(position))
    return Boxes(lower - slack, upper + slack)


def _vertices(shapes: Shapes, row: int) -> NDArray[np.float64]:
    hull = int(shapes.hull[row]) if shapes.hull is not None else -1
    first, last = shapes.hulls.first[hull : hull + 2]
    vertices: NDArray[np.float64] = shapes.hulls.points[first:last]
    return vertices

"""The axes of a small box around points, from a handful of extreme points.

After Larsson and Källberg, Fast computation of tight-fitting oriented bounding boxes (Game Engine Gems 2, 2011): the
longest edge, the point farthest from it and the two points farthest from that triangle span a double tetrahedron, and
every edge of every face of it is a candidate. The principal axes and the coordinate axes are candidates too.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from choque._core.kernel import helper, kernel
from choque._core.types import F64, Floats, Integer, Rows
from choque._core.vector import Vector, cross, dot, length, point_of, subtract, unit
from choque.bounds._kdops import directions

Frame: TypeAlias = tuple[Vector, Vector, Vector]
COORDINATE_AXES: Frame = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
FLAT = 1e-10  # a triangle or tetrahedron lower than this, for points of about unit extent, is ignored
GAIN = 1e-9  # relative improvement that a later candidate needs to replace an earlier one; coordinate axes come first


def choose_axes(flat: Floats, starts: Rows) -> F64:
    """Return orthonormal axes (n, 3, 3), one in each row of a matrix, for groups of points (total, 2 or 3).

    The box along them has no larger surface than the one along the principal or along the coordinate axes.
    Points of the plane get the normal of the plane as their last axis. O(p) for each group.
    """
    count = len(starts) - 1
    if count == 0:
        return np.empty((0, 3, 3))
    local = _normalised(flat, starts)
    axes = np.empty((count, 3, 3))
    _choose_axes(local, starts, directions(26).astype(np.float64), _principal_axes(local, starts, flat.shape[1]), axes)
    return axes


def _normalised(flat: Floats, starts: Rows) -> F64:
    """Return the points of each group in space, (total, 3), scaled into [−1, 1], so that squares cannot overflow."""
    sizes = np.diff(starts)
    lower = np.minimum.reduceat(flat, starts[:-1]).astype(np.float64)
    upper = np.maximum.reduceat(flat, starts[:-1]).astype(np.float64)
    middle = 0.5 * lower + 0.5 * upper
    scale = np.max(0.5 * upper - 0.5 * lower, axis=1, keepdims=True)
    scale[scale == 0] = 1
    local = np.zeros((len(flat), 3))
    local[:, : flat.shape[1]] = (flat - np.repeat(middle, sizes, axis=0)) / np.repeat(scale, sizes, axis=0)
    return local


def _principal_axes(local: F64, starts: Rows, dimension: int) -> F64:
    """Return the eigenvectors of each group's covariance as rows, the largest spread first: (n, 3, 3)."""
    sizes = np.diff(starts)
    mean = np.add.reduceat(local, starts[:-1]) / sizes[:, None]
    centered = local - np.repeat(mean, sizes, axis=0)
    covariance = np.add.reduceat(centered[:, :, None] * centered[:, None, :], starts[:-1])
    if dimension == 2:
        covariance[:, 2, 2] = -1  # less than any spread, so that the normal of the plane comes last
    vectors: F64 = np.linalg.eigh(covariance).eigenvectors
    return np.ascontiguousarray(vectors.transpose(0, 2, 1)[:, ::-1])


@kernel
def _choose_axes(local: F64, starts: Rows, normals: F64, principal: F64, axes: F64) -> None:
    extremes = np.empty(2 * len(normals), np.int64)
    for row in range(len(axes)):
        points = local[starts[row] : starts[row + 1]]
        every = np.arange(len(points))
        few = _gather_extremes(points, normals, extremes) if len(points) > len(extremes) else every
        best = COORDINATE_AXES
        least = _surface(points, every, best)
        for candidate in range(2):
            if candidate == 0:
                frame = (point_of(principal[row], 0), point_of(principal[row], 1), point_of(principal[row], 2))
            else:
                frame = _propose_frame(points, few)
            surface = _surface(points, every, frame)
            if surface < least * (1 - GAIN):
                least, best = surface, frame
        for axis in range(3):
            axes[row, 0, axis], axes[row, 1, axis], axes[row, 2, axis] = (best[0][axis], best[1][axis], best[2][axis])


@kernel
def _gather_extremes(points: F64, normals: F64, extremes: Rows) -> Rows:
    """Return the rows of the points farthest along each normal, both ways."""
    for index in range(len(normals)):
        normal = point_of(normals, index)
        low, high = np.inf, -np.inf
        for row in range(len(points)):
            along = dot(point_of(points, row), normal)
            if along < low:
                low = along
                extremes[2 * index] = row
            if along > high:
                high = along
                extremes[2 * index + 1] = row
    return extremes


@kernel
def _propose_frame(points: F64, few: Rows) -> Frame:
    """Return the best frame from the double tetrahedron of a ``few`` rows of the points."""
    a = b = few[0]
    longest = 0.0
    for first in few:
        for second in few:
            apart = length(_offset(points, first, second))
            if apart > longest:
                longest, a, b = apart, first, second
    if longest == 0:
        return COORDINATE_AXES

    edge = unit(_offset(points, a, b))
    c, height = a, 0.0
    for row in few:
        distance = length(cross(edge, _offset(points, a, row)))
        if distance > height:
            c, height = row, distance
    if height < FLAT:
        return _frame_along(edge)

    normal = unit(cross(edge, _offset(points, a, c)))
    below, above, low, high = a, a, -FLAT, FLAT
    for row in few:
        along = dot(_offset(points, a, row), normal)
        if along < low:
            below, low = row, along
        if along > high:
            above, high = row, along

    best, least = COORDINATE_AXES, np.inf
    for tip in (c, below, above):
        for start, end in ((a, b), (b, c), (c, a)):
            for first, second, third in ((start, end, tip), (end, tip, start), (tip, start, end)):
                along_edge = _offset(points, first, second)
                across = cross(along_edge, _offset(points, first, third))
                if length(across) > FLAT:
                    frame = (unit(along_edge), unit(cross(across, along_edge)), unit(across))
                    surface = _surface(points, few, frame)
                    if surface < least * (1 - GAIN):
                        best, least = frame, surface
    return best


@kernel
def _frame_along(edge: Vector) -> Frame:
    """Return a frame that begins with ``edge``; for an edge of the plane it ends with the normal of the plane."""
    x, y, z = abs(edge[0]), abs(edge[1]), abs(edge[2])
    if z <= x and z <= y:
        other = (0.0, 0.0, 1.0)
    elif y <= x:
        other = (0.0, 1.0, 0.0)
    else:
        other = (1.0, 0.0, 0.0)
    second = unit(cross(other, edge))
    return edge, second, cross(edge, second)


@kernel
def _surface(points: F64, rows: Rows, frame: Frame) -> float:
    """Return half the surface of the box around some ``rows``; unlike the volume, it distinguishes flat boxes."""
    low_x = low_y = low_z = np.inf
    high_x = high_y = high_z = -np.inf
    for row in rows:
        point = point_of(points, row)
        x, y, z = dot(point, frame[0]), dot(point, frame[1]), dot(point, frame[2])
        low_x, low_y, low_z = min(low_x, x), min(low_y, y), min(low_z, z)
        high_x, high_y, high_z = max(high_x, x), max(high_y, y), max(high_z, z)
    x, y, z = high_x - low_x, high_y - low_y, high_z - low_z
    return x * y + y * z + z * x


@helper
def _offset(points: F64, start: Integer, end: Integer) -> Vector:
    """Return the vector from the point of row ``start`` to that of row ``end``."""
    return subtract(point_of(points, end), point_of(points, start))

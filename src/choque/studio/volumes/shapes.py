"""Parts of a drawn volume as arrays in world units: cubes, surface, brinks, planes of vertices, its box."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from choque.volumes import Volume

Segments = NDArray[np.float64]
"""(m, 2, 3): two ends each."""
Triangles = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Vertices (n, 3) and faces (m, 3)."""

ORDERS = ("xyz", "yzx", "zxy")
"""The three orders; the brinks of one run along its last axis, its planes lie across its first."""

MAX_CUBES = 60_000
"""Largest number of voxels that are drawn as cubes."""


def brinks(volume: Volume, order: str) -> Segments:
    """Return the brinks of an order: from each odd extreme vertex to the even one after it, along the last axis.

    In the order xyz, for example, the vertices on one line along z form pairs from below; between the two of a pair
    the line runs along an edge of the solid. (Aguilera, Orthogonal Polyhedra, 1998.)
    """
    points = volume.model.reordered(order).points
    return volume.lattice.to_world(points.reshape(-1, 2, 3))


def planes(volume: Volume, axis: str) -> Triangles:
    """Return the planes of vertices across an axis: in each, the region that its vertices bound, as rectangles."""
    order = next(order for order in ORDERS if order[0] == axis)
    columns = [order.index(letter) for letter in "xyz"]
    corners = []
    for coordinate, plane in volume.model.reordered(order).planes():
        lower, upper = plane.boxes()
        level = np.full(len(lower), coordinate)
        (left, bottom), (right, top) = lower.T, upper.T
        walk = ((left, bottom), (right, bottom), (right, top), (left, top))
        corners.append(np.stack([np.stack((level, *corner), axis=-1)[:, columns] for corner in walk], axis=1))
    if not corners:
        return np.empty((0, 3)), np.empty((0, 3), np.int64)
    points = volume.lattice.to_world(np.concatenate(corners).reshape(-1, 3))
    starts = 4 * np.arange(len(points) // 4)[:, np.newaxis]
    return points, np.concatenate((starts + np.array([0, 1, 2]), starts + np.array([0, 2, 3])))


def cube_centres(volume: Volume) -> NDArray[np.float64]:
    """Return the centres (k, 3) of the voxels with an empty neighbour: those that are visible, also from cavities."""
    if volume.is_empty:
        return np.empty((0, 3))
    mask = np.pad(volume.voxels(), 1)
    hidden = mask.copy()
    for axis, step in product(range(3), (-1, 1)):
        hidden &= np.roll(mask, step, axis)
    seen = np.argwhere(mask & ~hidden) - 1
    return volume.lattice.to_world(seen + np.array(volume.model.bounds[0]) + 0.5)


def box_edges(lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Segments:
    """Return the twelve edges of a box."""
    corners = np.array(list(product(*zip(lower, upper, strict=True))))
    ends = [(a, a | 4 >> axis) for axis in range(3) for a in range(8) if not a & 4 >> axis]
    edges: Segments = corners[np.array(ends)]
    return edges


def unit_cube(spacing: NDArray[np.float64]) -> Triangles:
    """Return a cube around the origin with edges of ``spacing``, oriented outward."""
    volume = Volume.from_voxels(np.ones((1, 1, 1), np.bool_), spacing=spacing, origin=-spacing / 2)
    return volume.surface()

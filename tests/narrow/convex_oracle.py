"""Convex bodies by other means: every separating axis, every vertex, every point of a difference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque.narrow import Hulls

Floats = NDArray[np.float64]


def random_rotations(random: np.random.Generator, count: int) -> Floats:
    """(count, 3, 3), by orthonormalising normal matrices."""
    turn, upper = np.linalg.qr(random.normal(size=(count, 3, 3)))
    turn *= np.sign(np.diagonal(upper, axis1=1, axis2=2))[:, None, :]
    turn[np.linalg.det(turn) < 0, :, 0] *= -1
    return np.ascontiguousarray(turn)


def cloud(hulls: Hulls, row: int = 0) -> Floats:
    """(v, 3) the vertices of one hull."""
    return hulls.points[hulls.first[row] : hulls.first[row + 1]]


def axes_of(points: Floats, triangles: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """The different unit normals of the faces and unit directions of the edges of a hull, either sign once."""
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    edges = np.concatenate(
        [corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 1], corners[:, 0] - corners[:, 2]]
    )
    return _different(normals), _different(edges)


def _different(vectors: Floats) -> Floats:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    leading = np.abs(unit).argmax(axis=1)
    unit *= np.sign(unit[np.arange(len(unit)), leading])[:, None]
    _, rows = np.unique(unit.round(8), axis=0, return_index=True)
    return unit[rows]


def widest_gap(a: Floats, b: Floats, normals: tuple[Floats, Floats], edges: tuple[Floats, Floats]) -> Floats:
    """(n,) the widest gap of clouds (n, v, 3) along every face normal and edge product; negative: the least overlap.

    The separating-axis theorem: polyhedra are apart exactly when it is positive, and otherwise it is minus the depth.
    """
    products = np.cross(edges[0][:, :, None], edges[1][:, None]).reshape(len(a), -1, 3)
    lengths = np.linalg.norm(products, axis=2, keepdims=True)
    products = np.where(lengths > 1e-9, products / np.maximum(lengths, 1e-300), normals[0][:, :1])
    axes = np.concatenate([*normals, products], axis=1)
    one, other = np.einsum("nvi,nki->nkv", a, axes), np.einsum("nvi,nki->nkv", b, axes)
    gaps = np.maximum(other.min(axis=2) - one.max(axis=2), one.min(axis=2) - other.max(axis=2))
    return np.asarray(gaps.max(axis=1))


def lattice_gap(a: NDArray[np.int64], b: NDArray[np.int64]) -> int:
    """A number of the sign of the gap between the hulls of whole-numbered points; exact, and 0 where they touch.

    Every face normal and edge product of two polyhedra is a cross product of differences of their points.
    """
    edges = np.concatenate([(points[:, None] - points[None]).reshape(-1, 3) for points in (a, b)])
    edges = np.unique(edges, axis=0)
    axes = np.unique(np.cross(edges[:, None], edges[None]).reshape(-1, 3), axis=0)
    axes = axes[axes.any(axis=1)]
    one, other = axes @ a.T, axes @ b.T
    gaps = np.maximum(other.min(axis=1) - one.max(axis=1), one.min(axis=1) - other.max(axis=1))
    return int(gaps.max())

"""Meshes for tests: boxes, spheres, tori, and random rotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Arrays = tuple[NDArray[np.float64], NDArray[np.int64]]


def box(lower: tuple[float, ...] = (0, 0, 0), upper: tuple[float, ...] = (1, 1, 1)) -> Arrays:
    """A box of 12 triangles that face outward."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], np.float64)
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return np.where(corners == 1, upper, lower).astype(np.float64), np.array(faces)


def sphere(n: int, radius: float = 1.0) -> Arrays:
    """A sphere of 4 n² − 4 n triangles."""
    u, v = np.meshgrid(np.arange(2 * n) * np.pi / n, np.arange(1, n) * np.pi / n)
    points = np.stack((np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)), -1).reshape(-1, 3)
    i, j = (each.ravel() for each in np.meshgrid(np.arange(n - 2) * 2 * n, np.arange(2 * n), indexing="ij"))
    k = (j + 1) % (2 * n)
    sides = [np.stack((i + j, i + 2 * n + j, i + 2 * n + k), 1), np.stack((i + j, i + 2 * n + k, i + k), 1)]
    j = np.arange(2 * n)
    k = (j + 1) % (2 * n)
    top, bottom, last = np.full(2 * n, len(points)), np.full(2 * n, len(points) + 1), (n - 2) * 2 * n
    caps = [np.stack((top, j, k), 1), np.stack((bottom, last + k, last + j), 1)]
    return radius * np.vstack((points, [[0, 0, 1], [0, 0, -1]])), np.concatenate((*sides, *caps))


def torus(n: int, radius: float = 1.0, tube: float = 0.3) -> Arrays:
    """A torus of 4 n² triangles around the z axis."""
    u, v = np.meshgrid(np.arange(2 * n) * np.pi / n, np.arange(n) * 2 * np.pi / n, indexing="ij")
    reach = radius + tube * np.cos(v)
    points = np.stack((reach * np.cos(u), reach * np.sin(u), tube * np.sin(v)), -1).reshape(-1, 3)
    i, j = (each.ravel() for each in np.meshgrid(np.arange(2 * n), np.arange(n), indexing="ij"))
    a, b = i * n + j, ((i + 1) % (2 * n)) * n + j
    c, d = ((i + 1) % (2 * n)) * n + (j + 1) % n, i * n + (j + 1) % n
    return points, np.concatenate((np.stack((a, b, c), 1), np.stack((a, c, d), 1)))


def rotation(seed: int) -> NDArray[np.float64]:
    """A random rotation."""
    q, r = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    q = q * np.sign(np.diag(r))
    return q if np.linalg.det(q) > 0 else q[:, ::-1].copy()

"""What the contact routines are checked against: distances by trying all active sides, and support functions.

A sphere, capsule or tile is a core, all points centre + Σ λᵢ·gᵢ with |λᵢ| ≤ 1, made thicker by a radius. The distance
of two cores is a quadratic programme over their λ together; its optimum has each λ at its lower end, at its upper end
or free, so all 3ᵏ choices are tried and the best is right. Nothing here is shared with the routines.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from choque.narrow import Shapes
from choque.narrow.shapes import CAPSULE, PLANE, SPHERE, TILE

Array = NDArray[np.float64]

COMBINATIONS = [
    (SPHERE, SPHERE),
    (SPHERE, CAPSULE),
    (SPHERE, TILE),
    (SPHERE, PLANE),
    (CAPSULE, CAPSULE),
    (CAPSULE, TILE),
    (CAPSULE, PLANE),
]
"""Every combination of kinds that has contacts, smaller first."""


def random_pairs(kinds: tuple[int, int], count: int, seed: int, dtype: Any = np.float64) -> Shapes:
    """2·count shapes: pair i is rows 2i and 2i + 1, about half of them in contact, sizes of several magnitudes."""
    generator = np.random.default_rng(seed)
    kind = np.tile(np.array(kinds, np.int8), count)
    size = np.zeros((2 * count, 3))
    size[:, 0] = generator.lognormal(-1, 0.7, 2 * count)
    size[:, 1] = generator.lognormal(0, 0.8, 2 * count)
    tiles = kind == TILE
    size[tiles, 0] = generator.lognormal(0, 0.8, int(tiles.sum()))
    size[kind == SPHERE, 1:] = 0
    size[kind == PLANE] = 0
    rotation = Rotation.random(2 * count, random_state=seed).as_matrix()
    position = np.zeros((2 * count, 3))
    position[::2] = generator.uniform(-5, 5, (count, 3))
    spread = 0.5 * (size[::2].max(axis=1) + size[1::2].max(axis=1))[:, None]
    if PLANE in kinds:
        spread *= 4
    position[1::2] = position[::2] + spread * generator.normal(size=(count, 3))
    return shapes_of(kind, position, rotation, size, dtype)


def lattice_pairs(kinds: tuple[int, int], count: int, seed: int) -> Shapes:
    """The same on whole numbers, turned by quarters: parallel, collinear, concentric, piercing and just touching."""
    generator = np.random.default_rng(seed)
    kind = np.tile(np.array(kinds, np.int8), count)
    size = np.zeros((2 * count, 3))
    size[:, 0] = generator.integers(1, 4, 2 * count)
    size[:, 1] = 2 * generator.integers(0, 4, 2 * count)
    tiles = kind == TILE
    size[tiles, 0] = 2 * generator.integers(0, 4, int(tiles.sum()))
    size[kind == SPHERE, 1:] = 0
    size[kind == PLANE] = 0
    quarters = Rotation.create_group("O").as_matrix().round()
    rotation = quarters[generator.integers(0, len(quarters), 2 * count)]
    position = generator.integers(-3, 4, (2 * count, 3)).astype(float)
    return shapes_of(kind, position, rotation, size, np.float64)


def shapes_of(kind: Any, position: Any, rotation: Any, size: Any, dtype: Any = np.float64) -> Shapes:
    """Shapes from anything that NumPy understands."""
    floats = [np.ascontiguousarray(each, dtype) for each in (position, rotation, size)]
    return Shapes(np.ascontiguousarray(kind, np.int8), *floats)


def neighbours(shapes: Shapes) -> NDArray[np.int32]:
    """The pairs (0, 1), (2, 3), …"""
    return np.arange(len(shapes), dtype=np.int32).reshape(-1, 2)


def turned(shapes: Shapes, rotation: Array, shift: Array) -> Shapes:
    """All shapes after one rigid motion."""
    position = shapes.position @ rotation.T + shift
    return shapes_of(shapes.kind, position, rotation @ shapes.rotation, shapes.size, shapes.position.dtype)


def moved(shapes: Shapes, rows: Any, by: Array) -> Shapes:
    """The same shapes, some of them moved."""
    position = shapes.position.copy()
    position[rows] += by
    return replace(shapes, position=position)


def generators(shapes: Shapes) -> tuple[Array, Array]:
    """(n, 2, 3) half sides of each core, zero where there is none, and (n,) radii."""
    rotation, size = shapes.rotation.astype(float), shapes.size.astype(float)
    found = np.zeros((len(shapes), 2, 3))
    capsules, tiles = shapes.kind == CAPSULE, shapes.kind == TILE
    found[capsules, 0] = 0.5 * size[capsules, 1:2] * rotation[capsules, :, 2]
    found[tiles, 0] = 0.5 * size[tiles, :1] * rotation[tiles, :, 0]
    found[tiles, 1] = 0.5 * size[tiles, 1:2] * rotation[tiles, :, 2]
    return found, np.where(tiles | (shapes.kind == PLANE), 0.0, size[:, 0])


def core_distance(shapes: Shapes) -> Array:
    """(m,) the distance between the cores of each two neighbours; from a plane, the height above it."""
    sides, _ = generators(shapes)
    offset = shapes.position[1::2].astype(float) - shapes.position[::2].astype(float)
    if shapes.kind[1] == PLANE:
        up = shapes.rotation[1::2, :, 1].astype(float)
        heights = -np.einsum("mi,mi->m", offset, up)
        return heights - np.abs(np.einsum("mki,mi->mk", sides[::2], up)).sum(axis=1)
    used = [sides[::2, k] for k in range(shapes.kind[0])] + [-sides[1::2, k] for k in range(shapes.kind[1])]
    best = np.full(len(offset), np.inf)
    for choice in product((-1.0, 1.0, None), repeat=len(used)):
        fixed = -offset + sum(s * g for s, g in zip(choice, used, strict=True) if s is not None)
        free = [g for s, g in zip(choice, used, strict=True) if s is None]
        gap = fixed + sum(w[:, None] * g for w, g in zip(_best_weights(fixed, free), free, strict=True))
        best = np.minimum(best, np.sqrt((gap * gap).sum(axis=1)))
    return best


def _best_weights(fixed: Array, free: list[Array]) -> list[Array]:
    """The λ in [−1, 1] nearest to those that make fixed + Σ λᵢ·gᵢ shortest: all are allowed, one is best."""
    if not free:
        return []
    gram = np.array([[(g * h).sum(axis=1) for h in free] for g in free]).transpose(2, 0, 1)
    gram += 1e-300 * np.eye(len(free))
    right = -np.array([(g * fixed).sum(axis=1) for g in free]).T
    singular = np.abs(np.linalg.det(gram)) <= 1e-28 * np.prod([gram[:, k, k] for k in range(len(free))], axis=0)
    gram[singular] = np.eye(len(free))
    weights = np.linalg.solve(gram, right[:, :, None])[:, :, 0]
    return list(np.clip(weights, -1, 1).T)


def reach(shapes: Shapes) -> Array:
    """(m,) the sum of the radii of each two neighbours."""
    radius = generators(shapes)[1]
    total: Array = radius[::2] + radius[1::2]
    return total


def support(shapes: Shapes, rows: Any, direction: Array) -> Array:
    """How far each of these shapes reaches along its direction, from the origin of the world."""
    sides, radius = generators(shapes)
    reaching = np.abs(np.einsum("mki,mi->mk", sides[rows], direction)).sum(axis=1) + radius[rows]
    far: Array = np.einsum("mi,mi->m", shapes.position[rows].astype(float), direction) + reaching
    return far


def piercing_depth(shapes: Shapes, pair: int) -> float:
    """How far the cores of two neighbours must move to part, by the convex hull of their Minkowski difference."""
    sides, _ = generators(shapes)
    used = [g for g in (*sides[2 * pair], *sides[2 * pair + 1]) if np.any(g)]
    corners = np.array(list(product((-1, 1), repeat=len(used)))) @ np.array(used)
    offset = shapes.position[2 * pair + 1] - shapes.position[2 * pair]
    faces = ConvexHull(corners).equations
    return float(-(faces[:, :3] @ offset + faces[:, 3]).max())

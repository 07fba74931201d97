"""Plain NumPy answers to compare with: every area against every body."""

from __future__ import annotations

from typing import Any

import numpy as np

import choque.theses.interest.arena  # noqa: F401  (registers the scene)
from choque import scene
from choque.theses.interest.arena import Arena


def offsets(position: Any) -> Any:
    position = np.asarray(position, np.float64)
    return position[:, None] - position[None]


def squared(position: Any, shape: str = "sphere") -> Any:
    apart = offsets(position) ** 2
    return apart.max(axis=2, initial=0.0) if shape == "box" else apart.sum(axis=2)


def members(position: Any, radius: Any, body_radius: Any, shape: str = "sphere") -> list[tuple[int, int]]:
    """(owner, other) rows; a radius of NaN is no area. Exact for small whole numbers."""
    count = len(position)
    reach = np.broadcast_to(np.asarray(radius, np.float64), count)
    size = np.broadcast_to(np.asarray(body_radius, np.float64), count)
    with np.errstate(invalid="ignore"):
        inside = squared(position, shape) <= (reach[:, None] + size[None]) ** 2
    inside[np.isnan(reach)] = False
    np.fill_diagonal(inside, False)
    return rows(np.argwhere(inside))


def sphere_pairs(center: Any, radius: Any, k: float = 1.0, static: Any = None) -> list[tuple[int, int]]:
    """{i, j} with a distance of at most r_min + k · r_max, or k · r + r of the static one; no two static ones."""
    radius = np.asarray(radius, np.float64)
    factor = np.full(len(radius), k) if static is None else np.where(static, 1.0, k)
    reach = radius * factor
    distance = np.sqrt(squared(center))
    near = (distance <= reach[:, None] + radius[None]) | (distance <= radius[:, None] + reach[None])
    if static is not None:
        near &= ~(static[:, None] & static[None])
    return rows(np.argwhere(np.triu(near, 1)))


def rows(array: Any) -> list[tuple[int, int]]:
    return [(a, b) for a, b in np.asarray(array).tolist()]


def arena(count: int, **options: Any) -> Arena:
    motion = scene.generate("arena", count, frames=1, dtype="float64", **options).motion
    assert isinstance(motion, Arena)
    return motion

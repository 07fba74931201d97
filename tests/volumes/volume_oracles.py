"""Voxel sets, the independent oracle of all that volumes answer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]

OPERATIONS = {
    "union": np.logical_or,
    "intersection": np.logical_and,
    "difference": lambda one, two: one & ~two,
    "xor": np.logical_xor,
}


def random_mask(random: np.random.Generator, dimension: int = 3, most: int = 8) -> Mask:
    """Any size from 1, any density."""
    return random.random(tuple(random.integers(1, most + 1, dimension))) < random.random()


def random_pairs(count: int, dimension: int = 3, most: int = 8, seed: int = 0) -> Iterator[tuple[Mask, Mask]]:
    """Pairs of masks of one shape."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        one = random_mask(random, dimension, most)
        yield one, random.random(one.shape) < random.random()


def placed(mask: Mask, shift: tuple[int, ...], room: int) -> Mask:
    """The mask moved by ``shift`` in a larger one with ``room`` on every side."""
    larger = np.zeros([size + 2 * room for size in mask.shape], np.bool_)
    larger[tuple(slice(room + step, room + step + size) for step, size in zip(shift, mask.shape, strict=True))] = mask
    return larger


def cells(mask: Mask, shift: tuple[int, ...] = (0, 0, 0)) -> set[tuple[int, ...]]:
    """The full voxels as a set of lattice points."""
    return {tuple(cell) for cell in (np.argwhere(mask) + shift).tolist()}


def extreme_points(mask: Mask) -> list[list[int]]:
    """Extreme vertices by their definition: lattice points with an odd number of full cells around them."""
    padded = np.pad(mask, 1).astype(int)
    total = np.zeros([size + 1 for size in mask.shape], int)
    for corner in np.ndindex(*(2,) * mask.ndim):
        total += padded[tuple(slice(step, step + size + 1) for step, size in zip(corner, mask.shape, strict=True))]
    return np.argwhere(total % 2 == 1).tolist()

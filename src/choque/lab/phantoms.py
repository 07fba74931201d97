"""Test volumes by name: balls, gyroids, a sponge, a vertebra, a screw, random blocks.

Each is a function of the edge of a cube [voxels] that returns a mask, announced in the entry-point group
``choque.phantoms``, so that `choque.Volume.read` and the command know it by name: ``screw``, ``screw:96``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps

import numpy as np
from numpy.typing import NDArray

from choque.errors import InvalidInput
from choque.volumes.reading import PHANTOMS as PHANTOMS
from choque.volumes.reading import make_phantom

Axis = NDArray[np.float64]
"""Coordinates along one axis, to be broadcast with those of the others."""


make = make_phantom
"""Return a phantom by name: see `choque.volumes.reading.make_phantom`."""


def names() -> list[str]:
    """Return the names of all phantoms."""
    return PHANTOMS.names()


SLAB_VOXELS = 1 << 21
"""Voxels that are computed at a time, so that a large phantom takes little more memory than its mask."""


def _by_slabs(shape: Callable[..., NDArray[np.bool_]]) -> Callable[..., NDArray[np.bool_]]:
    """Turn a test of points ``shape(x, y, z)`` into a mask of ``size``³ voxels, tested at centres from -1 to 1."""

    @wraps(shape)
    def made(size: int, *values: float, **options: float) -> NDArray[np.bool_]:
        at = (np.arange(size) + 0.5) / size * 2 - 1
        mask = np.empty((size, size, size), np.bool_)
        step = max(1, SLAB_VOXELS // size**2)
        for first in range(0, size, step):
            x = at[first : first + step]
            mask[first : first + step] = shape(
                x[:, None, None], at[None, :, None], at[None, None, :], *values, **options
            )
        return mask

    return made


@_by_slabs
def ball(x: Axis, y: Axis, z: Axis, radius: float = 1.0) -> NDArray[np.bool_]:
    """A ball."""
    return np.asarray(x * x + y * y + z * z <= radius * radius)


@_by_slabs
def shell(x: Axis, y: Axis, z: Axis, radius: float = 1.0, inner: float = 0.8) -> NDArray[np.bool_]:
    """A hollow ball."""
    squared = x * x + y * y + z * z
    return np.asarray((squared <= radius * radius) & ~(squared <= inner * inner))


@_by_slabs
def gyroid(x: Axis, y: Axis, z: Axis, periods: float = 3.0, thickness: float = 0.4) -> NDArray[np.bool_]:
    """The wall along Schoen's minimal surface: a labyrinth with two sides."""
    return np.asarray(np.abs(_gyroid_level(x, y, z, periods)) < thickness)


@_by_slabs
def gyroid_channel(x: Axis, y: Axis, z: Axis, periods: float = 3.0, beyond: float = 0.5) -> NDArray[np.bool_]:
    """One of the two labyrinths that a gyroid wall keeps apart; touches no wall thinner than ``beyond``."""
    return np.asarray(_gyroid_level(x, y, z, periods) > beyond)


def _gyroid_level(x: Axis, y: Axis, z: Axis, periods: float) -> Axis:
    u, v, w = (np.pi * periods * axis for axis in (x, y, z))
    return np.asarray(np.sin(u) * np.cos(v) + np.sin(v) * np.cos(w) + np.sin(w) * np.cos(u))


def menger(size: int) -> NDArray[np.bool_]:
    """Menger's sponge, as deep as ``size`` allows: exact for powers of three."""
    x, y, z = (np.arange(size).reshape(shape) for shape in ((-1, 1, 1), (1, -1, 1), (1, 1, -1)))
    solid = np.ones((size, size, size), np.bool_)
    step = 1
    while step * 3 <= size:
        middle = [axis // step % 3 == 1 for axis in (x, y, z)]
        solid &= ~((middle[0] & middle[1]) | (middle[1] & middle[2]) | (middle[2] & middle[0]))
        step *= 3
    return solid


@_by_slabs
def vertebra(x: Axis, y: Axis, z: Axis) -> NDArray[np.bool_]:
    """A synthetic vertebra: body, canal, arch, processes; the canal runs along z, the body lies at low y."""
    body = (x / 0.55) ** 2 + ((y + 0.4) / 0.42) ** 2 <= 1
    arch = ((x / 0.4) ** 2 + ((y - 0.2) / 0.4) ** 2 <= 1) & (np.abs(z) < 0.35)
    canal = (x / 0.22) ** 2 + ((y - 0.15) / 0.2) ** 2 <= 1
    spine = (np.abs(x) < 0.08) & (y > 0.4) & (y < 0.95) & (np.abs(z + 0.3 * (y - 0.4)) < 0.22)
    sides = (np.abs(x) < 0.9) & (np.abs(y - 0.25 - 0.2 * np.abs(x)) < 0.12) & (np.abs(z) < 0.15)
    return np.asarray(((body & (np.abs(z) < 0.6)) | arch | spine | sides) & ~(canal & (y < 0.45) & (np.abs(z) <= 1)))


@_by_slabs
def screw(x: Axis, y: Axis, z: Axis, turns: float = 8.0) -> NDArray[np.bool_]:
    """A synthetic screw along z: a threaded shaft with a point, and a head at the top."""
    radius = np.hypot(x, y)
    turn = np.arctan2(y, x) / (2 * np.pi) + turns * (z + 1) / 2
    thread = 0.04 * np.abs(2 * (turn - np.floor(turn)) - 1)
    shaft = (radius < np.minimum(0.16, 0.5 * (z + 0.95)) + thread) & (z > -0.95) & (z < 0.75)
    return np.asarray(shaft | ((radius < 0.32) & (z >= 0.7) & (z < 0.95)))


def random_blocks(size: int, probability: float = 0.5, seed: float = 0) -> NDArray[np.bool_]:
    """Each voxel full with ``probability``, drawn from ``seed``."""
    if not 0 <= probability <= 1:
        raise InvalidInput(f"probability is {probability!r}; it must lie between 0 and 1.")
    return np.random.default_rng(int(seed)).random((size, size, size)) < probability

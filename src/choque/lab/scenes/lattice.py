"""What generators build from: cells of lattices, blocks of them, walls around them, velocities and colours."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.scene.columns import BodyColumns, join, tiles

Cells = NDArray[np.int64]
Vectors = NDArray[np.float64]

UPRIGHT = (90.0, 0.0, 0.0)
"""The angles of a capsule that stands."""

GRAVITY = (0.0, -9.8, 0.0)


def chosen_cells(random: np.random.Generator, counts: tuple[int, int, int], wanted: int) -> Cells:
    """Choose ``wanted`` different cells, (wanted, 3), of a lattice of ``counts`` cells, in the order x, y, z."""
    chosen = np.sort(random.permutation(int(np.prod(counts)))[:wanted])
    return np.stack(np.unravel_index(chosen, counts), axis=1)


def block_counts(wanted: int, flatness: float = 1.0) -> tuple[int, int, int]:
    """Return how many cells along x, y and z hold ``wanted`` ones, ``flatness`` times as many upward as along x."""
    along = max(1, ceil((wanted / flatness) ** (1 / 3) - 1e-9))
    upward = max(1, round(along * flatness))
    return along, upward, max(1, ceil(wanted / (along * upward)))


def block(wanted: int, pitch: ArrayLike, flatness: float = 1.0) -> Vectors:
    """Centres, (wanted, 3), of a block of cells ``pitch`` (3,) apart about the origin, filled from below."""
    along, upward, across = block_counts(wanted, flatness)
    y, x, z = np.unravel_index(np.arange(wanted), (upward, along, across))
    middle = (np.array([along, upward, across]) - 1) / 2
    centers: Vectors = (np.stack([x, y, z], axis=1) - middle) * np.asarray(pitch, dtype=np.float64)
    return centers


def walls(sides: ArrayLike, *, restitution: float = 1.0, lidded: bool = True) -> BodyColumns:
    """Tiles that close a box of ``sides`` (3,) about the origin; those toward the viewer and the lid are not drawn.

    Their order is +x, −x, +z, −z, +y, −y; without a lid +y is left out.
    """
    x, y, z = np.asarray(sides, dtype=np.float64)
    across = tiles([[x / 2, 0, 0], [-x / 2, 0, 0]], y, z, angles=(0, 0, 90), drawn=[False, True], **_wall(restitution))
    along = tiles([[0, 0, z / 2], [0, 0, -z / 2]], x, y, angles=(90, 0, 0), drawn=[False, True], **_wall(restitution))
    level = tiles([[0, y / 2, 0], [0, -y / 2, 0]], x, z, drawn=[False, True], **_wall(restitution))
    return join(across, along, level if lidded else level.take([1]))


def _wall(restitution: float) -> dict[str, object]:
    return {"restitution": restitution, "color": (220, 220, 220)}


def sixths(random: np.random.Generator, count: int, speed: float) -> Vectors:
    """Velocities, (count, 3), whose parts are whole thirtieths of ``speed`` up to it: sixths, if it is 5."""
    velocities: Vectors = random.integers(-30, 31, size=(count, 3)) * np.float64(speed / 30)
    return velocities


def bright_colors(random: np.random.Generator, count: int) -> NDArray[np.int64]:
    """Colours, (count, 3), that are seen on black."""
    return random.integers(60, 256, size=(count, 3))

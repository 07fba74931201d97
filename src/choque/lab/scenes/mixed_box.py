"""``mixed-box``: balls and capsules in a closed box, on which the Fingsics thesis compares broad phases."""

from __future__ import annotations

from math import ceil

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import UPRIGHT, chosen_cells, sixths, walls
from choque.scene.columns import CAPSULE, SPHERE, BodyColumns, join
from choque.scene.generators import BodyRequest

MIXED_GRIDS = {100: (8, 5, 8)}
"""Grids of the Fingsics thesis that the rule of `mixed_grid` does not give."""


def mixed_box(request: BodyRequest, *, speed: float = 5.0) -> BodyColumns:
    """Spheres and upright capsules in turn, on a third of the cells of a grid, fly about in a closed box.

    Radius 0.3, cylinders 2 long; cells are 1, 2 and 1 apart, bodies up to 0.1 off them; a velocity has parts of up to
    ``speed``. A body is a sphere where the sum of its cell's numbers is even. Nothing overlaps at the start.
    """
    speed = check.number(speed, "speed", 0.0, 1e6)
    random, count = request.random(), request.body_count
    radius, length, pitch = 0.3, 2.0, np.array([1.0, 2.0, 1.0])
    counts = mixed_grid(count)
    cell = chosen_cells(random, counts, count)
    is_sphere = cell.sum(axis=1) % 2 == 0
    jitter = random.integers(-10, 11, size=cell.shape) / 100
    size = np.zeros((count, 3))
    size[:, 0] = radius
    size[:, 1] = np.where(is_sphere, 0.0, length)
    flying = BodyColumns.filled(
        np.where(is_sphere, SPHERE, CAPSULE),
        (cell - (np.array(counts) - 1) / 2) * pitch + jitter,
        size,
        velocity=sixths(random, count, speed),
        mass=np.where(is_sphere, 1.0, (length + radius) / radius),
        angles=np.where(is_sphere[:, np.newaxis], (0.0, 0.0, 0.0), UPRIGHT),
        color=random.integers(0, 256, size=(count, 3)),
    )
    return join(flying, walls(pitch * counts + np.array([0.5, 1.5, 0.5])))


def mixed_grid(count: int) -> tuple[int, int, int]:
    """Cells along x, y and z of a mixed box of ``count`` bodies: about three a body, half as many upward.

    It gives 6×3×6, 13×6×13, 19×9×19, 27×13×27, 40×20×40 and 85×42×85 for 31, 316, 1000, 3162, 10000 and 100000 bodies.
    """
    along = max(1, ceil((6 * count) ** (1 / 3) - 1e-9))
    return MIXED_GRIDS.get(count, (along, max(1, along // 2), along))

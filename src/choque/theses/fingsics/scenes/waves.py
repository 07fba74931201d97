"""``two-waves``: a sea of small balls between two heavy ones."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import block, block_counts, walls
from choque.scene.columns import BodyColumns, join, spheres
from choque.scene.generators import BodyRequest

SMALL, LARGE, PITCH = 0.3, 6.0, 1.0


def two_waves(request: BodyRequest, *, speed: float = 8.0) -> BodyColumns:
    """Two heavy balls at ``speed`` drive waves through a sea of small ones from both ends of a closed box."""
    speed = check.positive(speed, "speed")
    large_count = min(2, request.body_count)
    small_count = request.body_count - large_count
    sea = block(small_count, (PITCH, PITCH, PITCH))
    sides = np.maximum(np.array(block_counts(small_count)) * PITCH, 2 * LARGE) + 1.0
    start = sides[0] / 2 + LARGE + 0.5
    ends = np.array([[-start, 0.0, 0.0], [start, 0.0, 0.0]])[:large_count]
    return join(
        spheres(sea, SMALL, color=(60, 120, 220)),
        spheres(ends, LARGE, mass=25.0, velocity=-np.sign(ends) * speed, color=(220, 60, 60)),
        walls(sides + np.array([4 * LARGE + 2, 0.0, 0.0])),
    )

"""``ramp``: bodies that slide down a slope and run out on the flat."""

from __future__ import annotations

from math import ceil

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import GRAVITY, bright_colors
from choque.scene.columns import CAPSULE, SPHERE, BodyColumns, join, tiles
from choque.scene.generators import BodyRequest, usually

WIDTH, RADIUS, PITCH = 20.0, 0.5, 2.0


@usually(40)
def ramp(request: BodyRequest, *, angle: float = 30.0, restitution: float = 0.4) -> BodyColumns:
    """Balls and lying capsules in turn slide down a slope of ``angle`` degrees and run out on a flat floor."""
    angle, restitution = check.number(angle, "angle", 1.0, 80.0), check.number(restitution, "restitution", 0.0, 1.0)
    random, count = request.random(), request.body_count
    in_a_row = int((WIDTH - 2) / PITCH)
    slope = max(20.0, PITCH * ceil(count / in_a_row) + 4.0)
    number = np.arange(count)
    up_slope = 4.0 + PITCH * (number // in_a_row)
    across = (number % in_a_row - (in_a_row - 1) / 2) * PITCH
    rise, run = np.sin(np.radians(angle)), np.cos(np.radians(angle))
    above = RADIUS + 0.05
    center = np.stack([-up_slope * run + above * rise, up_slope * rise + above * run, across], axis=1)
    is_sphere = number % 2 == 0
    size = np.zeros((count, 3))
    size[:, 0] = RADIUS
    size[:, 1] = np.where(is_sphere, 0.0, 0.9)
    sliding = BodyColumns.filled(
        np.where(is_sphere, SPHERE, CAPSULE),
        center,
        size,
        acceleration=GRAVITY,
        restitution=restitution,
        color=bright_colors(random, count),
    )
    down = tiles(
        [[-slope * run / 2, slope * rise / 2, 0.0]], slope, WIDTH, angles=(0, 0, -angle), restitution=restitution
    )
    flat = tiles([[slope, 0.0, 0.0]], 2 * slope, WIDTH, restitution=restitution, color=(120, 120, 120))
    return join(down, flat, sliding)

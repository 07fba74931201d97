"""``logs``: crossed layers of long capsules, hit from above."""

from __future__ import annotations

from math import ceil

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import GRAVITY, UPRIGHT
from choque.scene.columns import BodyColumns, capsules, join
from choque.scene.generators import BodyRequest, usually

RADIUS, LENGTH = 0.45, 10.0


@usually(242)
def logs(request: BodyRequest, *, layer: int = 11, height: float = 20.0) -> BodyColumns:
    """Logs float in crossed layers of ``layer`` each; a thick one falls on them from ``height``."""
    layer, height = check.whole_number(layer, "layer", 1), check.positive(height, "height")
    number = np.arange(max(0, request.body_count - 1))
    level = number // layer
    across = (number % layer - (layer - 1) / 2) * 1.0
    turned = level % 2 == 1
    still = np.zeros(len(number))
    center = np.stack([np.where(turned, still, across), -1.0 * level, np.where(turned, across, still)], axis=1)
    floating = capsules(
        center,
        RADIUS,
        LENGTH,
        angles=np.where(turned[:, np.newaxis], (0.0, 90.0, 0.0), (0.0, 0.0, 0.0)),
        restitution=0.8,
        color=(50, 200, 200),
    )
    top = max(0.0, (ceil(len(number) / layer) - 1) / 2)
    start = np.array([[1.5, top + height + 5.0, 1.5]])[: request.body_count]
    falling = capsules(start, 2.0, 5.0, mass=2.0, restitution=0.1, angles=UPRIGHT, acceleration=GRAVITY)
    return join(floating.moved((0.0, top, 0.0)), falling)

"""``bulldozer``: a static body that moves, and what it pushes."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import GRAVITY
from choque.scene.columns import BodyColumns, capsules, join, spheres, tiles
from choque.scene.generators import BodyRequest, usually

BLADE, LOG, LENGTH, PITCH = 2.0, 0.9, 8.0, 2.0


@usually(40)
def bulldozer(request: BodyRequest, *, speed: float = 10.0) -> BodyColumns:
    """A static ball rolls at ``speed`` into logs that lie in a row on a floor; nothing slows it down."""
    speed = check.positive(speed, "speed")
    number = np.arange(request.body_count)
    row = PITCH * max(0, request.body_count - 1)
    side = np.where(number % 2 == 0, 1.0, -1.0)
    logs = np.stack([PITCH * number - row / 2, np.full(len(number), LOG + 0.1), side], axis=1)
    return join(
        tiles([[0.0, 0.0, 0.0]], row + 40.0, 30.0, restitution=0.5),
        spheres(
            [[-row / 2 - BLADE - LOG - 2.0, BLADE - 1.0, 0.0]],
            BLADE,
            static=True,
            velocity=(speed, 0, 0),
            restitution=0.5,
            color=(200, 200, 20),
        ),
        capsules(logs, LOG, LENGTH, acceleration=GRAVITY, restitution=0.5, color=(65, 43, 21)),
    )

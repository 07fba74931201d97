"""``pins``: an alley with a ball and a triangle of pins."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import GRAVITY, UPRIGHT
from choque.scene.columns import BodyColumns, capsules, join, spheres, tiles
from choque.scene.generators import BodyRequest, usually

PIN, HEIGHT, APART, BALL = 0.4, 1.6, 1.1, 0.9


@usually(55)
def pins(request: BodyRequest, *, speed: float = 18.0) -> BodyColumns:
    """A ball rolls at ``speed`` down an alley into pins that stand in a triangle, one more in each row."""
    speed = check.positive(speed, "speed")
    number = np.arange(max(0, request.body_count - 1))
    row = np.floor((np.sqrt(8.0 * number + 1) - 1) / 2)
    place = number - row * (row + 1) / 2
    rows = ceil((sqrt(8 * len(number) + 1) - 1) / 2)
    half_width = max(3.0, rows * APART / 2 + 1.5)
    length = 16.0 + rows * APART + 6.0
    wall = {"angles": (90, 0, 0), "restitution": 0.5, "color": (220, 220, 220)}
    standing = np.stack([14.0 + row * APART, np.full(len(number), HEIGHT / 2 + PIN), (place - row / 2) * APART], axis=1)
    return join(
        tiles([[length / 2 - 4.0, 0.0, 0.0]], length, 2 * half_width, restitution=0.5, color=(65, 43, 21)),
        tiles([[length / 2 - 4.0, 1.5, side * half_width] for side in (-1, 1)], length, 3.0, **wall),
        spheres(
            np.array([[0.0, BALL, 0.1]])[: request.body_count],
            BALL,
            mass=5.0,
            velocity=(speed, 0, 0),
            acceleration=GRAVITY,
            restitution=0.4,
            color=(200, 20, 20),
        ),
        capsules(standing, PIN, HEIGHT, angles=UPRIGHT, acceleration=GRAVITY, restitution=0.4),
    )

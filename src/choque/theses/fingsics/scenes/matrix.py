"""``matrix`` and ``rockets``: a lattice of standing capsules that heavy balls plough through."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import UPRIGHT, block
from choque.scene.columns import BodyColumns, capsules, join, spheres
from choque.scene.generators import BodyRequest

BALL_RADIUS = 4.0


def matrix(request: BodyRequest, *, balls: int = 1, speed: float = 35.0) -> BodyColumns:
    """Capsules stand in rows in empty space; ``balls`` a thousand times as heavy come in from around at ``speed``."""
    return _struck(request, check.whole_number(balls, "balls", 0), check.positive(speed, "speed"), rocket=False)


def rockets(request: BodyRequest, *, speed: float = 35.0) -> BodyColumns:
    """Rockets, which are capsules that are drawn differently, stand in rows; one heavy ball comes in at ``speed``."""
    return _struck(request, 1, check.positive(speed, "speed"), rocket=True)


def _struck(request: BodyRequest, ball_count: int, speed: float, *, rocket: bool) -> BodyColumns:
    ball_count = min(ball_count, request.body_count)
    standing = capsules(
        block(request.body_count - ball_count, (2.3, 5.5, 2.3), flatness=0.4),
        0.5,
        4.0,
        angles=UPRIGHT,
        restitution=0.4,
        color=(0, 220, 0) if rocket else (50, 200, 200),
        rocket=rocket,
    )
    reach = float(np.linalg.norm(standing.position, axis=1).max(initial=0.0)) + 3.0
    # On a ring that is wide enough for all of them, a little above, each on its way to the middle.
    ring = max(reach + BALL_RADIUS + 1, ball_count * (2 * BALL_RADIUS + 1) / np.pi)
    turn = 2 * np.pi * (np.arange(ball_count) + 0.125) / max(1, ball_count)
    toward = np.stack([np.cos(turn), np.full(ball_count, 0.5), np.sin(turn)], axis=1)
    inward = -speed * toward / np.linalg.norm(toward, axis=1, keepdims=True)
    return join(standing, spheres(ring * toward, BALL_RADIUS, mass=1000.0, velocity=inward))

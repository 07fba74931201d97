"""``war`` and ``parade``: blocks of standing capsules that march into each other."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import UPRIGHT, Vectors, block
from choque.scene.columns import BodyColumns, capsules, join
from choque.scene.generators import BodyRequest

PITCH = (2.0, 6.0, 2.0)
APART = 8.0


def war(request: BodyRequest, *, speed: float = 15.0) -> BodyColumns:
    """Two blocks of standing capsules meet head on, each at ``speed``."""
    speed = check.positive(speed, "speed")
    first, second = (_block(request.body_count, 2, part) for part in range(2))
    return join(
        _army(first, (-_extent(first, 0) - APART, 0, 0), (speed, 0, 0), (220, 60, 60)),
        _army(second, (_extent(second, 0) + APART, 0, 0), (-speed, 0, 0), (60, 100, 220)),
    )


def parade(request: BodyRequest, *, speed: float = 9.0) -> BodyColumns:
    """Three blocks of standing capsules, of which two march into the third at ``speed`` along z and x."""
    speed = check.positive(speed, "speed")
    still, behind, beside = (_block(request.body_count, 3, part) for part in range(3))
    return join(
        _army(still, (0, 0, 0), (0, 0, 0), (220, 220, 60)),
        _army(behind, (0, 0, _extent(still, 2) + _extent(behind, 2) + APART), (0, 0, -speed), (220, 60, 60)),
        _army(beside, (_extent(still, 0) + _extent(beside, 0) + APART, 0, 0), (-speed, 0, 0), (60, 100, 220)),
    )


def _block(count: int, parts: int, part: int) -> Vectors:
    return block(count // parts + (part < count % parts), PITCH, flatness=0.4)


def _extent(centers: Vectors, axis: int) -> float:
    return float(np.abs(centers[:, axis]).max(initial=0.0))


def _army(
    centers: Vectors, place: tuple[float, ...], velocity: tuple[float, ...], color: tuple[int, ...]
) -> BodyColumns:
    return capsules(centers + place, 0.5, 4.0, velocity=velocity, angles=UPRIGHT, restitution=0.4, color=color)

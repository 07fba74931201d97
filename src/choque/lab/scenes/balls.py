"""``balls-in-box`` and ``gas``: balls that fly about in a closed box and lose nothing."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import block, block_counts, bright_colors, sixths, walls
from choque.scene.columns import BodyColumns, join, spheres
from choque.scene.generators import BodyRequest


def balls_in_box(request: BodyRequest, *, pitch: float = 1.0, speed: float = 5.0) -> BodyColumns:
    """Balls of radius 0.3 start ``pitch`` apart, with velocities of parts up to ``speed``, in a closed box.

    1 is dense, 1.5 is sparse.
    """
    pitch, speed = check.number(pitch, "pitch", 0.61, 1e6), check.number(speed, "speed", 0.0, 1e6)
    random, count = request.random(), request.body_count
    sides = np.array(block_counts(count)) * pitch + 0.5
    flying = spheres(
        block(count, (pitch, pitch, pitch)),
        0.3,
        velocity=sixths(random, count, speed),
        color=bright_colors(random, count),
    )
    return join(flying, walls(sides))


def gas(request: BodyRequest, *, filling: float = 0.05, speed: float = 5.0, radius: float = 0.5) -> BodyColumns:
    """Equal balls that fill a share ``filling`` of a closed box, with Maxwell's velocities of mean square ``speed``².

    The gas as a whole is at rest. Each ball starts anywhere in a cell of its own, so nothing overlaps.
    """
    filling, radius = check.number(filling, "filling", 1e-9, 0.5), check.number(radius, "radius", 1e-6, 1e6)
    speed = check.positive(speed, "speed")
    random, count = request.random(), request.body_count
    cell = radius * float(np.cbrt(4 * np.pi / (3 * filling)))
    room_to_move = cell / 2 - radius
    velocity = random.standard_normal((count, 3))
    if count > 1:
        velocity -= velocity.mean(axis=0)
        velocity *= speed / np.sqrt(np.einsum("ij,ij->i", velocity, velocity).mean())
    jitter = random.uniform(-room_to_move, room_to_move, size=(count, 3))
    flying = spheres(
        block(count, (cell, cell, cell)) + jitter, radius, velocity=velocity, color=bright_colors(random, count)
    )
    return join(flying, walls(np.array(block_counts(count)) * cell))

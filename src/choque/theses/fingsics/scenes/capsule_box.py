"""``capsule-box``: capsules of one proportion in a closed box, on which the Fingsics thesis compares oriented boxes."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.lab.scenes.lattice import UPRIGHT, chosen_cells, sixths, walls
from choque.scene.columns import BodyColumns, capsules, join
from choque.scene.generators import BodyRequest

SPARSENESS = 48 * 24 * 48 / 5000
"""Cells per body, as in the Fingsics thesis."""


def capsule_box(request: BodyRequest, *, ratio: float = 4.0, speed: float = 5.0) -> BodyColumns:
    """Upright capsules ``ratio`` times as long as thick, thinly spread over a grid, fly about in a closed box.

    Radius 0.5; cells leave a gap of 1 between neighbours; the box is two cells larger than the grid each way. A
    velocity has parts of up to ``speed``. 5,000 bodies are on 48×24×48 cells, as in the thesis.
    """
    ratio, speed = check.number(ratio, "ratio", 1.0, 1e6), check.number(speed, "speed", 0.0, 1e6)
    random, count = request.random(), request.body_count
    radius, gap = 0.5, 1.0
    upward = max(1, round((SPARSENESS * count / 4) ** (1 / 3)))
    counts = (2 * upward, upward, 2 * upward)
    pitch = np.array([2 * radius + gap, 2 * radius * ratio + gap, 2 * radius + gap])
    cell = chosen_cells(random, counts, count)
    flying = capsules(
        (cell - np.array(counts) / 2) * pitch,
        radius,
        2 * radius * (ratio - 1),
        velocity=sixths(random, count, speed),
        angles=UPRIGHT,
        color=(0, 220, 0),
    )
    return join(flying, walls((np.array(counts) + 2) * pitch))

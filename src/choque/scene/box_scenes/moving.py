"""``moving`` and ``one-moves``: the boxes of `uniform`, travelling."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.errors import InvalidInput
from choque.scene.box_scenes.motion import Travel, directions, sizes
from choque.scene.box_scenes.uniform import even_boxes
from choque.scene.generators import Request


def moving(request: Request, *, step: float = 0.01, overlaps: float = 3.0) -> Travel:
    """Every box travels ``step`` of its size a frame, in a direction of its own, reflected by the walls."""
    step = check.positive(step, "step")
    center, edge, world = even_boxes(request, check.positive(overlaps, "overlaps"))
    heading = directions(request.random(stream=1), request.box_count, request.dimension)
    return Travel(center, edge, step * sizes(edge) * heading, world)


def one_moves(request: Request, *, moving: int = 1, step: float = 0.1, overlaps: float = 3.0) -> Travel:
    """All boxes rest but ``moving`` of them, which travel ``step`` of their size a frame."""
    count = check.whole_number(moving, "moving", 0)
    if count > request.box_count:
        raise InvalidInput(f"moving is {moving}; there are only {request.box_count} boxes.")
    step = check.positive(step, "step")
    center, edge, world = even_boxes(request, check.positive(overlaps, "overlaps"))
    random = request.random(stream=1)
    chosen = random.permutation(request.box_count)[:count]
    velocity = np.zeros_like(center)
    velocity[chosen] = step * sizes(edge)[chosen] * directions(random, count, request.dimension)
    return Travel(center, edge, velocity, world)

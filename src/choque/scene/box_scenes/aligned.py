"""``aligned``: the worst case of a sweep along one axis."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.errors import InvalidInput
from choque.scene.box_scenes.density import world_edge_for_overlaps
from choque.scene.box_scenes.motion import Rest
from choque.scene.box_scenes.uniform import even_edges
from choque.scene.generators import Request


def aligned(request: Request, *, axis: int = 0, overlaps: float = 3.0) -> Rest:
    """Parallel rods that all overlap along ``axis``, while each truly meets about ``overlaps`` others.

    Centres spread twice as far along ``axis`` as along the others, so a sweep that chooses the axis of
    greatest variance chooses it; rods are twice as long as that, so there it can rule out none of the pairs.
    """
    if check.whole_number(axis, "axis", 0) >= request.dimension:
        raise InvalidInput(f"axis is {axis}; it must be from 0 to {request.dimension - 1}.")
    overlaps = check.positive(overlaps, "overlaps")
    random = request.random()
    edge = even_edges(request, random)
    world = world_edge_for_overlaps(np.delete(edge, axis, axis=1), overlaps)
    center = random.random(edge.shape) * world
    center[:, axis] *= 2
    edge[:, axis] = 4 * world
    return Rest(center, edge)

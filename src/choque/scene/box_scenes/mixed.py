"""``mixed``: sizes that differ a thousandfold."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.scene.box_scenes.density import (
    expected_pairs,
    pair_polynomial,
    world_edge_for_cubes,
    world_edge_for_overlaps,
)
from choque.scene.box_scenes.motion import Rest
from choque.scene.generators import Request


def mixed(request: Request, *, ratio: float = 1000.0, overlaps: float = 3.0) -> Rest:
    """Cubes of log-uniform size from 1 to ``ratio``, in a world that gives as many pairs as `uniform` has.

    Almost all pairs involve a large box, and large boxes lose many overlaps at the border; so the world is
    sized with the border taken into account, for the pairs that `uniform` is expected to have with its own.
    """
    ratio = check.number(ratio, "ratio", 1.0, 1e6)
    overlaps = check.positive(overlaps, "overlaps")
    count, dimension = request.box_count, request.dimension
    random = request.random()
    size = ratio ** random.random(count)
    edge = np.repeat(size[:, np.newaxis], dimension, axis=1)
    if count < 2:
        return Rest(edge, edge)
    even = np.ones((count, dimension))
    even_world = max(1.0, world_edge_for_overlaps(even, overlaps))
    pair_count = expected_pairs(pair_polynomial(even[:, 0], dimension), even_world)
    world = world_edge_for_cubes(size, dimension, pair_count)
    return Rest(random.random((count, dimension)) * world, edge)

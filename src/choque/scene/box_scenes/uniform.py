"""``uniform``: like boxes spread evenly."""

from __future__ import annotations

import numpy as np

from choque._core import check
from choque.scene.box_scenes.density import world_edge_for_overlaps
from choque.scene.box_scenes.motion import Rest, Rows
from choque.scene.generators import Request


def uniform(request: Request, *, overlaps: float = 3.0) -> Rest:
    """Boxes with edges of 0.5 to 1.5, even in a cube; each meets ``overlaps`` others, the border aside."""
    center, edge, _ = even_boxes(request, check.positive(overlaps, "overlaps"))
    return Rest(center, edge)


def even_boxes(request: Request, overlaps: float) -> tuple[Rows, Rows, float]:
    """Draw centres and edges, each (n, d), and the edge of the cube [0, edge]^d that the centres lie in."""
    random = request.random()
    edge = even_edges(request, random)
    world = world_edge_for_overlaps(edge, overlaps)
    return random.random(edge.shape) * world, edge, world


def even_edges(request: Request, random: np.random.Generator) -> Rows:
    """Draw edges, (n, d), evenly from 0.5 to 1.5."""
    return 0.5 + random.random((request.box_count, request.dimension))

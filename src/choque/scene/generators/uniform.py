"""``uniform``: like boxes spread evenly."""

from __future__ import annotations

import numpy as np

from choque.scene.checks import positive
from choque.scene.density import world_edge_for_overlaps
from choque.scene.motion import Rest, Rows
from choque.scene.registry import generator
from choque.scene.request import Request


@generator("uniform")
def uniform(request: Request, *, overlaps: float = 3.0) -> Rest:
    """Boxes with edges of 0.5 to 1.5, even in a cube; each meets ``overlaps`` others, the border aside."""
    center, edge, _ = even_boxes(request, positive("overlaps", overlaps))
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

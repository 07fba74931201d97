"""``clustered``: many boxes in few places."""

from __future__ import annotations

from math import ceil, pi, sqrt

import numpy as np

from choque._core import check
from choque.scene.box_scenes.density import touching_volume
from choque.scene.box_scenes.motion import Rest, Rows
from choque.scene.box_scenes.uniform import even_edges
from choque.scene.generators import Request

SPACING = 20.0
"""The edge of the cell that a cluster has for itself, in its standard deviations."""


def clustered(request: Request, *, clusters: int = 10, overlaps: float = 3.0) -> Rest:
    """Boxes with edges of 0.5 to 1.5 in Gaussian ``clusters``; each meets about ``overlaps`` others.

    The difference of two points of one Gaussian has density 1/(2·σ·√π) at 0 on each axis, from which σ
    follows; it needs clusters that are large beside a box, so small scenes have fewer overlaps. Clusters keep
    ten σ between their middles, and so do not meet.
    """
    cluster_count = check.whole_number(clusters, "clusters", 1)
    overlaps = check.positive(overlaps, "overlaps")
    random = request.random()
    edge = even_edges(request, random)
    if not request.box_count:
        return Rest(edge, edge)
    members = request.box_count / cluster_count
    deviation = (members * touching_volume(edge) / overlaps) ** (1 / request.dimension) / (2 * sqrt(pi))
    middle = SPACING * deviation * _scattered_points(random, cluster_count, request.dimension)
    cluster = random.integers(cluster_count, size=request.box_count)
    return Rest(middle[cluster] + deviation * random.standard_normal(edge.shape), edge)


def _scattered_points(random: np.random.Generator, count: int, dimension: int) -> Rows:
    """Draw points, (count, dimension), in different cells of a unit lattice, at least half a cell apart."""
    side = ceil(count ** (1 / dimension))
    chosen = random.permutation(side**dimension)[:count]
    cell = np.stack(np.unravel_index(chosen, (side,) * dimension), axis=1)
    return cell + 0.25 + random.random((count, dimension)) / 2

"""Polygons against polygons: which edges touch, and which polygon lies inside the other.

Signs of areas are those of `choque._core.predicates`, which are exact: an edge that ends on another one touches it for
any coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.kernel import kernel
from choque._core.morton import morton_order
from choque._core.predicates import line_side
from choque._core.tree import make_tree
from choque._core.tree_query import query_boxes
from choque._core.types import F64, I8, Pairs
from choque.errors import InvalidInput


@dataclass(frozen=True)
class Contact:
    """The contact of two polygons."""

    # (k, 2) the edges that touch, (of the first, of the second), sorted; edge i runs from vertex i to the next
    edges: Pairs
    inside: Literal["", "first", "second"]  # which polygon lies inside the other without touching its outline, if any

    def __bool__(self) -> bool:
        return bool(len(self.edges)) or self.inside != ""


def as_polygon(vertices: ArrayLike, name: str = "the polygon") -> F64:
    """Return ``vertices`` as (k, 2) finite float64 with k ≥ 3."""
    points = check.vectors(vertices, name, 2)
    if len(points) < 3:
        raise InvalidInput(f"{name} has {len(points)} points; it must have at least 3.")
    return points


def contact(first: ArrayLike, second: ArrayLike) -> Contact:
    """Return the contact of two polygons, (k, 2) and (m, 2) vertices in order, convex or not.

    Guarantees: exact; O(log k) for each pair of touching edges if outlines touch in few places, by a tree of boxes over
    the edges.

    Examples
    --------
    >>> square = [[0, 0], [4, 0], [4, 4], [0, 4]]
    >>> contact(square, [[4, 1], [6, 1], [6, 2]]).edges.tolist()
    [[1, 0], [1, 2]]
    >>> contact(square, [[1, 1], [2, 1], [1, 2]]).inside
    'second'
    """
    a, b = as_polygon(first, "the first polygon"), as_polygon(second, "the second polygon")
    close = close_edges(a, b)
    p, q = a[close[:, 0]], a[(close[:, 0] + 1) % len(a)]
    r, s = b[close[:, 1]], b[(close[:, 1] + 1) % len(b)]
    apart = (turns(p, q, r) * turns(p, q, s) > 0) | (turns(r, s, p) * turns(r, s, q) > 0)
    touching = close[~apart]
    if len(touching):
        return Contact(touching, "")
    if contains(a, b[0]):
        return Contact(touching, "second")
    return Contact(touching, "first" if contains(b, a[0]) else "")


def contains(polygon: F64, point: F64) -> bool:
    """Return whether a point off the outline lies inside ``polygon``, by counting edges to its right. Exact."""
    start, end = polygon, np.roll(polygon, -1, axis=0)
    below, above = start[:, 1] <= point[1], end[:, 1] <= point[1]
    crossed = below != above
    side = turns(start[crossed], end[crossed], np.broadcast_to(point, (int(crossed.sum()), 2)))
    return bool(np.count_nonzero((side > 0) == below[crossed]) % 2)


@kernel
def turns(a: F64, b: F64, c: F64) -> I8:
    """Return (n,) the sign of the area of each triangle: 1 if a, b, c turn left, −1 right, 0 on one line. Exact."""
    signs = np.empty(a.shape[0], np.int8)
    for row in range(a.shape[0]):
        point = (c[row, 0], c[row, 1])
        signs[row] = line_side((a[row, 0], a[row, 1]), (b[row, 0], b[row, 1]), point)
    return signs


def close_edges(first: F64, second: F64) -> Pairs:
    """Return (k, 2) the pairs of edges of two outlines whose boxes overlap, touching included, sorted."""
    own, others = _edge_boxes(first), _edge_boxes(second)
    return query_boxes(make_tree(others, morton_order(others, 1), 1), own, 1)


def _edge_boxes(vertices: F64) -> F64:
    """Return the boxes (k, 6) around the edges of an outline (k, 2)."""
    following, flat = np.roll(vertices, -1, axis=0), np.zeros((len(vertices), 1))
    return np.hstack((np.minimum(vertices, following), flat, np.maximum(vertices, following), flat))

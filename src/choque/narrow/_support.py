"""Convex bodies as clouds of points, and which point of one lies farthest along a direction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper
from choque._core.types import Floats, Index, Rows
from choque._core.vector import Vector

SCAN_LIMIT = 40
"""Up to so many points all are looked at; a climb along edges looks at fewer of more (benchmarks/narrow.py)."""


class Cores(NamedTuple):
    """Convex bodies: the hull of some points around a position, made thicker all around by a radius.

    A sphere is one point, a capsule two, a tile four, a hull its vertices. Points are turned as the body is but
    lie relative to its position, so that far from the origin nothing is lost. Kernels unpack it at once and pass its
    arrays on: each access to a member of a tuple counts references, which is slower than the arithmetic around it.
    """

    points: NDArray[np.float64]
    """(P, 3) the points of all bodies, one body after the other."""
    spans: Rows
    """(n, 3) the first row of each body's points, the row after its last, and where its neighbours start in
    ``graph``, -1 where they are not known."""
    place: NDArray[np.float64]
    """(n, 4) position, radius."""
    graph: Rows
    """(G,) for each hull and each of its vertices, where in this array its neighbours start; one more such number
    for the end of the last; then the neighbours of all, numbered within their hull."""


@helper
def support(points: Floats, spans: Rows, graph: Rows, body: Index, direction: Vector, start: Index) -> Index:
    """The row of the point of ``body`` that lies farthest along ``direction``; the arrays are those of `Cores`.

    Small clouds are scanned, and of equal points the first is taken. On large ones with known neighbours the climb
    goes from the row ``start`` along edges to ever farther points (Cameron, "Enhancing GJK", 1997); on a convex body
    it can only end at a farthest one.
    """
    first, last, base = spans[body, 0], spans[body, 1], spans[body, 2]
    if last - first <= SCAN_LIMIT or base < 0:
        return scan(points, first, last, direction)
    return climb(points, first, base, graph, direction, start)


@helper
def scan(points: Floats, first: Index, last: Index, direction: Vector) -> Index:
    """The first of the rows first … last − 1 that lies farthest along ``direction``."""
    x, y, z = direction
    best, highest = first, -np.inf
    for row in range(first, last):
        height = points[row, 0] * x + points[row, 1] * y + points[row, 2] * z
        if height > highest:
            best, highest = row, height
    return best


@helper
def climb(points: Floats, first: Index, base: Index, graph: Rows, direction: Vector, start: Index) -> Index:
    """The row of a farthest point of the hull whose points start at row ``first``, by way of its edges."""
    x, y, z = direction
    best = start
    highest = points[best, 0] * x + points[best, 1] * y + points[best, 2] * z
    while True:
        here = base + best - first
        farther = best
        for link in range(graph[here], graph[here + 1]):
            row = first + graph[link]
            height = points[row, 0] * x + points[row, 1] * y + points[row, 2] * z
            if height > highest:
                farther, highest = row, height
        if farther == best:
            return best
        best = farther

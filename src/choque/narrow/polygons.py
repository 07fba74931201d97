"""Polygons against polygons: which edges touch, and who lies inside whom. Exact.

Signs of areas are computed in float64 with a bound on the error; the few that the bound cannot decide are computed in
rationals. So an edge that ends on another one touches it, however the numbers are rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.errors import InvalidInput
from choque.narrow.polygons_tree import EdgeTree, close_edges

_ERROR_BOUND = (3.0 + 16.0 * 2.0**-53) * 2.0**-53
"""Of a signed area, in terms of its two products (Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997)."""


@dataclass(frozen=True)
class Contact:
    """How two polygons meet."""

    edges: NDArray[np.int64]
    """(k, 2) the edges that touch, (of the first, of the second), sorted; edge i runs from vertex i to the next."""
    inside: Literal["", "first", "second"]
    """Which polygon lies inside the other without touching its outline, if one does."""

    def __bool__(self) -> bool:
        return bool(len(self.edges)) or self.inside != ""


def as_polygon(vertices: ArrayLike, name: str = "The polygon") -> NDArray[np.float64]:
    """``vertices`` as (k, 2) finite float64 with k ≥ 3."""
    try:
        points = np.array(vertices, np.float64)
    except (TypeError, ValueError) as problem:
        raise InvalidInput(f"{name} is not a list of points ({problem}).") from None
    if points.ndim != 2 or points.shape[1:] != (2,):
        raise InvalidInput(f"{name} has the shape {points.shape}; it must be (k, 2), a point in each row.")
    if len(points) < 3:
        raise InvalidInput(f"{name} has {len(points)} points; it must have at least 3.")
    if not np.isfinite(points).all():
        row = int(np.argwhere(~np.isfinite(points))[0][0])
        raise InvalidInput(f"Point {row} of {name[0].lower()}{name[1:]} is {points[row].tolist()}; it must be finite.")
    return points


def contact(first: ArrayLike, second: ArrayLike) -> Contact:
    """How two polygons, (k, 2) and (m, 2) vertices in order, convex or not, meet.

    Guarantees: exact; O(log k) a pair of touching edges for outlines that meet in few places, by a tree of boxes over
    the edges.

    Examples
    --------
    >>> square = [[0, 0], [4, 0], [4, 4], [0, 4]]
    >>> contact(square, [[4, 1], [6, 1], [6, 2]]).edges.tolist()
    [[1, 0], [1, 2]]
    >>> contact(square, [[1, 1], [2, 1], [1, 2]]).inside
    'second'
    """
    a, b = as_polygon(first, "The first polygon"), as_polygon(second, "The second polygon")
    close = close_edges(EdgeTree(a), EdgeTree(b))
    p, q = a[close[:, 0]], a[(close[:, 0] + 1) % len(a)]
    r, s = b[close[:, 1]], b[(close[:, 1] + 1) % len(b)]
    apart = (turns(p, q, r) * turns(p, q, s) > 0) | (turns(r, s, p) * turns(r, s, q) > 0)
    touching = close[~apart]
    if len(touching):
        return Contact(touching, "")
    if contains(a, b[0]):
        return Contact(touching, "second")
    return Contact(touching, "first" if contains(b, a[0]) else "")


def contains(polygon: NDArray[np.float64], point: NDArray[np.float64]) -> bool:
    """Whether a point that is not on the outline lies inside ``polygon``, by the edges to its right. Exact."""
    start, end = polygon, np.roll(polygon, -1, axis=0)
    below, above = start[:, 1] <= point[1], end[:, 1] <= point[1]
    crossed = below != above
    side = turns(start[crossed], end[crossed], np.broadcast_to(point, (int(crossed.sum()), 2)))
    return bool(np.count_nonzero((side > 0) == below[crossed]) % 2)


def turns(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.int8]:
    """(n,) the sign of the area of each triangle: 1 if a, b, c turn left, −1 right, 0 on one line. Exact."""
    first = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1])
    second = (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    area = first - second
    signs = np.sign(area).astype(np.int8)
    for row in np.flatnonzero(np.abs(area) <= _ERROR_BOUND * (np.abs(first) + np.abs(second))):
        (ax, ay), (bx, by), (cx, cy) = ((Fraction(float(v)) for v in point[row]) for point in (a, b, c))
        exact = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        signs[row] = (exact > 0) - (exact < 0)
    return signs

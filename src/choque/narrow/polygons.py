"""Polygons against polygons: which edges touch, and which polygon lies inside the other. Exact.

Signs of areas are computed in float64 with a bound on the error; the few that the bound cannot decide are computed in
rationals. So an edge that ends on another one touches it for any coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.kernel import kernel
from choque.errors import InvalidInput

_ERROR_BOUND = (3.0 + 16.0 * 2.0**-53) * 2.0**-53
"""Bound on the error of a signed area, relative to its two products.

Shewchuk, "Adaptive Precision Floating-Point Arithmetic", 1997.
"""


@dataclass(frozen=True)
class Contact:
    """The contact of two polygons."""

    edges: NDArray[np.int64]
    """(k, 2) the edges that touch, (of the first, of the second), sorted; edge i runs from vertex i to the next."""
    inside: Literal["", "first", "second"]
    """Which polygon lies inside the other without touching its outline, if any."""

    def __bool__(self) -> bool:
        return bool(len(self.edges)) or self.inside != ""


def as_polygon(vertices: ArrayLike, name: str = "The polygon") -> NDArray[np.float64]:
    """Return ``vertices`` as (k, 2) finite float64 with k ≥ 3."""
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
    """Return whether a point off the outline lies inside ``polygon``, by counting edges to its right. Exact."""
    start, end = polygon, np.roll(polygon, -1, axis=0)
    below, above = start[:, 1] <= point[1], end[:, 1] <= point[1]
    crossed = below != above
    side = turns(start[crossed], end[crossed], np.broadcast_to(point, (int(crossed.sum()), 2)))
    return bool(np.count_nonzero((side > 0) == below[crossed]) % 2)


def turns(a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64]) -> NDArray[np.int8]:
    """Return (n,) the sign of the area of each triangle: 1 if a, b, c turn left, −1 right, 0 on one line. Exact."""
    first = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1])
    second = (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    area = first - second
    signs = np.sign(area).astype(np.int8)
    for row in np.flatnonzero(np.abs(area) <= _ERROR_BOUND * (np.abs(first) + np.abs(second))):
        (ax, ay), (bx, by), (cx, cy) = ((Fraction(float(v)) for v in point[row]) for point in (a, b, c))
        exact = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        signs[row] = (exact > 0) - (exact < 0)
    return signs


# A tree of boxes over the edges of a polygon
#
# The tree is balanced and implicit: edges are ordered so that the node over places [first, last) splits in the middle,
# at the median centre along the longer side of its box. Node 1 is the root, nodes 2k and 2k + 1 are the halves of node
# k.


class EdgeTree:
    """The boxes around the edges of one polygon, (k, 2) vertices, as a tree. O(k log k) time, O(k) memory."""

    def __init__(self, vertices: NDArray[np.float64]) -> None:
        following = np.roll(vertices, -1, axis=0)
        self.count = len(vertices)
        lower, upper = np.minimum(vertices, following), np.maximum(vertices, following)
        self.order: NDArray[np.int64] = np.arange(self.count)
        size = 2
        while size < 2 * self.count:
            size *= 2
        self.nodes = np.empty((size, 4))
        self._split(1, 0, self.count, lower, upper)

    def _split(self, node: int, first: int, last: int, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        own = self.order[first:last]
        low, high = lower[own].min(axis=0), upper[own].max(axis=0)
        self.nodes[node, :2], self.nodes[node, 2:] = low, high
        if last - first == 1:
            return
        axis = int(np.argmax(high - low))
        middle = (first + last) // 2
        centres = lower[own, axis] + upper[own, axis]
        self.order[first:last] = own[np.argpartition(centres, middle - first)]
        self._split(2 * node, first, middle, lower, upper)
        self._split(2 * node + 1, middle, last, lower, upper)


def close_edges(first: EdgeTree, second: EdgeTree) -> NDArray[np.int64]:
    """Return (k, 2) the pairs of edges whose boxes overlap, touching included, sorted."""
    capacity = 4 * (first.count + second.count)
    while True:
        found = np.empty((capacity, 2), np.int64)
        count = _descend(first.nodes, first.order, second.nodes, second.order, found)
        if count <= capacity:
            break
        capacity = count
    found = found[:count]
    return found[np.lexsort((found[:, 1], found[:, 0]))]


@kernel
def _descend(
    first: NDArray[np.float64],
    first_order: NDArray[np.int64],
    second: NDArray[np.float64],
    second_order: NDArray[np.int64],
    found: NDArray[np.int64],
) -> int:
    """Write the pairs of leaves whose boxes overlap; return their number, also if they do not fit."""
    stack = np.empty((256, 6), np.int64)  # node, first and last place, of both trees: a path is at most 2 × 64 deep
    stack[0, 0], stack[0, 1], stack[0, 2] = 1, 0, first_order.size
    stack[0, 3], stack[0, 4], stack[0, 5] = 1, 0, second_order.size
    depth = 1
    count = 0
    while depth > 0:
        depth -= 1
        a, a_first, a_last = stack[depth, 0], stack[depth, 1], stack[depth, 2]
        b, b_first, b_last = stack[depth, 3], stack[depth, 4], stack[depth, 5]
        if (
            first[a, 0] > second[b, 2]
            or second[b, 0] > first[a, 2]
            or first[a, 1] > second[b, 3]
            or second[b, 1] > first[a, 3]
        ):
            continue
        a_leaf, b_leaf = a_last - a_first == 1, b_last - b_first == 1
        if a_leaf and b_leaf:
            if count < found.shape[0]:
                found[count, 0], found[count, 1] = first_order[a_first], second_order[b_first]
            count += 1
            continue
        a_size = (first[a, 2] - first[a, 0]) + (first[a, 3] - first[a, 1])
        b_size = (second[b, 2] - second[b, 0]) + (second[b, 3] - second[b, 1])
        for half in range(2):
            stack[depth + half, 0], stack[depth + half, 1], stack[depth + half, 2] = a, a_first, a_last
            stack[depth + half, 3], stack[depth + half, 4], stack[depth + half, 5] = b, b_first, b_last
        if b_leaf or (not a_leaf and a_size >= b_size):
            middle = (a_first + a_last) // 2
            stack[depth, 0], stack[depth, 2] = 2 * a, middle
            stack[depth + 1, 0], stack[depth + 1, 1] = 2 * a + 1, middle
        else:
            middle = (b_first + b_last) // 2
            stack[depth, 3], stack[depth, 5] = 2 * b, middle
            stack[depth + 1, 3], stack[depth + 1, 4] = 2 * b + 1, middle
        depth += 2
    return count

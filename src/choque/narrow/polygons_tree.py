"""A tree of boxes over the edges of a polygon, and the edges of two polygons whose boxes meet.

The tree is balanced and implicit: edges are ordered so that the node over places [first, last) splits in the middle, at
the median centre along the longer side of its box. Node 1 is the root, nodes 2k and 2k + 1 are the halves of node k.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel


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
    """(k, 2) the pairs of edges whose boxes meet, touching included, sorted."""
    room = 4 * (first.count + second.count)
    while True:
        found = np.empty((room, 2), np.int64)
        count = _descend(first.nodes, first.order, second.nodes, second.order, found)
        if count <= room:
            break
        room = count
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
    """Write the pairs of leaves whose boxes meet; how many there are, also when they do not fit."""
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

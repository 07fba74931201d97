"""A tree over the disjoint boxes of a solid, and the walk through two trees that finds how near they come.

Boxes are put in Morton order and bundled by eight, level upon level. One walk answers two questions about a pair of
solids: the least distance, and the first contact when the second moves along a straight line. Lattice units inside, so
that boxes that touch are seen to touch exactly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel

_FAN = 8


class BoxTree(NamedTuple):
    """Boxes (n, 6), lower then upper corner; from the leaves up; ``starts`` says where each level begins."""

    boxes: NDArray[np.float64]
    starts: NDArray[np.int64]
    byte_count: int


def box_tree(lower: NDArray[np.int64], upper: NDArray[np.int64]) -> BoxTree:
    """A tree over boxes (n, 3), n > 0; O(n log n)."""
    order = np.argsort(_morton(lower + upper), kind="stable")
    level = np.concatenate((lower, upper), axis=1)[order].astype(np.float64)
    levels, starts = [level], [0]
    while len(level) > 1:
        starts.append(starts[-1] + len(level))
        rows = np.arange(0, len(level), _FAN)
        level = np.concatenate(
            (np.minimum.reduceat(level[:, :3], rows), np.maximum.reduceat(level[:, 3:], rows)), axis=1
        )
        levels.append(level)
    starts.append(starts[-1] + len(level))
    boxes = np.concatenate(levels)
    return BoxTree(boxes, np.array(starts, np.int64), boxes.nbytes)


def _morton(points: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Codes that interleave the bits of three coordinates."""
    code = np.zeros(len(points), np.uint64)
    for axis in range(3):
        bits = (points[:, axis] - points[:, axis].min()).astype(np.uint64) & np.uint64(0x1FFFFF)
        for shift, mask in (
            (32, 0x1F00000000FFFF),
            (16, 0x1F0000FF0000FF),
            (8, 0x100F00F00F00F00F),
            (4, 0x10C30C30C30C30C3),
            (2, 0x1249249249249249),
        ):
            bits = (bits | bits << np.uint64(shift)) & np.uint64(mask)
        code |= bits << np.uint64(axis)
    return code


@kernel
def _pair_cost(
    one: NDArray[np.float64],
    two: NDArray[np.float64],
    shift: NDArray[np.float64],
    spacing: NDArray[np.float64],
    velocity: NDArray[np.float64],
    moving: bool,
) -> float:
    """The squared distance of two boxes, or the time when their interiors meet; a lower bound for their contents."""
    cost, enter, leave = 0.0, 0.0, np.inf
    for axis in range(3):
        before = two[axis] + shift[axis] - one[axis + 3]  # above 0: the second lies beyond the first
        after = one[axis] - two[axis + 3] - shift[axis]
        if not moving:
            gap = max(before, after, 0.0) * spacing[axis]
            cost += gap * gap
        elif velocity[axis] == 0.0:
            if before >= 0.0 or after >= 0.0:
                return np.inf
        else:
            first, last = -before / velocity[axis], after / velocity[axis]
            if velocity[axis] < 0.0:
                enter, leave = max(enter, first), min(leave, last)
            else:
                enter, leave = max(enter, last), min(leave, first)
    if not moving:
        return cost
    return enter if enter < leave else np.inf


@kernel
def nearest_pair(
    boxes: NDArray[np.float64],
    starts: NDArray[np.int64],
    other_boxes: NDArray[np.float64],
    other_starts: NDArray[np.int64],
    shift: NDArray[np.float64],
    spacing: NDArray[np.float64],
    velocity: NDArray[np.float64],
    moving: bool,
    best_pair: NDArray[np.int64],
) -> float:
    """The least cost over all pairs of leaves, and that pair; inf when no pair ever meets.

    Depth first, nearer children first, branches that cannot improve the best are cut.
    """
    stack = np.empty((4096, 4), np.int64)
    bounds = np.empty(4096)
    top = 1
    stack[0, 0], stack[0, 1] = len(starts) - 2, 0
    stack[0, 2], stack[0, 3] = len(other_starts) - 2, 0
    root, other_root = boxes[starts[len(starts) - 2]], other_boxes[other_starts[len(other_starts) - 2]]
    bounds[0] = _pair_cost(root, other_root, shift, spacing, velocity, moving)
    best = np.inf
    while top > 0:
        top -= 1
        if bounds[top] >= best:
            continue
        level, node, other_level, other_node = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
        if level == 0 and other_level == 0:
            best = float(bounds[top])
            best_pair[0], best_pair[1] = node, other_node
            if best == 0.0:
                return best
            continue
        first = top
        split = level >= other_level
        below, at = (level - 1, node) if split else (other_level - 1, other_node)
        end = (starts[below + 1] - starts[below]) if split else (other_starts[below + 1] - other_starts[below])
        for child in range(at * _FAN, min((at + 1) * _FAN, end)):
            one = boxes[starts[below] + child] if split else boxes[starts[level] + node]
            two = (
                other_boxes[other_starts[other_level] + other_node]
                if split
                else other_boxes[other_starts[below] + child]
            )
            cost = _pair_cost(one, two, shift, spacing, velocity, moving)
            if cost >= best:
                continue
            place = top  # the nearest child goes on top
            while place > first and bounds[place - 1] < cost:
                bounds[place] = bounds[place - 1]
                for column in range(4):
                    stack[place, column] = stack[place - 1, column]
                place -= 1
            bounds[place] = cost
            stack[place, 0], stack[place, 1] = (below, child) if split else (level, node)
            stack[place, 2], stack[place, 3] = (other_level, other_node) if split else (below, child)
            top += 1
    return best

"""Tiles of space by k-d cuts, and which boxes touch which tile.

A cut sends what lies below it to one side and what lies at or above it to the other, so that tiles are half-open and
every point is in exactly one. Everything here is a comparison: nothing is rounded, and infinite boxes need no special
case. Tiles at the border of the tiling reach to infinity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import helper, kernel
from choque._core.pair_keys import key_first, key_second
from choque._core.types import F64, I64, Floats, Integer

MANY = 8  # boxes that touch more tiles than this are kept once, in a set that every tile sees
MIN_SAMPLE = 32  # fewer sampled boxes than this say too little about a tile to cut it
USEFUL = 0.95  # a cut is made if the heavier side keeps at most this share of the boxes
LARGE, SEVERAL = -1, -2  # marks for a box without a tile of its own: it touches many tiles, or up to `MANY`
_DEPTH = 128  # the most cuts between the root and a tile


class Tiling(NamedTuple):
    """Cuts of space, the first of them the root.

    ``children`` has, for each cut, what is below it and what is not: the number of another cut, or ``~tile``. Without
    any cut there is one tile, which is all of space.
    """

    axis: I64  # (cuts,)
    position: F64  # (cuts,): finite
    children: I64  # (cuts, 2)

    @property
    def tile_count(self) -> int:
        """The number of tiles: one more than there are cuts."""
        return len(self.axis) + 1

    def regions(self) -> F64:
        """The tiles as (tiles, 2, 3): lower and upper faces; NaN where a tile has none.

        Comparisons with NaN are false, which is what a missing face needs: nothing lies beyond it, not even infinity.
        """
        regions = np.full((self.tile_count, 2, 3), np.nan)
        waiting = [(0 if len(self.axis) else ~0, np.full((2, 3), np.nan))]
        while waiting:
            node, region = waiting.pop()
            if node < 0:
                regions[~node] = region
                continue
            for side in (0, 1):
                part = region.copy()
                part[1 - side, self.axis[node]] = self.position[node]
                waiting.append((int(self.children[node, side]), part))
        return regions


def cut(sample: Floats, weight: float, capacity: float, dimension: int) -> Tiling:
    """Cut space until a tile holds at most ``capacity`` boxes, as far as cuts help.

    ``sample`` has boxes (n, 2·d), lower corners first, each of which stands for ``weight`` boxes. Each cut is at a
    median of the lower corners, on the axis where it divides the fewest boxes. Boxes that all contain one point cannot
    be told apart by cuts: such a tile stays as it is. O(n log tiles) time.
    """
    axes: list[int] = []
    positions: list[float] = []
    children: list[list[int]] = []
    tile_count = 0
    least = 2 if weight <= 1 else MIN_SAMPLE
    waiting = [(sample, -1, 0, 1)]
    while waiting:
        boxes, parent, side, depth = waiting.pop()
        best = None
        if len(boxes) * weight > capacity and len(boxes) >= least and depth < _DEPTH:
            best = _best_cut(boxes, dimension)
        if best is None:
            node = ~tile_count
            tile_count += 1
        else:
            node, (axis, position) = len(axes), best
            axes.append(axis)
            positions.append(position)
            children.append([0, 0])
            # The lower side is taken from the stack first, so that tiles are numbered from low to high.
            waiting.append((boxes[boxes[:, dimension + axis] >= position], node, 1, depth + 1))
            waiting.append((boxes[boxes[:, axis] < position], node, 0, depth + 1))
        if parent >= 0:
            children[parent][side] = node
    return Tiling(
        np.array(axes, np.int64), np.array(positions, np.float64), np.array(children, np.int64).reshape(-1, 2)
    )


def _best_cut(boxes: Floats, dimension: int) -> tuple[int, float] | None:
    """Return the axis and position of the cut that divides the fewest boxes; None if no cut is useful."""
    best: tuple[int, float] | None = None
    fewest = np.inf
    for axis in range(dimension):
        lower, upper = boxes[:, axis], boxes[:, dimension + axis]
        position = _above_half(lower)
        if position is None:
            continue
        below, above = int((lower < position).sum()), int((upper >= position).sum())
        # Sides of unequal weight cost as boxes on both sides do: the heavier one has to be cut again.
        cost = max(below, above)
        if cost < fewest and cost <= USEFUL * len(boxes):
            best, fewest = (axis, float(position)), cost
    return best


def _above_half(lower: Floats) -> Any:
    """Return the finite value of ``lower`` with about half of them below it, at least one; None if there is none."""
    middle = np.partition(lower, len(lower) // 2)[len(lower) // 2]
    if not (lower < middle).any():
        above = lower[lower > middle]
        if not len(above):
            return None
        middle = above.min()
    return middle if np.isfinite(middle) else None


# Kernels


@kernel
def first_wrong(boxes: Floats) -> int:
    """Return the first row of ``boxes`` (n, 2·d) with NaN or with a lower corner above the upper one; −1 if none."""
    dimension = boxes.shape[1] // 2
    for i in range(boxes.shape[0]):
        for k in range(dimension):
            if not boxes[i, k] <= boxes[i, dimension + k]:
                return i
    return -1


@helper
def _touched(box: int, boxes: Floats, tiling: Tiling, stack: Any, tiles: Any) -> Integer:
    """Write the tiles that a box touches, at most as many as fit, and return their number, or one more."""
    dimension = boxes.shape[1] // 2
    depth = 0
    found = 0
    stack[0] = 0 if tiling.axis.size else -1
    while depth >= 0:
        node = stack[depth]
        depth -= 1
        while node >= 0:
            axis, position = tiling.axis[node], tiling.position[node]
            is_below = boxes[box, axis] < position
            is_above = boxes[box, dimension + axis] >= position
            if is_below and is_above:
                depth += 1
                stack[depth] = tiling.children[node, 1]
            node = tiling.children[node, 0 if is_below else 1]
        if found == tiles.size:
            return found + 1
        tiles[found] = ~node
        found += 1
    return found


@kernel
def count_tiles(boxes: Floats, tiling: Tiling, homes: I64, counts: I64) -> None:
    """Add to ``counts`` (tiles + 1,) how many boxes touch each tile; the last place counts those that touch many.

    ``homes`` (n,) receives the only tile of each box, or `SEVERAL`, or `LARGE`.
    """
    stack = np.empty(_DEPTH, np.int64)
    tiles = np.empty(MANY, np.int64)
    for i in range(boxes.shape[0]):
        found = _touched(i, boxes, tiling, stack, tiles)
        if found > MANY:
            homes[i] = LARGE
            counts[counts.size - 1] += 1
            continue
        homes[i] = tiles[0] if found == 1 else SEVERAL
        for k in range(found):
            counts[tiles[k]] += 1


class Scattered(NamedTuple):
    """Boxes in the order of their tiles, and their ids."""

    boxes: Floats  # (m, 2·d)
    ids: I64  # (m,)


@kernel
def place_boxes(boxes: Floats, ids: I64, tiling: Tiling, homes: I64, places: I64, out: Scattered) -> None:
    """Write each box to every tile it touches; ``places`` (tiles + 1,) has where each begins, and moves on."""
    stack = np.empty(_DEPTH, np.int64)
    tiles = np.empty(MANY, np.int64)
    for i in range(boxes.shape[0]):
        tiles[0] = places.size - 1 if homes[i] == LARGE else homes[i]
        found = 1
        if homes[i] == SEVERAL:
            found = _touched(i, boxes, tiling, stack, tiles)
        for k in range(found):
            place = places[tiles[k]]
            places[tiles[k]] = place + 1
            out.ids[place] = ids[i]
            for column in range(boxes.shape[1]):
                out.boxes[place, column] = boxes[i, column]


@kernel
def keep_touching(boxes: Floats, ids: I64, region: F64) -> int:
    """Move the boxes that touch ``region`` (2, 3) to the front, in order, with their ids; return how many there are."""
    dimension = boxes.shape[1] // 2
    kept = 0
    for i in range(boxes.shape[0]):
        is_outside = False
        for k in range(dimension):
            is_outside |= boxes[i, k] >= region[1, k] or boxes[i, dimension + k] < region[0, k]
        if not is_outside:
            ids[kept] = ids[i]
            for column in range(boxes.shape[1]):
                boxes[kept, column] = boxes[i, column]
            kept += 1
    return kept


@kernel
def keep_own(keys: NDArray[np.uint64], first: Floats, second: Floats, region: F64) -> int:
    """Move the pairs that belong to ``region`` (2, 3) to the front of ``keys``, in order; return how many there are.

    ``first`` and ``second`` (n, d) have the lower corners of the rows in the high and in the low half of a key. A pair
    belongs to the region that contains its reference point: the greater of the two lower corners on each axis, which
    lies in both boxes.
    """
    kept = 0
    for k in range(keys.size):
        key = keys[k]
        i = key_first(key)
        j = key_second(key)
        is_own = True
        for axis in range(first.shape[1]):
            corner = max(first[i, axis], second[j, axis])
            is_own &= not (corner < region[0, axis] or corner >= region[1, axis])
        keys[kept] = key
        kept += is_own
    return kept

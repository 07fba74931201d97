"""Areas as large as the crowd lets them be: the radius that holds a wanted number of bodies, found exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.kernel import kernel
from choque._core.tree_query import push_nearest
from choque.interest._bodies import Bodies
from choque.interest._body_tree import make_body_tree
from choque.interest._search import body_records


def fitting_reach(
    bodies: Bodies, target: int, smallest: float, largest: float, is_box: bool, thread_count: int
) -> NDArray[np.float64]:
    """The reach (n,) with which every area holds ``target`` bodies, between the two limits.

    It lies halfway between the gap to the body that is ``target``-th nearest and the gap to the next one. Where both
    are equally far there is no such reach, and the area holds as many fewer as it must. A search nearest first
    (Roussopoulos, Kelley and Vincent, 1995): O(log n + target) for each owner, O(target) memory.
    """
    search = make_body_tree(bodies.spheres, body_records(bodies, thread_count), thread_count)
    owners = search.tree.rows[bodies.reach[search.tree.rows] >= 0]
    sizes = bodies.spheres[:, 3]
    # What subtracting a radius from a distance may lose: gaps closer than that count as equal.
    blur = 1e-12 * float(sizes[np.isfinite(sizes)].max(initial=0.0))
    reach = bodies.reach.copy()
    shares = threads.ranges(len(owners), thread_count)
    arguments = (owners, bodies.spheres, target, smallest, largest, blur, is_box, *search.tree_arrays(), reach)
    threads.run(lambda part: _fit(*shares[part], *arguments), len(shares))
    return reach


@kernel
def _fit(
    first: int,
    last: int,
    owners: NDArray[np.uint32],
    spheres: NDArray[np.float64],
    target: int,
    smallest: float,
    largest: float,
    blur: float,
    is_box: bool,
    placed: NDArray[np.float64],
    rows: NDArray[np.uint32],
    lanes: Any,
    level_first: NDArray[np.int64],
    reach: NDArray[np.float64],
) -> None:
    gaps = np.empty(target + 1)
    stack = np.empty(16 * level_first.size, np.int64)
    keys = np.empty(16 * level_first.size)
    for unit in range(first, last):
        i = np.int64(owners[unit])
        gaps[:] = np.inf
        stack[0] = (level_first.size - 2) << 56  # block b of level l as l << 56 | b
        keys[0] = 0.0
        depth = 1
        while depth > 0:
            depth -= 1
            if keys[depth] > min(gaps[target], largest):
                continue
            level, block = stack[depth] >> 56, stack[depth] & 0xFFFFFFFFFFFFFF
            if level > 0:
                place = level_first[level] + block
                floor = depth
                for k in range(16):
                    if np.isnan(lanes[place, 0, k]):
                        break  # unused lanes come last
                    gap = _box_gap(spheres[i], lanes[place], k, is_box)
                    if gap <= min(gaps[target], largest):
                        depth = push_nearest(stack, keys, floor, depth, ((level - 1) << 56) | (block * 16 + k), gap)
                continue
            for place in range(block * 16, min(block * 16 + 16, rows.size)):
                if rows[place] != i:
                    _insert(gaps, _gap(spheres[i], placed[place], is_box))
        reach[i] = min(max(_between(gaps, blur), smallest), largest)


@kernel
def _between(gaps: NDArray[np.float64], blur: float) -> float:
    """The radius that holds as many of the bodies at these sorted ``gaps`` as possible, but not the last."""
    held = gaps.size - 1
    if gaps[held] == np.inf:
        return np.inf
    while held > 0 and gaps[held] - gaps[held - 1] <= 1e-9 * gaps[held] + blur:
        held -= 1
    return float(0.5 * (gaps[held - 1] + gaps[held]) if held > 0 else 0.5 * gaps[0])


@kernel
def _length(dx: Any, dy: Any, dz: Any, is_box: bool) -> float:
    return max(abs(dx), abs(dy), abs(dz)) if is_box else float(np.sqrt(dx * dx + dy * dy + dz * dz))


@kernel
def _gap(own: NDArray[np.float64], other: NDArray[np.float64], is_box: bool) -> float:
    """How large an area must be to touch another body."""
    length = _length(other[0] - own[0], other[1] - own[1], other[2] - own[2], is_box)
    return float(max(length - other[3], 0.0))


@kernel
def _box_gap(own: NDArray[np.float64], block: Any, k: int, is_box: bool) -> float:
    """How far it is to box ``k`` of a block, and so at least to every body in it."""
    dx = max(block[0, k] - own[0], own[0] - block[3, k], 0.0)
    dy = max(block[1, k] - own[1], own[1] - block[4, k], 0.0)
    dz = max(block[2, k] - own[2], own[2] - block[5, k], 0.0)
    return _length(dx, dy, dz, is_box) * (1 - 1e-12)


@kernel
def _insert(gaps: NDArray[np.float64], gap: float) -> None:
    """Keep the least ``gaps``, sorted."""
    place = gaps.size - 1
    if gap >= gaps[place]:
        return
    while place > 0 and gaps[place - 1] > gap:
        gaps[place] = gaps[place - 1]
        place -= 1
    gaps[place] = gap

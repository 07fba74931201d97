"""The search in small systems: all pairs of points and, for each, the images that can be near, without cells.

For one system of few points, and for many of them in one call. Below about a hundred points this is faster than sorting
them. O(n² + candidates) for each system.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.kernel import forceinline, kernel
from choque._core.types import Integer
from choque.neighbors._cells import Cells, check_cells_away, check_image_count, margins
from choque.neighbors._search import HALF, Group, Lists, empty_lists, is_kept, step_between, write

MAX_SMALL = 128
"""Maximum number of points of a small system."""


class Systems(NamedTuple):
    """Small systems.

    Attributes
    ----------
    first, last
        (k,) int64: the points of each.
    vectors, margin, periodic
        (k, 3, 3), (k, 3), (k, 3): their cells, and the maximum difference of fractional coordinates of neighbours.
    group
        The points of all systems.
    fraction, whole
        (n, 3) float64: wrapped fractional coordinates, and the whole cells that were added to get there.
    """

    first: NDArray[np.int64]
    last: NDArray[np.int64]
    vectors: NDArray[np.float64]
    margin: NDArray[np.float64]
    periodic: NDArray[np.bool_]
    group: Group
    fraction: NDArray[np.float64]
    whole: NDArray[np.float64]


def prepare_small(
    group: Group, starts: NDArray[np.int64], rows: NDArray[np.int64], cells: Cells, reach: float
) -> Systems:
    """Wrap the points of those systems that are listed in ``rows``."""
    first, last = starts[rows], starts[rows + 1]
    own = Cells(cells.vectors[rows], cells.inverse[rows], cells.heights[rows], cells.periodic[rows])
    fraction, whole = np.zeros_like(group.position), np.zeros_like(group.position)
    _wrap(first, last, group.position, own, fraction, whole)
    check_cells_away(whole, group.position)
    margin = margins(reach, own, float(np.abs(group.position).max(initial=0)))
    check_image_count(2 * margin + 1, int((last - first).max(initial=0)), reach)
    return Systems(first, last, own.vectors, margin, own.periodic, group, fraction, whole)


def visit_small(
    systems: Systems, cutoff: float, part: int, cursor: NDArray[np.int64], lists: Lists | None, thread_count: int
) -> None:
    """Add the number of neighbours of every point to ``cursor`` (n,), and write them from there on to ``lists``."""
    is_filling = lists is not None
    target = empty_lists(0, "") if lists is None else lists
    shares = threads.ranges(len(systems.first), thread_count)
    threads.run(lambda share: _visit(*shares[share], systems, cutoff, part, cursor, target, is_filling), len(shares))


@kernel
def _wrap(first: Any, last: Any, position: Any, cells: Cells, fraction: Any, whole: Any) -> None:
    for system in range(first.size):
        for i in range(first[system], last[system]):
            for axis in range(3):
                value = 0.0
                for k in range(3):
                    value += position[i, k] * cells.inverse[system, k, axis]
                added = -math.floor(value) if cells.periodic[system, axis] else 0.0
                fraction[i, axis], whole[i, axis] = value + added, added


@forceinline
def _moves(systems: Any, system: Integer, i: Integer, j: Integer, axis: Integer) -> Any:
    """Return the first and last image of a point along an axis that can be near another point."""
    if not systems.periodic[system, axis]:
        return np.int64(0), np.int64(0)
    between = systems.fraction[i, axis] - systems.fraction[j, axis]
    margin = systems.margin[system, axis]
    return np.int64(math.ceil(between - margin)), np.int64(math.floor(between + margin))


@kernel
def _visit(
    first: int, last: int, systems: Systems, cutoff: float, part: int, cursor: Any, lists: Lists, is_filling: bool
) -> None:
    """Count the neighbours of the points of some systems, or write them."""
    position, radius, whole = systems.group.position, systems.group.radius, systems.whole
    has_radius = radius.size > 0
    for system in range(first, last):
        vectors = systems.vectors[system]
        for i in range(systems.first[system], systems.last[system]):
            row = cursor[i]
            own = (position[i, 0], position[i, 1], position[i, 2])
            for j in range(i if part == HALF else systems.first[system], systems.last[system]):
                other = (position[j, 0], position[j, 1], position[j, 2])
                limit = radius[i] + radius[j] if has_radius else cutoff
                from_a, to_a = _moves(systems, system, i, j, 0)
                from_b, to_b = _moves(systems, system, i, j, 1)
                from_c, to_c = _moves(systems, system, i, j, 2)
                for a in range(from_a, to_a + 1):
                    for b in range(from_b, to_b + 1):
                        for c in range(from_c, to_c + 1):
                            cells = (
                                a + np.int64(whole[j, 0] - whole[i, 0]),
                                b + np.int64(whole[j, 1] - whole[i, 1]),
                                c + np.int64(whole[j, 2] - whole[i, 2]),
                            )
                            step = step_between(own, other, cells, vectors)
                            square = step[0] * step[0] + step[1] * step[1] + step[2] * step[2]
                            if square < limit * limit and is_kept(i, j, cells, part):
                                if is_filling:
                                    write(lists, row, i, j, cells, step, square)
                                row += 1
            cursor[i] = row

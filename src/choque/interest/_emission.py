"""The members of areas, written stretch by stretch: one kernel for whatever the bodies are searched in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.kernel import kernel
from choque._core.types import Index, Keys
from choque.interest._body_grid import gather_from_cells
from choque.interest._body_tree import gather_from_leaves
from choque.interest._together import STRETCH, make_space, share_box, write_members


@kernel
def emit_members(
    first: int,
    last: int,
    chunk: Keys,
    places: NDArray[np.uint32],
    reach: NDArray[np.float64],
    slack: float,
    is_box: bool,
    sizes: NDArray[np.int64],
    placed: NDArray[np.float64],
    rows: NDArray[np.uint32],
    starts: NDArray[np.uint32],
    frame: NDArray[np.float64],
    shape: NDArray[np.int64],
    lanes: Any,
    level_first: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a stretch of `STRETCH` of the ``places`` whose bodies have areas.

    Writes all bodies that touch an area and ``slack`` around it. ``reach`` is in the order of the ``places``, and so
    are the numbers of members that go to ``sizes``. The arrays from ``placed`` on are those of a grid or of a tree,
    which are told apart by whether there are cells.
    """
    stack = np.empty(16 * level_first.size, np.int64)
    mask = np.empty(16, np.uint8)
    leaves = np.empty((rows.size + 15) // 16, np.int64)
    box = np.empty(6)
    found = np.empty(rows.size, np.int64)
    space = make_space(rows.size)
    written: Index = 0
    tests: Index = 0
    for unit in range(first, last):
        begin, tested = written, np.int64(0)
        head, end = unit * STRETCH, min((unit + 1) * STRETCH, places.size)
        while head < end:
            following = share_box(head, end, places, reach, slack, placed, box)
            if starts.size > 0:
                count, looked_at = gather_from_cells(box, placed, starts, frame, shape, found)
            else:
                count, looked_at = gather_from_leaves(box, placed, lanes, level_first, stack, mask, leaves, found)
            tested += looked_at + count * (following - head)
            near = found[:count]
            written = write_members(
                head, following, places, reach, slack, is_box, placed, rows, near, space, sizes, chunk, written
            )
            if written < 0:
                return unit, begin, tests
            head = following
        tests += tested
    return last, written, tests

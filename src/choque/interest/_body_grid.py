"""Finds bodies by place: the cells of the broad phase ``grid``, with spheres in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.cells import cell_along
from choque._core.grid_levels import Levels, lay_out, sort_into_levels
from choque._core.kernel import forceinline
from choque._core.types import Index
from choque.interest._together import gather

CELLS_PER_BODY = 2.0
"""Half as many cells as pairs of boxes want: areas that are searched together look into several."""


NO_LANES, NO_LEVELS = np.empty((0, 6, 16)), np.empty(0, np.int64)


@dataclass(frozen=True)
class BodyGrid:
    """Bodies in the order of their cells, and a stack of grids for bodies of different sizes.

    Attributes
    ----------
    levels
        The grids.
    placed
        (n, 4) float64: the position and radius of the body at each place.
    rows
        (n,) uint32: its row.
    starts
        (cells + 2,) uint32: the place of the first body of each cell; those that fit no grid come last.
    """

    levels: Levels
    placed: NDArray[np.float64]
    rows: NDArray[np.uint32]
    starts: NDArray[np.uint32]

    def search_arrays(self) -> tuple[Any, ...]:
        """What `choque.interest._emission.emit_members` takes last: these cells, and no tree."""
        return self.placed, self.rows, self.starts, self.levels.frame, self.levels.shape, NO_LANES, NO_LEVELS


def make_body_grid(spheres: NDArray[np.float64], records: NDArray[np.float64], thread_count: int) -> BodyGrid:
    """The grid over ``spheres`` (n, 4), around which lie the boxes ``records`` (n, 6). O(n)."""
    levels, keys = sort_into_levels(records, thread_count, CELLS_PER_BODY)
    return BodyGrid(levels, *lay_out(spheres, keys, levels.cell_count, thread_count))


@forceinline
def gather_from_cells(
    box: NDArray[np.float64],
    placed: NDArray[np.float64],
    starts: NDArray[np.uint32],
    frame: NDArray[np.float64],
    shape: NDArray[np.int64],
    found: NDArray[np.int64],
) -> tuple[Index, Index]:
    """Write the places of the bodies that touch ``box`` to ``found``; how many there are, and how many were tested.

    A body is in the cell of its lower corner, so the cells before the box are looked at too, as far as the largest body
    of a level is long. Cells that follow each other along x are one run.
    """
    count: Index = np.int64(0)
    tested: Index = np.int64(0)
    for level in range(frame.shape[0] + 1):
        first_x, first_y, first_z = np.int64(0), np.int64(0), np.int64(0)
        last_x, last_y, last_z = np.int64(0), np.int64(0), np.int64(0)
        cells_x, cells_y, base = np.int64(1), np.int64(1), np.int64(starts.size - 2)
        if level < frame.shape[0]:
            f = frame[level]
            cells_x, cells_y, cells_z, base = shape[level, 0], shape[level, 1], shape[level, 2], shape[level, 3]
            first_x = cell_along(box[0] - f[6], f[0], f[3], cells_x)
            first_y = cell_along(box[1] - f[7], f[1], f[4], cells_y)
            first_z = cell_along(box[2] - f[8], f[2], f[5], cells_z)
            last_x = cell_along(box[3], f[0], f[3], cells_x)
            last_y = cell_along(box[4], f[1], f[4], cells_y)
            last_z = cell_along(box[5], f[2], f[5], cells_z)
        for cell_z in range(first_z, last_z + 1):
            for cell_y in range(first_y, last_y + 1):
                row = base + (cell_z * cells_y + cell_y) * cells_x
                run: Index = np.int64(starts[row + first_x])
                run_end: Index = np.int64(starts[row + last_x + 1])
                tested += run_end - run
                count = gather(run, run_end, placed, box, found, count)
    return count, tested

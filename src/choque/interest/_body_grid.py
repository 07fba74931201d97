"""Finds bodies by place: the cells of the broad phase ``grid``, with spheres in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque import memory, threads
from choque._types import Index, Keys
from choque.broad._cells import cell_along
from choque.broad._grid_levels import Levels, sort_into_levels
from choque.interest._touch import half_edge, touches
from choque.kernel import kernel


@dataclass(frozen=True)
class BodyGrid:
    """Bodies in the order of their cells, and a stack of grids for bodies of different sizes.

    Attributes
    ----------
    levels
        The grids.
    rows
        (n,) uint32: the row of the body at each place.
    placed
        (n, 4) float64: its position and radius.
    starts
        (cells + 2,) uint32: the place of the first body of each cell; those that fit no grid come last.
    """

    levels: Levels
    rows: NDArray[np.uint32]
    placed: NDArray[np.float64]
    starts: NDArray[np.uint32]

    def search_arrays(self) -> tuple[Any, ...]:
        """What the kernel that searches it takes last."""
        return self.placed, self.rows, self.starts, self.levels.frame, self.levels.shape


def make_body_grid(spheres: NDArray[np.float64], records: NDArray[np.float64], thread_count: int) -> BodyGrid:
    """The grid over ``spheres`` (n, 4), around which lie the boxes ``records`` (n, 6). O(n)."""
    levels, keys = sort_into_levels(records, thread_count)
    rows = memory.empty(len(keys), np.uint32)
    placed = memory.empty(spheres.shape, np.float64)
    starts = memory.empty(levels.cell_count + 2, np.uint32)
    threads.over_ranges(_lay_out, len(keys), thread_count, spheres, keys, rows, placed, starts)
    return BodyGrid(levels, rows, placed, starts)


@kernel
def _lay_out(
    first: int,
    last: int,
    spheres: NDArray[np.float64],
    keys: Keys,
    rows: NDArray[np.uint32],
    placed: NDArray[np.float64],
    starts: NDArray[np.uint32],
) -> None:
    """Bodies in the order of their cells, and for each cell the place of its first body."""
    previous = np.int64(keys[first - 1] >> np.uint64(32)) if first else np.int64(-1)
    for k in range(first, last):
        row = np.int64(keys[k] & np.uint64(0xFFFFFFFF))
        cell = np.int64(keys[k] >> np.uint64(32))
        rows[k] = row
        for column in range(4):
            placed[k, column] = spheres[row, column]
        for c in range(previous + 1, cell + 1):
            starts[c] = k
        previous = cell
    if last == keys.size:
        for c in range(previous + 1, starts.size):
            starts[c] = last


@kernel
def emit_from_cells(
    first: int,
    last: int,
    chunk: Keys,
    places: NDArray[np.uint32],
    reach: NDArray[np.float64],
    slack: float,
    is_box: bool,
    placed: NDArray[np.float64],
    rows: NDArray[np.uint32],
    starts: NDArray[np.uint32],
    frame: NDArray[np.float64],
    shape: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Emission kernel; a unit is a place whose body has an area, paired with all that touch it and ``slack`` around it.

    ``reach`` is in the order of the rows. A body is in the cell of its lower corner, so the cells before the area are
    looked at too, as far as the largest body of a level is long. Cells that follow each other along x are one run.
    """
    written = 0
    tests = 0
    for unit in range(first, last):
        begin = written
        place = np.int64(places[unit])
        i = np.int64(rows[place])
        x, y, z, far = placed[place, 0], placed[place, 1], placed[place, 2], reach[i] + slack
        half_x, half_y, half_z = half_edge(x, far), half_edge(y, far), half_edge(z, far)
        own = np.uint64(i) << np.uint64(32)
        for level in range(frame.shape[0] + 1):
            fits = level < frame.shape[0]
            first_x, first_y, first_z = np.int64(0), np.int64(0), np.int64(0)
            last_x, last_y, last_z = np.int64(0), np.int64(0), np.int64(0)
            cells_x, cells_y, base = np.int64(1), np.int64(1), np.int64(starts.size - 2)
            if fits:
                f = frame[level]
                cells_x, cells_y, cells_z, base = shape[level, 0], shape[level, 1], shape[level, 2], shape[level, 3]
                first_x = cell_along(x - half_x - f[6], f[0], f[3], cells_x)
                first_y = cell_along(y - half_y - f[7], f[1], f[4], cells_y)
                first_z = cell_along(z - half_z - f[8], f[2], f[5], cells_z)
                last_x = cell_along(x + half_x, f[0], f[3], cells_x)
                last_y = cell_along(y + half_y, f[1], f[4], cells_y)
                last_z = cell_along(z + half_z, f[2], f[5], cells_z)
            for cell_z in range(first_z, last_z + 1):
                for cell_y in range(first_y, last_y + 1):
                    row = base + (cell_z * cells_y + cell_y) * cells_x
                    start: Index = np.int64(starts[row + first_x])
                    end: Index = np.int64(starts[row + last_x + 1])
                    if written + end - start > chunk.size:
                        return unit, begin, tests
                    tests += end - start
                    near = placed[start:end]
                    near_rows = rows[start:end]
                    for k in range(end - start):
                        j = near_rows[k]
                        dx, dy, dz = near[k, 0] - x, near[k, 1] - y, near[k, 2] - z
                        chunk[written] = own | np.uint64(j)
                        written += touches(dx, dy, dz, far + near[k, 3], is_box) & (j != i)
    return last, written, tests

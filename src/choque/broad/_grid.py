"""Uniform cells sized from the data: a stack of grids, one for each class of sizes."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core.cells import cell_along, lay_out, sort_into_levels
from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.types import Floats, Integer, Keys
from choque.broad.index import Index
from choque.broad.structure import Structure, cells_of


class CellArrays(NamedTuple):
    """The boxes of all grids in the order of their cells."""

    boxes: Floats
    """(n, 6)"""
    rows: NDArray[np.uint32]
    """(n,): the row of each box."""
    starts: NDArray[np.uint32]
    """(cells + 2,): the place of the first box of each cell."""
    frame: NDArray[np.float64]
    """(levels, 9): see `choque._core.cells.Levels`."""
    shape: NDArray[np.int64]
    """(levels, 4): the same."""
    giant_first: int
    """The place of the first box that fits no grid, being infinite."""


class Grid(Index):
    """Sorts boxes into cells and tests those in neighbouring cells.

    Notes
    -----
    Boxes whose sizes differ by more than fourfold go to grids of their own, so that neither a giant nor dust can ruin
    the cells of the rest (hierarchical grids: Ericson, "Real-Time Collision Detection", 2005, 7.2); infinite boxes are
    kept apart and tested against all. A box is listed once, in the cell of its lower corner, and is tested against the
    runs of cells in which a partner's lower corner may lie, so no pair is found twice.

    Guarantees: exact, both topologies; at most four cells a box, O(n) memory beside the answer; O(n + m) time when
    the boxes of a level are spread evenly, O(n²) when they crowd into few cells (clusters far apart: use ``bvh``).
    Rebuilt at every update. ``grid-cells`` of `choque.lab.methods` has cells of a given number.
    """

    name: ClassVar[str] = "grid"

    def build(self) -> None:
        """Choose the grids and sort the boxes into them."""
        thread_count = self.thread_count()
        levels, keys = sort_into_levels(self.records, thread_count)
        boxes, rows, starts = lay_out(self.records, keys, levels.cell_count, thread_count)
        self._cells = CellArrays(boxes, rows, starts, levels.frame, levels.shape, int(starts[levels.cell_count]))
        self.note_bytes(2 * keys.nbytes)

    @property
    def level_count(self) -> int:
        """The number of grids, one for each class of sizes."""
        return len(self._cells.frame)

    @property
    def byte_count(self) -> int:
        """The bytes of the records and of the grids."""
        return super().byte_count + sum(array.nbytes for array in self._cells[:-1])

    def structure(self) -> Structure:
        """Return the cells that hold the lower corner of a box, of all grids."""
        boxes, rows, starts, frame, shape, giant_first = self._cells
        first = starts[:-1].astype(np.int64)
        cells = np.flatnonzero(np.diff(first))
        grid = np.searchsorted(shape[:, 3], cells, side="right") - 1
        origin, per_unit = frame[:, :3], frame[:, 3:6]
        # An axis that is not divided is as long as what lies on it.
        reach = np.maximum.reduceat(boxes[:, 3:], first[shape[:, 3]]) if len(cells) else origin
        edge = np.divide(1.0, per_unit, out=(reach - origin).astype(np.float64), where=per_unit > 0)
        borders, members = np.append(first[cells], giant_first), rows[:giant_first].astype(np.int32)
        grids, number = (origin, edge, shape[:, :3]), cells - shape[grid, 3]
        return cells_of(self.name, grids, grid, number, borders, members, self.table.dimension)

    def emit(self, sink: Sink) -> None:
        """Write the pairs of each box and the boxes of the cells near it."""
        sink.run(_emit_boxes, len(self), self._cells)


@kernel
def _emit_boxes(first: int, last: int, chunk: Keys, cells: CellArrays) -> tuple[int, int, int]:
    """Each box against the later ones of its level and all of coarser levels; giants against all before."""
    boxes, rows, starts, frame, shape, giant_first = cells
    level_count = frame.shape[0]
    written = 0
    tests = 0
    own_level = 0
    for i in range(first, last):
        begin = written
        x0, y0, z0, x1, y1, z1 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3], boxes[i, 4], boxes[i, 5]
        own = np.uint64(rows[i])
        is_giant = i >= giant_first
        while not is_giant and own_level + 1 < level_count and i >= np.int64(starts[shape[own_level + 1, 3]]):
            own_level += 1
        for level in range(0 if is_giant else own_level, -1, -1):
            base, cells_x, cells_y = np.int64(0), np.int64(0), np.int64(0)
            first_x, first_y, own_y, own_z = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            last_x, last_y, last_z = np.int64(0), np.int64(0), np.int64(0)
            if not is_giant:
                f = frame[level]
                cells_x, cells_y, cells_z, base = shape[level, 0], shape[level, 1], shape[level, 2], shape[level, 3]
                last_x = cell_along(x1, f[0], f[3], cells_x)
                last_y = cell_along(y1, f[1], f[4], cells_y)
                last_z = cell_along(z1, f[2], f[5], cells_z)
                # The lower corner of a partner may lie before one's own by as much as the largest box is long.
                first_x = cell_along(x0 - f[6], f[0], f[3], cells_x)
                first_y = cell_along(y0 - f[7], f[1], f[4], cells_y)
                # Boxes of one level meet once: each looks only at the rows of cells from its own on.
                own_y = cell_along(y0, f[1], f[4], cells_y) if level == own_level else first_y
                own_z = cell_along(z0 if level == own_level else z0 - f[8], f[2], f[5], cells_z)
            for z in range(own_z, last_z + 1):
                for y in range(own_y if z == own_z else first_y, last_y + 1):
                    row = base + (z * cells_y + y) * cells_x
                    start: Integer = np.int64(0)
                    end: Integer = np.int64(i)
                    if not is_giant:
                        in_own_row = level == own_level and z == own_z and y == own_y
                        start = np.int64(i + 1) if in_own_row else np.int64(starts[row + first_x])
                        end = np.int64(starts[row + last_x + 1])
                    if start >= end:
                        continue
                    if written + end - start > chunk.size:
                        return i, begin, tests
                    tests += end - start
                    near = boxes[start:end]
                    near_rows = rows[start:end]
                    for j in range(end - start):
                        other = np.uint64(near_rows[j])
                        chunk[written] = (min(own, other) << np.uint64(32)) | max(own, other)
                        written += (
                            (near[j, 0] <= x1)
                            & (near[j, 3] >= x0)
                            & (near[j, 1] <= y1)
                            & (near[j, 4] >= y0)
                            & (near[j, 2] <= z1)
                            & (near[j, 5] >= z0)
                        )
    return last, written, tests

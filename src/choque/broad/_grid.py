"""Uniform cells sized from the data: a stack of grids, one for each class of sizes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from choque._core.emission import Sink
from choque._core.row_pairs import BOXES_PER_BODY, emit_rows
from choque._core.rows import Rows, build_rows, columns_of
from choque._core.types import I32, I64
from choque.broad.index import Index
from choque.broad.structure import Structure, cells_of


class Grid(Index):
    """Sorts boxes into rows of cells and tests those in neighbouring cells, eight at a time.

    Notes
    -----
    Boxes whose sizes differ by more than about fourfold go to grids of their own, so that neither a giant nor dust can
    ruin the cells of the rest (hierarchical grids: Ericson, "Real-Time Collision Detection", 2005, 7.2); infinite boxes
    are kept apart and tested against all. A box is listed once, in the cell of its lower corner, and is tested against
    the runs of cells in which a partner's lower corner may lie, so no pair is found twice. `choque._core.rows` has the
    layout and says why no pair is missed.

    Guarantees: exact, both topologies; O(n) memory beside the answer; O(n + m) time when the boxes of a level are
    spread evenly, O(n²) when they crowd into few cells (clusters far apart: use ``bvh``). Rebuilt at every update.
    ``grid-cells`` of `choque.lab.methods` has cells of a given number.
    """

    name: ClassVar[str] = "grid"

    def build(self) -> None:
        """Choose the grids and sort the boxes into them."""
        self._rows = build_rows(self.records, self.thread_count())
        self.note_bytes(32 * len(self))  # records by row, while they are sorted

    def thread_count(self, work: int | None = None) -> int:
        """Return how many threads to use for ``work`` boxes, all of them if None."""
        return super().thread_count((len(self) if work is None else work) // BOXES_PER_BODY)

    @property
    def level_count(self) -> int:
        """The number of grids, one for each class of sizes."""
        return len(self._rows.frame)

    @property
    def byte_count(self) -> int:
        """The bytes of the records and of the grids."""
        rows = self._rows
        return super().byte_count + sum(array.nbytes for array in (rows.columns, rows.row_start, rows.starts))

    def structure(self) -> Structure:
        """Return the cells that hold the lower corner of a box, of all grids."""
        grid, number, borders, members = _cells_in_use(self._rows)
        frame, shape = self._rows.frame.astype(np.float64), self._rows.shape
        grids = (frame[:, :3], 1 / frame[:, 3:6], shape[:, :3])
        return cells_of(self.name, grids, grid, number, borders, members, self.table.dimension)

    def cell_rows(self) -> Rows:
        """Return the boxes in rows of cells."""
        return self._rows

    def emit(self, sink: Sink) -> None:
        """Write the pairs of each box and the boxes of the cells near it."""
        emit_rows(sink, self._rows)


def _cells_in_use(rows: Rows) -> tuple[I64, I64, I64, I32]:
    """Return the cells in use: their level, their number in it, and where each begins among the boxes in order.

    The last array holds the numbers of all boxes but giants, in the order of the cells.
    """
    level_of, number_of, borders, members = [], [], [0], []
    total = 0
    for level, (cells_x, cells_y, cells_z, first_row, first_start) in enumerate(rows.shape.tolist()):
        for line in range(cells_y * cells_z):
            base, stride = columns_of(rows.row_start, first_row + line)
            start = first_start + line * (cells_x + 1)
            starts = rows.starts[start : start + cells_x + 1].astype(np.int64)
            used = np.flatnonzero(np.diff(starts))
            level_of.append(np.full(len(used), level))
            number_of.append(line * cells_x + used)
            borders += (total + starts[used + 1]).tolist()
            members.append(rows.words[base + 6 * stride : base + 6 * stride + starts[-1]].astype(np.int32))
            total += int(starts[-1])
    empty = np.zeros(0, np.int64)
    return (
        np.concatenate([empty, *level_of]),
        np.concatenate([empty, *number_of]),
        np.array(borders, np.int64),
        np.concatenate([empty.astype(np.int32), *members]),
    )

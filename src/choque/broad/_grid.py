"""Uniform cells sized from the data: a stack of grids, one for each class of sizes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choque import threads
from choque._types import Index, Keys
from choque.broad._contract import BroadPhase
from choque.broad._emission import Sink
from choque.broad._grid_levels import cell_along, sort_into_levels
from choque.kernel import kernel


class Grid(BroadPhase):
    """Sorts boxes into cells and tests those in neighbouring cells.

    Boxes whose sizes differ by more than fourfold go to grids of their own, so that neither a giant nor dust can ruin
    the cells of the rest (Ericson, "Real-Time Collision Detection", 2005, section 7.2, hierarchical grids); infinite
    boxes are kept apart and tested against all. A box is listed once, in the cell of its lower corner, and looks at
    the runs of cells in which a partner's lower corner may lie; so no pair is met twice.

    Guarantees: exact, both topologies; at most four cells a box, O(n) memory beside the answer; O(n + m) time when
    the boxes of a level are spread evenly, O(n²) when they crowd into few cells (far apart clusters: use ``bvh``).
    Rebuilt at every update.
    """

    name: ClassVar[str] = "grid"

    def _build(self) -> None:
        thread_count = self._thread_count()
        levels, keys = sort_into_levels(self._records, thread_count)
        self._frame, self._shape = levels.frame, levels.shape
        self._boxes = np.empty_like(self._records)
        self._rows = np.empty(len(keys), np.uint32)
        self._starts = np.empty(levels.cell_count + 2, np.uint32)
        arrays = (self._records, keys, self._boxes, self._rows, self._starts)
        threads.over_ranges(_gather, len(keys), thread_count, *arrays)
        self._giant_first = int(self._starts[levels.cell_count])
        self._note_bytes(2 * keys.nbytes)

    def probe_tests(self, sample_count: int) -> float:
        """How many tests a box would take in the mean, estimated from ``sample_count`` boxes spread over the order."""
        arrays = (self._boxes, self._starts, self._frame, self._shape)
        return _probe(min(sample_count, len(self)), *arrays, self._giant_first) if len(self) else 0.0

    def _emit(self, sink: Sink) -> None:
        arrays = (self._boxes, self._rows, self._starts, self._frame, self._shape)
        sink.run(_emit_boxes, len(self), *arrays, self._giant_first)


@kernel
def _gather(
    first: int, last: int, records: Any, keys: Keys, boxes: Any, rows: NDArray[np.uint32], starts: NDArray[np.uint32]
) -> None:
    """Boxes in the order of their cells, and for each cell the place of its first box."""
    previous = np.int64(keys[first - 1] >> np.uint64(32)) if first else np.int64(-1)
    for k in range(first, last):
        row = np.int64(keys[k] & np.uint64(0xFFFFFFFF))
        cell = np.int64(keys[k] >> np.uint64(32))
        rows[k] = row
        for axis in range(6):
            boxes[k, axis] = records[row, axis]
        for c in range(previous + 1, cell + 1):
            starts[c] = k
        previous = cell
    if last == keys.size:
        for c in range(previous + 1, starts.size):
            starts[c] = last


@kernel
def _emit_boxes(
    first: int,
    last: int,
    chunk: Keys,
    boxes: Any,
    rows: NDArray[np.uint32],
    starts: NDArray[np.uint32],
    frame: NDArray[np.float64],
    shape: NDArray[np.int64],
    giant_first: int,
) -> tuple[int, int, int]:
    """Each box against the later ones of its level and all of coarser levels; giants against all before."""
    level_count = frame.shape[0]
    written = 0
    tests = 0
    own_level = 0
    for i in range(first, last):
        begin = written
        if i >= giant_first:
            if written + i > chunk.size:
                return i, begin, tests
            written = _append_run(chunk, written, boxes, rows, i, 0, i)
            tests += i
            continue
        while own_level + 1 < level_count and i >= np.int64(starts[shape[own_level + 1, 3]]):
            own_level += 1
        x0, y0, z0, x1, y1, z1 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3], boxes[i, 4], boxes[i, 5]
        for level in range(own_level, -1, -1):
            f = frame[level]
            ox, oy, oz, per_x, per_y, per_z = f[0], f[1], f[2], f[3], f[4], f[5]
            cells_x, cells_y, cells_z, base = shape[level, 0], shape[level, 1], shape[level, 2], shape[level, 3]
            last_x = cell_along(x1, ox, per_x, cells_x)
            last_y = cell_along(y1, oy, per_y, cells_y)
            last_z = cell_along(z1, oz, per_z, cells_z)
            first_x = first_cell_along(x0, ox, per_x, cells_x, f[6])
            first_y = first_cell_along(y0, oy, per_y, cells_y, f[7])
            if level == own_level:
                # Boxes of one level meet once: each looks only at the rows of cells from its own on.
                own_y = cell_along(y0, oy, per_y, cells_y)
                own_z = cell_along(z0, oz, per_z, cells_z)
            else:
                own_y = first_y
                own_z = first_cell_along(z0, oz, per_z, cells_z, f[8])
            for z in range(own_z, last_z + 1):
                for y in range(own_y if z == own_z else first_y, last_y + 1):
                    row = base + (z * cells_y + y) * cells_x
                    start: Index = np.int64(starts[row + first_x])
                    end: Index = np.int64(starts[row + last_x + 1])
                    if level == own_level and z == own_z and y == own_y:
                        start = i + 1
                    if start >= end:
                        continue
                    if written + end - start > chunk.size:
                        return i, begin, tests
                    written = _append_run(chunk, written, boxes, rows, i, start, end)
                    tests += end - start
    return last, written, tests


@kernel
def _probe(
    sample_count: int,
    boxes: Any,
    starts: NDArray[np.uint32],
    frame: NDArray[np.float64],
    shape: NDArray[np.int64],
    giant_first: int,
) -> float:
    """The mean number of boxes in the cells that a box looks at; those of its own level count half."""
    total = 0.0
    for sample in range(sample_count):
        i = (2 * sample + 1) * boxes.shape[0] // (2 * sample_count)
        if i >= giant_first:
            total += i
            continue
        for level in range(frame.shape[0]):
            if i < np.int64(starts[shape[level, 3]]):
                break
            f, s = frame[level], shape[level]
            share = 0.5 if level + 1 == frame.shape[0] or i < np.int64(starts[shape[level + 1, 3]]) else 1.0
            first_x, last_x = (
                first_cell_along(boxes[i, 0], f[0], f[3], s[0], f[6]),
                cell_along(boxes[i, 3], f[0], f[3], s[0]),
            )
            first_y, last_y = (
                first_cell_along(boxes[i, 1], f[1], f[4], s[1], f[7]),
                cell_along(boxes[i, 4], f[1], f[4], s[1]),
            )
            first_z, last_z = (
                first_cell_along(boxes[i, 2], f[2], f[5], s[2], f[8]),
                cell_along(boxes[i, 5], f[2], f[5], s[2]),
            )
            for z in range(first_z, last_z + 1):
                for y in range(first_y, last_y + 1):
                    row = s[3] + (z * s[1] + y) * s[0]
                    total += share * (np.int64(starts[row + last_x + 1]) - np.int64(starts[row + first_x]))
    return total / sample_count


@kernel
def first_cell_along(value: float, origin: float, per_unit: float, cells: int, reach: float) -> Index:
    """The first cell that may hold the lower corner of a box which reaches ``value``."""
    position = (value - origin) * per_unit - reach
    return np.int64(max(0.0, min(position, cells - 1.0)))


@kernel
def _append_run(
    chunk: Keys, written: int, boxes: Any, rows: NDArray[np.uint32], i: int, start: Index, end: Index
) -> int:
    """Box ``i`` against the boxes start … end − 1: every key is written, and the cursor advances by the test."""
    x0, y0, z0, x1, y1, z1 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3], boxes[i, 4], boxes[i, 5]
    own = np.uint64(rows[i])
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
    return written

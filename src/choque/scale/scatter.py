"""Boxes written to every tile they touch: one file for each task, in sections that are ordered by tile.

A section is what was read at once: its boxes (m, 2·d) in the order of their tiles, then their ids (m,) int64. Boxes
that touch many tiles are at the end of it, once. Beside each file of boxes is one of integers (sections, tiles + 2):
where each tile begins in each section. It is written last, so that a task is finished if it is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from choque._core.types import F64, I64, Floats
from choque.files.atomic import replacing
from choque.scale._plan import SearchPlan, Share
from choque.scale.inputs import Batch, read_batches
from choque.scale.tiling import Scattered, Tiling, count_tiles, keep_touching, place_boxes


def boxes_file(work: Path, task: int) -> Path:
    """Return the name of the file of boxes of a task."""
    return work / f"boxes-{task:06d}.bin"


def starts_file(work: Path, task: int) -> Path:
    """Return the name of the file that says where the tiles begin."""
    return work / f"boxes-{task:06d}.npy"


def scatter(plan: SearchPlan, work: Path, task: int, share: Share) -> int:
    """Read the groups of rows of one task and write each box to every tile it touches; return the bytes written."""
    boxes = plan.sets[share.set_number]
    file = boxes.files[share.file_number]
    first_row = share.first_row - sum(file.groups[: share.first_group])
    batches = read_batches(
        file, share.first_group, share.last_group, batch_rows=plan.options.batch_rows, dtype=plan.dtype, ids=boxes.ids
    )
    path = boxes_file(work, task)
    with replacing(path) as handle:
        sections = [_write_section(handle, batch, first_row, plan.tiling) for batch in batches]
        byte_count = handle.tell()
    with replacing(starts_file(work, task)) as handle:
        np.save(handle, np.array(sections, np.int64).reshape(-1, plan.tiling.tile_count + 2))
    return byte_count


def _write_section(handle: BinaryIO, batch: Batch, first_row: int, tiling: Tiling) -> I64:
    """Write the boxes of a batch by tiles, and return where each tile begins."""
    ids = batch.ids
    if ids is None:
        ids = np.arange(len(batch.boxes), dtype=np.int64) + (first_row + batch.first)
    homes, counts = np.empty(len(ids), np.int64), np.zeros(tiling.tile_count + 1, np.int64)
    count_tiles(batch.boxes, tiling, homes, counts)
    starts = np.concatenate(([0], counts.cumsum()))
    out = Scattered(np.empty((starts[-1], batch.boxes.shape[1]), batch.boxes.dtype), np.empty(starts[-1], np.int64))
    place_boxes(batch.boxes, ids, tiling, homes, starts[:-1].copy(), out)
    handle.write(out.boxes.data)
    handle.write(out.ids.data)
    return starts


@dataclass(frozen=True)
class Spill:
    """The scattered boxes of one set, read tile by tile."""

    work: Path
    tasks: tuple[int, ...]
    starts: tuple[I64, ...]  # for each task (sections, tiles + 2)
    columns: int
    dtype: np.dtype[Any]

    @classmethod
    def open(cls, plan: SearchPlan, work: Path, set_number: int) -> Spill:
        """Look at what the tasks of a set have written."""
        tasks = tuple(task for task, share in enumerate(plan.shares()) if share.set_number == set_number)
        starts = tuple(np.load(starts_file(work, task)) for task in tasks)
        return cls(work, tasks, starts, 2 * plan.dimension, plan.dtype)

    def count(self, tile: int) -> int:
        """Return how many boxes belong to ``tile``, without those that touch many tiles."""
        return sum(int((starts[:, tile + 1] - starts[:, tile]).sum()) for starts in self.starts)

    @property
    def large_count(self) -> int:
        """The number of boxes that touch many tiles."""
        return self.count(self.starts[0].shape[1] - 2) if self.starts else 0

    def read(self, tile: int, region: F64, whole: bool) -> Iterator[Scattered]:
        """Yield the boxes that touch ``region``, a part of ``tile`` or, if ``whole``, all of it.

        Boxes of the tile come first, in the order of their rows, then those that touch many tiles.
        """
        yield from self._segments(tile, None if whole else region)
        if self.starts:
            yield from self._segments(self.starts[0].shape[1] - 2, region)

    def _segments(self, tile: int, region: F64 | None) -> Iterator[Scattered]:
        """Yield the boxes of a tile section by section, those that touch ``region``."""
        row_bytes = self.columns * self.dtype.itemsize
        for task, starts in zip(self.tasks, self.starts, strict=True):
            with boxes_file(self.work, task).open("rb", buffering=0) as handle:
                section = 0
                for row in starts:
                    first, last = int(row[tile]), int(row[tile + 1])
                    if first < last:
                        boxes: Floats = np.empty((last - first, self.columns), self.dtype)
                        ids = np.empty(last - first, np.int64)
                        _fill(handle, section + first * row_bytes, boxes)
                        _fill(handle, section + int(row[-1]) * row_bytes + first * 8, ids)
                        kept = len(ids) if region is None else keep_touching(boxes, ids, region)
                        yield Scattered(boxes[:kept], ids[:kept])
                    section += int(row[-1]) * (row_bytes + 8)


def _fill(handle: Any, place: int, array: NDArray[Any]) -> None:
    """Read the bytes of ``array`` from a place of a file."""
    handle.seek(place)
    left = array.reshape(-1).view(np.uint8).data
    while left:
        count = handle.readinto(left)
        if not count:
            raise OSError(f"{handle.name} is shorter than it was")
        left = left[count:]

"""Sweeps cell by cell: each cell's list of boxes is swept on its own, and each pair is reported once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.types import Keys, Rows
from choque.broad._sweep_listing import Listing
from choque.broad.sweep_line import Line


@dataclass(frozen=True)
class CellSweep:
    """Lists of boxes by cell, each in the order of the lower bounds on its first axis.

    A pair is met in every cell that both boxes touch and reported only in the one that holds the greater of their lower
    bounds on every axis: there, axis by axis, one of the two starts.

    Attributes
    ----------
    listing
        The boxes by cell.
    apart, listed
        The boxes that are in no list and those that are, as lines along one axis; None where all are listed.
    """

    listing: Listing
    apart: Line | None
    listed: Line | None

    @property
    def nbytes(self) -> int:
        """The bytes held."""
        return self.listing.nbytes + sum(line.nbytes for line in (self.apart, self.listed) if line is not None)

    def emit(self, sink: Sink) -> int:
        """Write all pairs; returns how many were met again in another cell."""
        listing = self.listing
        again = np.zeros(len(listing), np.uint32)
        sink.run(_sweep_lists, len(listing), listing.boxes, listing.tags, listing.starts, again)
        if self.apart is not None and self.listed is not None:
            self.apart.emit(sink)
            self.apart.emit_with(self.listed, sink)
        return int(again.sum(dtype=np.int64))


@kernel
def _sweep_lists(
    first: int, last: int, chunk: Keys, boxes: Any, tags: Keys, starts: Rows, again: NDArray[np.uint32]
) -> tuple[int, int, int]:
    """Test the entries first … last − 1, each against those after it in its own list that start before it ends."""
    written = 0
    tests = 0
    end = first
    for i in range(first, last):
        if i >= end:
            end = starts[np.int64(tags[i] >> np.uint64(35)) + 1]
        x0, y0, z0, x1, y1, z1 = boxes[i, 0], boxes[i, 1], boxes[i, 2], boxes[i, 3], boxes[i, 4], boxes[i, 5]
        stop = i + 1
        while stop < end and boxes[stop, 0] <= x1:
            stop += 1
        near = boxes[i + 1 : stop]
        near_tags = tags[i + 1 : stop]
        if written + near_tags.size > chunk.size:
            return i, written, tests
        tag = tags[i]
        row = (tag >> np.uint64(3)) & np.uint64(0xFFFFFFFF)
        begin = written
        met = 0
        for j in range(near_tags.size):
            other_tag = near_tags[j]
            other = (other_tag >> np.uint64(3)) & np.uint64(0xFFFFFFFF)
            hit = (near[j, 3] >= x0) & (near[j, 1] <= y1) & (near[j, 4] >= y0) & (near[j, 2] <= z1) & (near[j, 5] >= z0)
            chunk[written] = (min(row, other) << np.uint64(32)) | max(row, other)
            written += hit & (((tag | other_tag) & np.uint64(7)) == np.uint64(7))
            met += hit
        again[i] = met - (written - begin)
        tests += near_tags.size
    return last, written, tests

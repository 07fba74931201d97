"""A sweep in tiles on the two other axes that tests 32 candidates at once, for boxes in the order of the first axis.

Boxes lie in columns: a block of candidates is tested by vector instructions, and pairs are written only where a lane is
marked. Serves `sap-direct`, `sap-kdop` and `multi-sap`, whose cells are swept in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from choque._core import memory, threads
from choque._core.cells import cell_along
from choque._core.emission import Sink
from choque._core.kernel import helper, kernel
from choque._core.lanes import append_answers
from choque._core.overlap import AT_ONCE, Columns, count_up_to, meeting
from choque._core.pair_keys import key_first, key_second, ordered_key
from choque._core.sort import first_from, to_places
from choque._core.types import F64, I64, U32, Bools, Floats, Integer, Keys, Rows
from choque.broad.sweep_order import Line, Order

TILES_FROM = 5_000  # tiles are faster than one line from this number of boxes on
TILE_EDGES = 3.5  # default edge of a tile in typical edges of a box
BOXES_PER_TILE = 8  # minimum number of boxes for each tile, on average
MAX_TILES_ALONG = 1 << 15  # limit of the tiles along an axis

LISTED_PER_BOX = 4
"""Boxes that touch the most tiles are swept separately until the lists hold at most this many entries for each box."""

TOUCHED_LIMITS = (1 << 30, 1 << 16, 1 << 12, 1 << 9, 1 << 6)
"""Limits of the tiles that a listed box touches: the first that keeps the lists short is used, else the last."""

MAX_SAMPLE = 1024  # Sample size for choosing the cells. It affects speed, never the answer.

OUTLIER_SHARE = 256
"""One box in this many, at each end of an axis, may lie outside the cells; it belongs to the nearest one."""

GIANT_SHARE = 64  # the largest box in this many is ignored by `typical_edges`
UNLISTED = np.uint64(1 << 63)  # the span of a box that is in no list

ROW_BIT = np.uint32(3)
"""Tags hold the row from this bit on, and below it a bit for each axis along which the box starts in this cell."""

STARTS_ON_ALL = np.uint32(7)


class CellFrame(NamedTuple):
    """Equal cells along each axis; a point outside belongs to the nearest cell: any frame is correct for any scene."""

    origin: F64
    # (3,) float64: the lower corner of the first cell, and the cells per unit of length (finite, positive)
    per_unit: F64
    counts: I64  # (3,) int64: the cells along each axis

    @classmethod
    def over(cls, lowest: F64, highest: F64, counts: I64) -> CellFrame:
        """Lay ``counts`` cells from ``lowest`` to ``highest``; one along an axis whose length floats cannot divide."""
        with np.errstate(all="ignore"):
            per_unit = counts / (highest - lowest)
        divisible = np.isfinite(per_unit) & (per_unit > 0)
        return cls(lowest, np.where(divisible, per_unit, 1.0), np.where(divisible, counts, 1))

    @property
    def cell_count(self) -> int:
        """Number of all cells."""
        return int(self.counts.prod())


def sample_of(records: Floats) -> F64:
    """Return columns (6, k) of at most 1,024 ``records`` (n, 6), spread without a period that a lattice could share."""
    count = len(records)
    if count > MAX_SAMPLE:
        records = records[np.arange(MAX_SAMPLE) * 2_654_435_761 % count]
    return records.T.astype(np.float64, order="C")


def bulk_of(sample: F64) -> tuple[F64, F64]:
    """Return the corners of the box that contains nearly all lower corners of the ``sample`` (6, k)."""
    corners = np.zeros((2, 3))
    for axis in range(3):
        values = np.sort(sample[axis])
        values = values[np.isfinite(values)]
        if values.size:
            skipped = values.size // OUTLIER_SHARE
            corners[:, axis] = values[skipped], values[-1 - skipped]
    return corners[0], corners[1]


def typical_edges(sample: F64) -> F64:
    """Return the mean edge on each axis of all but the largest and the infinite boxes of the ``sample`` (6, k)."""
    edges = np.zeros(3)
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sort(sample[3:] - sample[:3], axis=1)
        for axis in range(3):
            finite = lengths[axis, np.isfinite(lengths[axis])]
            if finite.size:
                edges[axis] = max(finite[: finite.size - finite.size // GIANT_SHARE].mean(), 0.0)
    return edges


def within_budget(wanted: F64, budget: float) -> I64:
    """Return cell counts in the proportions of ``wanted`` (3,), each at least 1, their product at most ``budget``."""
    budget = max(budget, 1.0)
    counts = np.clip(np.nan_to_num(wanted, nan=1.0, posinf=budget), 1.0, budget)
    for _ in range(3):  # an axis that falls to one cell leaves the rest of the cut to the others
        several = counts > 1.0
        excess = counts.prod() / budget
        if excess > 1.0:
            counts = np.maximum(np.where(several, counts / excess ** (1.0 / several.sum()), 1.0), 1.0)
    return counts.astype(np.int64)


class Entries(NamedTuple):
    """Boxes (m, 6) cell by cell, and their tags (m,) uint32; see `TileSweep`."""

    boxes: Any
    tags: Any


@dataclass(frozen=True)
class TileSweep:
    """Boxes listed in every cell that they touch, each list in the order of the lower bounds on its first axis.

    A pair is found in every cell that both boxes touch and reported only in the one that contains the larger of their
    lower bounds on every axis: there, axis by axis, one of the two starts.
    """

    # the m entries, cell by cell; a number is a row from bit 3 on, and a bit for each axis along which the box starts
    # in this cell
    columns: Columns
    starts: Rows  # (cells + 1,) where the list of each cell starts
    apart: Line | None
    # the boxes that are in no list and those that are, as lines along one axis; None if all are listed
    listed: Line | None

    @classmethod
    def of(cls, entries: Entries, starts: Rows, apart: Line | None = None, listed: Line | None = None) -> TileSweep:
        """Return the sweep of ``entries``, cell by cell and sorted within each."""
        return cls(Columns.of(entries.boxes, entries.tags), starts, apart, listed)

    @property
    def tags(self) -> U32:
        """(m,) the numbers of the entries."""
        return self.columns.numbers[: self.starts[-1]]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        lines = sum(line.nbytes for line in (self.apart, self.listed) if line is not None)
        return self.columns.bounds.nbytes + self.columns.numbers.nbytes + self.starts.nbytes + lines

    def emit(self, sink: Sink) -> int:
        """Write all pairs, and return how many were found again in another cell."""
        again = np.zeros(len(self.tags), np.uint32)
        sink.run(_sweep, len(self.tags), self.columns, self.starts, again)
        if self.apart is not None and self.listed is not None:
            self.apart.emit(sink)
            self.apart.emit_with(self.listed, sink)
        return int(again.sum(dtype=np.int64))


def tiled_sweep(
    boxes: Floats, rows: Order, *, tiles: bool | None = None, tile_edges: float = TILE_EDGES, thread_count: int
) -> Line | TileSweep:
    """Return a sweep along the first axis of ``boxes`` (n, 6), in tiles or in one line.

    The boxes, with their ``rows`` (n,), are in the order of their lower bounds on that axis. The sweep is split into
    ``tiles``, if None where that is faster, with ``tile_edges`` typical edges of a box as their edge; a scene without
    width has no tiles. Linear in time and memory for any sizes, except for the tests.
    """
    if len(boxes) >= TILES_FROM if tiles is None else tiles:
        frame = _tiles_of(boxes, tile_edges)
        if frame.cell_count > 1:
            return _listed(boxes, rows, frame, thread_count)
    return Line.of(boxes, rows)


def _tiles_of(boxes: Floats, tile_edges: float) -> CellFrame:
    sample = sample_of(boxes)
    lowest, highest = bulk_of(sample)
    with np.errstate(all="ignore"):
        wanted = np.minimum((highest - lowest) / (tile_edges * typical_edges(sample)), MAX_TILES_ALONG)
    wanted[0] = 1.0
    return CellFrame.over(lowest, highest, within_budget(wanted, len(boxes) / BOXES_PER_TILE))


def _listed(boxes: Floats, rows: Order, frame: CellFrame, thread_count: int) -> TileSweep:
    spans: Keys = memory.empty(len(boxes), np.uint64)
    shares = threads.ranges(len(boxes), thread_count)
    touched = threads.run(lambda k: _find_spans(*shares[k], boxes, frame, spans), len(shares))
    is_apart = None
    if sum(touched) > LISTED_PER_BOX * len(boxes):
        is_apart = _too_many(spans)
        spans[is_apart] = UNLISTED
    across = int(frame.counts[1])
    places = np.zeros((len(shares), frame.cell_count), np.int64)
    threads.run(lambda k: _tally(*shares[k], spans, across, places[k]), len(shares))
    entry_count = int(places.sum())
    starts: Rows = np.append(to_places(places), entry_count)
    listed = Entries(memory.empty((entry_count, 6), boxes.dtype), memory.empty(entry_count, np.uint32))
    threads.run(lambda k: _deal(*shares[k], (boxes, rows), spans, across, places[k], listed), len(shares))
    if is_apart is None or not is_apart.any():
        return TileSweep.of(listed, starts)
    apart, others = (Line.of(boxes[chosen], rows[chosen]) for chosen in (is_apart, ~is_apart))
    return TileSweep.of(listed, starts, apart, others)


def _too_many(spans: Keys) -> Bools:
    """Return which boxes touch too many tiles to be listed."""
    wide, high = ((spans >> np.uint64(shift) & np.uint64(0xFFFF)) + np.uint64(1) for shift in (0, 16))
    touched = wide * high
    for limit in TOUCHED_LIMITS:
        is_apart = touched > limit
        if touched.sum(where=~is_apart) <= LISTED_PER_BOX * len(spans):
            break
    return is_apart


@kernel
def _find_spans(first: int, last: int, boxes: Any, frame: CellFrame, spans: Keys) -> int:
    """Write the tiles of the boxes first … last − 1, and return the number of their entries.

    A span is the tile of the lower corner from bit 32 on, and the number of further tiles that the box touches along
    the last axis, from bit 16 on, and along the one before it.
    """
    origin, per_unit, counts = frame.origin, frame.per_unit, frame.counts
    total = 0
    for k in range(first, last):
        y = cell_along(boxes[k, 1], origin[1], per_unit[1], counts[1])
        z = cell_along(boxes[k, 2], origin[2], per_unit[2], counts[2])
        # An empty half-open box ends just below its start.
        wide = max(cell_along(boxes[k, 4], origin[1], per_unit[1], counts[1]) - y, 0)
        high = max(cell_along(boxes[k, 5], origin[2], per_unit[2], counts[2]) - z, 0)
        spans[k] = np.uint64(((z * counts[1] + y) << 32) | (high << 16) | wide)
        total += (wide + 1) * (high + 1)
    return total


@helper
def _tiles_in(span: Any) -> tuple[Integer, Integer, Integer]:
    """Return the first tile of a span and the numbers of tiles along the two axes."""
    low = np.int64(span & np.uint64(0xFFFFFFFF))
    return np.int64(span >> np.uint64(32)), (low & 0xFFFF) + 1, (low >> 16) + 1


@kernel
def _tally(first: int, last: int, spans: Keys, across: Integer, tally: Rows) -> None:
    """Count the boxes first … last − 1 in each tile."""
    for k in range(first, last):
        if spans[k] == UNLISTED:
            continue
        tile, wide, high = _tiles_in(spans[k])
        for up in range(high):
            for right in range(wide):
                tally[tile + up * across + right] += 1


@kernel
def _deal(
    first: int, last: int, given: tuple[Any, Any], spans: Keys, across: Integer, places: Rows, listed: Entries
) -> None:
    """Write the boxes first … last − 1 of those ``given``, with their rows, to their tiles, from ``places`` on."""
    (boxes, rows), (entries, tags) = given, listed
    for k in range(first, last):
        if spans[k] == UNLISTED:
            continue
        tile, wide, high = _tiles_in(spans[k])
        x0, y0, z0, x1, y1, z1 = boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3], boxes[k, 4], boxes[k, 5]
        row = np.uint32(rows[k]) << ROW_BIT
        for up in range(high):
            for right in range(wide):
                place = places[tile + up * across + right]
                places[tile + up * across + right] = place + 1
                entries[place, 0], entries[place, 1], entries[place, 2] = x0, y0, z0
                entries[place, 3], entries[place, 4], entries[place, 5] = x1, y1, z1
                tags[place] = row | np.uint32(1 + 2 * (right == 0) + 4 * (up == 0))


@kernel
def _sweep(first: int, last: int, chunk: Keys, columns: Columns, starts: Rows, again: U32) -> tuple[int, int, int]:
    """Test the entries first … last − 1, each against those after it in its own list that start before it ends.

    Pairs of tags are written first, and become pairs of rows at the end.
    """
    bounds, tags = columns.bounds, columns.numbers
    stride = tags.size
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    tile = first_from(starts, first + 1) - 1  # the cell of the first entry
    end = starts[tile + 1]
    following = last
    for i in range(first, last):
        while i >= end:
            tile += 1
            end = starts[tile + 1]
        begin, own, upper = written, tags[i], bounds[3 * stride + i]
        j = np.int64(i + 1)
        while j < end and bounds[j] <= upper:
            if written + AT_ONCE + 8 > chunk.size:
                following = i
                break
            hits = meeting(bounds, j, stride, bounds, i, stride)
            if end - j < AT_ONCE:
                hits &= (np.int64(1) << (end - j)) - 1  # without those of the next cell
            for place in range(j, j + AT_ONCE, 8):
                if hits == 0:
                    break
                written += append_answers(chunk, written, tags, place, own, hits & 255, 0)
                hits >>= 8
            j += AT_ONCE
        if following < last:
            written = begin
            break
        if j > i + 1:
            tests += j - AT_ONCE - i - 1 + count_up_to(bounds, j - AT_ONCE, min(j, end), upper)
    kept = _name_rows(chunk, written)
    again[first] += np.uint32(written - kept)
    return following, kept, tests


@helper
def _name_rows(chunk: Keys, count: Integer) -> Integer:
    """Turn ``count`` pairs of tags into the pairs of rows that their cell reports, and return their number."""
    kept = np.int64(0)
    for k in range(count):
        one, other = key_first(chunk[k]), key_second(chunk[k])
        chunk[kept] = ordered_key(one >> ROW_BIT, other >> ROW_BIT)
        kept += ((one | other) & STARTS_ON_ALL) == STARTS_ON_ALL
    return kept

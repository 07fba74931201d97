"""A sweep in tiles on the two other axes that tests 32 candidates at once, for boxes that are in order.

`choque.broad._sweep_cells` tests one candidate after the other and writes a pair for each. Here boxes lie in columns, a
block of candidates is marked by vector instructions, and pairs are written only where a mark is: with as many
candidates again, in two thirds of the time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.cells import cell_along
from choque._core.emission import Sink
from choque._core.kernel import helper, kernel
from choque._core.overlap import padded_columns
from choque._core.sort import to_places
from choque._core.types import Floats, Index, Keys, Rows
from choque.broad._sweep_frame import CellFrame, bulk_of, sample_of, typical_edges, within_budget
from choque.broad._sweep_listing import LISTED_PER_BOX, TOUCHED_MOST
from choque.broad._sweep_order import Order
from choque.broad._sweep_tiles import BOXES_PER_TILE, TILES_FROM
from choque.broad.sweep_line import Line

TILE_EDGES = 4.5
"""The edge of a tile in typical edges of a box: a block of tests costs little, a box in several lists much."""

TILE_MOST = 1 << 15
"""Tiles along an axis, at most."""

LANES = 32
"""Candidates that are tested at once: in an even scene nearly all that a box has."""

ONES = np.uint64(0x0101010101010101)
"""The lowest bit of each of the eight marks in a word."""

NOWHERE = np.uint64(1 << 63)
"""The span of a box that is in no list."""


@dataclass(frozen=True)
class TileSweep:
    """Boxes listed in every tile that they touch, each list in the order of the lower bounds on the axis swept.

    A pair is met in every tile that both boxes touch and reported only in the one that holds the greater of their lower
    bounds on either axis: there, axis by axis, one of the two starts.

    Attributes
    ----------
    columns
        (6, m + padding) lower, then upper bounds of the m entries, tile by tile; the padding overlaps nothing.
    tags
        (m,) the row of each from bit 2 on, and a bit for each axis of the tiles on which it starts in this tile.
    starts
        (tiles + 1,) where the list of each tile starts.
    apart, listed
        The boxes that are in no list and those that are, as lines along the axis; None where all are listed.
    """

    columns: Floats
    tags: NDArray[np.uint32]
    starts: Rows
    apart: Line | None
    listed: Line | None

    @property
    def nbytes(self) -> int:
        """The bytes held."""
        lines = sum(line.nbytes for line in (self.apart, self.listed) if line is not None)
        return self.columns.nbytes + self.tags.nbytes + self.starts.nbytes + lines

    def emit(self, sink: Sink) -> int:
        """Write all pairs; returns how many were met again in another tile."""
        again = np.zeros(len(self.tags), np.uint32)
        sink.run(_sweep, len(self.tags), self.columns, self.tags, self.starts, again)
        if self.apart is not None and self.listed is not None:
            self.apart.emit(sink)
            self.apart.emit_with(self.listed, sink)
        return int(again.sum(dtype=np.int64))


def tiled_sweep(boxes: Floats, rows: Order, tiles: bool | None, thread_count: int) -> Line | TileSweep:
    """A sweep along the first axis of ``boxes`` (n, 6), which are in the order of their lower bounds on it.

    Linear in time and memory whatever the sizes, but for the tests. ``rows`` (n,) are the rows of the boxes; ``tiles``
    says whether to split the sweep, None for where that is faster. A scene without width has no tiles.
    """
    if len(boxes) >= TILES_FROM if tiles is None else tiles:
        frame = _tiles_of(boxes)
        if frame.cell_count > 1:
            return _listed(boxes, rows, frame, thread_count)
    return Line.of(boxes, rows)


def _tiles_of(boxes: Floats) -> CellFrame:
    sample = sample_of(boxes)
    lowest, highest = bulk_of(sample)
    with np.errstate(all="ignore"):
        wanted = np.minimum((highest - lowest) / (TILE_EDGES * typical_edges(sample)), TILE_MOST)
    wanted[0] = 1.0
    return CellFrame.over(lowest, highest, within_budget(wanted, len(boxes) / BOXES_PER_TILE))


def _listed(boxes: Floats, rows: Order, frame: CellFrame, thread_count: int) -> TileSweep:
    spans: Keys = memory.empty(len(boxes), np.uint64)
    shares = threads.ranges(len(boxes), thread_count)
    touched = threads.run(
        lambda k: _find_spans(*shares[k], boxes, frame.origin, frame.per_unit, frame.counts, spans), len(shares)
    )
    is_apart = None
    if sum(touched) > LISTED_PER_BOX * len(boxes):
        is_apart = _too_many(spans)
        spans[is_apart] = NOWHERE
    across = int(frame.counts[1])
    places = np.zeros((len(shares), frame.cell_count), np.int64)
    threads.run(lambda k: _tally(*shares[k], spans, across, places[k]), len(shares))
    entry_count = int(places.sum())
    starts: Rows = np.append(to_places(places), entry_count)
    listed: Floats = memory.empty((entry_count, 6), boxes.dtype)
    tags: NDArray[np.uint32] = memory.empty(entry_count, np.uint32)
    threads.run(lambda k: _deal(*shares[k], boxes, rows, spans, across, places[k], listed, tags), len(shares))
    columns = padded_columns(listed)
    if is_apart is None or not is_apart.any():
        return TileSweep(columns, tags, starts, None, None)
    apart, others = (Line.of(boxes[chosen], rows[chosen]) for chosen in (is_apart, ~is_apart))
    return TileSweep(columns, tags, starts, apart, others)


def _too_many(spans: Keys) -> NDArray[np.bool_]:
    """Which boxes touch so many tiles that the lists would grow long."""
    wide, high = ((spans >> np.uint64(shift) & np.uint64(0xFFFF)) + np.uint64(1) for shift in (0, 16))
    touched = wide * high
    for most in TOUCHED_MOST:
        is_apart = touched > most
        if touched.sum(where=~is_apart) <= LISTED_PER_BOX * len(spans):
            break
    return is_apart


@kernel
def _find_spans(
    first: int,
    last: int,
    boxes: Any,
    origin: NDArray[np.float64],
    per_unit: NDArray[np.float64],
    counts: Rows,
    spans: Keys,
) -> int:
    """Write the tiles of the boxes first … last − 1; returns how many entries they make.

    A span is the tile of the lower corner from bit 32 on, and how many more tiles the box touches along the last axis,
    from bit 16 on, and along the one before it.
    """
    total = 0
    for k in range(first, last):
        y = cell_along(boxes[k, 1], origin[1], per_unit[1], counts[1])
        z = cell_along(boxes[k, 2], origin[2], per_unit[2], counts[2])
        # An empty half-open box ends just below where it starts.
        wide = max(cell_along(boxes[k, 4], origin[1], per_unit[1], counts[1]) - y, 0)
        high = max(cell_along(boxes[k, 5], origin[2], per_unit[2], counts[2]) - z, 0)
        spans[k] = np.uint64(((z * counts[1] + y) << 32) | (high << 16) | wide)
        total += (wide + 1) * (high + 1)
    return total


@helper
def _tiles_in(span: Any) -> tuple[Index, Index, Index]:
    """The first tile of a span, and how many there are along the two axes."""
    low = np.int64(span & np.uint64(0xFFFFFFFF))
    return np.int64(span >> np.uint64(32)), (low & 0xFFFF) + 1, (low >> 16) + 1


@kernel
def _tally(first: int, last: int, spans: Keys, across: Index, tally: Rows) -> None:
    """Count the boxes first … last − 1 in each tile."""
    for k in range(first, last):
        if spans[k] == NOWHERE:
            continue
        tile, wide, high = _tiles_in(spans[k])
        for up in range(high):
            for right in range(wide):
                tally[tile + up * across + right] += 1


@kernel
def _deal(
    first: int,
    last: int,
    boxes: Any,
    rows: Order,
    spans: Keys,
    across: Index,
    places: Rows,
    listed: Any,
    tags: NDArray[np.uint32],
) -> None:
    """Write the boxes first … last − 1 to the lists of their tiles, from ``places`` on."""
    for k in range(first, last):
        if spans[k] == NOWHERE:
            continue
        tile, wide, high = _tiles_in(spans[k])
        x0, y0, z0, x1, y1, z1 = boxes[k, 0], boxes[k, 1], boxes[k, 2], boxes[k, 3], boxes[k, 4], boxes[k, 5]
        row = np.uint32(rows[k]) << np.uint32(2)
        for up in range(high):
            for right in range(wide):
                place = places[tile + up * across + right]
                places[tile + up * across + right] = place + 1
                listed[place, 0], listed[place, 1], listed[place, 2] = x0, y0, z0
                listed[place, 3], listed[place, 4], listed[place, 5] = x1, y1, z1
                tags[place] = row | np.uint32((right == 0) + 2 * (up == 0))


@kernel
def _sweep(
    first: int, last: int, chunk: Keys, columns: Any, tags: NDArray[np.uint32], starts: Rows, again: NDArray[np.uint32]
) -> tuple[int, int, int]:
    """Test the entries first … last − 1, each against those after it in its own list that start before it ends.

    Pairs of entries are written first, lane by lane without a branch, and become pairs of rows in the end.
    """
    x0, y0, z0, x1, y1, z1 = columns[0], columns[1], columns[2], columns[3], columns[4], columns[5]
    marks = np.empty(LANES, np.uint8)  # 1 for a lane that starts in time, 3 for one that overlaps
    words = marks.view(np.uint64)
    room = np.uint64(chunk.size)
    written = np.uint64(0)  # unsigned: an index that cannot count from the end is not looked at
    tests = np.int64(0)
    tile = 0
    end = starts[1]
    following = last
    for i in range(first, last):
        while i >= end:
            tile += 1
            end = starts[tile + 1]
        a0, b0, c0, a1, b1, c1 = x0[i], y0[i], z0[i], x1[i], y1[i], z1[i]
        own = np.uint64(i) << np.uint64(32)
        begin = written
        tested = np.int64(0)
        j = i + 1
        while j < end and x0[j] <= a1:
            if written + np.uint64(LANES) > room:
                following = i
                break
            # Slices keep the index from wrapping around, so that the loop is vectorised.
            p0, q0, r0 = x0[j : j + LANES], y0[j : j + LANES], z0[j : j + LANES]
            p1, q1, r1 = x1[j : j + LANES], y1[j : j + LANES], z1[j : j + LANES]
            for k in range(LANES):
                starting = p0[k] <= a1
                meeting = starting & (p1[k] >= a0) & (q0[k] <= b1) & (q1[k] >= b0) & (r0[k] <= c1) & (r1[k] >= c0)
                marks[k] = np.uint8(starting) | (np.uint8(meeting) << np.uint8(1))
            for k in range(end - j, LANES):  # lanes of the next tile
                marks[k] = 0
            count = np.uint64(0)
            for place in range(LANES // 8):
                word = words[place]
                count += word & ONES
                if word & (ONES << np.uint64(1)):
                    near = own | np.uint64(j + 8 * place)
                    for k in range(8):
                        chunk[written] = near + np.uint64(k)
                        written += (word >> np.uint64(8 * k + 1)) & np.uint64(1)
            count += count >> np.uint64(32)  # the sum of eight bytes
            count += count >> np.uint64(16)
            count += count >> np.uint64(8)
            tested += np.int64(count & np.uint64(0xFF))
            j += LANES
        if following < last:
            written = begin
            break
        tests += tested
    kept = _name_rows(chunk, np.int64(written), tags)
    again[first] += np.uint32(np.int64(written) - kept)
    return following, kept, int(tests)


@helper
def _name_rows(chunk: Keys, count: Index, tags: NDArray[np.uint32]) -> Index:
    """Turn ``count`` pairs of entries into pairs of rows, those that their tile reports; how many there are."""
    kept = 0
    for k in range(count):
        one = tags[np.int64(chunk[k] >> np.uint64(32))]
        other = tags[np.int64(chunk[k] & np.uint64(0xFFFFFFFF))]
        row, other_row = np.uint64(one >> np.uint32(2)), np.uint64(other >> np.uint32(2))
        chunk[kept] = (min(row, other_row) << np.uint64(32)) | max(row, other_row)
        kept += ((one | other) & np.uint32(3)) == np.uint32(3)
    return kept

"""Which boxes are kept by greedy suppression, and which kept box covers each of the others.

A box is kept if no kept box with a better score covers it. Scores need not be gone through in order: a box that no
undecided box with a better score covers can be decided at once. So `_decide` begins anywhere, climbs from a box to the
best undecided one that covers it until there is none, keeps that one, and drops all that it covers. Each search decides
a box or climbs, and boxes are visited in the order of their cells, so that what is searched is in the cache. Threads
begin in different cells and need no locks: a decision follows from decisions about better boxes alone, so a thread that
does not see what another one is deciding comes to the same decision itself.

Boxes are sorted by cells of their lower corners. A box that covers another has about its size and place (see
`choque.boxes.likeness`), so there are classes of sizes, each with cells of its own; only classes and cells within reach
are searched. Cells are numbered ``x + stride · y`` plus a number for class and group, modulo a power of two of at
least as many cells as boxes: a line of cells along x is a run of boxes wherever it is, space needs no bounds, and the
memory is O(n). Boxes of distant cells that share a number are compared in vain, which is rare.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from choque._core import memory, threads
from choque._core.kernel import forceinline, kernel
from choque._core.lanes import covering_eight, lowest_bit
from choque._core.rounding import narrow_down, narrow_up
from choque._core.types import F64, I32, I64, U8, Bools, Floats, Integer
from choque.bounds import Boxes
from choque.boxes.likeness import MARGIN, largest_offset, longest_edge

CLASSES = 30  # classes of sizes, by the longest edge; the last one also holds all that is smaller
FACTOR = 8.0  # the ratio between the sizes of neighbouring classes

LINE, ALONG = 1.0, 0.2
"""The height and width of a cell, as shares of the farthest that a box begins after another that covers it."""

MIN_CELL = 1 / 64
"""Cells are at least this share of the longest edge of their class high, however high the threshold is."""

FARTHEST = 2.0**40
"""Cell numbers are clipped to this; boxes that lie farther out share a cell, and are found all the same."""

BLOCK = 2_048  # boxes that a thread decides before it takes the next ones
KEPT, DROPPED = 1, 2


class Ranks(NamedTuple):
    """Scores (n,) float64 and groups (n,) int64 of boxes."""

    score: F64
    group: I64


class Setting(NamedTuple):
    """What is searched, the same for all boxes."""

    dimension: int  # 2 or 3
    threshold: float  # from 0 to 1
    limit: float  # a box covers another if they have more than this in common; a number of the float type of the boxes
    over_smaller: int  # 1 if overlaps are divided by the smaller box, else 0
    offset: float
    # a box that is covered begins at most ``offset`` edges after the box, and ``reach`` edges before it; 1 and infinity
    # if sizes say nothing
    reach: float
    size: F64
    per_line: F64
    # (classes,): the longest edge that a class holds, and cells for each unit of length along y and x
    per_cell: F64


class Search(NamedTuple):
    """Scratch of a thread."""

    found: I32  # (n,): the boxes that a search found
    finder: I32
    number: I32  # (n,), (1,): the last search that found each box, and the number of the last search
    waiting: I32  # (n,): boxes that wait for decisions about better ones


class Cells(NamedTuple):
    """Boxes by cells."""

    # (7 · stride,): six bounds, 0 and 1 along z in 2D, and the area; at least eight NaN follow in each column
    columns: Floats
    rows: I32  # (n,) int32: the row of each
    starts: I32  # (cells + 1,) int32: where the boxes of each cell begin
    score: F64
    group: I64  # (n,): as in `Ranks`, in the order of the cells


def make_setting(boxes: Boxes, threshold: float, is_over_smaller: bool, is_merging: bool) -> Setting:
    """Return what to search; merging counts overlaps of the threshold itself, suppression only larger ones."""
    largest = longest_edge(boxes.lower, boxes.upper)
    bound = np.array([threshold])
    limit = narrow_down(bound, boxes.dtype)
    if is_merging and threshold > 0:
        limit = np.nextafter(narrow_up(bound, boxes.dtype), boxes.dtype.type(0))
    has_reach = threshold > 0 and not is_over_smaller
    reach = (1 / threshold - 1) * (1 + MARGIN) + MARGIN if has_reach else math.inf
    offset = largest_offset(threshold) if has_reach else 1.0
    size = largest * FACTOR ** -np.arange(float(CLASSES)) * (1 + MARGIN)
    window = np.maximum(size * max(offset, MIN_CELL), 1e-300)
    cells = (size, 1 / (window * LINE), 1 / (window * ALONG))
    return Setting(boxes.dimension, threshold, float(limit[0]), int(is_over_smaller), offset, reach, *cells)


def select(boxes: Boxes, ranks: Ranks, setting: Setting, thread_count: int) -> Bools:
    """Return which boxes are kept, (n,)."""
    cells = _sorted(boxes, ranks, setting, thread_count)
    state, no_owner = np.zeros(len(boxes), np.uint8), np.empty(0, np.int32)
    draw = threads.block_supply(len(boxes), BLOCK)

    def work(_: int) -> None:
        search = _scratch(len(boxes))
        while (block := draw()) is not None:
            _decide(*block, cells, setting, state, search, no_owner)

    threads.run(work, thread_count)
    return _kept_rows(cells, state)


def select_owners(boxes: Boxes, ranks: Ranks, setting: Setting) -> tuple[Bools, I32]:
    """Return which boxes are kept, (n,), and for each box the row of the best kept one that covers it, or its own.

    By one thread: a box may be covered by several kept ones, which compare themselves with its owner so far.
    """
    cells = _sorted(boxes, ranks, setting, 1)
    state, owner = np.zeros(len(boxes), np.uint8), np.arange(len(boxes), dtype=np.int32)
    _decide(0, len(boxes), cells, setting, state, _scratch(len(boxes)), owner)
    best = np.empty(len(boxes), np.int32)
    best[cells.rows] = cells.rows[owner]
    return _kept_rows(cells, state), best


def _kept_rows(cells: Cells, state: U8) -> Bools:
    is_kept = np.empty(len(state), np.bool_)
    is_kept[cells.rows] = state == KEPT
    return is_kept


def _scratch(count: int) -> Search:
    found, waiting = memory.empty(count, np.int32), memory.empty(count, np.int32)
    return Search(found, np.zeros(count, np.int32), np.zeros(1, np.int32), waiting)


def _sorted(boxes: Boxes, ranks: Ranks, setting: Setting, thread_count: int) -> Cells:
    """Sort boxes by cells, by counting. O(n)."""
    count = len(boxes)
    starts, rows = np.zeros((1 << max(4, count.bit_length())) + 1, np.int32), memory.empty(count, np.int32)
    _order(boxes.lower, boxes.upper, ranks.group, setting, memory.empty(count, np.int32), starts, rows)
    columns: Floats = memory.empty(7 * (count + 8), boxes.dtype)
    sorted_ranks = Ranks(memory.empty(count, np.float64), memory.empty(count, np.int64))
    gathered = (boxes.lower, boxes.upper, ranks, rows, columns, sorted_ranks)
    threads.over_ranges(_gather, count, thread_count, *gathered)
    columns.reshape(7, count + 8)[:, count:] = np.nan
    return Cells(columns, rows, starts, *sorted_ranks)


# Kernels


@forceinline
def _class_of(edge: float, size: Any) -> Any:
    """Return the class of an edge: the last one that holds it. Most boxes are in one of the first."""
    kind = np.int64(0)
    while kind < CLASSES - 1 and edge * (1.0 + MARGIN) <= size[kind + 1]:
        kind += 1
    return kind


@forceinline
def _cell(value: float, per_cell: float) -> Any:
    return np.int64(np.floor(max(-FARTHEST, min(FARTHEST, value * per_cell))))


@forceinline
def _number(x: Integer, y: Integer, kind: Integer, group: Integer, mask: Integer) -> Any:
    """Return the number of a cell of a class and group. Strides near golden sections spread lines over all numbers."""
    stride = np.int64(0.6180339887 * mask) | np.int64(1)
    plane = ((kind * 7_919 + (group & np.int64(0xFFFFFFF))) & mask) * (np.int64(0.7548776662 * mask) | np.int64(1))
    return ((x & mask) + (y & mask) * stride + plane) & mask


@kernel
def _order(lower: Any, upper: Any, group: Any, setting: Setting, own: Any, starts: Any, rows: Any) -> None:
    """Write the rows of the boxes by cells, and where each cell begins. ``own`` (n,) is scratch."""
    mask = np.int64(starts.size - 2)
    for i in range(lower.shape[0]):
        edge = 0.0
        for axis in range(lower.shape[1]):
            edge = max(edge, np.float64(upper[i, axis]) - np.float64(lower[i, axis]))
        kind = _class_of(edge, setting.size)
        x = _cell(np.float64(lower[i, 0]), setting.per_cell[kind])
        y = _cell(np.float64(lower[i, 1]), setting.per_line[kind])
        own[i] = _number(x, y, kind, group[i], mask)
        starts[own[i] + 1] += 1
    for cell in range(1, starts.size):
        starts[cell] += starts[cell - 1]
    for k in range(lower.shape[0]):  # backwards: the boxes of a cell stay in order, and starts move to their places
        i = lower.shape[0] - 1 - k
        starts[own[i] + 1] -= 1
        rows[starts[own[i] + 1]] = i
    for cell in range(1, starts.size - 1):
        starts[cell] = starts[cell + 1]
    starts[starts.size - 1] = lower.shape[0]


@kernel
def _gather(
    first: int, last: int, lower: Any, upper: Any, ranks: Ranks, rows: Any, columns: Any, sorted_ranks: Ranks
) -> None:
    """Write the bounds and areas of boxes in the order ``rows`` as columns, and their ranks."""
    dimension, one, stride = lower.shape[1], columns.dtype.type(1), columns.size // 7
    for k in range(first, last):
        i, area = rows[k], one
        sorted_ranks.score[k], sorted_ranks.group[k] = ranks.score[i], ranks.group[i]
        columns[2 * stride + k], columns[5 * stride + k] = one - one, one
        for axis in range(dimension):
            low, high = lower[i, axis], upper[i, axis]
            columns[axis * stride + k], columns[(axis + 3) * stride + k] = low, high
            area *= high - low
        columns[6 * stride + k] = area


@forceinline
def _is_better(cells: Any, one: Integer, other: Integer) -> Any:
    first, second = cells.score[one], cells.score[other]
    return first > second or (first == second and cells.rows[one] < cells.rows[other])


@forceinline
def _list_run(cells: Any, setting: Any, own: Integer, begin: Integer, end: Integer, search: Any, count: Integer) -> Any:
    """List those of a run of boxes that the box at ``own`` covers, and that cover it; return how many are listed."""
    stride = cells.columns.size // 7
    for at in range(begin, end, 8):
        hits = covering_eight(cells.columns, stride, at, own, setting.limit, setting.over_smaller)
        if end - at < 8:
            hits &= (1 << (end - at)) - 1  # what follows a run is searched elsewhere, if it is in reach
        while hits != 0:
            other = at + lowest_bit(hits)
            hits &= hits - 1
            # Lines that share numbers of cells may find a box twice.
            if cells.group[other] == cells.group[own] and search.finder[other] != search.number[0]:
                search.finder[other] = search.number[0]
                search.found[count] = other
                count += 1
    return count


@forceinline
def _list_near(cells: Any, setting: Any, own: Integer, search: Any) -> Integer:
    """List the boxes that the box at ``own`` covers, and that cover it, each once; return how many there are."""
    columns, stride = cells.columns, cells.columns.size // 7
    low_x, low_y = np.float64(columns[own]), np.float64(columns[own + stride])
    edge_x = np.float64(columns[own + 3 * stride]) - low_x
    edge_y = np.float64(columns[own + 4 * stride]) - low_y
    edge = max(edge_x, edge_y)
    if setting.dimension == 3:
        edge = max(edge, np.float64(columns[own + 5 * stride]) - np.float64(columns[own + 2 * stride]))
    first, last = np.int64(0), np.int64(CLASSES - 1)
    if setting.reach < np.inf:
        first = _class_of(edge / setting.threshold * (1.0 + MARGIN), setting.size)
        last = _class_of(edge * setting.threshold * (1.0 - MARGIN), setting.size)
    mask = np.int64(cells.starts.size - 2)
    room_x, room_y = 1e-15 * (abs(low_x) + edge_x), 1e-15 * (abs(low_y) + edge_y)
    count = np.int64(0)
    search.number[0] += 1
    search.finder[own] = search.number[0]
    for kind in range(first, last + 1):
        size, per_cell, per_line = setting.size[kind], setting.per_cell[kind], setting.per_line[kind]
        from_x = _cell(low_x - min(size * setting.offset, edge_x * setting.reach) - room_x, per_cell)
        to_x = _cell(low_x + edge_x * setting.offset + room_x, per_cell)
        from_y = _cell(low_y - min(size * setting.offset, edge_y * setting.reach) - room_y, per_line)
        to_y = _cell(low_y + edge_y * setting.offset + room_y, per_line)
        if to_x - from_x >= mask or to_y - from_y >= mask // 8:
            return _list_run(cells, setting, own, np.int64(0), np.int64(cells.rows.size), search, count)
        for y in range(from_y, to_y + 1):
            begin = _number(from_x, y, kind, cells.group[own], mask)
            end = begin + to_x - from_x
            beyond = end - mask - 1  # numbers go on with 0 after the last
            end = min(end, mask)
            count = _list_run(cells, setting, own, cells.starts[begin], cells.starts[end + 1], search, count)
            if beyond >= 0:
                count = _list_run(cells, setting, own, np.int64(0), cells.starts[beyond + 1], search, count)
    return count


@kernel
def _decide(first: int, last: int, cells: Cells, setting: Setting, state: Any, search: Search, owner: Any) -> None:
    """Set the ``state`` (n,) of some boxes, and of all that these wait for, to `KEPT` or `DROPPED`.

    ``owner``, (n,) or empty: the best kept box that covers each, or itself. A state that is not 0 is final, whichever
    thread wrote it; one that is still 0 here may have been decided elsewhere, and is then decided again.
    """
    found, waiting = search.found, search.waiting
    for seed in range(first, last):
        depth = np.int64(0)
        waiting[0] = seed
        while depth >= 0:
            own = np.int64(waiting[depth])
            if state[own] != 0:
                depth -= 1
                continue
            count = _list_near(cells, setting, own, search)
            best, is_covered = own, False
            for k in range(count):
                other = np.int64(found[k])
                decided = state[other]
                if decided != DROPPED and _is_better(cells, other, best):
                    is_covered |= decided == KEPT
                    best = other
            if is_covered:
                state[own] = DROPPED
            elif best != own:
                depth += 1
                waiting[depth] = best
            else:
                state[own] = KEPT
                for k in range(count):
                    other = np.int64(found[k])
                    if owner.size and (state[other] == 0 or _is_better(cells, own, owner[other])):
                        owner[other] = own
                    state[other] = DROPPED

"""An order of boxes for a wide tree whose blocks are compact: space is halved again and again.

Each range of the order is divided where a block of the tree ends, across the longest side of the box around its
centres, down to single blocks. Blocks of a Z-curve with as many triangles have jumps in them, which cost a walk through
two trees seven times as many blocks. The division is a selection by histograms, without comparisons: O(n log n) time
for any input, since floats have few exponents; 32 bytes a box for a while.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from choque._core import memory, threads
from choque._core.kernel import helper, kernel
from choque._core.tree import WIDTH
from choque._core.types import F32, I64, U32, Integer

BINS = 64  # parts of an interval whose contents are counted at once


class Items(NamedTuple):
    """Centres of boxes: (n, 4) float32, the row of the box being the fourth; as words; and as much memory again."""

    centres: F32
    words: U32
    spare: U32


def spatial_order(records: F32, thread_count: int) -> U32:
    """Return the rows of ``records`` (n, 6) in an order whose blocks of 16, 256 … are compact."""
    centres: F32 = memory.empty((len(records), 4), np.float32)
    items = Items(centres, centres.view(np.uint32), memory.empty((len(records), 4), np.uint32))
    threads.over_ranges(_fill_centres, len(records), thread_count, records, items)
    parts = [(0, len(records))]
    if thread_count > 1 and len(records) >= threads.STREAM_SERIAL_BELOW:
        while len(parts) < thread_count:
            _arrange_all(parts, items, True)
            parts = [part for first, last in parts for part in pairwise((first, _middle(first, last), last))]
    _arrange_all(parts, items, False)
    return np.ascontiguousarray(items.words[:, 3])


def _arrange_all(parts: list[tuple[int, int]], items: Items, once: bool) -> None:
    threads.run(lambda part: _arrange(*parts[part], once, items), len(parts))


@helper
def _middle(first: Integer, last: Integer) -> Integer:
    """Return where a range is divided: at the end of a block of the highest level of which it has several."""
    size: Integer = WIDTH
    while size * WIDTH < last - first:
        size *= WIDTH
    return first + (last - first + size - 1) // size // 2 * size


@kernel
def _fill_centres(first: int, last: int, records: F32, items: Items) -> None:
    for row in range(first, last):
        for axis in range(3):
            items.centres[row, axis] = records[row, axis] + records[row, axis + 3]
        items.words[row, 3] = row


@kernel
def _arrange(first: int, last: int, once: bool, items: Items) -> None:
    """Divide a range down to single blocks, or once."""
    stack = np.empty((64, 2), np.int64)
    counts = np.empty(BINS, np.int64)
    stack[0, 0], stack[0, 1] = first, last
    depth: Integer = 1
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        if end - begin <= WIDTH:
            continue
        middle = _middle(begin, end)
        _divide(begin, middle, end, items, counts)
        if once:
            return
        stack[depth, 0], stack[depth, 1] = begin, middle
        stack[depth + 1, 0], stack[depth + 1, 1] = middle, end
        depth += 2


@helper
def _divide(first: Integer, middle: Integer, last: Integer, items: Items, counts: I64) -> None:
    """Move the items of a range that come first along its longest side before ``middle``."""
    axis, low, high = _longest_side(first, last, items.centres)
    while first < middle < last:
        scale = np.float32(BINS) / (high - low)
        if not scale < np.float32(np.inf):
            return  # all at one place
        for k in range(BINS):
            counts[k] = 0
        for row in range(first, last):
            counts[_bin(items.centres[row, axis], low, scale)] += 1
        chosen, below = 0, first
        while below + counts[chosen] <= middle:
            below += counts[chosen]
            chosen += 1
        above = below + counts[chosen]
        _part(first, last, axis, (low, scale), (chosen, below, above), items)
        first, last = below, above
        low = high = items.centres[first, axis]
        for row in range(first + 1, last):
            low, high = min(low, items.centres[row, axis]), max(high, items.centres[row, axis])


@helper
def _longest_side(first: Integer, last: Integer, centres: Any) -> tuple[Integer, Any, Any]:
    """Return the axis along which the centres of a range extend farthest, and from where to where."""
    x0, y0, z0 = centres[first, 0], centres[first, 1], centres[first, 2]
    x1, y1, z1 = x0, y0, z0
    for row in range(first + 1, last):
        x, y, z = centres[row, 0], centres[row, 1], centres[row, 2]
        x0, y0, z0 = min(x0, x), min(y0, y), min(z0, z)
        x1, y1, z1 = max(x1, x), max(y1, y), max(z1, z)
    if x1 - x0 >= y1 - y0 and x1 - x0 >= z1 - z0:
        return 0, x0, x1
    return (1, y0, y1) if y1 - y0 >= z1 - z0 else (2, z0, z1)


@helper
def _bin(value: Any, low: Any, scale: Any) -> Integer:
    return min(np.int64((value - low) * scale), BINS - 1)


@helper
def _part(
    first: Integer, last: Integer, axis: Integer, scale: tuple[Any, Any], bins: tuple[Any, Any, Any], items: Items
) -> None:
    """Sort a range into what lies in bins below the chosen one, in it, and above it."""
    chosen, low_end, high_end = bins
    before, inside, after = first, low_end, high_end
    for row in range(first, last):
        found = _bin(items.centres[row, axis], scale[0], scale[1])
        place = before if found < chosen else (inside if found == chosen else after)
        before += np.int64(found < chosen)
        inside += np.int64(found == chosen)
        after += np.int64(found > chosen)
        for k in range(4):
            items.spare[place, k] = items.words[row, k]
    for row in range(first, last):
        for k in range(4):
            items.words[row, k] = items.spare[row, k]

"""A sweep along one axis: its axis, the order of boxes along it, and the test of each box against those that follow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from choque._core import threads
from choque._core.emission import Sink
from choque._core.kernel import kernel
from choque._core.lanes import append_pairs
from choque._core.overlap import AT_ONCE, PADDING, Columns, count_up_to, meeting
from choque._core.sort import radix_sort, rows_by_key
from choque._core.types import U32, Floats, Integer, Keys, Rows

Order: TypeAlias = U32  # row numbers in sorted order
RADIX_FROM = 512  # shorter lists are sorted as they are, which needs no keys
REPAIRS_PER_VALUE = 4  # limit of the exchanges per value that finish a 64-bit list whose high halves are sorted
_HALF = np.uint64(32)
_HIGH = np.uint64(0xFFFFFFFF00000000)


@kernel
def widest_axis(records: Any, dimension: int) -> int:
    """Return which of the first ``dimension`` axes the centres of ``records`` (n, 6) vary most on.

    Infinite centres are ignored. The third axis of 2D boxes is not looked at: it says nothing about them.
    """
    widest = 0
    greatest = 0.0
    for axis in range(dimension):
        count = 0
        origin = total = square = 0.0
        for i in range(records.shape[0]):
            centre = 0.5 * np.float64(records[i, axis]) + 0.5 * np.float64(records[i, axis + 3])
            if abs(centre) < np.inf:
                if count == 0:
                    origin = centre
                count += 1
                total += centre - origin
                square += (centre - origin) * (centre - origin)
        variance = (square - total * total / count) / count if count else 0.0
        if variance > greatest:
            widest, greatest = axis, variance
    return widest


def order_of(values: Floats, thread_count: int) -> Order:
    """Return the stable order of ``values`` (n,); −0 and 0 are equal. Exact.

    Floats become integers of the same order, which are sorted with their places: by NumPy where it has vector
    instructions for that, by counting in linear time elsewhere. Of 64-bit ones the high halves are sorted alone, and
    exchanges of neighbours finish the work where they are few; else the low halves are sorted first.
    """
    count = values.size
    if count < RADIX_FROM:
        return np.argsort(values, kind="stable").astype(np.uint32)
    indices = np.arange(count, dtype=np.uint64)
    if values.dtype.itemsize == 4:
        return rows_by_key((_as_integers(values, np.int32) << _HALF) | indices, 32, thread_count)
    integers = _as_integers(values, np.int64)
    order = rows_by_key((integers & _HIGH) | indices, 32, thread_count)
    repairs = REPAIRS_PER_VALUE * count
    if repair_order(order, values[order], repairs) <= repairs:
        return order
    order = rows_by_key((integers << _HALF) | indices, 32, thread_count)
    return radix_sort((integers[order] & _HIGH) | order, 32, 32, thread_count).astype(np.uint32)


def _as_integers(values: Floats, integer: type[np.signedinteger[Any]]) -> Keys:
    """Return unsigned integers that sort as ``values`` do."""
    bits = (values + values.dtype.type(0)).view(integer)  # adding zero turns −0 into 0
    width = 8 * bits.itemsize
    ordered = bits ^ ((bits >> integer(width - 1)) | np.iinfo(integer).min)
    integers: Keys = ordered.view(f"u{bits.itemsize}").astype(np.uint64)
    return integers


def boxes_in_order(records: Floats, order: Order, axis: int, thread_count: int) -> Floats:
    """Return the ``records`` in ``order``, their axes rotated so that ``axis`` comes first of each three."""
    boxes: Floats = np.empty((len(order), 6), records.dtype)
    threads.over_ranges(_pick, len(order), thread_count, records, order, axis, boxes)
    return boxes


@kernel
def _pick(first: int, last: int, records: Any, order: Order, axis: int, boxes: Any) -> None:
    second = axis + 1 if axis < 2 else 0
    third = second + 1 if second < 2 else 0
    for k in range(first, last):
        box = records[order[k]]
        boxes[k, 0], boxes[k, 1], boxes[k, 2] = box[axis], box[second], box[third]
        boxes[k, 3], boxes[k, 4], boxes[k, 5] = box[axis + 3], box[second + 3], box[third + 3]


@kernel
def repair_order(order: Order, values: Any, maximum: int) -> int:
    """Sort ``values``, and ``order`` with them, by exchanges of neighbours; stop after more than ``maximum``.

    Returns the number of exchanges. Time is O(n) and the exchanges, as a list wants that was in order a moment ago.
    """
    exchanges = 0
    for k in range(1, values.size):
        value, index = values[k], order[k]
        j = k
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            order[j] = order[j - 1]
            j -= 1
        values[j] = value
        order[j] = index
        exchanges += k - j
        if exchanges > maximum:
            break
    return exchanges


@dataclass(frozen=True)
class Line:
    """Boxes in the order of their lower bounds on the first axis."""

    columns: Columns
    rows: Order  # (n,) the row of each box

    @classmethod
    def of(cls, boxes: Floats, rows: Order) -> Line:
        """Return the line of ``boxes`` (n, 6), which are in order."""
        return cls(Columns.of(boxes, rows), rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self.columns.bounds.nbytes + self.columns.numbers.nbytes

    def emit(self, sink: Sink) -> int:
        """Write the pairs of this line, and return the number of duplicates: 0."""
        self._run(sink, self, np.arange(1, len(self) + 1))
        return 0

    def emit_with(self, other: Line, sink: Sink) -> None:
        """Write the pairs of a box of this line and one of ``other``, a line in the same order."""
        # Of each pair the box that starts later is the one found; where both start together, that of ``other``.
        self._run(sink, other, self._starts_in(other, "left"))
        other._run(sink, self, other._starts_in(self, "right"))

    def _starts_in(self, other: Line, side: Literal["left", "right"]) -> Rows:
        return np.searchsorted(other.columns.bounds[: len(other)], self.columns.bounds[: len(self)], side)

    def _run(self, sink: Sink, other: Line, starts: Rows) -> None:
        sink.run(_sweep, len(self), self.columns, other.columns, starts)


@kernel
def _sweep(first: int, last: int, chunk: Keys, own: Columns, other: Columns, starts: Rows) -> tuple[int, int, int]:
    """Test box i against those of ``other`` from ``starts[i]`` on that start before it ends, 32 at once."""
    stride, own_stride = other.numbers.size, own.numbers.size
    count, lower = stride - PADDING, other.bounds
    written: Integer = np.int64(0)
    tests: Integer = np.int64(0)
    for i in range(first, last):
        begin, end = written, own.bounds[3 * own_stride + i]
        j = np.int64(starts[i])
        while j < count and lower[j] <= end:
            if written + AT_ONCE + 8 > chunk.size:
                return i, begin, tests
            hits = meeting(other.bounds, j, stride, own.bounds, i, own_stride)
            if hits != 0:
                for place in range(j, j + AT_ONCE, 8):
                    written += append_pairs(chunk, written, other.numbers, place, own.numbers[i], hits & 255)
                    hits >>= 8
            j += AT_ONCE
        if j > starts[i]:
            tests += j - AT_ONCE - starts[i] + count_up_to(lower, j - AT_ONCE, j, end)
    return last, written, tests

"""The axis of a sweep, and the order of boxes along it."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from choque._core import threads
from choque._core.kernel import kernel
from choque._core.sort import radix_sort
from choque._core.types import Floats, Keys

Order: TypeAlias = NDArray[np.uint32]
"""Row numbers in sorted order."""

RADIX_FROM = 2048
"""Shorter lists are sorted by NumPy, which has no tables to clear."""

REPAIRS_PER_VALUE = 4
"""Limit of the exchanges per value that finish a 64-bit list whose high halves are sorted."""

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
    """Return the stable order of ``values`` (n,); −0 and 0 are equal. Exact, in linear time.

    Floats become integers of the same order, and integers are sorted by counting: 32-bit ones in three passes. Of
    64-bit ones the high halves are sorted alone, and exchanges of neighbours finish the work where they are few; else
    the low halves are sorted first.
    """
    count = values.size
    if count < RADIX_FROM:
        return np.argsort(values, kind="stable").astype(np.uint32)
    indices = np.arange(count, dtype=np.uint64)
    if values.dtype.itemsize == 4:
        return _low_halves(radix_sort((_as_integers(values, np.int32) << _HALF) | indices, 32, 32, thread_count))
    integers = _as_integers(values, np.int64)
    order = _low_halves(radix_sort((integers & _HIGH) | indices, 32, 32, thread_count))
    repairs = REPAIRS_PER_VALUE * count
    if repair_order(order, values[order], repairs) <= repairs:
        return order
    order = _low_halves(radix_sort((integers << _HALF) | indices, 32, 32, thread_count))
    return _low_halves(radix_sort((integers[order] & _HIGH) | order, 32, 32, thread_count))


def _as_integers(values: Floats, integer: type[np.signedinteger[Any]]) -> Keys:
    """Return unsigned integers that sort as ``values`` do."""
    bits = (values + values.dtype.type(0)).view(integer)  # adding zero turns −0 into 0
    width = 8 * bits.itemsize
    ordered = bits ^ ((bits >> integer(width - 1)) | np.iinfo(integer).min)
    integers: Keys = ordered.view(f"u{bits.itemsize}").astype(np.uint64)
    return integers


def _low_halves(keys: Keys) -> Order:
    return keys.astype(np.uint32)


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
def repair_order(order: Order, values: Any, most: int) -> int:
    """Sort ``values``, and ``order`` with them, by exchanges of neighbours; stop after more than ``most``.

    Returns the number of exchanges. Time is O(n) and the exchanges, as a list wants that was in order a moment ago.
    """
    swaps = 0
    for k in range(1, values.size):
        value, index = values[k], order[k]
        j = k
        while j > 0 and values[j - 1] > value:
            values[j] = values[j - 1]
            order[j] = order[j - 1]
            j -= 1
        values[j] = value
        order[j] = index
        swaps += k - j
        if swaps > most:
            break
    return swaps

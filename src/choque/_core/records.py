"""Boxes as records: one row (x0, y0, z0, x1, y1, z1) a box, the only thing that broad-phase kernels see.

One row keeps a box on one or two cache lines, which is what random access wants; kernels that stream make columns of
it. A 2D box gets a third axis `FLAT` long, so no kernel is compiled again per dimension. A half-open box gets the
largest float below its upper bound: ``lower < upper`` and ``lower <= previous(upper)`` are the same test, so no
kernel is compiled again per topology. Such a box may have ``upper < lower`` by one step, which is why kernels test
all six bounds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choque._core import memory
from choque._core.kernel import kernel
from choque._core.rounding import narrow_down, narrow_up
from choque._core.threads import over_ranges
from choque._core.types import Floats

if TYPE_CHECKING:
    from choque.bounds import Boxes

FLAT = 1e-30
"""How long 2D boxes are along the third axis: something, for rays and halves, but less than any edge that counts."""


def pack_records(boxes: Boxes, closed: bool, thread_count: int, dtype: Any = None) -> Floats:
    """Return the (n, 6) records of ``boxes``, in their own float type or a wider one."""
    lower, upper, number = boxes.lower, boxes.upper, boxes.dtype
    if dtype is not None and dtype != number:
        # Widening comes before the step below the upper bound: that step is of the wider type.
        number = np.promote_types(number, dtype)
        lower, upper = lower.astype(number, copy=False), upper.astype(number, copy=False)
    nowhere = np.isneginf(upper).any(axis=1) if not closed else None
    if not closed:
        with np.errstate(over="ignore"):  # below the least float is −inf
            upper = np.nextafter(upper, number.type(-np.inf))
    records: Floats = memory.empty((len(boxes), 6), number)
    over_ranges(_pack, len(boxes), thread_count, lower, upper, records)
    if nowhere is not None:
        # Nothing is below −inf: a half-open box that ends there overlaps nothing, and an empty interval says so.
        records[nowhere, :3] = np.inf
    return records


def widened(records: Floats, closed: bool, dtype: Any, dimension: int) -> Floats:
    """Return ``records`` in the wider float type ``dtype``; half-open bounds get the float below in that type."""
    wide: Floats = records.astype(dtype)
    if not closed:
        with np.errstate(over="ignore"):
            upper = np.nextafter(records[:, 3:], records.dtype.type(np.inf)).astype(dtype)
            wide[:, 3:] = np.nextafter(upper, np.dtype(dtype).type(-np.inf))
    if dimension == 2:
        wide[:, 5] = FLAT  # of the wider type: rounded to another value, it would tell old boxes from new ones
    return wide


class Questions(NamedTuple):
    """Boxes to look for in a structure: kernels take them whole.

    Attributes
    ----------
    records
        (k, 6), in the float type of the boxes of the structure; see `of_type`.
    order
        (k,) uint32: the order to ask in.
    rows_first
        0 for keys of (record, row found), 1 for (row found, record).
    """

    records: Floats
    order: NDArray[np.uint32]
    rows_first: int


def of_type(records: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return records in the float type of boxes that they are compared with, so that every answer stays the same.

    A narrow number is at most a wide one if it is at most that one rounded down; likewise upwards.
    """
    if records.dtype.itemsize <= dtype.itemsize:
        return records.astype(dtype, copy=False)
    narrow: Floats = np.concatenate((narrow_up(records[:, :3], dtype), narrow_down(records[:, 3:], dtype)), axis=1)
    return narrow


@kernel
def _pack(first: int, last: int, lower: Any, upper: Any, records: Any) -> None:
    if lower.shape[1] == 3:
        for i in range(first, last):
            records[i, 0] = lower[i, 0]
            records[i, 1] = lower[i, 1]
            records[i, 2] = lower[i, 2]
            records[i, 3] = upper[i, 0]
            records[i, 4] = upper[i, 1]
            records[i, 5] = upper[i, 2]
    else:
        for i in range(first, last):
            records[i, 0] = lower[i, 0]
            records[i, 1] = lower[i, 1]
            records[i, 2] = 0
            records[i, 3] = upper[i, 0]
            records[i, 4] = upper[i, 1]
            records[i, 5] = FLAT

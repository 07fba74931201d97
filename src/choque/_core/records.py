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

from choque._core import memory
from choque._core.kernel import kernel
from choque._core.rounding import narrow_down, narrow_up
from choque._core.threads import over_ranges, ranges, run, streams
from choque._core.types import F64, U32, Floats

if TYPE_CHECKING:
    from choque.bounds import Boxes

FLAT = 1e-30
"""How long 2D boxes are along the third axis: something, for rays and halves, but less than any edge that counts."""

LARGEST_EXPONENT = 40
"""Scenes whose extent is more than two to this power, or less than its inverse, are scaled when they are rounded."""


def pack_records(boxes: Boxes, closed: bool, thread_count: int, dtype: Any = None) -> Floats:
    """Return the (n, 6) records of ``boxes``, in their own float type or a wider one."""
    lower, upper, number = boxes.lower, boxes.upper, boxes.dtype
    if dtype is not None and dtype != number:
        # Widening comes before the step below the upper bound: that step is of the wider type.
        number = np.promote_types(number, dtype)
        lower, upper = lower.astype(number, copy=False), upper.astype(number, copy=False)
    if not closed:
        nowhere = np.isneginf(upper).any(axis=1)
        with np.errstate(over="ignore"):  # below the least float is −inf
            upper = np.nextafter(upper, number.type(-np.inf))
    records: Floats = memory.empty((len(boxes), 6), number)
    over_ranges(_pack, len(boxes), thread_count, lower, upper, records)
    if not closed:
        # Nothing is below −inf: a half-open box that ends there overlaps nothing, and an empty interval says so.
        records[nowhere, :3] = np.inf
    return records


class Corners(NamedTuple):
    """Boxes where they lie, for kernels that read them once, in order: in records, or as two arrays (n, 3)."""

    lower: Floats
    upper: Floats  # flat: three numbers a box
    step: int  # numbers from a box to the next: 6 in records, 3 in arrays of corners

    @classmethod
    def of(cls, lower: Floats, upper: Floats) -> Corners:
        """Return boxes by their corners, both (n, 3)."""
        return cls(lower.reshape(-1), upper.reshape(-1), 3)

    @classmethod
    def of_records(cls, records: Floats) -> Corners:
        """Return the boxes of records (n, 6)."""
        flat = records.reshape(-1)
        return cls(flat, flat[3:], 6)

    @property
    def box_count(self) -> int:
        """The number of boxes."""
        return self.lower.size // self.step


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
    """Boxes to look for in a structure: kernels take them whole."""

    records: Floats  # (k, 6), in the float type of the boxes of the structure; see `of_type`
    order: U32  # (k,) uint32: the order to ask in
    rows_first: int  # 0 for keys of (record, row found), 1 for (row found, record)


def of_type(records: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return records in the float type of boxes that they are compared with, so that every answer stays the same.

    A narrow number is at most a wide one if it is at most that one rounded down; likewise upwards.
    """
    if records.dtype.itemsize <= dtype.itemsize:
        return records.astype(dtype, copy=False)
    narrow: Floats = np.concatenate((narrow_up(records[:, :3], dtype), narrow_down(records[:, 3:], dtype)), axis=1)
    return narrow


class Rounding(NamedTuple):
    """How float64 bounds become float32 ones: ``(bound - middle) * scale``, rounded to the nearest; (3,) each.

    This keeps the order of bounds, but different ones may become equal. So rounded boxes that overlap by more than
    equal bounds do overlap, boxes that are apart stay apart, and only where bounds are equal must the boxes themselves
    be compared.
    """

    middle: F64
    scale: F64


@np.errstate(over="ignore", invalid="ignore")  # sizes too large for a float64 are not kept
def choose_rounding(*sets: Boxes) -> Rounding | None:
    """Return a rounding that keeps the sizes of float64 boxes, by a sample of each set; None if there is none."""
    samples = [even_sample(boxes, 128) for boxes in sets]
    lower, upper = (np.concatenate([getattr(one, side) for one in samples]) for side in ("lower", "upper"))
    is_finite = np.isfinite(lower).all(axis=1) & np.isfinite(upper).all(axis=1)
    lower, upper = lower[is_finite], upper[is_finite]
    if not len(lower):
        return None
    low, high = lower.min(axis=0), upper.max(axis=0)
    extent = high / 2 - low / 2
    middle, scale = np.zeros(3), np.ones(3)
    # Without need nothing is subtracted: numbers that float32 can hold then stay as they are.
    is_far = np.maximum(np.abs(low), np.abs(high)) > 8 * extent
    middle[: low.size] = np.where(is_far, low / 2 + high / 2, 0.0)
    exponent = int(np.frexp(extent.max())[1])
    if abs(exponent) > LARGEST_EXPONENT:
        scale[:] = np.ldexp(1.0, min(-exponent, 1000))
    rounding = Rounding(middle, scale)
    edge = (upper - lower) * scale[: low.size]
    narrow = rounded_records(lower, upper, rounding, 1)[0].astype(np.float64)
    is_kept = np.abs(narrow[:, 3:] - narrow[:, :3])[:, : low.size] - edge
    return rounding if (np.abs(is_kept) <= edge / 4).all(axis=1).mean() > 0.9 else None


def even_sample(boxes: Boxes, size: int) -> Boxes:
    """Return about ``size`` of the boxes, spread evenly over their rows."""
    return boxes.take(np.arange(0, len(boxes), max(1, len(boxes) // size)))


def rounded_records(lower: Floats, upper: Floats, rounding: Rounding, thread_count: int) -> tuple[Floats, bool]:
    """Return the (n, 6) float32 records of closed boxes, and whether different bounds are still different."""
    records: Floats = memory.empty((len(lower), 6), np.float32)
    shares = ranges(len(lower), streams(thread_count, len(lower)))
    is_exact = np.ones(len(shares), np.bool_)
    run(lambda k: _round(*shares[k], lower, upper, rounding, records, is_exact[k : k + 1]), len(shares))
    return records, bool(is_exact.all())


@kernel
def _round(first: int, last: int, lower: Any, upper: Any, rounding: Rounding, records: Any, is_exact: Any) -> None:
    changed = 0
    dimension = lower.shape[1]
    for i in range(first, last):
        records[i, 2], records[i, 5] = 0, FLAT
        for axis in range(dimension):
            middle, scale = rounding.middle[axis], rounding.scale[axis]
            low, high = lower[i, axis], upper[i, axis]
            near_low, near_high = np.float32((low - middle) * scale), np.float32((high - middle) * scale)
            records[i, axis], records[i, axis + 3] = near_low, near_high
            changed += np.float64(near_low) / scale + middle != low
            changed += np.float64(near_high) / scale + middle != high
    is_exact[0] = changed == 0


@kernel
def _pack(first: int, last: int, lower: Any, upper: Any, records: Any) -> None:
    if lower.shape[1] == 3:
        for i in range(first, last):
            row = np.uint64(i)  # no look whether an index counts from the end: in two thirds of the time
            records[row, 0], records[row, 1], records[row, 2] = lower[row, 0], lower[row, 1], lower[row, 2]
            records[row, 3], records[row, 4], records[row, 5] = upper[row, 0], upper[row, 1], upper[row, 2]
    else:
        for i in range(first, last):
            row = np.uint64(i)
            records[row, 0], records[row, 1], records[row, 2] = lower[row, 0], lower[row, 1], 0
            records[row, 3], records[row, 4], records[row, 5] = upper[row, 0], upper[row, 1], FLAT

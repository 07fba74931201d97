"""Sorts on a device: Warp's radix sort, the decimal radix sort of the k-DOP thesis, and a bitonic network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.broad.devices import Device
from choque.errors import InvalidInput, UnknownName
from choque.gpu.session import Session
from choque.gpu.sweep import Sort, library_sort

DIGITS = 9
FRACTION_DIGITS = 4
LARGEST = 10**DIGITS - 1
"""Fixed-point keys have five digits before the point and four after it."""

ITEMS = 256
"""Default number of chunks of the decimal sort."""


def library_order(values: ArrayLike, device: str | Device | Session = "cuda") -> NDArray[np.int32]:
    """Return the stable order of ``values`` (n,) by Warp's radix sort of float keys, in linear time."""
    session, intervals = _sent(values, device)
    return session.download(library_sort(session, intervals)[1])


def decimal_order(
    values: ArrayLike, device: str | Device | Session = "cuda", *, items: int = ITEMS
) -> NDArray[np.int32]:
    """Return the order of ``values`` (n,) by the radix sort of the thesis, on fixed-point keys of nine decimal digits.

    Exact for whole ten-thousandths; numbers that agree after rounding down to them count as equal. Those that are not
    negative stay in order where they are equal; of negative ones the last pass reverses the order. Nine passes of
    COUNT, SCAN and REORDER and one for the sign, after Harada and Howes, "Introduction to GPU radix sort", 2011;
    O(passes · (n / p + log p)) steps with p items. `InvalidInput` where a number does not fit.
    """
    session, intervals = _sent(values, device)
    sort = DecimalSort(session, intervals, check.whole_number(items, "items", 1))
    sort.run()
    return session.download(sort.order)


def bitonic_order(values: ArrayLike, device: str | Device | Session = "cuda") -> NDArray[np.int32]:
    """Return the stable order of ``values`` (n,) by a bitonic network: O(n log² n) exchanges.

    After Batcher, "Sorting networks and their applications", 1968; rows break ties, so the order is that of
    Warp's sort.
    """
    session, intervals = _sent(values, device)
    return session.download(bitonic_sort(session, intervals)[1])


def decimal_sort(session: Session, intervals: Any) -> tuple[Any, Any, Any]:
    """Sort intervals on fixed-point keys, as `choque.gpu.sweep.Sort` describes; the intervals become fixed-point."""
    sort = DecimalSort(session, intervals, ITEMS)
    sort.run()
    return sort.keys(), sort.order, sort.fixed


def bitonic_sort(session: Session, intervals: Any) -> tuple[Any, Any, Any]:
    """Sort intervals by a bitonic network, as `choque.gpu.sweep.Sort` describes."""
    from choque.gpu.kernels_sweep import copy_keys
    from choque.theses.kdop import kernels

    count = intervals.shape[0]
    number = session.warp.dtype_to_numpy(intervals.dtype)
    length = 1 << (count - 1).bit_length() if count else 0  # a network sorts powers of two
    keys, order = session.empty(length, number), session.empty(length, np.int32)
    if not count:
        return keys, order, intervals
    session.launch(copy_keys, count, intervals, keys, order)
    last = session.upload(np.array([np.inf], number))
    session.launch(kernels.pad_keys, length - count, keys, order, count, last)
    run = 2
    while run <= length:
        distance = run // 2
        while distance:
            session.launch(kernels.exchange_pairs, length, keys, order, run, distance)
            distance //= 2
        run *= 2
    return keys[:count], order[:count], intervals


SORTS: dict[str, Sort] = {"library": library_sort, "decimal": decimal_sort, "bitonic": bitonic_sort}


def find_sort(name: str) -> Sort:
    """Return the sort called ``name``."""
    if name not in SORTS:
        raise UnknownName("sort on a device", str(name), SORTS)
    return SORTS[name]


class DecimalSort:
    """The radix sort of the thesis, one step at a time; only row numbers are moved.

    Attributes
    ----------
    fixed
        (n, 2) int32 on the device: intervals in ten-thousandths, rounded down.
    order
        (n,) int32 on the device: the rows as sorted so far.
    """

    def __init__(self, session: Session, intervals: Any, items: int = ITEMS) -> None:
        from choque.theses.kdop import kernels

        self._kernels = kernels
        self._session = session
        self._count = int(intervals.shape[0])
        self._items = max(1, min(items, self._count))
        self._chunk = -(-self._count // self._items) if self._count else 1
        self.fixed = session.empty((self._count, 2), np.int32)
        too_large = session.upload(np.array([-1], np.int32))
        warp = session.warp
        session.launch(
            kernels.quantise,
            (self._count, 2),
            intervals,
            warp.float64(10.0**FRACTION_DIGITS),
            warp.float64(float(LARGEST)),
            self.fixed,
            too_large,
        )
        row = session.download_last(too_large)
        if row >= 0:
            raise InvalidInput(
                f"Row {row} is beyond ±{LARGEST / 10**FRACTION_DIGITS:,}, the limit of keys of nine decimal digits; "
                "use the sort 'library'."
            )
        self.order = session.upload(np.arange(self._count, dtype=np.int32))

    def run(self) -> None:
        """Sort by all nine digits, then by the sign."""
        for digit in range(DIGITS):
            self.digit_pass(digit)
        self.sign_pass()

    def digit_pass(self, digit: int) -> None:
        """Sort by the ``digit``-th decimal digit of the magnitudes, the last of them being 0."""
        table = self.scan(self.count(10**digit))
        self._reorder(self._kernels.reorder_digits, table, self._session.warp.int32(10**digit))

    def sign_pass(self) -> None:
        """Move negative numbers before the others, the largest magnitude first."""
        self._reorder(self._kernels.reorder_signs, self.scan(self.count(0)))

    def count(self, weight: int) -> Any:
        """Count the elements of each chunk with each digit, (items, bins): step COUNT; weight 0 stands for the sign."""
        table = self._session.empty((self._items, 10 if weight else 2), np.int32)
        number = self._session.warp.int32(weight)
        self._session.launch(self._kernels.count_bins, self._items, self.fixed, self.order, number, self._chunk, table)
        return table

    def scan(self, table: Any) -> Any:
        """Return the inclusive prefix sums of ``table`` over the chunks, in steps that double: step SCAN."""
        source, target = table, self._session.empty(table.shape, np.int32)
        step = 1
        while step < self._items:
            self._session.launch(self._kernels.scan_bins, table.shape, source, step, target)
            source, target = target, source
            step *= 2
        return source

    def keys(self) -> Any:
        """Return the sorted keys, (n,) int32."""
        keys = self._session.empty(self._count, np.int32)
        self._session.launch(self._kernels.gather_keys, self._count, self.fixed, self.order, keys)
        return keys

    def _reorder(self, kernel: Any, table: Any, *weight: Any) -> None:
        target = self._session.empty(self._count, np.int32)
        totals = self._session.warp.clone(table[self._items - 1])
        self._session.launch(kernel, self._items, self.fixed, self.order, *weight, self._chunk, totals, table, target)
        self.order = target


def _sent(values: ArrayLike, device: str | Device | Session) -> tuple[Session, Any]:
    """Return a session, and ``values`` uploaded as intervals of length 0."""
    session = device if isinstance(device, Session) else Session(device)
    keys = check.floats(values, "values")
    if keys.ndim != 1:
        raise InvalidInput(f"values has the shape {keys.shape}; it must be (n,).")
    if np.isnan(keys).any():
        raise InvalidInput(f"values[{int(np.argmax(np.isnan(keys)))}] is not a number.")
    return session, session.upload(np.stack((keys, keys), axis=1))

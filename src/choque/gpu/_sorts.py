"""Three ways to sort the starts of intervals on a device: the library's, the thesis's, and a network."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core import check
from choque.errors import InvalidInput, UnknownName
from choque.gpu._session import Session
from choque.gpu.devices import Served

DIGITS = 9
FRACTION_DIGITS = 4
LARGEST = 10**DIGITS - 1
"""Fixed-point keys have five digits before the point and four after it."""

ITEMS = 256
"""How many chunks the decimal sort makes of its elements."""

SORTS = ("library", "decimal", "bitonic")


def library_order(values: ArrayLike, device: str | Served | Session = "cuda") -> NDArray[np.int32]:
    """The order of ``values`` (n,), equal ones as they came: Warp's radix sort of float keys, in linear time."""
    session, intervals = _sent(values, device)
    return session.download(sort_intervals(session, intervals, "library")[1])


def decimal_order(values: ArrayLike, device: str | Served | Session = "cuda", items: int = ITEMS) -> NDArray[np.int32]:
    """The order of ``values`` (n,) by the thesis's radix sort, on fixed-point keys of nine decimal digits.

    Exact for whole ten-thousandths; numbers that agree after rounding down to them count as equal. Those that are not
    negative stay in order where they are equal; of negative ones the last pass reverses the order. Nine passes of
    COUNT, SCAN and REORDER and one for the sign, after Harada and Howes, "Introduction to GPU radix sort", 2011;
    O(passes · (n / p + log p)) steps with p items. `InvalidInput` where a number does not fit.
    """
    session, intervals = _sent(values, device)
    if isinstance(items, bool) or not isinstance(items, int) or items < 1:
        raise InvalidInput(f"items is {items!r}; it must be a whole number of at least 1.")
    sort = DecimalSort(session, intervals, items)
    sort.run()
    return session.download(sort.order)


def bitonic_order(values: ArrayLike, device: str | Served | Session = "cuda") -> NDArray[np.int32]:
    """The order of ``values`` (n,), equal ones as they came, by a bitonic network: O(n log² n) exchanges.

    The baseline of Batcher, "Sorting networks and their applications", 1968; rows break ties, so the order is the
    library's.
    """
    session, intervals = _sent(values, device)
    return session.download(sort_intervals(session, intervals, "bitonic")[1])


def sort_intervals(session: Session, intervals: Any, sort: str) -> tuple[Any, Any, Any]:
    """Sorted keys, the order of the rows, and the intervals (n, 2) in the numbers of those keys, all on the device."""
    if sort not in SORTS:
        raise UnknownName("sort on a device", str(sort), SORTS)
    if sort == "decimal":
        decimal = DecimalSort(session, intervals, ITEMS)
        decimal.run()
        return decimal.keys(), decimal.order, decimal.fixed
    from choque.gpu import _kernels_sort as kernels

    count = intervals.shape[0]
    number = session.warp.dtype_to_numpy(intervals.dtype)
    # The library sorts between two halves; the network wants a power of two.
    room = 2 * count if sort == "library" or not count else 1 << (count - 1).bit_length()
    keys, order = session.empty(room, number), session.empty(room, np.int32)
    if not count:
        return keys, order, intervals
    session.launch(kernels.copy_keys, count, intervals, keys, order)
    if sort == "library":
        session.sort(keys, order, count)
    else:
        last = session.upload(np.array([np.inf], number))
        session.launch(kernels.pad_keys, room - count, keys, order, count, last)
        run = 2
        while run <= room:
            distance = run // 2
            while distance:
                session.launch(kernels.exchange_pairs, room, keys, order, run, distance)
                distance //= 2
            run *= 2
    return keys[:count], order[:count], intervals


class DecimalSort:
    """The radix sort of the thesis, one step at a time: indices move, keys and volumes stay.

    Attributes
    ----------
    fixed
        (n, 2) int32 on the device: intervals in whole ten-thousandths, rounded down.
    order
        (n,) int32 on the device: the rows as sorted so far.
    """

    def __init__(self, session: Session, intervals: Any, items: int = ITEMS) -> None:
        from choque.gpu import _kernels_sort

        self._kernels = _kernels_sort
        self._session = session
        self._count = int(intervals.shape[0])
        self._items = max(1, min(items, self._count))
        self._chunk = -(-self._count // self._items) if self._count else 1
        self.fixed = session.empty((self._count, 2), np.int32)
        too_large = session.upload(np.array([-1], np.int32))
        warp = session.warp
        session.launch(
            _kernels_sort.quantise,
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
                f"Row {row} is beyond ±{LARGEST / 10**FRACTION_DIGITS:,}, the most that keys of nine decimal digits "
                "hold; take the sort 'library'."
            )
        self.order = session.upload(np.arange(self._count, dtype=np.int32))

    def run(self) -> None:
        """All nine digits, then the sign."""
        for digit in range(DIGITS):
            self.digit_pass(digit)
        self.sign_pass()

    def digit_pass(self, digit: int) -> None:
        """Sort by the ``digit``-th decimal digit of the magnitudes, the last of them being 0."""
        table = self.scan(self.count(10**digit))
        self._reorder(self._kernels.reorder_digits, table, self._session.warp.int32(10**digit))

    def sign_pass(self) -> None:
        """Negative numbers before the others, the greatest magnitude first."""
        self._reorder(self._kernels.reorder_signs, self.scan(self.count(0)))

    def count(self, weight: int) -> Any:
        """COUNT: (items, bins) how many elements of each chunk have each digit; weight 0 stands for the sign."""
        table = self._session.empty((self._items, 10 if weight else 2), np.int32)
        number = self._session.warp.int32(weight)
        self._session.launch(self._kernels.count_bins, self._items, self.fixed, self.order, number, self._chunk, table)
        return table

    def scan(self, table: Any) -> Any:
        """SCAN: the inclusive prefix sums of ``table`` over the chunks, in steps that double; two tables take turns."""
        source, target = table, self._session.empty(table.shape, np.int32)
        step = 1
        while step < self._items:
            self._session.launch(self._kernels.scan_bins, table.shape, source, step, target)
            source, target = target, source
            step *= 2
        return source

    def keys(self) -> Any:
        """The keys in their order, (n,) int32."""
        keys = self._session.empty(self._count, np.int32)
        self._session.launch(self._kernels.gather_keys, self._count, self.fixed, self.order, keys)
        return keys

    def _reorder(self, kernel: Any, table: Any, *weight: Any) -> None:
        target = self._session.empty(self._count, np.int32)
        totals = self._session.warp.clone(table[self._items - 1])
        self._session.launch(kernel, self._items, self.fixed, self.order, *weight, self._chunk, totals, table, target)
        self.order = target


def _sent(values: ArrayLike, device: str | Served | Session) -> tuple[Session, Any]:
    """A session, and ``values`` there as intervals without length."""
    session = device if isinstance(device, Session) else Session(device)
    keys = check.floats(values, "values")
    if keys.ndim != 1:
        raise InvalidInput(f"values has the shape {keys.shape}; it must be (n,).")
    if np.isnan(keys).any():
        raise InvalidInput(f"values[{int(np.argmax(np.isnan(keys)))}] is not a number.")
    return session, session.upload(np.stack((keys, keys), axis=1))

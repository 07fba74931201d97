"""Working arrays on memory that was used before: fresh pages often cost more than the work on them.

A page that the system hands out for the first time is cleared and mapped, which took a quarter of the time of a search
among 100,000 boxes. Blocks up to `KEPT_MOST` bytes in all are therefore kept when the last array on them dies.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

SMALLEST = 1 << 16
"""Smaller arrays come from the ordinary allocator, which keeps pages itself."""

KEPT_MOST = 1 << 26
"""Bytes of unused blocks kept for later, at most: 64 MiB."""

_kept: dict[int, list[NDArray[np.uint8]]] = {}
_kept_bytes = 0


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Like `numpy.empty`, on memory that may have been used before and is kept when the last view of it is gone."""
    number = np.dtype(dtype)
    dimensions = (shape,) if isinstance(shape, int) else shape
    byte_count = math.prod(dimensions) * number.itemsize
    if byte_count < SMALLEST:
        return np.empty(dimensions, number)
    lease = _Lease(_take(_block_size(byte_count)))
    return np.asarray(lease)[:byte_count].view(number).reshape(dimensions)


class _Lease:
    """Lends a block to NumPy, which keeps the lease as the base of every view: it dies with the last of them."""

    def __init__(self, block: NDArray[np.uint8]) -> None:
        self._block = block
        self.__array_interface__ = block.__array_interface__

    def __del__(self) -> None:
        if _give_back is not None:  # while the interpreter shuts down, names go before objects do
            _give_back(self._block)


def _block_size(byte_count: int) -> int:
    """The next of eight sizes between two powers of two: blocks fit again, at most an eighth is wasted."""
    step = 1 << max(byte_count.bit_length() - 4, 12)
    return -(-byte_count // step) * step


def _take(size: int) -> NDArray[np.uint8]:
    global _kept_bytes
    try:
        block = _kept[size].pop()  # one step for the interpreter: no lock, which a finaliser might wait for for ever
    except (KeyError, IndexError):
        return np.empty(size, np.uint8)
    _kept_bytes -= size
    return block


def _give_back(block: NDArray[np.uint8]) -> None:
    global _kept_bytes
    if _kept_bytes + block.size <= KEPT_MOST:
        _kept_bytes += block.size
        _kept.setdefault(block.size, []).append(block)

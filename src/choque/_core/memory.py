"""Working arrays on reused memory: new pages often cost more than the work on them.

A new page is cleared and mapped by the system, which took a quarter of the time of a search among 100,000 boxes. Blocks
of up to `MAX_KEPT_BYTES` in all are therefore kept when the last array on them is gone, and given back to the system
when they were not used for `KEPT_SECONDS`. A thread that sleeps sees to that, while there are calls.
"""

from __future__ import annotations

import math
import os
import threading
import time
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from choque._core.types import U8

SMALLEST = 1 << 19  # smaller arrays come from the ordinary allocator, which reuses pages itself
SMALLEST_ALIGNED = 1 << 16  # bytes of an array that is worth a cache line of its own
MAX_KEPT_BYTES = 1 << 28  # limit of the unused blocks kept for later: 256 MiB
KEPT_SECONDS = 5.0  # blocks that were not used for so long are given back

_kept: dict[int, list[tuple[float, U8]]] = {}
"""Unused blocks by size, each with the time since when it is unused, the latest last."""
_kept_bytes = 0
_last_use = 0.0
_keeper: threading.Thread | None = None  # gives blocks back; nothing is kept without it


def empty(shape: int | tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return an uninitialised array, like `numpy.empty`, on a block that is kept when the last view of it is gone."""
    number = np.dtype(dtype)
    dimensions = (shape,) if isinstance(shape, int) else shape
    byte_count = math.prod(dimensions) * number.itemsize
    if byte_count < SMALLEST:
        return np.empty(dimensions, number)
    lease = _Lease(_take(_block_size(byte_count)))
    return np.asarray(lease)[:byte_count].view(number).reshape(dimensions)


def aligned(count: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return a flat working array that begins on a cache line, so that a record of 32 bytes never straddles two.

    Finding the line takes longer than it saves in a small array, which begins anywhere; so does an array of objects,
    because NumPy allows no references on the memory of other arrays.
    """
    number = np.dtype(dtype)
    byte_count = count * number.itemsize
    if byte_count < SMALLEST_ALIGNED or number.hasobject:
        return np.empty(count, number)
    block = empty(byte_count + 64, np.uint8)
    skip = -block.__array_interface__["data"][0] % 64  # in half the time of block.ctypes
    return block[skip : skip + byte_count].view(number)


def aligned_copy(*parts: NDArray[Any]) -> NDArray[Any]:
    """Return the rows of all ``parts`` in one array that begins on a cache line, for loops that the memory limits."""
    row = parts[0].shape[1:]
    made = aligned(sum(len(part) for part in parts) * math.prod(row), parts[0].dtype).reshape(-1, *row)
    return np.concatenate(parts, out=made)


class _Lease:
    """Owner of a block, which NumPy keeps as the base of every view; gives the block back with the last of them."""

    _block: U8 | None = None  # none if the constructor was interrupted

    def __init__(self, block: U8) -> None:
        self._block = block
        self.__array_interface__ = block.__array_interface__

    def __del__(self) -> None:
        if self._block is not None and _give_back is not None:  # globals may be gone when the interpreter ends
            _give_back(self._block)


def _block_size(byte_count: int) -> int:
    """Round up to one of two sizes between powers of two: what grows finds blocks, and unused pages cost nothing."""
    step = 1 << max(byte_count.bit_length() - 2, 12)
    return -(-byte_count // step) * step


def _take(size: int) -> U8:
    global _kept_bytes, _last_use
    _last_use = time.monotonic()
    if _keeper is None:
        _start_keeper()
    try:
        _, block = _kept[size].pop()  # atomic: no lock, on which a finaliser might wait for ever
    except (KeyError, IndexError):
        return np.empty(size, np.uint8)
    _kept_bytes -= size
    return block


def _give_back(block: U8) -> None:
    global _kept_bytes
    now = time.monotonic()
    if _kept_bytes + block.size > MAX_KEPT_BYTES:
        drop_unused(now - KEPT_SECONDS / 5)  # work whose sizes change leaves blocks behind that it will not use again
    if _keeper is not None and _kept_bytes + block.size <= MAX_KEPT_BYTES:
        _kept_bytes += block.size
        _kept.setdefault(block.size, []).append((now, block))


def _start_keeper() -> None:
    global _keeper
    _keeper = threading.Thread(target=_keep, name="choque-memory", daemon=True)
    try:
        _keeper.start()
    except RuntimeError:  # no more threads, or the interpreter ends
        _keeper = None


def _keep() -> None:
    """Drop blocks once they are unused for long, and end when no array was asked for in a while."""
    global _keeper
    while True:
        time.sleep(KEPT_SECONDS)
        now = time.monotonic()
        if now - _last_use > KEPT_SECONDS:
            _keeper = None
            drop_unused(now)
            return
        drop_unused(now - KEPT_SECONDS)


def drop_unused(since: float) -> None:
    """Give back the blocks that are unused since ``since``, in seconds of `time.monotonic`; count the rest."""
    global _kept_bytes
    for blocks in list(_kept.values()):
        while blocks:
            try:
                stamp, block = blocks.pop(0)
            except IndexError:  # another thread took the last one
                break
            if stamp > since:
                blocks.insert(0, (stamp, block))
                break
    # Additions of two threads at once may lose one, more often without the GIL: the sum must not drift away.
    _kept_bytes = sum(size * len(blocks) for size, blocks in list(_kept.items()))


def _forget_keeper() -> None:
    """Begin again in a forked child, which does not have the thread."""
    global _keeper
    _keeper = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_keeper)

"""Pairs leave the kernels through here: any number of them, from any number of threads, none ever dropped.

A method gives a kernel of the form ``kernel(first, last, chunk, *arguments) -> (next, count, tests)``. It handles
units (rows, cells, nodes: its own business) from ``first`` on, writes packed pairs to ``chunk``, and stops *before* a
unit whose pairs might not fit, returning the unit to continue with; it may also stop earlier. The sink then hands it a
fresh chunk, or the rest of one that is not nearly full. So memory follows the answer, and a buffer is never capped.
Kernels write every candidate and advance by the test, which needs no branch.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from choque._core import memory, threads
from choque._core.types import Keys

EmissionKernel = Callable[..., tuple[int, int, int]]
_SMALLEST_CHUNK = 1 << 10
_LARGEST_CHUNK = 1 << 18
_BLOCKS_PER_THREAD = 16
_NONE: Keys = np.empty(0, np.uint64)


class Keeper(Protocol):
    """Says which pairs stay: `choque.broad.PairFilter`, or something that tests more."""

    def keep_allowed(self, keys: Keys) -> int:
        """Move the pairs that stay to the front of ``keys``, in order, and return how many there are."""


class KernelKeeper:
    """Keeps the pairs that a kernel keeps, which is called with the keys and these ``arguments``."""

    def __init__(self, kernel: Callable[..., int], *arguments: object) -> None:
        self._kernel, self._arguments = kernel, arguments

    def keep_allowed(self, keys: Keys) -> int:
        """Return what the kernel returns."""
        return self._kernel(keys, *self._arguments)


class Keepers:
    """Keeps the pairs that each of several keepers keeps, one after the other; None keeps all."""

    def __init__(self, *keepers: Keeper | None) -> None:
        self._keepers = [keeper for keeper in keepers if keeper is not None]

    def keep_allowed(self, keys: Keys) -> int:
        """Move the pairs that stay to the front of ``keys``, in order, and return how many there are."""
        count = keys.size
        for keeper in self._keepers:
            count = keeper.keep_allowed(keys[:count])
        return count


class Sink:
    """Collects, or only counts, the pairs that emission kernels write.

    Parameters
    ----------
    row_count
        The number of bodies; sizes the first chunks.
    thread_count
        How many threads run a kernel side by side.
    pair_filter
        Drops pairs that it does not allow, chunk by chunk, before they take memory.
    keep
        False to count only: one chunk a thread is used again and again.
    max_tests
        Tests a unit, in the mean of those of a thread, above which the search is given up; see `is_stopped`.
    spare
        A flat working array whose content is not needed any more: chunks are cut from it while it lasts.
    """

    def __init__(
        self,
        row_count: int,
        thread_count: int,
        pair_filter: Keeper | None,
        keep: bool = True,
        *,
        max_tests: float = math.inf,
        spare: NDArray[Any] | None = None,
    ) -> None:
        self.thread_count = thread_count
        self.chunks: list[Keys] = []
        self.pair_count = 0
        self.tests = 0
        self.pair_filter = pair_filter
        self.is_stopped = False
        """Whether there were so many tests that pairs are missing."""
        self._keep = keep
        self._max_tests = max_tests
        self._chunk_size = min(max(_SMALLEST_CHUNK, 2 * row_count // thread_count), _LARGEST_CHUNK)
        self._lock = threading.Lock()
        self._spare: Keys = _NONE if spare is None else spare.view(np.uint64)

    @property
    def held_bytes(self) -> int:
        """The bytes of all chunks kept."""
        return sum(chunk.nbytes for chunk in self.chunks)

    def run(self, kernel: EmissionKernel, unit_count: int, *arguments: object, grain: int = 1) -> None:
        """Run ``kernel`` over all units; blocks of a multiple of ``grain`` units go to the next thread that is free."""
        if unit_count <= 0:
            return
        thread_count = min(self.thread_count, -(-unit_count // grain))
        block = unit_count if thread_count == 1 else max(1, unit_count // (thread_count * _BLOCKS_PER_THREAD))
        block = -(-block // grain) * grain
        draw = threads.block_supply(unit_count, block)
        threads.run(lambda _: self._work(kernel, draw, arguments), thread_count)

    def add(self, keys: Keys) -> None:
        """Take packed pairs that were found elsewhere, as `run` takes those of a kernel; ``keys`` may be changed."""
        count = keys.size if self.pair_filter is None else self.pair_filter.keep_allowed(keys)
        self.pair_count += count
        if self._keep and count:
            self.chunks.append(keys[:count])

    def _new_chunk(self, size: int) -> Keys:
        with self._lock:
            if size <= self._spare.size:
                chunk, self._spare = self._spare[:size], self._spare[size:]
                return chunk
        return memory.empty(size, np.uint64)

    def _work(
        self, kernel: EmissionKernel, draw: Callable[[], tuple[int, int] | None], arguments: tuple[object, ...]
    ) -> None:
        size = self._chunk_size
        chunk = self._new_chunk(size)
        used = found = tests = units = 0
        full: list[Keys] = []
        while not self.is_stopped and (span := draw()) is not None:
            unit, last = span
            while True:
                following, count, tested = kernel(unit, last, chunk[used:], *arguments)
                tests += tested
                units += following - unit
                if self.pair_filter is not None:
                    count = self.pair_filter.keep_allowed(chunk[used : used + count])
                found += count
                if self._keep:
                    used += count
                if following == last:
                    break
                if tests > self._max_tests * units:
                    self.is_stopped = True
                    break
                if following == unit and used == 0:
                    size *= 2  # this one unit needs more than a whole chunk
                if following > unit and size - used > size // 4:
                    unit = following  # it stopped for another reason than want of room
                    continue
                if self._keep and used:
                    full.append(chunk[:used].copy() if used < size // 2 else chunk[:used])
                chunk, used, unit = self._new_chunk(size), 0, following
        full.append(chunk[:used])
        with self._lock:
            self.chunks += [part for part in full if part.size]
            self.pair_count += found
            self.tests += tests

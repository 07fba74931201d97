"""Phases of work that threads share inside one kernel: every item of a phase ends before the next phase begins.

Waking a thread takes 50 to 100 µs, more than a short phase. Here each thread is woken once, enters one kernel and takes
items of the current phase until none is left, its own share first, so that its caches serve it again. A thread that
comes late, or that the system stops between two items, delays no other: the others take its items.

Work of one phase is taken in `Shares`, several for each thread: one that comes late takes fewer, and none waits.

A thread that finds no item waits in a loop, for some 100 µs at most; then `run_phases` lets the system run others.
Items of one phase must not touch the same memory; what one phase wrote, all threads see in the next.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import accumulate
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
from llvmlite import ir

from choque._core.kernel import helper
from choque._core.lane_code import I64, Array, Code, Int, Pointer, operation
from choque._core.threads import run
from choque._core.types import Integer, Rows

SHARES = 3  # for each thread
NONE_LEFT, WAITING = -1, -2  # what `next_item` returns instead of an item
PAUSES = 2_000  # rounds of waiting before the system may run others: of about 50 ns each
_lock = Lock()  # for plain Python, where no instruction is atomic


class Phases(NamedTuple):
    """Items by phases, and which of them are taken."""

    starts: Rows  # (p + 1,): the first item of each phase
    taken: Rows  # (items,): 1 for those that a thread took
    finished: Rows  # (16,): first how many are finished; two cache lines for one number
    threads: int

    @classmethod
    def of(cls, sizes: Iterable[int], threads: int) -> Self:
        """Return phases of these numbers of items."""
        starts = np.array([0, *accumulate(sizes)])
        return cls(starts, np.zeros(starts[-1], np.int64), np.zeros(16, np.int64), threads)


class Shares(NamedTuple):
    """A range of items that threads take in shares."""

    taken: Rows  # (16,): first how many are taken; two cache lines for one number
    total: int  # items
    parts: int  # shares


def run_shares(kernel: Callable[..., object], total: int, threads: int, *arguments: object) -> None:
    """Call ``kernel(shares, *arguments)`` by all threads; it takes shares of ``total`` items until none is left."""
    if total:
        shares = Shares(np.zeros(16, np.int64), total, min(total, SHARES * threads) if threads > 1 else 1)
        run(lambda _: kernel(shares, *arguments), threads)


@helper
def next_share(shares: Shares) -> tuple[int, int]:
    """Take a share; return its first item and the one after its last, which is not greater if none is left."""
    taken, total, parts = shares
    share = count_up(taken)
    return total * share // parts, min(total * (share + 1) // parts, total)


def run_phases(kernel: Callable[..., bool], phases: Phases, *arguments: object) -> None:
    """Call ``kernel(phases, thread, *arguments)`` by all threads until it returns True: no item is left.

    An exception in one thread ends the work of all, and is raised.
    """

    def work(thread: int) -> None:
        try:
            while not kernel(phases, thread, *arguments):
                time.sleep(1e-5)  # the shortest that the system can: with 0 it would run nothing else
        finally:  # nothing is left, or an item of this thread that no other must wait for
            phases.finished[0] = phases.starts[-1]

    run(work, phases.threads)


@helper
def next_item(phases: Phases, thread: Integer, phase: Integer) -> tuple[int, int]:
    """Take an item for ``thread``; return it, or why there is none, and its ``phase``: as returned before, first 0."""
    starts, taken, finished, threads = phases
    for _ in range(PAUSES):
        done = count_finished(finished)
        while phase < starts.size - 1 and done >= starts[phase + 1]:
            phase += 1
        if phase == starts.size - 1:
            return NONE_LEFT, phase
        first, count = starts[phase], starts[phase + 1] - starts[phase]
        own = count * thread // threads
        for turn in range(count):
            item = first + (own + turn) % count
            if taken[item] == 0 and take_item(taken, item):
                return item, phase
    return WAITING, phase


def _count(code: Code, finished: Pointer) -> Any:
    machine = code.builder.module.triple.split("-")[0]
    if machine == "x86_64":
        code.call("llvm.x86.sse2.pause", ir.VoidType(), [])
    elif machine in ("aarch64", "arm64"):
        code.call("llvm.aarch64.isb", ir.VoidType(), [ir.IntType(32)(15)])
    return code.builder.load_atomic(finished.start, "acquire", 8)


@operation(_count)
def count_finished(finished: Array) -> int:
    """Return the number of finished items, whose writes are seen after it; rest the processor for 50 ns before."""
    time.sleep(0)
    return int(finished[0])


def _take(code: Code, taken: Pointer, item: Any) -> Any:
    place = code.builder.gep(taken.start, [item])
    answer = code.builder.cmpxchg(place, I64(0), I64(1), "acq_rel", "monotonic")
    return code.builder.zext(code.builder.extract_value(answer, 1), I64)


@operation(_take)
def take_item(taken: Array, item: Int) -> int:
    """Mark an item as taken; return 1, or 0 if another thread was first."""
    with _lock:
        is_free = taken[item] == 0
        taken[item] = 1
        return int(is_free)


def _count_up(code: Code, taken: Pointer) -> Any:
    return code.builder.atomic_rmw("add", taken.start, I64(1), "acq_rel")


@operation(_count_up)
def count_up(taken: Array) -> int:
    """Add one to the first number of ``taken``; return what it was."""
    with _lock:
        taken[0] += 1
        return int(taken[0]) - 1


def _finish(code: Code, finished: Pointer) -> None:
    code.builder.atomic_rmw("add", finished.start, I64(1), "acq_rel")


@operation(_finish)
def finish_item(finished: Array) -> None:
    """Count an item as finished; ``finished`` is that of `Phases`."""
    with _lock:
        finished[0] += 1

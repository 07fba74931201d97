"""Phases that threads share inside one kernel: every item once, phases one after another, for any number of threads."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from choque._core.kernel import kernel
from choque._core.phases import NONE_LEFT, Phases, Shares, finish_item, next_item, next_share, run_phases, run_shares

SIZES = np.array([3, 0, 7, 1, 16, 2])


@kernel
def add_up(phases: Phases, thread: int, values: Any, seen: Any) -> bool:
    """Each item adds what the whole phase before it wrote: wrong if a phase begins too early, or an item runs twice."""
    phase: Any = 0
    while True:
        item, phase = next_item(phases, thread, phase)
        if item < 0:
            return bool(item == NONE_LEFT)
        total = 1
        for before in range(phases.starts[phase]):
            total += values[before]
        values[item] += total
        seen[item] = thread
        finish_item(phases.finished)


def expected() -> list[int]:
    """The same by one thread, in Python."""
    values: list[int] = []
    for size in SIZES.tolist():
        values += [1 + sum(values)] * size
    return values


@kernel
def count_each(shares: Shares, times: Any) -> None:
    """Count how often each item is taken."""
    first, last = next_share(shares)
    while first < last:
        for item in range(first, last):
            times[item] += 1
        first, last = next_share(shares)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("total", [0, 1, 2, 5, 24, 1000])
def test_shares_cover_every_item_once(total: int, threads: int) -> None:
    for _ in range(10):
        times = np.zeros(total, np.int64)
        run_shares(count_each, total, threads, times)
        assert (times == 1).all()


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
def test_items_run_once_and_phases_in_order(threads: int) -> None:
    for _ in range(20):
        values, seen = np.zeros(SIZES.sum(), np.int64), np.full(SIZES.sum(), -1)
        run_phases(add_up, Phases.of(SIZES, threads), values, seen)
        assert values.tolist() == expected()
        assert ((seen >= 0) & (seen < threads)).all()


def test_a_thread_that_never_comes_holds_up_nobody() -> None:
    phases = Phases.of(SIZES, 4)
    values, seen = np.zeros(SIZES.sum(), np.int64), np.full(SIZES.sum(), -1)
    assert add_up(phases, 2, values, seen)
    assert values.tolist() == expected()
    assert (seen == 2).all()


def test_a_thread_waits_for_a_bounded_time() -> None:
    phases = Phases.of([2, 1], 2)
    phases.taken[0] = 1  # by a thread that the system stopped
    values, seen = np.zeros(3, np.int64), np.full(3, -1)
    assert not add_up(phases, 1, values, seen)
    assert values.tolist() == [0, 1, 0]
    phases.finished[0] += 1  # it goes on
    assert add_up(phases, 1, values, seen)
    assert values.tolist() == [0, 1, 2]


def test_an_exception_in_one_thread_ends_all_of_them() -> None:
    started = threading.Event()

    def fails(phases: Phases, thread: int, *arrays: Any) -> bool:
        if thread == 0:
            phases.taken[0] = 1  # an item that is never finished
            started.set()
            raise OSError("out of luck")
        started.wait()
        return add_up(phases, thread, *arrays)

    values, seen = np.zeros(SIZES.sum(), np.int64), np.full(SIZES.sum(), -1)
    with pytest.raises(OSError, match="out of luck"):
        run_phases(fails, Phases.of(SIZES, 3), values, seen)

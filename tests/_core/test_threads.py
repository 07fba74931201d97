"""The pool: order, errors, forks, and how many threads there are."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque._core import threads
from choque._core.threads import parallel_at_any_size
from choque.errors import InvalidInput


@pytest.mark.parametrize("count", [1, 2, 5])
def test_results_come_in_order(count: int) -> None:
    assert threads.run(lambda part: part * part, count) == [part * part for part in range(count)]


def test_tasks_run_side_by_side_and_the_last_in_the_caller() -> None:
    meeting = threading.Barrier(3, timeout=300)

    def task(_: int) -> int:
        meeting.wait()  # passes only when all three are there at once
        return threading.get_ident()

    who = threads.run(task, 3)
    assert len(set(who)) == 3
    assert who[-1] == threading.get_ident()


def test_one_thread_touches_no_pool() -> None:
    assert threads.run(lambda _: threading.get_ident(), 1) == [threading.get_ident()]


@pytest.mark.parametrize("guilty", [0, 1, 2])
def test_an_error_reaches_the_caller_after_all_have_ended(guilty: int) -> None:
    began, ended = [], []

    def task(part: int) -> None:
        began.append(part)
        if part == guilty:
            raise ZeroDivisionError(f"part {part}")
        threading.Event().wait(0.02)
        ended.append(part)

    with pytest.raises(ZeroDivisionError, match=f"part {guilty}"):
        threads.run(task, 3)
    threading.Event().wait(0.05)  # nothing begins later
    assert sorted(ended) == sorted(part for part in began if part != guilty)
    assert threads.run(lambda part: part, 3) == [0, 1, 2]


def test_beyond_the_limit_of_the_pool_the_caller_does_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "_idle", [])
    monkeypatch.setattr(threads, "_worker_count", threads.MAX_WORKERS - 1)

    def task(part: int) -> tuple[int, int]:
        threading.Event().wait(0.1)  # the one worker has begun by then
        return part, threading.get_ident()

    who = threads.run(task, 4)
    assert [part for part, _ in who] == [0, 1, 2, 3]
    assert [ident == threading.get_ident() for _, ident in who] == [False, True, True, True]


def test_the_caller_takes_back_what_no_thread_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    asleep = threads._Worker()
    monkeypatch.setattr(threads, "_idle", [asleep])
    monkeypatch.setattr(asleep, "_wake", threading.Lock())  # the worker waits for another one, so that it never wakes
    asleep._wake.acquire()
    for _ in range(3):
        who = threads.run(lambda part: (part, threading.get_ident()), 2)
        assert who == [(0, threading.get_ident()), (1, threading.get_ident())]


def test_a_worker_that_woke_in_vain_takes_the_next_task() -> None:
    for _ in range(300):
        assert threads.run(lambda part: part, 2) == [0, 1]
    meeting = threading.Barrier(2, timeout=20)
    threads.run(lambda _: meeting.wait(), 2)


def test_a_sleeping_worker_keeps_nothing_alive() -> None:
    class Large:
        pass

    large = Large()
    watched = weakref.ref(large)
    threads.run(lambda _, held=large: held, 2)
    del large
    gc.collect()
    assert watched() is None


def test_tasks_may_use_the_pool_themselves() -> None:
    assert threads.run(lambda part: sum(threads.run(lambda inner: part * inner, 3)), 3) == [0, 3, 6]


def test_many_callers_share_the_pool() -> None:
    with ThreadPoolExecutor(6) as callers:
        found = list(callers.map(lambda number: threads.run(lambda part: number * 10 + part, 4), range(30)))
    assert found == [[number * 10 + part for part in range(4)] for number in range(30)]


@given(st.integers(0, 200), st.integers(1, 9))
def test_ranges_cover_everything_once_in_nearly_equal_shares(total: int, parts: int) -> None:
    found = threads.ranges(total, parts)
    assert [row for first, last in found for row in range(first, last)] == list(range(total))
    assert len(found) == max(1, min(parts, total))
    sizes = [last - first for first, last in found]
    assert max(sizes) - min(sizes) <= 1


def test_over_ranges_gives_each_thread_its_share() -> None:
    with parallel_at_any_size():
        found = threads.over_ranges(lambda first, last, step: list(range(first, last, step)), 10, 3, 2)
    assert found == [[0, 2], [3, 5], [6, 8]]


def test_a_light_pass_over_few_items_is_for_one_thread() -> None:
    least = threads.PASSES_IN_A_ROW * threads.STREAM_SERIAL_BELOW
    assert threads.streams(4, least - 1) == 1
    assert threads.streams(4, least) == 4
    assert threads.over_ranges(lambda first, last: (first, last), 10, 3) == [(0, 10)]


def test_the_suite_lowers_the_limits_and_puts_them_back() -> None:
    few = threads.SERIAL_BELOW - 1
    with parallel_at_any_size():
        assert threads.resolve_count(3, few) == threads.streams(3, few) == 3
    assert threads.resolve_count(3, few) == threads.streams(3, few) == 1


@given(st.integers(0, 100), st.integers(1, 12))
def test_blocks_drawn_by_several_threads_are_all_and_none_twice(total: int, block: int) -> None:
    draw = threads.block_supply(total, block)

    def work(_: int) -> list[int]:
        drawn: list[int] = []
        while (span := draw()) is not None:
            assert 0 < span[1] - span[0] <= block
            drawn += range(*span)
        return drawn

    assert sorted(row for part in threads.run(work, 3) for row in part) == list(range(total))


def test_little_work_is_for_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOQUE_THREADS", "7")
    assert threads.resolve_count(None, threads.SERIAL_BELOW - 1) == 1
    assert threads.resolve_count(4, threads.SERIAL_BELOW - 1) == 1
    assert threads.resolve_count(4, threads.SERIAL_BELOW) == 4
    assert threads.resolve_count(None, threads.SERIAL_BELOW) == 7


@pytest.mark.parametrize("wrong", [0, -2, 1.5, "2", True])
def test_a_bad_number_of_threads_is_named_even_for_little_work(wrong: object) -> None:
    with pytest.raises(InvalidInput, match="threads is"):
        threads.resolve_count(wrong, 1)  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["0", "-1", "two", "1.5"])
def test_a_bad_variable_is_named(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOQUE_THREADS", wrong)
    with pytest.raises(InvalidInput, match=f"CHOQUE_THREADS is {wrong!r}"):
        threads.available_count()


@pytest.mark.parametrize("empty", ["", "  "])
def test_an_empty_variable_means_the_processors_there_are(empty: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOQUE_THREADS", empty)
    assert 1 <= threads.available_count() <= (os.cpu_count() or 1)


FORK = """
import os, sys
from choque._core import threads

assert threads.run(lambda part: part, 3) == [0, 1, 2]
child = os.fork()
if child == 0:
    os._exit(0 if threads.run(lambda part: part + 1, 3) == [1, 2, 3] else 1)
_, status = os.waitpid(child, 0)
assert threads.run(lambda part: part, 3) == [0, 1, 2]
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_makes_its_own_pool() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], timeout=300, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_thread_aside_works_in_order_and_beside_the_caller() -> None:
    begun, done = threading.Event(), []
    worker = threads.aside("test")
    first = worker.submit(lambda: begun.wait(20) and done.append(threading.current_thread().name))
    second = worker.submit(lambda: done.append("second"))
    begun.set()  # the caller went on while the first still waited
    first.result(20)
    second.result(20)
    worker.shutdown()
    assert done[0].startswith("choque-test")
    assert done[1:] == ["second"]

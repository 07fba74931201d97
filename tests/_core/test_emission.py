"""Pairs leave kernels through chunks: none is lost, whatever the chunks, the threads and the filter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque._core import emission as _emission
from choque._core.emission import Sink
from choque._core.pair_keys import PairFilter, pack_pairs, unpack_pairs


def fans(first: int, last: int, chunk: Any, sizes: list[int]) -> tuple[int, int, int]:
    """Unit u writes its ``sizes[u]`` pairs (u, u + 1), (u, u + 2) … and counts each as a test."""
    written = tests = 0
    for unit in range(first, last):
        if written + sizes[unit] > chunk.size:
            return unit, written, tests
        for step in range(sizes[unit]):
            chunk[written] = (unit << 32) | (unit + 1 + step)
            written += 1
        tests += sizes[unit]
    return last, written, tests


def wanted(sizes: list[int]) -> list[tuple[int, int]]:
    return [(unit, unit + 1 + step) for unit, size in enumerate(sizes) for step in range(size)]


def collected(sink: Sink) -> list[tuple[int, int]]:
    return sorted((int(i), int(j)) for chunk in sink.chunks for i, j in unpack_pairs(chunk))


SIZES = st.lists(st.one_of(st.integers(0, 5), st.integers(0, 60)), max_size=40)


@given(SIZES, st.integers(1, 40), st.integers(1, 4))
def test_all_pairs_come_out_for_any_chunk_size_and_thread_count(sizes: list[int], chunk: int, threads: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_emission, "_SMALLEST_CHUNK", chunk)
        patch.setattr(_emission, "_LARGEST_CHUNK", chunk)
        sink = Sink(len(sizes), threads, None)
        sink.run(fans, len(sizes), sizes)
    assert collected(sink) == wanted(sizes)
    assert sink.pair_count == sink.tests == sum(sizes)
    assert sink.held_bytes >= 8 * sum(sizes)


@given(SIZES, st.integers(1, 40), st.integers(1, 3))
def test_counting_keeps_nothing_and_counts_the_same(sizes: list[int], chunk: int, threads: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_emission, "_SMALLEST_CHUNK", chunk)
        patch.setattr(_emission, "_LARGEST_CHUNK", chunk)
        sink = Sink(len(sizes), threads, None, keep=False)
        sink.run(fans, len(sizes), sizes)
    assert sink.pair_count == sink.tests == sum(sizes)
    assert sink.held_bytes == 0


@given(SIZES, st.integers(1, 40), st.booleans())
def test_the_filter_applies_before_pairs_are_kept_or_counted(sizes: list[int], chunk: int, keep: bool) -> None:
    count = len(sizes) + 61
    static = np.arange(count) % 3 != 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_emission, "_SMALLEST_CHUNK", chunk)
        patch.setattr(_emission, "_LARGEST_CHUNK", chunk)
        sink = Sink(len(sizes), 2, PairFilter.make(count, None, None, static), keep)
        sink.run(fans, len(sizes), sizes)
    allowed = [(i, j) for i, j in wanted(sizes) if not (static[i] and static[j])]
    assert sink.pair_count == len(allowed)
    assert sink.tests == sum(sizes)
    assert collected(sink) == (allowed if keep else [])


def test_a_unit_larger_than_any_chunk_gets_a_larger_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_emission, "_SMALLEST_CHUNK", 4)
    monkeypatch.setattr(_emission, "_LARGEST_CHUNK", 4)
    offered: list[int] = []

    def watched(first: int, last: int, chunk: Any, sizes: list[int]) -> tuple[int, int, int]:
        offered.append(chunk.size)
        return fans(first, last, chunk, sizes)

    sizes = [3, 1000, 2]
    sink = Sink(3, 1, None)
    sink.run(watched, 3, sizes)
    assert collected(sink) == wanted(sizes)
    # 3 pairs, then the next unit is refused by the rest of the chunk and by ever larger fresh ones.
    assert offered[:2] == [4, 4]
    assert max(offered) == 1024


def test_a_kernel_that_refuses_small_chunks_is_asked_again_and_not_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_emission, "_SMALLEST_CHUNK", 1)
    monkeypatch.setattr(_emission, "_LARGEST_CHUNK", 1)

    def choosy(first: int, last: int, chunk: Any, sizes: list[int]) -> tuple[int, int, int]:
        return fans(first, last, chunk, sizes) if chunk.size >= 100 else (first, 0, 0)

    sizes = [7] * 30
    sink = Sink(30, 1, None)
    sink.run(choosy, 30, sizes)
    assert collected(sink) == wanted(sizes)
    assert sink.tests == 210


def test_a_half_empty_chunk_is_not_held_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_emission, "_SMALLEST_CHUNK", 1000)
    monkeypatch.setattr(_emission, "_LARGEST_CHUNK", 1000)
    sizes = [1, 1000] * 20
    sink = Sink(40, 1, None)
    sink.run(fans, 40, sizes)
    owned = sum((chunk if chunk.base is None else chunk.base).nbytes for chunk in sink.chunks)
    assert owned < 2 * sink.held_bytes


def test_several_kernels_may_fill_one_sink() -> None:
    sink = Sink(10, 2, None)
    sink.run(fans, 3, [1, 2, 3])
    sink.run(fans, 2, [4, 0])
    assert sink.pair_count == 10
    assert len(collected(sink)) == 10


def test_no_units_means_no_call() -> None:
    sink = Sink(0, 2, None)
    sink.run(lambda *_: pytest.fail("the kernel was called"), 0)
    assert sink.chunks == []


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_in_a_kernel_reaches_the_caller(threads: int) -> None:
    def broken(first: int, last: int, chunk: Any) -> tuple[int, int, int]:
        raise ZeroDivisionError(f"unit {first}")

    with pytest.raises(ZeroDivisionError, match="unit"):
        Sink(8, threads, None).run(broken, 8)


def test_packing_is_what_kernels_write() -> None:
    pairs = np.array([[0, 1], [5, 2**31 - 1]], np.int32)
    assert pack_pairs(pairs).tolist() == [1, (5 << 32) | (2**31 - 1)]
    assert np.array_equal(unpack_pairs(pack_pairs(pairs)), pairs)

"""Linear-time sorting against NumPy's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque._core import sort
from choque._core.pair_keys import pack_pairs
from choque._core.sort import radix_sort, sorted_pairs, without_duplicates
from choque._core.threads import parallel_at_any_size

DIGIT = 1 << 11


@pytest.fixture(autouse=True, params=[False, True], ids=["counting", "numpy"])
def _really_parallel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(sort, "_numpy_has_lanes", lambda: request.param)
    monkeypatch.setattr(sort, "PART_PAIRS", 16)
    monkeypatch.setattr(sort, "SMALLEST_PART", 1)
    with parallel_at_any_size():
        yield


def reference(pairs: Any) -> Any:
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def split(pairs: Any, places: list[int]) -> list[Any]:
    """The packed pairs in chunks that end at these places."""
    return [chunk.copy() for chunk in np.split(pack_pairs(pairs), sorted(places))]


@given(st.data())
def test_sorted_pairs_are_those_of_lexsort(data: st.DataObject) -> None:
    row_count = data.draw(st.sampled_from((1, 5, DIGIT, DIGIT + 1, 3 * DIGIT, 5 * DIGIT - 1)))
    row = st.one_of(
        st.integers(0, row_count - 1),
        # Rows on both sides of where a digit overflows.
        st.sampled_from([r for edge in range(0, row_count + 1, DIGIT) for r in (edge - 1, edge) if 0 <= r < row_count]),
    )
    # Keys have 32 bits in one part, in several, and 64.
    partners = data.draw(st.sampled_from((1, 2**11, 2**18, 2**19, 2**21, 2**31)))
    drawn = data.draw(st.lists(st.tuples(row, st.integers(0, partners - 1)), max_size=60))
    pairs = np.array(drawn, np.int32).reshape(-1, 2)
    places = data.draw(st.lists(st.integers(0, len(pairs)), max_size=4))
    found = sorted_pairs(split(pairs, places), row_count, data.draw(st.integers(1, 4)), partners, repeats=True)
    assert np.array_equal(found, reference(pairs))
    assert found.dtype == np.int32


@pytest.mark.parametrize("length", [2, 31, 32, 33, 500])
@pytest.mark.parametrize("thread_count", [1, 2])
def test_rows_with_many_partners_and_repeats_are_sorted(length: int, thread_count: int) -> None:
    random = np.random.default_rng(length)
    rows = np.repeat(np.array([0, 1, DIGIT - 1, DIGIT, 2 * DIGIT + 7]), length)
    pairs = np.stack((rows, random.integers(0, length, rows.size)), axis=1).astype(np.int32)
    random.shuffle(pairs)
    found = sorted_pairs(split(pairs, [length, 2 * length]), 3 * DIGIT, thread_count, repeats=True)
    assert np.array_equal(found, reference(pairs))


@pytest.mark.parametrize("length", [1, 7, 8, 9, 63, 64, 65, 300])
@pytest.mark.parametrize("row_count", [40, 1 << 10, (1 << 10) + 1, 5_000_000])
def test_distinct_pairs_of_any_number_of_partners_are_sorted(length: int, row_count: int) -> None:
    random = np.random.default_rng(length)
    rows = random.integers(0, row_count, 30)
    pairs = np.unique(
        np.concatenate([np.stack((np.full(length, row), random.permutation(7000)[:length]), axis=1) for row in rows]),
        axis=0,
    ).astype(np.int32)
    random.shuffle(pairs)
    for thread_count in (1, 2):
        found = sorted_pairs(split(pairs, [len(pairs) // 3]), row_count, thread_count, 7000)
        assert np.array_equal(found, reference(pairs))


@pytest.mark.parametrize("order", ["ascending", "descending", "equal"])
def test_a_long_row_in_any_order_is_sorted(order: str) -> None:
    partners = {"ascending": np.arange(99), "descending": np.arange(99)[::-1], "equal": np.full(99, 4)}[order]
    pairs = np.stack((np.zeros(99), partners), axis=1).astype(np.int32)
    assert np.array_equal(sorted_pairs([pack_pairs(pairs)], 200, 1, repeats=True), reference(pairs))


@given(st.integers(0, 3), st.integers(1, 4))
def test_the_result_does_not_depend_on_threads(seed: int, thread_count: int) -> None:
    random = np.random.default_rng(seed)
    pairs = random.integers(0, 6 * DIGIT, (5000, 2)).astype(np.int32)
    alone = sorted_pairs(split(pairs, [1, 700, 4000]), 6 * DIGIT, 1, repeats=True)
    assert np.array_equal(sorted_pairs(split(pairs, [2500]), 6 * DIGIT, thread_count, repeats=True), alone)


def test_no_chunks_give_no_pairs() -> None:
    found = sorted_pairs([], 10, 2)
    assert found.shape == (0, 2)
    assert found.dtype == np.int32


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=40))
def test_duplicates_go_and_nothing_else(drawn: list[tuple[int, int]]) -> None:
    pairs = np.array(sorted(drawn), np.int32).reshape(-1, 2)
    assert without_duplicates(pairs.copy()).tolist() == [list(pair) for pair in sorted(set(drawn))]


@given(st.data())
def test_radix_sort_orders_by_the_bits_asked_for_and_keeps_the_order_of_equals(data: st.DataObject) -> None:
    lowest = data.draw(st.integers(0, 60))
    bit_count = data.draw(st.integers(1, 64 - lowest))
    keys = np.array(data.draw(st.lists(st.integers(0, 2**64 - 1), max_size=50)), np.uint64)
    digit = (keys >> np.uint64(lowest)) & np.uint64((1 << bit_count) - 1)
    wanted = keys[np.argsort(digit, kind="stable")]
    assert np.array_equal(radix_sort(keys.copy(), lowest, bit_count, data.draw(st.integers(1, 4))), wanted)


@pytest.mark.parametrize("bit_count", [1, 11, 12, 13, 23, 30, 59])
def test_radix_sort_of_many_keys_on_several_threads(bit_count: int) -> None:
    """Bits above those asked for play no part, whether or not the digits divide them evenly."""
    keys = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    digit = (keys >> np.uint64(5)) & np.uint64((1 << bit_count) - 1)
    wanted = keys[np.argsort(digit, kind="stable")]
    for thread_count in (1, 3):
        assert np.array_equal(radix_sort(keys.copy(), 5, bit_count, thread_count), wanted)


@pytest.mark.parametrize("thread_count", [1, 2])
def test_rows_are_ordered_by_codes_and_then_by_number(thread_count: int) -> None:
    codes = np.random.default_rng(8).integers(0, 50, 700).astype(np.uint64)
    keys = codes << np.uint64(32) | np.arange(700, dtype=np.uint64)
    found = sort.rows_by_key(keys, 6, thread_count)
    assert found.dtype == np.uint32
    assert np.array_equal(found, np.argsort(codes, kind="stable"))

"""Sorting on a device: the thesis's decimal sort step by step, the network, and the library's."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque.errors import InvalidInput, UnknownName
from choque.gpu.session import Session
from choque.theses.kdop.sorts import SORTS, DecimalSort, bitonic_order, decimal_order, find_sort, library_order

NINE = np.array([4.0, -2, 3, -1, -4, -2, 3, 5, 0])
SIZES = [0, 1, 2, 3, 7, 255, 256, 257, 1000]
MANY = 1_000_000 if os.environ.get("CHOQUE_FULL") == "1" else 20_000


def sort_of(device: str, values: Any, items: int) -> tuple[Session, DecimalSort]:
    session = Session(device)
    keys = np.asarray(values, np.float64)
    return session, DecimalSort(session, session.upload(np.stack((keys, keys), axis=1)), items)


def test_count_makes_a_histogram_of_each_chunk(device: str) -> None:
    """F-002-14: three chunks of three, by the ones digit and by the sign."""
    session, sort = sort_of(device, NINE, 3)
    ones = session.download(sort.count(10**4))
    wanted = np.zeros((3, 10), np.int32)
    for chunk in range(3):
        for value in NINE[3 * chunk : 3 * chunk + 3]:
            wanted[chunk, int(abs(value))] += 1
    np.testing.assert_array_equal(ones, wanted)
    assert session.download(sort.count(0)).tolist() == [[1, 2], [3, 0], [0, 3]]


def test_scan_adds_up_the_rows(device: str) -> None:
    """F-002-15: the rows (negative, not negative) that the thesis prints, after the passes of the magnitudes."""
    session, sort = sort_of(device, NINE, 3)
    for digit in range(9):
        sort.digit_pass(digit)
    assert session.download(sort.scan(sort.count(0))).tolist() == [[2, 1], [3, 3], [4, 5]]


@pytest.mark.parametrize("rows", [1, 2, 3, 8, 13])
def test_scan_is_a_prefix_sum_for_any_number_of_rows(rows: int, device: str) -> None:
    session, sort = sort_of(device, np.arange(float(rows)), rows)
    table = np.random.default_rng(rows).integers(0, 9, (rows, 10)).astype(np.int32)
    np.testing.assert_array_equal(session.download(sort.scan(session.upload(table))), table.cumsum(axis=0))


def test_magnitudes_are_sorted_before_the_sign(device: str) -> None:
    """F-002-16: the state that the thesis prints, equal magnitudes in the order in which they came."""
    session, sort = sort_of(device, NINE, 3)
    for digit in range(9):
        sort.digit_pass(digit)
    order = session.download(sort.order)
    assert NINE[order].tolist() == [0, -1, -2, -2, 3, 3, 4, -4, 5]
    assert order.tolist() == [8, 3, 1, 5, 2, 6, 0, 4, 7]


def test_the_nine_numbers_are_sorted(device: str) -> None:
    """F-002-17."""
    assert NINE[decimal_order(NINE, device, items=3)].tolist() == [-4, -2, -2, -1, 0, 3, 3, 4, 5]


@pytest.mark.parametrize("digit", [0, 4, 8])
def test_reorder_is_stable(digit: int, device: str) -> None:
    """F-002-16: duplicates keep their order in every pass."""
    values = np.random.default_rng(digit).integers(0, 5, 200) * 10.0 ** (digit - 4)
    session, sort = sort_of(device, values, 7)
    sort.digit_pass(digit)
    np.testing.assert_array_equal(
        session.download(sort.order), np.argsort(np.rint(values * 10**4) // 10**digit % 10, kind="stable")
    )


@pytest.mark.parametrize("count", SIZES)
@pytest.mark.parametrize("items", [1, 3, 256])
def test_every_size_is_sorted_by_every_number_of_items(count: int, items: int, device: str) -> None:
    """F-002-18: not divisible, odd, one, none."""
    values = np.random.default_rng(count).integers(-(10**8), 10**8, count) / 10**4
    order = decimal_order(values, device, items=items)
    assert sorted(order.tolist()) == list(range(count))
    np.testing.assert_array_equal(values[order], np.sort(values))


def test_many_are_sorted(device: str) -> None:
    """F-002-18: a million with CHOQUE_FULL=1."""
    values = np.random.default_rng(0).integers(-(10**9) + 1, 10**9, MANY) / 10**4
    np.testing.assert_array_equal(values[decimal_order(values, device)], np.sort(values))


@pytest.mark.parametrize("order_of", [library_order, bitonic_order])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("count", SIZES)
def test_library_and_network_give_the_stable_order(order_of: Any, dtype: Any, count: int, device: str) -> None:
    """F-002-46: equal keys as they came, whatever their sign and size."""
    random = np.random.default_rng(count)
    values = random.choice([-np.inf, -1e30, -2.5, -1e-40, -0.0, 0.0, 1e-40, 3.25, 1e30, np.inf], count).astype(dtype)
    values[::3] = random.normal(size=len(values[::3]))
    np.testing.assert_array_equal(order_of(values, device), np.argsort(values, kind="stable"))


@given(st.lists(st.integers(-(10**9) + 1, 10**9 - 1), max_size=40), st.integers(1, 9))
def test_any_fixed_point_numbers_are_sorted(numbers: list[int], items: int) -> None:
    exact = np.array(numbers, np.int64)
    order = decimal_order(exact / 10**4, "warp-cpu", items=items)
    np.testing.assert_array_equal(exact[order], np.sort(exact))


def test_floats_beside_the_decimal_numbers_that_they_mean_are_sorted(device: str) -> None:
    """-94929.532 times 10,000 is below -949,295,320 by a rounding, and must not count as the number below."""
    values = np.array([-94929.5321, -94929.532, -89031.575, -89031.5749])
    assert decimal_order(values, device).tolist() == [0, 1, 2, 3]
    assert decimal_order(values[::-1].copy(), device).tolist() == [3, 2, 1, 0]


def test_the_order_of_finer_numbers_is_never_the_reverse(device: str) -> None:
    """Keys are rounded one way: what is less never comes out as more, so the sweep misses nothing."""
    values = np.random.default_rng(1).normal(0, 1e-3, 500)
    order = decimal_order(values, device)
    assert (np.diff(np.floor(values[order] * 10**4)) >= 0).all()


@pytest.mark.parametrize("value", [100_000.0, -100_000.1, 1e30, np.inf, -np.inf])
def test_what_does_not_fit_nine_digits_is_a_sentence(value: float, device: str) -> None:
    with pytest.raises(InvalidInput, match=r"Row 1 is beyond ±99,999\.9999"):
        decimal_order([0.0, value, 2.0], device)


@pytest.mark.parametrize("values", [[np.nan, 1.0], [[1.0]], ["a"]])
def test_bad_keys_are_refused(values: Any) -> None:
    for order_of in (library_order, bitonic_order, decimal_order):
        with pytest.raises(InvalidInput):
            order_of(values, "warp-cpu")


def test_bad_settings_are_refused() -> None:
    with pytest.raises(InvalidInput, match="items is 0"):
        decimal_order([1.0], "warp-cpu", items=0)
    with pytest.raises(UnknownName, match="Did you mean 'bitonic'"):
        find_sort("bitonik")


def test_indices_move_and_volumes_stay(device: str) -> None:
    """F-002-19: what is sorted is the list of rows."""
    session = Session(device)
    intervals = np.random.default_rng(2).normal(size=(300, 2))
    on_device = session.upload(intervals)
    for sort in SORTS.values():
        sort(session, on_device)
        np.testing.assert_array_equal(session.download(on_device), intervals)


def test_the_launches_of_a_decimal_sort_are_counted(device: str) -> None:
    """Ten passes; each scan doubles its step: with 8 items, 3 steps."""
    session, sort = sort_of(device, np.arange(64.0), 8)
    session.traffic.reset()
    sort.run()
    assert session.traffic.launches["count_bins"] == 10
    assert session.traffic.launches["scan_bins"] == 30
    assert session.traffic.launches["reorder_digits"] == 9
    assert session.traffic.launches["reorder_signs"] == 1

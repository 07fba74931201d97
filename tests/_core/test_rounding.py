"""Directed rounding against fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from bounds_oracles import exact, exact_dot
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from choque._core import rounding

numbers = st.floats(allow_nan=False, allow_infinity=False)
vectors = hnp.arrays("float64", 3, elements=numbers)
LARGEST = Fraction(float(np.finfo(float).max))


def check(low: float, true: Fraction, high: float, steps: int) -> None:
    """``low <= true <= high``, and not farther off than some neighbours of the nearest floats."""
    assert low <= true <= high
    if abs(true) <= LARGEST:
        near = float(true)
        step = steps * Fraction(math.ulp(near))
        assert low == -np.inf or true - low <= step
        assert high == np.inf or high - true <= step


@given(numbers, numbers)
def test_add(a: float, b: float) -> None:
    low, high = rounding.add_down(a, b), rounding.add_up(a, b)
    true = Fraction(a) + Fraction(b)
    check(low, true, high, steps=1)
    if abs(true) <= LARGEST and Fraction(float(true)) == true:
        assert low == high == true


@given(numbers, numbers)
def test_multiply(a: float, b: float) -> None:
    check(rounding.multiply_down(a, b), Fraction(a) * Fraction(b), rounding.multiply_up(a, b), steps=2)


@given(vectors, vectors)
def test_dot(a: np.ndarray, b: np.ndarray) -> None:
    assert rounding.dot_down(a, b) <= exact_dot(exact(a), exact(b)) <= rounding.dot_up(a, b)


@given(vectors)
def test_length(vector: np.ndarray) -> None:
    length = rounding.length_up(vector)
    true = exact_dot(exact(vector), exact(vector))
    assert length == np.inf or Fraction(length) ** 2 >= true
    if 1e-290 < length < 1e300:
        assert Fraction(length) ** 2 <= true * Fraction(1 + 1e-14)


def test_infinities_take_the_safe_side() -> None:
    assert rounding.add_down(np.inf, -np.inf) == -np.inf
    assert rounding.add_up(np.inf, -np.inf) == np.inf
    assert rounding.multiply_down(0.0, np.inf) == rounding.multiply_up(0.0, np.inf) == 0
    assert rounding.multiply_up(0.5, np.inf) == np.inf
    assert rounding.multiply_down(-0.5, np.inf) == -np.inf


@given(hnp.arrays("float64", 5, elements=numbers))
def test_narrow(values: np.ndarray) -> None:
    narrow = np.dtype(np.float32)
    low, high = rounding.narrow_down(values, narrow), rounding.narrow_up(values, narrow)
    assert low.dtype == high.dtype == narrow
    assert (low <= values).all()
    assert (high >= values).all()
    inexact = low != high
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(np.nextafter(low[inexact], np.float32(np.inf)), high[inexact])
    exact_values = low.astype(float) == values
    np.testing.assert_array_equal(low[exact_values], high[exact_values])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_narrowing_to_the_same_type_changes_nothing(dtype: str) -> None:
    values = np.array([1.1, -2.2, np.inf], dtype)
    np.testing.assert_array_equal(rounding.narrow_down(values, values.dtype), values)
    np.testing.assert_array_equal(rounding.narrow_up(values, values.dtype), values)

"""Arrays that are right pass untouched; all others become right or an error."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from choque._core.check import as_coordinates, as_floats, as_pairs, as_widest, check_boxes
from choque.bounds import Boxes
from choque.errors import InvalidInput


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_right_arrays_are_not_copied(dtype: str) -> None:
    lower, upper = np.zeros((4, 3), dtype), np.ones((4, 3), dtype)
    boxes = Boxes(lower, upper)
    assert boxes.lower is lower
    assert boxes.upper is upper
    pairs = np.zeros((5, 2), np.int32)
    assert as_pairs(pairs, 1) is pairs


@pytest.mark.parametrize(
    ("given", "dtype"),
    [
        ([[1, 2]], "float64"),
        ([[1.0, 2.0]], "float64"),
        (((1, 2), (3, 4)), "float64"),
        (np.ones((2, 3), np.uint8), "float64"),
        (np.ones((2, 3), np.float16), "float32"),
        (np.ones((2, 3), ">f4"), "float32"),
        (np.ones((2, 3), ">f8"), "float64"),
        (np.ones((3, 2), np.float32).T, "float32"),
        (np.ones((4, 6), np.float32)[:, ::2], "float32"),
        (np.empty((0, 2)), "float64"),
    ],
)
def test_everything_numeric_becomes_contiguous_floats(given: ArrayLike, dtype: str) -> None:
    array = as_coordinates(given, "lower")
    assert array.dtype == np.dtype(dtype)
    assert array.flags.carray
    np.testing.assert_array_equal(array, np.asarray(given, dtype))


def test_read_only_arrays_become_writable_copies() -> None:
    frozen = np.ones((2, 2))
    frozen.flags.writeable = False
    assert as_floats(frozen, "lower").flags.writeable
    assert not frozen.flags.writeable


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([["a", "b"]], "element type <U1"),
        ([[1j, 2]], "complex128"),
        ([[True, False]], "bool"),
        ([[None, 1]], "object"),
        ([[10**30, 1]], "object"),
        (np.ones((1, 2), np.longdouble), "longdouble|float128|float96"),
        (np.zeros((1, 2), "datetime64[s]"), "datetime64"),
        ([[1, 2], [3]], "rectangular"),
        ([1, 2], r"shape \(2,\)"),
        ([], r"shape \(0,\)"),
        (7, r"shape \(\)"),
        (np.zeros((2, 4)), r"shape \(2, 4\)"),
        (np.zeros((2, 2, 2)), r"shape \(2, 2, 2\)"),
    ],
)
def test_everything_else_is_refused_by_name(given: ArrayLike, text: str) -> None:
    with pytest.raises(InvalidInput, match="^lower .*" + text):
        as_coordinates(given, "lower")


def test_mixed_floats_take_the_wider() -> None:
    narrow, wide = np.ones((1, 2), np.float32), np.ones((1, 2))
    assert [array.dtype for array in as_widest(narrow, wide)] == [np.float64] * 2
    assert [array.dtype for array in as_widest(narrow, narrow)] == [np.float32] * 2
    assert Boxes(narrow, wide).dtype == np.float64


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [0, 3, 6])
def test_the_first_bad_box_is_named(dtype: str, row: int) -> None:
    lower, upper = np.zeros((7, 3), dtype), np.ones((7, 3), dtype)
    check_boxes(lower, upper)
    upper[row:, 1] = -1
    with pytest.raises(InvalidInput, match=f"^Row {row} has lower > upper.*column 1"):
        check_boxes(lower, upper)
    upper[row, 0] = np.nan
    with pytest.raises(InvalidInput, match=f"^Row {row} is not a number.*column 0"):
        check_boxes(lower, upper)


def test_shapes_must_agree() -> None:
    with pytest.raises(InvalidInput, match=r"upper has the shape \(2, 3\).*must be \(2, 2\)"):
        Boxes(np.zeros((2, 2)), np.zeros((2, 3)))
    with pytest.raises(InvalidInput, match=r"upper has the shape \(3, 2\)"):
        Boxes(np.zeros((2, 2)), np.zeros((3, 2)))

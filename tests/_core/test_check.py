"""Arrays that are right pass untouched; all others become right or an error."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

from choque._core import check
from choque.bounds import Boxes
from choque.errors import InvalidInput, UnknownName


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_right_arrays_are_not_copied(dtype: str) -> None:
    lower, upper = np.zeros((4, 3), dtype), np.ones((4, 3), dtype)
    boxes = Boxes(lower, upper)
    assert boxes.lower is lower
    assert boxes.upper is upper
    pairs = np.zeros((5, 2), np.int32)
    assert check.pairs(pairs, "pairs", 1) is pairs


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
        (np.ma.array([[1.0, 2.0]], mask=False), "float64"),
    ],
)
def test_everything_numeric_becomes_contiguous_floats(given: ArrayLike, dtype: str) -> None:
    array = check.coordinates(given, "lower")
    assert array.dtype == np.dtype(dtype)
    assert array.flags.carray
    np.testing.assert_array_equal(array, np.asarray(given, dtype))


def test_read_only_arrays_become_writable_copies() -> None:
    frozen = np.ones((2, 2))
    frozen.flags.writeable = False
    assert check.floats(frozen, "lower").flags.writeable
    assert not frozen.flags.writeable


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([["a", "b"]], "element type <U1"),
        ([[1j, 2]], "complex128"),
        ([[True, False]], "bool"),
        ([[None, 1]], "object"),
        (np.ma.array([[1.0, 2.0]], mask=[[False, True]]), "masked values; fill them"),
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
        check.coordinates(given, "lower")


def test_mixed_floats_take_the_wider() -> None:
    narrow, wide = np.ones((1, 2), np.float32), np.ones((1, 2))
    assert [array.dtype for array in check.widest(narrow, wide)] == [np.float64] * 2
    assert [array.dtype for array in check.widest(narrow, narrow)] == [np.float32] * 2
    assert Boxes(narrow, wide).dtype == np.float64


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("row", [0, 3, 6])
def test_the_first_bad_box_is_named(dtype: str, row: int) -> None:
    lower, upper = np.zeros((7, 3), dtype), np.ones((7, 3), dtype)
    Boxes(lower, upper)
    upper[row:, 1] = -1
    with pytest.raises(InvalidInput, match=f"^Row {row} has lower > upper.*column 1"):
        Boxes(lower, upper)
    upper[row, 0] = np.nan
    with pytest.raises(InvalidInput, match=f"^Row {row} is not a number.*column 0; rows and columns count from 0"):
        Boxes(lower, upper)


@pytest.mark.parametrize("given", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_whole_numbers_become_int(given: object) -> None:
    assert type(check.whole_number(given, "count", 3, 3)) is int


@pytest.mark.parametrize("given", [True, np.True_, 3.0, "3", None, [3], 2**70, -1, float("nan")])
def test_anything_else_is_no_whole_number(given: object) -> None:
    with pytest.raises(InvalidInput, match=r"^count is .*; it must be a whole number from 0 to 9, or None for all\.$"):
        check.whole_number(given, "count", 0, 9, otherwise="None for all")


@pytest.mark.parametrize("given", [2, 2.0, np.float32(2), np.int16(2), np.array(2.0)])
def test_numbers_become_float(given: object) -> None:
    assert type(check.number(given, "k")) is float
    assert check.positive(given, "k") == 2.0


@pytest.mark.parametrize(
    ("given", "limits", "allowed"),
    [
        (True, {}, "a number"),
        ("2", {}, "a number"),
        (np.nan, {}, "a number"),
        (np.inf, {}, "a finite number"),
        (10**400, {}, "a finite number"),
        (0, {"above": 0}, "a number above 0"),
        (np.inf, {"above": 0}, "a finite number above 0"),
        (-1, {"minimum": 0, "infinite": True}, "a number of at least 0"),
        (2, {"minimum": 0, "maximum": 1}, "a number from 0 to 1"),
        (1, {"minimum": 0, "below": 1}, "a number from 0 to below 1"),
        (1, {"above": 0, "below": 1}, "a number above 0 and below 1"),
        (2, {"maximum": 1}, "a number of at most 1"),
        (2, {"below": 1}, "a number below 1"),
    ],
)
def test_numbers_outside_their_limits_are_refused(given: object, limits: dict[str, float], allowed: str) -> None:
    with pytest.raises(InvalidInput, match=f"^k is .*; it must be {allowed}\\.$"):
        check.number(given, "k", **limits)  # type: ignore[arg-type]


def test_infinite_numbers_are_accepted_on_request() -> None:
    assert check.number(np.inf, "largest", 0, infinite=True) == np.inf


def test_booleans_text_and_choices() -> None:
    assert check.boolean(np.True_, "closed") is True
    assert check.text("a", "name") == "a"
    assert check.choice("box", "shape", ("box", "sphere")) == "box"
    with pytest.raises(InvalidInput, match="closed is 1; it must be True or False"):
        check.boolean(1, "closed")
    with pytest.raises(InvalidInput, match="name is 3; it must be a string"):
        check.text(3, "name")
    with pytest.raises(UnknownName, match=r"There is no shape called 'boxx'\. Did you mean 'box'"):
        check.choice("boxx", "shape", ("box", "sphere"))
    with pytest.raises(UnknownName):
        check.choice([], "shape", {"box": 1})


def test_triples() -> None:
    assert check.triple((1.0, 2.0, 3.0), "size") == (1.0, 2.0, 3.0)
    assert check.triple([1, 2, 3], "size") == (1.0, 2.0, 3.0)
    assert check.triple(2, "size", single=True) == (2.0, 2.0, 2.0)
    for wrong in (2, [1, 2], [1, 2, np.inf], "abc", None, [True, True, True]):
        with pytest.raises(InvalidInput, match="it must be three finite numbers, for x, y and z"):
            check.triple(wrong, "size")


def test_a_table_repeats_one_row_or_one_number() -> None:
    np.testing.assert_array_equal(check.table(1, "velocity", (2, 3)), np.ones((2, 3)))
    np.testing.assert_array_equal(check.table([1, 2, 3], "velocity", (2, 3)), [[1, 2, 3], [1, 2, 3]])
    given = np.ones((2, 3))
    assert check.table(given, "velocity", (2, 3)) is not given


@pytest.mark.parametrize(
    ("given", "shape", "text"),
    [
        ([1, 2], (2, 3), r"velocity has the shape \(2,\); it must be \(2, 3\), or a number or \(3,\)"),
        ([1, -1], (2,), r"Row 1 of velocity is -1.0; it must be a number above 0"),
        (-1, (2,), r"^velocity is -1.0; it must be a number above 0"),
        ([[1, 1, np.inf]], (1, 3), r"Row 0 of velocity is inf; it must be a finite number above 0"),
    ],
)
def test_a_wrong_table_is_refused(given: ArrayLike, shape: tuple[int, ...], text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        check.table(given, "velocity", shape, above=0)


def test_ids_and_flags() -> None:
    np.testing.assert_array_equal(check.ids(7), [7])
    assert check.ids([]).dtype == np.int64
    with pytest.raises(InvalidInput, match="The id 3 is named twice in ids"):
        check.ids([3, 1, 3])
    with pytest.raises(InvalidInput, match="must hold whole numbers"):
        check.ids([0.5])
    assert check.flags(True, "static", 2).tolist() == [True, True]
    with pytest.raises(InvalidInput, match="it must be True or False, or \\(2,\\) of them"):
        check.flags([1, 0], "static", 2)


def test_lengths_and_casts() -> None:
    with pytest.raises(InvalidInput, match="mass has 1 rows; it must have one for each of the 2 bodies"):
        check.same_length(np.ones(1), "mass", 2)
    assert check.cast(np.ones(2), "mass", np.dtype(np.float32)).dtype == np.float32
    with pytest.raises(InvalidInput, match=r"Row 1 of mass is 1e[+]300, which float32 cannot hold"):
        check.cast(np.array([1.0, 1e300]), "mass", np.dtype(np.float32))


def test_shapes_must_agree() -> None:
    with pytest.raises(InvalidInput, match=r"upper has the shape \(2, 3\).*must be \(2, 2\)"):
        Boxes(np.zeros((2, 2)), np.zeros((2, 3)))
    with pytest.raises(InvalidInput, match=r"upper has the shape \(3, 2\)"):
        Boxes(np.zeros((2, 2)), np.zeros((3, 2)))

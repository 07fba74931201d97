"""What is written is what is read, in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from choque import files
from choque.errors import InvalidInput, UnknownName

SUFFIXES = [".npy", ".npz", ".csv", ".parquet", ".aabbs"]


@st.composite
def boxes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Any floats at all, ±inf, NaN and subnormals included: files do not judge."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    shape = draw(st.tuples(st.integers(0, 6), st.sampled_from([2, 3])))
    numbers = arrays.arrays(dtype, shape, elements=st.floats(width=32))
    return draw(numbers), draw(numbers)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=25, deadline=None)
@given(given_boxes=boxes())
def test_round_trip(
    suffix: str, given_boxes: tuple[np.ndarray, np.ndarray], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"round{suffix.upper()}"
    files.write_boxes(path, *given_boxes)
    returned = files.read_boxes(path)
    dtype = {".csv": np.dtype("f8"), ".aabbs": np.dtype("f4")}.get(suffix, given_boxes[0].dtype)
    for before, after in zip(given_boxes, returned, strict=True):
        assert type(after) is np.ndarray
        assert after.dtype == dtype
        assert after.flags.c_contiguous
        assert after.flags.writeable
        assert after.flags.aligned
        np.testing.assert_array_equal(after, before)


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".csv", ".parquet"])
def test_float64_loses_no_bit(suffix: str, tmp_path: Path) -> None:
    lower = np.random.default_rng(0).standard_normal((500, 3)) * 10.0 ** np.arange(-150, 150, 100)
    files.write_boxes(tmp_path / f"a{suffix}", lower, lower + 1)
    np.testing.assert_array_equal(files.read_boxes(tmp_path / f"a{suffix}")[0], lower)


def test_array_of_three_axes_and_of_other_layouts(tmp_path: Path) -> None:
    sides = np.arange(24.0).reshape(4, 2, 3)
    for number, array in enumerate(
        [sides, np.asfortranarray(sides), sides.astype(">f8"), sides.reshape(4, 6), sides.astype(np.int16)]
    ):
        np.save(tmp_path / f"{number}.npy", array)
        lower, upper = files.read_boxes(tmp_path / f"{number}.npy")
        assert lower.dtype == np.dtype("=f8")
        np.testing.assert_array_equal(lower, sides[:, 0])
        np.testing.assert_array_equal(upper, sides[:, 1])


def test_lists_and_integers_are_written_as_float64(tmp_path: Path) -> None:
    files.write_boxes(tmp_path / "a.npy", [[0, 1]], np.array([[2, 3]], dtype=np.uint8))
    table = np.load(tmp_path / "a.npy")
    assert table.dtype == np.float64
    assert table.tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize(
    ("text", "lower", "upper"),
    [
        ("1,2,3,4\n", [[1, 2]], [[3, 4]]),
        ("1,2,3,4", [[1, 2]], [[3, 4]]),
        ("0,0,0,1,2,3\r\n4,5,6,7,8,9\r\n", [[0, 0, 0], [4, 5, 6]], [[1, 2, 3], [7, 8, 9]]),
        ("x_lower,y_lower,x_upper,y_upper\n-inf,1e3, 2 ,3.5\n\n", [[-np.inf, 1000]], [[2, 3.5]]),
        ('\ufeff# made by hand\n\n"Y_Lower",x_lower,y_upper,x_upper\n1,2,3,4 # a\n', [[2, 1]], [[4, 3]]),
        ("id,x_lower,y_lower,name,x_upper,y_upper\n7,1,2,bolt,3,4\n", [[1, 2]], [[3, 4]]),
        ("x_lower,y_lower,z_lower,x_upper,y_upper,z_upper\n", np.empty((0, 3)), np.empty((0, 3))),
    ],
)
def test_text_as_people_write_it(text: str, lower: object, upper: object, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(text.encode())
    returned = files.read_boxes(tmp_path / "a.csv")
    np.testing.assert_array_equal(returned[0], lower)
    np.testing.assert_array_equal(returned[1], upper)


def test_table_has_the_agreed_columns(tmp_path: Path) -> None:
    files.write_boxes(tmp_path / "a.csv", np.array([[0.5, 0.1]], "f4"), np.array([[1, 2]], "f4"))
    assert (tmp_path / "a.csv").read_text() == ("x_lower,y_lower,x_upper,y_upper\n0.5,0.10000000149011612,1.0,2.0\n")


def test_many_rows_cross_the_writer_blocks(tmp_path: Path) -> None:
    lower = np.arange(200_002.0).reshape(-1, 2)
    files.write_boxes(tmp_path / "a.csv", lower, lower + 0.25)
    returned = files.read_boxes(tmp_path / "a.csv")
    np.testing.assert_array_equal(returned[0], lower)
    np.testing.assert_array_equal(returned[1], lower + 0.25)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    good = np.zeros((2, 3))
    for lower, upper, sentence in [
        (good, good[:1], "shape"),
        (good[0], good[0], "shape"),
        (np.zeros((2, 4)), np.zeros((2, 4)), "shape"),
        (good + 1j, good, "complex128"),
        (good, good.astype(str), "upper has the element type"),
        ([[1, 2], [3]], good, "lower is not a rectangular array of numbers"),
    ]:
        with pytest.raises(InvalidInput, match=sentence):
            files.write_boxes(tmp_path / "a.npy", lower, upper)
    with pytest.raises(UnknownName, match=r"Did you mean '\.parquet'"):
        files.write_boxes(tmp_path / "a.parqet", good, good)
    with pytest.raises(InvalidInput, match="float32"):
        files.write_boxes(tmp_path / "a.aabbs", good, good + 1e300)
    assert list(tmp_path.iterdir()) == []


def test_single_frames_have_frame_zero_only(tmp_path: Path) -> None:
    files.write_boxes(tmp_path / "a.npy", [[0, 0]], [[1, 1]])
    for frame in (1, -1, True, 0.0, "0"):
        with pytest.raises(InvalidInput, match="frame is "):
            files.read_boxes(tmp_path / "a.npy", frame=frame)  # type: ignore[arg-type]

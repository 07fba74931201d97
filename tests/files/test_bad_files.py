"""Whatever is wrong with a file, one sentence names the file and the fault."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque import files
from choque.errors import MissingExtra, UnreadableFile

SUFFIXES = [".npy", ".npz", ".csv", ".parquet", ".aabbs"]
BINARY = [".npy", ".npz", ".parquet", ".aabbs"]


def fault(path: Path) -> str:
    with pytest.raises(UnreadableFile) as caught:
        files.read_boxes(path)
    sentence = str(caught.value)
    assert str(path) in sentence
    assert sentence.endswith(".")
    return sentence


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the same boxes in every format."""
    folder = tmp_path_factory.mktemp("written")
    lower = np.random.default_rng(1).random((40, 3), dtype=np.float32)
    for suffix in SUFFIXES:
        files.write_boxes(folder / f"a{suffix}", lower, lower + 1)
    return folder


@pytest.mark.parametrize("suffix", [*SUFFIXES, ".xyz"])
def test_missing_empty_and_not_a_file(suffix: str, tmp_path: Path) -> None:
    assert fault(tmp_path / f"none{suffix}").startswith("There is no file")
    (tmp_path / f"empty{suffix}").touch()
    assert "is empty" in fault(tmp_path / f"empty{suffix}")
    (tmp_path / f"folder{suffix}").mkdir()
    assert "is a folder" in fault(tmp_path / f"folder{suffix}")
    os.mkfifo(tmp_path / f"pipe{suffix}")
    assert "a pipe" in fault(tmp_path / f"pipe{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_permission_denied(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"x")

    def denied(*arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert "permission denied" in fault(path)


def test_names_that_no_file_can_have() -> None:
    for name in ("zero\0.npy", "x" * 5000 + ".npy"):
        with pytest.raises(UnreadableFile):
            files.read_boxes(name)


def test_unknown_suffix_lists_the_known(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_text("v 0 0 0")
    assert ".aabbs, .csv, .npy, .npz, .parquet" in fault(tmp_path / "a.obj")
    with pytest.raises(UnreadableFile, match=r"frames are read from files that end in \.aabbs, \.npz"):
        files.open_boxes(tmp_path / "a.obj")


@pytest.mark.parametrize("suffix", BINARY)
def test_text_instead_of_binary(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_text("1,2,3,4\n" * 200)
    assert "looks like text" in fault(path)
    path.write_text("1,2,3,4\n")
    fault(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_other_format_under_this_suffix(suffix: str, written: Path, tmp_path: Path) -> None:
    for other in set(SUFFIXES) - {suffix}:
        path = tmp_path / f"{other[1:]}{suffix}"
        path.write_bytes((written / f"a{other}").read_bytes())
        assert "is not" in fault(path)


@pytest.mark.parametrize("suffix", BINARY)
def test_every_truncation(suffix: str, written: Path, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    content = (written / f"a{suffix}").read_bytes()
    for length in [*range(1, len(content), max(1, len(content) // 60)), len(content) - 1]:
        path.write_bytes(content[:length])
        fault(path)


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damage_never_surprises(
    suffix: str, data: st.DataObject, written: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A few changed bytes give other numbers or our own error, nothing else."""
    content = bytearray((written / f"a{suffix}").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.getbasetemp() / f"damaged{suffix}"
    path.write_bytes(bytes(content))
    try:
        lower, upper = files.read_boxes(path)
    except UnreadableFile:
        return
    assert lower.shape == upper.shape


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2,3\n", "line 1: 3 fields where boxes have 4 or 6"),
        ("1;2;3;4\n", "line 1: the header is '1;2;3;4'; boxes have 4 or 6 columns, separated by commas"),
        ("1,2,3,4\n1,2,3,x\n", "line 2: 'x' in column 4 is not a number"),
        ("1,2,3,4\n\n1,2,3\n", "line 3: 3 fields where the first line has 4"),
        ("1,2,3,4\n1,2,3,4,5\n", "line 2: 5 fields where the first line has 4"),
        ("1,2,abc,4\n", "line 1: 'abc' in column 3"),
        ("1,2,,4\n", "line 1: '' in column 3"),
        ("x_lower,y_lower,x_upper,y_upper\n1,2,3,4\n1,2,3,1_0\n", "line 3: '1_0' in column 4"),
        ("x_lower,y_lower,x_upper\n", "line 1: the header is x_lower, y_lower, x_upper; it needs"),
        ("x_lower,y_lower,z_upper,x_upper,y_upper\n", "it needs one each of x_lower, y_lower, z_lower"),
        ("x_lower,x_lower,y_lower,x_upper,y_upper\n", "the header is x_lower, x_lower, y_lower"),
        ("id,x_lower,y_lower,x_upper,y_upper\n1,2,3,4,5\n1,2\n", "line 3: 2 fields"),
        ("x_lower,y_lower,x_upper,y_upper\n1,0,0,1,1\n", "line 2: 5 fields where the first line has 4. If lines start"),
        ("# nothing\n\n", "neither a header nor a line of numbers"),
    ],
)
def test_text_faults_name_the_line(text: str, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text)
    assert sentence in fault(path)


def test_text_in_another_encoding(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(b"1,2,3,4\n" * 1000 + b"\xe9\n")
    assert "not text in UTF-8" in fault(path)
    path.write_bytes("x_lower,y_lower\n".encode("utf-16"))
    assert "binary" in fault(path)


def test_arrays_that_are_not_boxes(tmp_path: Path) -> None:
    for array in (np.zeros(4), np.zeros((3, 5)), np.zeros((2, 7, 3)), np.zeros((3, 2, 4)), np.float64(1)):
        np.save(tmp_path / "a.npy", array)
        assert "shape" in fault(tmp_path / "a.npy")
    for array in (np.zeros((1, 4), complex), np.zeros((1, 4), "U3"), np.zeros((1, 4), bool)):
        np.save(tmp_path / "a.npy", array)
        assert "real numbers" in fault(tmp_path / "a.npy")
    np.save(tmp_path / "a.npy", np.array([[1, 2, 3, None]], dtype=object), allow_pickle=True)
    fault(tmp_path / "a.npy")


def test_archives_that_are_not_boxes(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    good = np.zeros((2, 3))
    cases: list[tuple[dict[str, Any], str]] = [
        ({"lower": good}, "no array 'upper'"),
        ({"lower": good, "upper": good[:1]}, "shape"),
        ({"lower": good, "upper": good[None]}, "shape"),
        ({"lower": np.zeros((0, 2, 3)), "upper": np.zeros((0, 2, 3))}, "at least one frame"),
        ({"lower": good.astype(complex), "upper": good}, "'lower' holds values of type complex128"),
        ({}, "no array 'lower'"),
    ]
    for arrays, sentence in cases:
        np.savez(path, **arrays)
        assert sentence in fault(path)
    np.savez(path, lower=good, upper=good, name=np.array("a"))
    content = path.read_bytes()
    path.write_bytes(content.replace(b"a\0\0\0", b"\xff" * 4))
    fault(path)
    np.savez(path, allow_pickle=True, lower=np.array([[None, 1]], dtype=object), upper=good)
    assert "Python objects" in fault(path)


def test_tables_that_are_not_boxes(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    columns: dict[str, Any] = {name: [1.0] for name in ("x_lower", "y_lower", "x_upper", "y_upper")}
    cases: list[tuple[dict[str, Any], str]] = [
        ({"x_lower": ["a"]}, "'x_lower' is of type string"),
        ({"y_upper": [None]}, "of type null"),
        ({"y_upper": arrow.array([None], arrow.float32())}, "1 missing values"),
        ({"z_lower": [1.0]}, "exactly one column 'z_upper'"),
    ]
    for change, sentence in cases:
        parquet.write_table(arrow.table({**columns, **change}), path)
        assert sentence in fault(path)


def test_missing_library_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"choque\[lab\]"):
        files.write_boxes(tmp_path / "a.parquet", np.zeros((1, 2)), np.ones((1, 2)))
    assert list(tmp_path.iterdir()) == []

"""Moving boxes: many frames in one file, one at a time in memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choque import files
from choque.errors import InvalidInput, UnknownName
from choque.files import boxes

SUFFIXES = [".aabbs", ".npz"]


@pytest.mark.parametrize("suffix", SUFFIXES)
@settings(max_examples=20, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 4), st.integers(0, 5), st.sampled_from([2, 3])),
    dtype=st.sampled_from(["float32", "float64"]),
    seed=st.integers(0, 99),
)
def test_round_trip(
    suffix: str, shape: tuple[int, int, int], dtype: str, seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"frames{suffix}"
    lower = np.random.default_rng(seed).random(shape, dtype=np.float32).astype(dtype)
    boxes.write_frames(path, zip(lower, lower + 1, strict=True), frame_count=shape[0], name="été")
    store = files.open_boxes(path)
    assert (store.frame_count, store.box_count, store.dimension) == shape
    assert store.name == "été"
    assert store.dtype == ("float32" if suffix == ".aabbs" else dtype)
    for index in reversed(range(shape[0])):
        one, other = store.frame(index)
        np.testing.assert_array_equal(one, lower[index])
        np.testing.assert_array_equal(other, (lower[index] + 1).astype(store.dtype))
        assert one.flags.aligned
        assert one.flags.c_contiguous
        one += 1  # the copy is the caller's
        np.testing.assert_array_equal(files.read_boxes(path, frame=index)[0], lower[index])
    with pytest.raises(InvalidInput, match=f"a whole number from 0 to {shape[0] - 1}"):
        store.frame(shape[0])


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_only_a_few_frames_are_ever_in_memory(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"large{suffix}"
    box_count, frame_count = 10_000, 60

    def frames() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for index in range(frame_count):
            lower = np.full((box_count, 3), index, dtype=np.float32)
            yield lower, lower + 1

    tracemalloc.start()
    boxes.write_frames(path, frames(), frame_count=frame_count)
    store = files.open_boxes(path)
    seen = [float(store.frame(index)[0][-1, -1]) for index in (59, 0, 31)]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seen == [59, 0, 31]
    assert path.stat().st_size > frame_count * box_count * 24
    assert peak < 12 * box_count * 24


def test_archives_of_others(tmp_path: Path) -> None:
    """Compressed, in Fortran order, of other byte order, integers: all are read."""
    lower = np.arange(36.0).reshape(2, 6, 3)
    path = tmp_path / "others.npz"
    for save in (np.savez, np.savez_compressed):
        for array in (lower, np.asfortranarray(lower), lower.astype(">f4"), lower.astype(np.int32)):
            save(path, lower=array, upper=array + array.dtype.type(1), other=np.zeros(3))
            store = files.open_boxes(path)
            assert store.name == "others"
            assert store.dtype.isnative
            np.testing.assert_array_equal(store.frame(1)[0], lower[1])
            np.testing.assert_array_equal(store.frame(1)[1], lower[1] + 1)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_frames_that_break_their_promise(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    one = (np.zeros((2, 3)), np.ones((2, 3)))

    def failing() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        yield one
        raise KeyboardInterrupt

    cases: list[tuple[list[tuple[np.ndarray, np.ndarray]], int, str]] = [
        ([one], 2, "Only 1 of the 2"),
        ([one] * 3, 2, "More than the 2"),
        ([one, (one[0][:1], one[1][:1])], 2, "Frame 1 is float64 of shape"),
        ([one, (one[0].astype("f4"), one[1].astype("f4"))], 2, "Frame 1 is float32"),
        ([], 0, "frame_count is 0; it must be a whole number of at least 1"),
        ([], 1, "Only 0 of the 1"),
    ]
    for frames, count, sentence in cases:
        with pytest.raises(InvalidInput, match=sentence):
            boxes.write_frames(path, frames, frame_count=count)
    with pytest.raises(KeyboardInterrupt):
        boxes.write_frames(path, failing(), frame_count=2)
    with pytest.raises(UnknownName, match="format for frames"):
        boxes.write_frames(tmp_path / "a.csv", [one], frame_count=1)
    assert list(tmp_path.iterdir()) == []

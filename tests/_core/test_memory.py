"""Reused memory never changes under an array that still exists."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque._core import memory


@given(st.lists(st.tuples(st.integers(1, 900_000), st.booleans()), max_size=12))
def test_no_two_living_arrays_share_memory(requests: list[tuple[int, bool]]) -> None:
    living = []
    for number, (byte_count, stays) in enumerate(requests):
        array = memory.empty(byte_count, np.uint8)
        array[:] = number
        if stays:
            living.append((array[byte_count // 2 :], number))  # a view must hold the memory as well as the array does
        del array
    assert all((view == number).all() for view, number in living)


def test_memory_is_reused_when_its_last_view_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()  # what earlier tests left behind must not be given back in between
    monkeypatch.setattr(memory, "_kept", {})
    monkeypatch.setattr(memory, "_kept_bytes", 0)
    first = memory.empty((1000, 100), np.float64)
    address = first.ctypes.data
    view = first[3:7].T
    del first
    gc.collect()
    other = memory.empty((1000, 100), np.float64)
    assert other.ctypes.data != address
    del view
    gc.collect()
    assert memory.empty((1000, 100), np.float64).ctypes.data == address


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_kept", {})
    monkeypatch.setattr(memory, "_kept_bytes", 0)
    monkeypatch.setattr(memory, "MAX_KEPT_BYTES", 1 << 21)
    for _ in range(5):
        arrays = [memory.empty(900_000, np.uint8) for _ in range(10)]
        del arrays
    assert 0 < memory._kept_bytes <= 1 << 21
    assert memory._kept_bytes == sum(size * len(blocks) for size, blocks in memory._kept.items())


@pytest.mark.parametrize("shape", [(), 0, (0, 3), 5, (70_000, 2)])
def test_arrays_are_like_those_of_numpy(shape: int | tuple[int, ...]) -> None:
    given_array, expected = memory.empty(shape, np.float32), np.empty(shape, np.float32)
    assert given_array.shape == expected.shape
    assert given_array.dtype == expected.dtype
    assert given_array.flags.c_contiguous
    assert given_array.flags.writeable
    assert given_array.flags.aligned


def test_an_owner_whose_making_was_interrupted_is_dropped_in_silence() -> None:
    owner = object.__new__(memory._Lease)
    owner.__del__()


def test_what_is_not_used_for_long_is_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    monkeypatch.setattr(memory, "_kept", {})
    monkeypatch.setattr(memory, "_kept_bytes", 0)
    monkeypatch.setattr(memory.time, "monotonic", lambda: 100.0)
    first, second = memory.empty(900_000, np.uint8), memory.empty(900_000, np.uint8)
    del first
    monkeypatch.setattr(memory.time, "monotonic", lambda: 103.0)
    del second
    gc.collect()
    both = memory._kept_bytes
    memory.drop_unused(99.0)
    assert memory._kept_bytes == both
    memory.drop_unused(102.0)
    assert memory._kept_bytes == both // 2 > 0
    memory.drop_unused(104.0)
    assert memory._kept_bytes == 0


def test_blocks_in_use_take_the_place_of_those_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    monkeypatch.setattr(memory, "_kept", {})
    monkeypatch.setattr(memory, "_kept_bytes", 0)
    monkeypatch.setattr(memory, "MAX_KEPT_BYTES", 1 << 20)
    monkeypatch.setattr(memory.time, "monotonic", lambda: 100.0)
    memory.empty(900_000, np.uint8)
    before = list(memory._kept)
    monkeypatch.setattr(memory.time, "monotonic", lambda: 100.5)
    memory.empty(700_000, np.uint8)
    assert [size for size, blocks in memory._kept.items() if blocks] == before  # no room, and it may be used again
    monkeypatch.setattr(memory.time, "monotonic", lambda: 101.5)
    memory.empty(700_000, np.uint8)
    assert [size for size, blocks in memory._kept.items() if blocks] != before
    assert 700_000 <= memory._kept_bytes < 900_000


def test_nothing_is_kept_once_no_thread_would_give_it_back(monkeypatch: pytest.MonkeyPatch) -> None:
    gc.collect()
    monkeypatch.setattr(memory, "_kept", {})
    monkeypatch.setattr(memory, "_kept_bytes", 0)
    array = memory.empty(900_000, np.uint8)
    monkeypatch.setattr(memory, "_keeper", None)
    del array
    gc.collect()
    assert memory._kept_bytes == 0


def test_a_sum_that_went_wrong_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that add at once can lose an addition; without a correction nothing, or everything, would be kept."""
    gc.collect()
    monkeypatch.setattr(memory, "_kept", {})
    monkeypatch.setattr(memory, "_kept_bytes", 1 << 40)
    arrays = [memory.empty(900_000, np.uint8) for _ in range(3)]
    del arrays
    gc.collect()
    memory.drop_unused(0.0)
    assert memory._kept_bytes == sum(size * len(blocks) for size, blocks in memory._kept.items()) < 1 << 22


def test_columns_of_objects_are_joined_whatever_their_size() -> None:
    """Scenes with meshes, or of more than 8,192 bodies: NumPy allows no references on reused memory."""
    parts = [np.full(5_000, name, object) for name in ("one", None)]
    joined = memory.aligned_copy(*parts)
    assert joined.dtype == np.dtype(object)
    assert joined.tolist() == ["one"] * 5_000 + [None] * 5_000

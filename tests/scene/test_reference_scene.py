"""The reference scene, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from choque import scene
from choque.errors import InvalidInput


def scalar_values(seed: int, count: int) -> list[int]:
    state, values = seed, []
    for _ in range(count):
        state = (state * 214013 + 2531011) % 2**32
        values.append((state >> 16) & 0x7FFF)
    return values


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 42])
def test_boxes_of_a_scalar_generator(seed: int) -> None:
    lower, upper = scene.generate("reference", 500, seed=seed).frame()
    values = iter(scalar_values((42 + seed) % 2**32, 3000))
    for row in range(500):
        center = [(next(values) & 4095) - 2048 for _ in range(3)]
        half = [next(values) & 127 for _ in range(3)]
        assert lower[row].tolist() == [c - h for c, h in zip(center, half, strict=True)]
        assert upper[row].tolist() == [c + h for c, h in zip(center, half, strict=True)]


def test_first_value_is_that_of_the_old_library() -> None:
    assert scalar_values(42, 1) == [175]
    assert scene.generate("reference", 1).frame()[0][0, 0] + (scalar_values(42, 6)[3] & 127) == 175 - 2048


def test_fewer_boxes_are_a_beginning_of_more() -> None:
    few, many = scene.generate("reference", 10), scene.generate("reference", 1000)
    np.testing.assert_array_equal(many.frame()[0][:10], few.frame()[0])
    assert scene.generate("reference", 0).frame()[0].shape == (0, 3)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_known_number_of_pairs(dtype: str) -> None:
    lower, upper = scene.generate("reference", 10_000, dtype=dtype).frame()
    order = np.argsort(lower[:, 0], kind="stable")
    lower, upper = lower[order], upper[order]
    ends = np.searchsorted(lower[:, 0], upper[:, 0], side="right")
    found = 0
    for box, end in enumerate(ends):
        later = slice(box + 1, end)
        found += int(((lower[later] <= upper[box]) & (lower[box] <= upper[later])).all(axis=1).sum())
    assert found == 11_811


def test_exists_in_3d_only() -> None:
    with pytest.raises(InvalidInput, match="3D only"):
        scene.generate("reference", 10, dimension=2)

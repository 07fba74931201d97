"""Booleans in one, two and three dimensions equal those of sets of voxels."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from volume_oracles import OPERATIONS, placed, random_pairs

from choque.lab import phantoms
from choque.volumes import ExtremeVertices
from choque.volumes.boolean import combine_keys


def test_random_pairs(thorough: bool) -> None:
    """F-003-08, F-003-15."""
    for one, two in random_pairs(10_000 if thorough else 250, seed=3):
        left, right = (ExtremeVertices.from_mask(mask) for mask in (one, two))
        for name, operation in OPERATIONS.items():
            wanted = ExtremeVertices.from_mask(operation(one, two))
            assert left.combine(right, name).points.tolist() == wanted.points.tolist()


@pytest.mark.parametrize("dimension", [1, 2])
def test_flat_pairs(dimension: int) -> None:
    """F-003-08."""
    for one, two in random_pairs(300, dimension, 10, seed=4):
        left, right = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(two)
        for name, operation in OPERATIONS.items():
            assert (
                left.combine(right, name).points.tolist()
                == ExtremeVertices.from_mask(operation(one, two)).points.tolist()
            )


def test_operands_in_other_places_and_orders() -> None:
    random = np.random.default_rng(5)
    for one, two in random_pairs(60, most=5, seed=6):
        shift = tuple(random.integers(-4, 5, 3).tolist())
        left = ExtremeVertices.from_mask(one)
        right = ExtremeVertices.from_mask(two).reordered(str(random.choice(["zyx", "yxz", "xyz"]))).moved(shift)
        far = tuple(size + 6 for size in one.shape)
        for name, operation in OPERATIONS.items():
            wanted = operation(placed(one, (0, 0, 0), 6), placed(two, shift, 6))
            assert np.array_equal(left.combine(right, name).mask((-6, -6, -6), far), wanted)


def test_every_pair_of_intervals_on_a_short_line(thorough: bool) -> None:
    """F-003-08: all intervals, and some of all unions of two."""
    cells = np.arange(8)
    objects = [(cells >= start) & (cells < stop) for start, stop in combinations(range(9), 2)]
    unions = objects + [one | two for one, two in combinations(objects, 2)]
    unions = objects + unions[len(objects) :: 5 if thorough else 30]
    models = [ExtremeVertices.from_mask(mask) for mask in unions]
    for left, one in zip(models, unions, strict=True):
        for right, two in zip(models, unions, strict=True):
            for name in ("union", "intersection", "difference"):
                found = left.combine(right, name).mask((0,), (8,))
                assert np.array_equal(found, OPERATIONS[name](one, two))


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ball", "gyroid"),
        ("menger", "shell"),
        ("vertebra", "screw"),
        ("gyroid", "gyroid-channel"),
        ("random", "menger"),
    ],
)
def test_phantoms(name: str, other: str, thorough: bool) -> None:
    """F-003-08, F-003-15."""
    size = 64 if thorough else 27
    one, two = (phantoms.PHANTOMS.find(phantom)(size) for phantom in (name, other))
    left, right = (ExtremeVertices.from_mask(mask) for mask in (one, two))
    for operation, oracle in OPERATIONS.items():
        assert np.array_equal(left.combine(right, operation).mask((0, 0, 0), one.shape), oracle(one, two))


def test_xor_is_one_merge() -> None:
    """F-003-05: it reads no brinks and combines no sections."""
    counts = np.zeros(2, np.int64)
    gyroid = ExtremeVertices.from_mask(phantoms.gyroid(20))
    left, right, _ = gyroid.together(gyroid.moved((1, 1, 1)))
    assert len(combine_keys(left, right, 3, "xor", counts)) > 0
    assert counts.tolist() == [0, 0]
    assert (gyroid ^ gyroid).is_empty

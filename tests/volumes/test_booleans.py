"""All booleans in one, two and three dimensions and both layouts equal those of voxel sets."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from volume_oracles import OPERATIONS, placed, random_pairs

from choque.volumes import ExtremeVertices, SweepCounters, phantoms

LAYOUTS = ("sorted", "trie")


@pytest.mark.parametrize("layout", LAYOUTS)
def test_random_pairs(layout: str, thorough: bool) -> None:
    """F-003-08, F-003-15, F-003-16."""
    for one, two in random_pairs(10_000 if thorough else 250, seed=3):
        left, right = (ExtremeVertices.from_mask(mask, layout=layout) for mask in (one, two))
        for name, operation in OPERATIONS.items():
            wanted = ExtremeVertices.from_mask(operation(one, two))
            found = left.combine(right, name)
            assert found.points.tolist() == wanted.points.tolist()
            assert found.layout == layout


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
        assert left.collides(right) == (one & two).any()


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
            assert left.collides(right) == (one & two).any()
            for name in ("union", "intersection", "difference"):
                found = left.combine(right, name).mask((0,), (8,))
                assert np.array_equal(found, OPERATIONS[name](one, two))


@pytest.mark.parametrize("layout", LAYOUTS)
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
def test_phantoms(name: str, other: str, layout: str, thorough: bool) -> None:
    """F-003-08, F-003-15, F-003-16."""
    size = 64 if thorough else 27
    one, two = (phantoms.PHANTOMS[phantom](size) for phantom in (name, other))
    left, right = (ExtremeVertices.from_mask(mask, layout=layout) for mask in (one, two))
    for operation, oracle in OPERATIONS.items():
        assert np.array_equal(left.combine(right, operation).mask((0, 0, 0), one.shape), oracle(one, two))
    assert left.collides(right) == (one & two).any()


def test_acceleration_changes_the_work_and_not_the_result() -> None:
    """F-003-09."""
    ball = ExtremeVertices.from_mask(phantoms.ball(24))
    other = ball.moved((12, 3, 5))
    for operation in ("union", "intersection", "difference"):
        fast, plain = SweepCounters(), SweepCounters()
        quick = ball.combine(other, operation, counters=fast)
        slow = ball.combine(other, operation, improve=False, counters=plain)
        assert quick.points.tolist() == slow.points.tolist()
        assert fast.sections < plain.sections
        assert fast.brinks < plain.brinks


def test_xor_is_linear() -> None:
    """F-003-05: one merge: it reads no brinks and hands no sections down, whatever the objects."""
    counters = SweepCounters()
    gyroid = ExtremeVertices.from_mask(phantoms.gyroid(20))
    gyroid.combine(gyroid.moved((1, 1, 1)), "xor", counters=counters)
    assert (counters.brinks, counters.sections) == (0, 0)
    assert (gyroid ^ gyroid).is_empty()

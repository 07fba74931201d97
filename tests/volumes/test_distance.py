"""Clearance, sliding and separation, against all pairs of voxels."""

from __future__ import annotations

import numpy as np
import pytest
from volume_oracles import cells, random_mask

from choque.errors import InvalidInput
from choque.lab import phantoms
from choque.volumes import Volume

SPACING = (1.0, 2.0, 0.5)
DIRECTIONS = [np.array(step) for step in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))]


def _pairs(count: int, seed: int) -> list[tuple[Volume, Volume, set[tuple[int, ...]], set[tuple[int, ...]]]]:
    random = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        one, two = random_mask(random, 3, 6), random_mask(random, 3, 6) & (random.random() < 0.9)
        shift = tuple(random.integers(-9, 10, 3).tolist())
        if one.any() and two.any():
            first = Volume.from_voxels(one, spacing=SPACING, origin=(0.25, -3.0, 7.0))
            second = Volume.from_voxels(two, spacing=SPACING, origin=(0.25, -3.0, 7.0))
            second = second.translated(tuple(step * size for step, size in zip(shift, SPACING, strict=True)))
            found.append((first, second, cells(one), cells(two, shift)))
    return found


def test_clearance_is_the_least_distance_of_all_voxels() -> None:
    for one, two, here, there in _pairs(60, 0):
        gaps = np.abs(np.array(sorted(here))[:, None] - np.array(sorted(there))[None]) - 1
        wanted = np.linalg.norm(np.maximum(gaps, 0) * SPACING, axis=-1).min()
        assert one.clearance(two) == pytest.approx(wanted, abs=1e-12)
        assert two.clearance(one) == pytest.approx(wanted, abs=1e-12)
        first, second = one.nearest_points(two)
        assert np.linalg.norm(first - second) == pytest.approx(wanted, abs=1e-12)


def test_sliding_ends_where_a_step_would_collide() -> None:
    for one, two, here, there in _pairs(40, 1):
        if here & there:
            assert one.slide(two, (1, 0, 0)) == 0.0
            continue
        for step in DIRECTIONS:
            moved, free = np.array(sorted(there)), 0
            while free < 30 and not here & {tuple(cell) for cell in (moved + step * (free + 1)).tolist()}:
                free += 1
            size = float(np.abs(step) @ SPACING)
            assert one.slide(two, 3 * step) == pytest.approx(float("inf") if free == 30 else free * size)


def test_sliding_along_a_slant_reaches_the_corner() -> None:
    cube = Volume.from_voxels(np.ones((2, 2, 2), np.bool_))
    other = cube.translated((5.0, 5.0, 0.0))
    assert cube.slide(other, (-1, -1, 0)) == pytest.approx(3 * np.sqrt(2))
    assert cube.slide(other, (-1, 1, 0)) == float("inf")
    assert cube.slide(cube.translated((2.0, 0.0, 0.0)), (0, 1, 0)) == float("inf")  # along a common face
    assert cube.slide(cube.translated((2.0, 0.0, 0.0)), (-1, 0, 0)) == 0.0


def test_separation_is_the_shortest_push_along_an_axis() -> None:
    for one, two, here, there in _pairs(60, 2):
        push = one.separation(two)
        if not here & there:
            assert push.tolist() == [0.0, 0.0, 0.0]
            continue
        lengths = []
        for step in DIRECTIONS:
            count = 0
            while here & {tuple(cell) for cell in (np.array(sorted(there)) + step * count).tolist()}:
                count += 1
            lengths.append(count * float(np.abs(step) @ SPACING))
        assert np.abs(push).sum() == pytest.approx(min(lengths))
        assert one.collides(two)
        assert not one.collides(two.translated(push))


def test_a_large_pair() -> None:
    ball = phantoms.make("ball", 40)
    assert ball.clearance(ball.translated((60.0, 0.0, 0.0))) == pytest.approx(20.0)
    assert ball.slide(ball.translated((60.0, 0.0, 0.0)), (-1, 0, 0)) == pytest.approx(20.0)


def test_bad_input_is_one_sentence() -> None:
    cube = Volume.from_voxels(np.ones((2, 2, 2), np.bool_))
    with pytest.raises(InvalidInput, match="length"):
        cube.slide(cube, (0, 0, 0))
    with pytest.raises(InvalidInput, match="three finite numbers"):
        cube.slide(cube, (0, 1))
    with pytest.raises(InvalidInput, match="empty"):
        cube.nearest_points(cube - cube)


def test_sliding_in_any_direction_ends_at_first_contact() -> None:
    """Just before the distance nothing overlaps, just after it something does; by the boxes of both, brute force."""
    random = np.random.default_rng(3)
    hits = 0
    for one, two, _, _ in _pairs(60, 4):
        direction = np.mean(one.bounds, axis=0) - np.mean(two.bounds, axis=0) + random.normal(size=3)
        direction /= np.linalg.norm(direction)
        (low, high), (other_low, other_high) = one.boxes(), two.boxes()

        def overlap(distance: float, low=low, high=high, other=(other_low, other_high), direction=direction) -> bool:
            lower, upper = other[0] + distance * direction, other[1] + distance * direction
            return bool(((low[:, None] < upper) & (lower < high[:, None])).all(axis=2).any())

        found = one.slide(two, direction)
        if found < np.inf:
            hits += 1
            assert overlap(found + 1e-9)
            assert not any(overlap(step) for step in np.linspace(0.0, found - 1e-9, 40) if found > 0)
        else:
            assert not any(overlap(step) for step in np.linspace(0.0, 60.0, 600))
    assert 10 < hits < 60

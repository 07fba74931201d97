"""Radii that follow the crowd: within one of the target wherever geometry allows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from interest_oracles import arena, members, rows, squared

from choque.errors import InvalidInput
from choque.interest import Areas


def counts(areas: Areas) -> Any:
    return np.diff(areas.all_members()[0])


@pytest.mark.parametrize("shape", ["sphere", "box"])
@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("target", [1, 7, 32])
def test_every_area_holds_the_target(shape: Any, dimension: int, target: int) -> None:
    """F-004-40: random places have no two equal distances, so geometry allows the target exactly."""
    random = np.random.default_rng(target)
    position = np.concatenate((random.normal(0, 0.01, (150, dimension)), random.random((150, dimension))))
    areas = Areas(position, radius=0.2, body_radius=random.uniform(0, 1e-6, 300), shape=shape)
    before = set(rows(areas.pairs()))
    areas.adapt(target)
    assert (counts(areas) == target).all()
    assert rows(areas.pairs()) == members(position, areas.radius, areas.body_radius, shape)
    assert (before - set(rows(areas.left))) | set(rows(areas.entered)) == set(rows(areas.pairs()))
    assert np.median(areas.radius[:150]) < 0.2 * np.median(areas.radius[150:])  # crowded ones look less far


@given(st.integers(0, 1000), st.integers(1, 12), st.sampled_from(("sphere", "box")))
def test_ties_give_fewer_members_and_never_more(seed: int, target: int, shape: Any) -> None:
    """On a lattice many are equally far: the most that a radius can hold without exceeding the target is held."""
    random = np.random.default_rng(seed)
    position = random.integers(0, 5, (30, 2))
    areas = Areas(position, radius=1.0, shape=shape)
    areas.adapt(target)
    distance = np.sqrt(squared(position, shape))
    np.fill_diagonal(distance, np.inf)
    for row, count in enumerate(counts(areas)):
        reached = np.sort(distance[row])
        possible = [0, *(int((reached <= radius).sum()) for radius in np.unique(reached[np.isfinite(reached)]))]
        coincident = int((reached == 0).sum())
        assert count == max([size for size in possible if size <= target], default=0) or count == coincident > target


def test_limits_hold() -> None:
    position = np.concatenate((np.random.default_rng(1).normal(0, 0.01, (80, 3)), [[50.0, 0, 0]]))
    areas = Areas(position, radius=1.0)
    areas.adapt(10, smallest=0.5, largest=2.0)
    np.testing.assert_array_equal(areas.radius, [0.5] * 80 + [2.0])
    assert counts(areas).tolist() == [79] * 80 + [0]
    areas.adapt(1000)
    assert (areas.radius == np.inf).all()
    assert (counts(areas) == 80).all()


def test_bodies_without_areas_get_none() -> None:
    areas = Areas([[0, 0], [1, 0], [3, 0]], radius=[9.0, None, 0.0])
    areas.adapt(1)
    assert np.isnan(areas.radius[1])
    assert rows(areas.pairs()) == [(0, 1), (2, 1)]


def test_owners_in_motion_are_kept_at_the_target(thorough: bool) -> None:
    motion = arena(200, start="sparse")
    areas = Areas(motion.spheres(0)[0], radius=1.0)
    held = set(rows(areas.entered))
    for frame in range(1, 100 if thorough else 25):
        areas.update(motion.spheres(frame)[0])
        held = (held - set(rows(areas.left))) | set(rows(areas.entered))
        areas.adapt(12, largest=10.0)
        held = (held - set(rows(areas.left))) | set(rows(areas.entered))
        assert (counts(areas) == 12).all()
        assert sorted(held) == rows(areas.pairs())


@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_limits_may_differ_from_body_to_body(shape: Any) -> None:
    """F-004-40: no area below k = 2 bodies of its own size, whatever the sizes."""
    random = np.random.default_rng(3)
    size = random.uniform(0.001, 0.1, 200)
    areas = Areas(random.random((200, 2)), radius=0.2, body_radius=size, shape=shape)
    areas.adapt(5)
    free = areas.radius
    areas.adapt(5, smallest=2 * size, largest=np.full(200, 0.3))
    np.testing.assert_array_equal(areas.radius, np.minimum(np.maximum(free, 2 * size), 0.3))
    assert (areas.radius >= 2 * size).all()
    assert (areas.radius > free).any()
    with pytest.raises(InvalidInput, match=r"smallest has the shape \(3,\)"):
        areas.adapt(5, smallest=[1, 2, 3])
    with pytest.raises(InvalidInput, match=r"smallest is 0.4 and largest is 0.3"):
        areas.adapt(5, smallest=0.4, largest=0.3)

"""Collisions equal the intersection of voxel sets: every placement, every axis, both contacts, both layouts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import ndimage
from volume_oracles import random_mask, random_pairs

from choque.errors import UnknownName
from choque.theses.evm.sweep import sweep_collides
from choque.volumes import ExtremeVertices, SweepCounters, Volume, phantoms
from choque.volumes._collision import search

LAYOUTS = ("sorted", "trie")
ROOM = 9


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_sweep_on_random_pairs(layout: str, thorough: bool) -> None:
    """F-003-11, F-003-15, F-003-16, F-003-17."""
    for one, two in random_pairs(10_000 if thorough else 300, seed=7):
        left, right = (ExtremeVertices.from_mask(mask, layout=layout) for mask in (one, two))
        assert left.collides(right) == (one & two).any() == (not (left & right).is_empty())


def test_kept_sections_on_random_placements(thorough: bool) -> None:
    """F-003-11, F-003-18."""
    random = np.random.default_rng(8)
    for _ in range(10_000 if thorough else 300):
        one, two = random_mask(random), random_mask(random, 3, 5)
        shift = tuple(random.integers(-ROOM + 3, ROOM - 4, 3).tolist())
        left, right = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(two)
        room = np.maximum(one.shape, two.shape) + 2 * ROOM
        here, there = np.zeros(room, np.bool_), np.zeros(room, np.bool_)
        here[tuple(slice(ROOM, ROOM + size) for size in one.shape)] = one
        there[tuple(slice(ROOM + step, ROOM + step + size) for step, size in zip(shift, two.shape, strict=True))] = two
        near = ndimage.binary_dilation(here, np.ones((3, 3, 3)))
        for axis in (None, "x", "y", "z"):
            found = search(left, right, shift, axis=axis)
            assert (found.overlap is not None) == (here & there).any()
            if found.overlap is not None:
                lower, upper = (np.array(corner) + ROOM for corner in found.overlap)
                box = tuple(slice(*ends) for ends in zip(lower, upper, strict=True))
                assert (here & there)[box].all()
                assert (here & there)[box].size > 0
            assert (search(left, right, shift, "closed", axis).overlap is not None) == (near & there).any()


def test_all_pairs_of_intervals() -> None:
    """F-003-10: exhaustive on 0..8: one interval against one, and against two."""
    single = [np.array(ends) for ends in combinations(range(9), 2)]
    double = [np.array(ends) for ends in combinations(range(9), 4)]
    for one in single:
        for two in single + double:
            inside = [set(range(one[0], one[1])) & set(range(a, b)) for a, b in two.reshape(-1, 2)]
            assert sweep_collides(one, two, 1) == any(inside)
            assert sweep_collides(two, one, 1) == any(inside)


def test_the_first_overlap_ends_the_sweep() -> None:
    """F-003-11."""
    solid = ExtremeVertices.from_mask(np.ones((6, 6, 6), np.bool_))
    counters = SweepCounters()
    assert solid.collides(solid, counters=counters)
    assert (counters.brinks, counters.sections) == (1, 1)
    ball = ExtremeVertices.from_mask(phantoms.ball(30))
    early, full = SweepCounters(), SweepCounters()
    assert ball.collides(ball.moved((5, 5, 5)), counters=early)
    ball.combine(ball.moved((5, 5, 5)), "intersection", counters=full)
    assert early.brinks < full.brinks / 10
    assert search(ball, ball, (5, 5, 5)).brinks < full.brinks / 10


def test_skipping_empty_and_distant_sections_changes_no_answer() -> None:
    """F-003-46."""
    for one, two in random_pairs(80, seed=9):
        left, right = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(two)
        fast, plain = SweepCounters(), SweepCounters()
        assert left.collides(right, counters=fast) == left.collides(right, improve=False, counters=plain)
        assert fast.brinks <= plain.brinks
        assert fast.sections <= plain.sections


@pytest.mark.parametrize(
    ("shift", "touching"),
    [((2, 0, 0), True), ((2, 2, 0), True), ((2, -2, 2), True), ((3, 0, 0), False), ((2, 3, 0), False)],
)
def test_touching_is_a_collision_only_when_closed(shift: tuple[int, int, int], touching: bool) -> None:
    """F-003-12."""
    cube = Volume.from_voxels(np.ones((2, 2, 2), np.bool_))
    other = cube.translated(shift)
    assert not cube.collides(other)
    assert cube.collides(other, contact="closed") == touching
    contact = cube.collision(other, contact="closed")
    assert (contact is not None) == touching
    if contact is not None:
        assert contact.volume() == 0.0
        assert (contact.lower <= contact.upper).all()


def test_a_ball_in_a_cavity() -> None:
    """F-003-13."""
    shell, ball = phantoms.make("shell", 40), Volume.from_voxels(phantoms.ball(40, 0.7))
    filled = shell | Volume.from_voxels(phantoms.ball(40, 0.85))
    assert not shell.collides(ball)
    assert filled.collides(ball)
    assert shell.collides(ball.translated((6.0, 0.0, 0.0)))


@pytest.mark.parametrize("other", [(1, 1, 0), (1, 0, 1), (0, 1, 1), (1, 1, 1)])
def test_cells_that_meet_in_an_edge_or_a_corner(other: tuple[int, int, int]) -> None:
    """F-003-14."""
    mask = np.zeros((2, 2, 2), np.bool_)
    mask[0, 0, 0] = mask[other] = True
    joined, rest = Volume.from_voxels(mask), Volume.from_voxels(~mask)
    assert len(joined.model) == (14 if other == (1, 1, 1) else 12)
    assert not joined.collides(rest)
    assert joined.collides(rest, contact="closed")
    assert (joined | rest).voxel_count == 8
    assert len((joined | rest).model) == 8
    assert len(joined.components(6)) == 2
    assert len(joined.components(26)) == 1


def test_stacked_spheres_are_parted_by_the_best_axis() -> None:
    """F-003-46."""
    ball = phantoms.make("ball", 32)
    above = ball.translated((14.0, 14.0, 27.0))
    slow, fast = (search(ball.model, above.model, (0, 0, 0), axis=axis) for axis in ("x", "z"))
    chosen = search(phantoms.make("ball", 32).model, above.model, (0, 0, 0))
    assert slow.overlap is None
    assert fast.overlap is None
    assert 0 < fast.sections < slow.sections
    assert chosen.sections == fast.sections
    assert search(ball.model, ball.translated((0.0, 0.0, 40.0)).model, (0, 0, 0)).sections == 0  # the boxes say it


def test_the_intersection_is_the_baseline_everywhere() -> None:
    """F-003-17."""
    random = np.random.default_rng(10)
    menger, gyroid = phantoms.make("menger", 27), phantoms.make("gyroid", 24)
    for _ in range(40):
        moved = gyroid.translated(tuple(random.integers(-26, 27, 3).astype(float)))
        assert menger.collides(moved) == (not (menger & moved).is_empty())


def test_an_unknown_contact_is_refused() -> None:
    cube = Volume.from_voxels(np.ones((1, 1, 1), np.bool_))
    with pytest.raises(UnknownName, match="closed"):
        cube.collides(cube, contact="touching")


def test_an_empty_volume_collides_with_nothing() -> None:
    empty = Volume.from_voxels(np.zeros((4, 4, 4), np.bool_))
    cube = Volume.from_voxels(np.ones((4, 4, 4), np.bool_))
    for one, two in ((empty, cube), (cube, empty), (empty, empty)):
        assert not one.collides(two, contact="closed")
        assert one.collision(two) is None
        assert one.clearance(two) == float("inf")
        assert one.slide(two, (1, 0, 0)) == float("inf")
        assert one.separation(two).tolist() == [0, 0, 0]
        assert (one & two).is_empty()
    assert (empty | cube) == cube

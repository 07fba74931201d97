"""Collisions equal the intersection of sets of voxels: every placement, every axis, open and closed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage
from volume_oracles import random_mask

from choque.errors import InvalidInput
from choque.lab import phantoms
from choque.volumes import ExtremeVertices, Volume
from choque.volumes.collision import search

MARGIN = 9


def test_random_placements(thorough: bool) -> None:
    """F-003-11, F-003-18."""
    random = np.random.default_rng(8)
    for _ in range(10_000 if thorough else 300):
        one, two = random_mask(random), random_mask(random, 3, 5)
        shift = tuple(random.integers(-MARGIN + 3, MARGIN - 4, 3).tolist())
        left, right = ExtremeVertices.from_mask(one), ExtremeVertices.from_mask(two)
        shape = np.maximum(one.shape, two.shape) + 2 * MARGIN
        here, there = np.zeros(shape, np.bool_), np.zeros(shape, np.bool_)
        here[tuple(slice(MARGIN, MARGIN + size) for size in one.shape)] = one
        lower = MARGIN + np.array(shift)
        there[tuple(slice(*ends) for ends in zip(lower, lower + two.shape, strict=True))] = two
        near = ndimage.binary_dilation(here, np.ones((3, 3, 3)))
        for axis in (None, "x", "y", "z"):
            found = search(left, right, shift, axis=axis)
            assert (found.overlap is not None) == (here & there).any()
            if found.overlap is not None:
                lower, upper = (np.array(corner) + MARGIN for corner in found.overlap)
                box = tuple(slice(*ends) for ends in zip(lower, upper, strict=True))
                assert (here & there)[box].all()
                assert (here & there)[box].size > 0
            assert (search(left, right, shift, closed=True, axis=axis).overlap is not None) == (near & there).any()


@pytest.mark.parametrize(
    ("shift", "touching"),
    [((2, 0, 0), True), ((2, 2, 0), True), ((2, -2, 2), True), ((3, 0, 0), False), ((2, 3, 0), False)],
)
def test_touching_is_a_collision_only_when_closed(shift: tuple[int, int, int], touching: bool) -> None:
    """F-003-12."""
    cube = Volume.from_voxels(np.ones((2, 2, 2), np.bool_))
    other = cube.translated(shift)
    assert not cube.collides(other)
    assert cube.collides(other, closed=True) == touching
    contact = cube.collision(other, closed=True)
    assert (contact is not None) == touching
    if contact is not None:
        assert contact.region().volume == 0.0
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
    assert joined.collides(rest, closed=True)
    assert (joined | rest).voxel_count == 8
    assert len((joined | rest).model) == 8
    assert len(joined.components(connectivity=6)) == 2
    assert len(joined.components(connectivity=26)) == 1


def test_stacked_spheres_are_separated_along_the_best_axis() -> None:
    """F-003-46."""
    ball = phantoms.make("ball", 32)
    above = ball.translated((14.0, 14.0, 27.0))
    slow, fast = (search(ball.model, above.model, (0, 0, 0), axis=axis) for axis in ("x", "z"))
    chosen = search(phantoms.make("ball", 32).model, above.model, (0, 0, 0))
    assert slow.overlap is None
    assert fast.overlap is None
    assert 0 < fast.sections < slow.sections
    assert chosen.sections == fast.sections
    assert search(ball.model, ball.translated((0.0, 0.0, 40.0)).model, (0, 0, 0)).sections == 0  # the boxes are apart


def test_the_intersection_is_the_baseline_everywhere() -> None:
    """F-003-17."""
    random = np.random.default_rng(10)
    menger, gyroid = phantoms.make("menger", 27), phantoms.make("gyroid", 24)
    for _ in range(40):
        moved = gyroid.translated(tuple(random.integers(-26, 27, 3).astype(float)))
        assert menger.collides(moved) == (not (menger & moved).is_empty)


def test_closed_is_true_or_false() -> None:
    cube = Volume.from_voxels(np.ones((1, 1, 1), np.bool_))
    for wrong in ("closed", 1, None):
        with pytest.raises(InvalidInput, match="closed is"):
            cube.collides(cube, closed=wrong)  # type: ignore[arg-type]


def test_every_cached_structure_is_counted() -> None:
    """Sections, bundles and the tree; a translated volume shares them."""
    ball = phantoms.make("ball", 24)
    moved = ball.translated((5.0, 4.0, 3.0))
    sizes = [ball.model.cached_byte_count]
    for query in (lambda: ball.collides(moved), lambda: ball.model.bundles("xyz"), lambda: ball.clearance(moved)):
        query()
        sizes.append(ball.model.cached_byte_count)
    assert sizes[0] == 0
    assert sizes == sorted(set(sizes))
    assert sizes[-1] - sizes[-2] >= ball.model.tree().nbytes > 0
    assert moved.model.cached_byte_count == sizes[-1]


def test_an_empty_volume_collides_with_nothing() -> None:
    empty = Volume.from_voxels(np.zeros((4, 4, 4), np.bool_))
    cube = Volume.from_voxels(np.ones((4, 4, 4), np.bool_))
    for one, two in ((empty, cube), (cube, empty), (empty, empty)):
        assert not one.collides(two, closed=True)
        assert one.collision(two) is None
        assert one.clearance(two) == float("inf")
        assert one.slide(two, (1, 0, 0)) == float("inf")
        assert one.separation(two).tolist() == [0, 0, 0]
        assert (one & two).is_empty
    assert (empty | cube) == cube

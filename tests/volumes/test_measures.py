"""Volume, surface, perimeter, parts, and growing and shrinking, against grids of voxels."""

from __future__ import annotations

from time import process_time

import numpy as np
import pytest
from scipy import ndimage
from volume_oracles import random_mask

from choque.errors import InvalidInput, UnknownName
from choque.lab import phantoms
from choque.volumes import ExtremeVertices, Volume
from choque.volumes._measures import (  # models without a lattice, in 1 to 3 dimensions
    boundary,
    component_count,
    components,
    content,
    dilated,
    eroded,
    skeleton,
)


def test_contents_and_boundaries_are_those_of_the_grid() -> None:
    """F-003-29."""
    random = np.random.default_rng(0)
    for _ in range(80):
        mask = random_mask(random, int(random.integers(1, 4)))
        model = ExtremeVertices.from_mask(mask)
        assert content(model) == mask.sum()
        steps = [np.abs(np.diff(np.pad(mask, 1).astype(int), axis=axis)).sum() for axis in range(mask.ndim)]
        assert boundary(model) == tuple(steps)


def test_measures_use_the_size_of_a_voxel() -> None:
    block = Volume.from_voxels(np.ones((2, 3, 4), np.bool_), spacing=(0.5, 2.0, 1.5))
    x, y, z = 1.0, 6.0, 6.0
    assert block.volume == pytest.approx(x * y * z)
    assert block.surface_area == pytest.approx(2 * (x * y + y * z + z * x))


@pytest.mark.parametrize(("connectivity", "rank"), [(6, 1), (18, 2), (26, 3)])
def test_components_are_those_of_the_grid(connectivity: int, rank: int) -> None:
    """F-003-29."""
    random = np.random.default_rng(connectivity)
    for _ in range(60):
        mask = random.random(tuple(random.integers(1, 9, 3))) < random.random() * 0.5
        labels, count = ndimage.label(mask, ndimage.generate_binary_structure(3, rank))
        parts = components(ExtremeVertices.from_mask(mask), connectivity)
        assert component_count(ExtremeVertices.from_mask(mask), connectivity) == len(parts) == count
        lower, upper = (0, 0, 0), mask.shape
        wanted = sorted(np.argwhere(labels == number).tolist() for number in range(1, count + 1))
        assert sorted(np.argwhere(part.mask(lower, upper)).tolist() for part in parts) == wanted
        sizes = [content(part) for part in parts]
        assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("shape", ["cube", "diamond"])
def test_dilation_and_erosion_are_those_of_the_grid(shape: str) -> None:
    """F-003-30."""
    random = np.random.default_rng(2)
    element = ndimage.generate_binary_structure(3, 3 if shape == "cube" else 1)
    for _ in range(25):
        mask = np.pad(random_mask(random), 3)
        model = ExtremeVertices.from_mask(mask)
        steps = int(random.integers(1, 4))
        grown = dilated(model, steps, shape).mask((0, 0, 0), mask.shape)
        assert np.array_equal(grown, ndimage.binary_dilation(mask, element, steps))
        shrunk = eroded(model, steps, shape).mask((0, 0, 0), mask.shape)
        assert np.array_equal(shrunk, ndimage.binary_erosion(mask, element, steps))
        assert dilated(model, 0, shape) == model


@pytest.mark.parametrize("shape", ["cube", "diamond"])
def test_the_skeleton_is_lantuejouls(shape: str) -> None:
    """F-003-30."""
    element = ndimage.generate_binary_structure(3, 3 if shape == "cube" else 1)
    for name in ("ball", "vertebra", "screw"):
        mask = np.pad(phantoms.PHANTOMS.find(name)(16), 1)
        wanted, remaining = np.zeros_like(mask), mask
        while remaining.any():
            smaller = ndimage.binary_erosion(remaining, element)
            wanted |= remaining & ~ndimage.binary_dilation(smaller, element)
            remaining = smaller
        found = skeleton(ExtremeVertices.from_mask(mask), shape)
        assert np.array_equal(found.mask((0, 0, 0), mask.shape), wanted)


def test_a_volume_grows_shrinks_and_falls_into_parts() -> None:
    balls = phantoms.make("ball", 12) | phantoms.make("ball", 8).translated((20.0, 0.0, 0.0))
    large, small = balls.components()
    assert large == phantoms.make("ball", 12)
    assert small.voxel_count < large.voxel_count
    assert (balls.dilated(2) - balls).voxel_count > 0
    assert (balls.eroded(2) - balls).is_empty
    assert (balls.skeleton() - balls).is_empty


def test_many_parts_take_linear_time() -> None:
    """Twenty thousand single voxels: one pass over the boxes for all parts, not one for each."""
    mask = np.zeros((56, 56, 56), np.bool_)
    mask[::2, ::2, ::2] = True
    specks = Volume.from_voxels(mask)
    assert specks.component_count() == 28**3
    begin = process_time()
    assert len(specks.components()) == 28**3
    assert process_time() - begin < 20.0  # a pass for each part takes minutes


def test_bad_input_is_one_sentence() -> None:
    ball = phantoms.make("ball", 4)
    with pytest.raises(InvalidInput, match="whole number"):
        ball.dilated(-1)
    with pytest.raises(UnknownName, match="cube"):
        ball.eroded(1, shape="sphere")
    with pytest.raises(InvalidInput, match="6 "):
        ball.components(connectivity=8)

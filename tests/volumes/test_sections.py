"""Planes of vertices, sections between them, faces on them, and the disjoint boxes that they cut."""

from __future__ import annotations

import numpy as np
import pytest
from volume_oracles import random_mask

from choque.volumes import ExtremeVertices
from choque.volumes.keys import ORDERS


def test_sections_are_the_slices_of_the_mask() -> None:
    random = np.random.default_rng(0)
    for _ in range(60):
        mask = random_mask(random, 3, 6)
        model = ExtremeVertices.from_mask(mask)
        rebuilt = np.zeros_like(mask)
        for start, stop, section in model.slices():
            rebuilt[start:stop] = section.mask((0, 0), mask.shape[1:])
        assert np.array_equal(rebuilt, mask)


def test_planes_and_sections_are_differences_of_each_other() -> None:
    """F-003-06."""
    random = np.random.default_rng(1)
    for _ in range(40):
        model = ExtremeVertices.from_mask(random_mask(random, int(random.integers(2, 4)), 6))
        section = None
        for (_, plane), (_, up, down) in zip(model.planes(), model.faces(), strict=True):
            following = plane if section is None else section ^ plane
            if section is not None:
                assert (section ^ following) == plane
            assert (up & down).is_empty
            assert (up | down) == plane  # the two kinds of faces make up the plane
            section = following
        assert section is None or section.is_empty  # nothing follows the last plane


def test_the_faces_of_a_cube_look_outward() -> None:
    """F-003-07."""
    cube = ExtremeVertices.from_mask(np.ones((2, 2, 2), np.bool_))
    for order in ("xyz", "yzx", "zxy"):
        (low, low_up, low_down), (high, high_up, high_down) = cube.reordered(order).faces()
        assert (low, high) == (0, 2)
        assert low_up.is_empty
        assert not low_down.is_empty
        assert high_down.is_empty
        assert not high_up.is_empty


@pytest.mark.parametrize("order", ORDERS[3])
def test_boxes_are_disjoint_and_fill_the_solid(order: str) -> None:
    """F-003-28."""
    random = np.random.default_rng(2)
    for _ in range(15):
        mask = random_mask(random, 3, 6)
        covered = np.zeros(mask.shape, int)
        lower, upper = ExtremeVertices.from_mask(mask).boxes(order)
        for low, high in zip(lower, upper, strict=True):
            covered[tuple(slice(*ends) for ends in zip(low, high, strict=True))] += 1
        assert np.array_equal(covered, mask.astype(int))
        columns = ["xyz".index(axis) for axis in order]
        assert lower[:, columns].tolist() == sorted(lower[:, columns].tolist())


def test_sections_are_shared_by_all_translations() -> None:
    """F-003-19."""
    model = ExtremeVertices.from_mask(np.ones((3, 2, 4), np.bool_))
    assert model.moved((5, -7, 9)).sections("yzx") is model.sections("yzx")

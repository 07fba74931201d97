"""The surface of a solid is closed and oriented outward, with the right area and volume."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from volume_oracles import random_mask

from choque.volumes import ExtremeVertices, Volume, phantoms
from choque.volumes._measures import boundary, content
from choque.volumes.surface import closed_surface


def check(model: ExtremeVertices) -> None:
    """Closed, without flat triangles, outward: area and signed volume are those of the model."""
    points, faces = closed_surface(model)
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.abs(normals).sum(axis=1) > 0).all()
    assert np.einsum("nd,nd->", corners[:, 0], normals) == 6 * content(model)
    assert np.abs(normals).sum() == 2 * sum(boundary(model))
    edges = Counter((face[at], face[(at + 1) % 3]) for face in faces.tolist() for at in range(3))
    assert all(edges[edge] == edges[edge[::-1]] for edge in list(edges))


def test_random_solids_with_cavities_and_touching_cells() -> None:
    random = np.random.default_rng(0)
    for _ in range(60):
        mask = random_mask(random, 3, 6)
        check(ExtremeVertices.from_mask(mask, offset=(-3, 5, 2)))


@pytest.mark.parametrize("name", phantoms.names())
def test_phantoms(name: str) -> None:
    check(phantoms.make(name, 15).model)


def test_the_surface_of_a_collision_is_that_of_the_intersection() -> None:
    """F-003-45."""
    one, two = phantoms.make("vertebra", 24), phantoms.make("screw", 24)
    found = one.collision(two)
    assert found is not None
    assert found.region() == (one & two)
    assert found.region().volume == (one.voxels((0, 0, 0), (24,) * 3) & two.voxels((0, 0, 0), (24,) * 3)).sum()
    check(found.region().model)


def test_nothing_has_no_surface() -> None:
    points, faces = Volume.from_voxels(np.zeros((2, 2, 2), np.bool_)).surface()
    assert points.shape == (0, 3)
    assert faces.shape == (0, 3)

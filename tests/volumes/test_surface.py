"""The surface of a solid is closed and oriented outward, with the right area and volume."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from volume_oracles import random_mask

from choque.lab import phantoms
from choque.volumes import ExtremeVertices, Volume
from choque.volumes._measures import boundary, content  # whole numbers, before spacing makes them floats
from choque.volumes.surface import closed_surface, manifold_surface


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


def check_manifold(model: ExtremeVertices) -> None:
    """Every edge is used once in each direction, and the triangles around every vertex are one fan."""
    points, faces = manifold_surface(model)
    edges = Counter((face[at], face[(at + 1) % 3]) for face in faces.tolist() for at in range(3))
    assert set(edges.values()) == {1}
    assert all(edge[::-1] in edges for edge in edges)
    around: dict[int, dict[int, int]] = {}
    for a, b, c in faces.tolist():
        for vertex, one, two in ((a, b, c), (b, c, a), (c, a, b)):
            around.setdefault(vertex, {})[one] = two
    for following in around.values():
        start = at = next(iter(following))
        for _ in range(len(following)):
            at = following.pop(at)
        assert at == start
        assert not following
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (np.abs(normals).sum(axis=1) > 0).all()
    assert np.einsum("nd,nd->", corners[:, 0], normals) == pytest.approx(6 * content(model), rel=1e-12)
    assert np.abs(normals).sum() == pytest.approx(2 * sum(boundary(model)), rel=1e-12)


def test_random_solids_with_cavities_and_touching_cells() -> None:
    random = np.random.default_rng(0)
    for _ in range(60):
        mask = random_mask(random, 3, 6)
        model = ExtremeVertices.from_mask(mask, offset=(-3, 5, 2))
        check(model)
        if mask.any():
            check_manifold(model)


def test_two_cells_that_meet_in_an_edge_or_a_corner_are_apart() -> None:
    for far in ((1, 1, 0), (1, 1, 1)):
        mask = np.zeros((2, 2, 2), np.bool_)
        mask[0, 0, 0] = mask[far] = True
        points, faces = Volume.from_voxels(mask).surface()
        assert (len(points), len(faces)) == (16, 24)


@pytest.mark.parametrize("name", phantoms.names())
def test_phantoms(name: str) -> None:
    check(phantoms.make(name, 15).model)
    check_manifold(phantoms.make(name, 15).model)


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

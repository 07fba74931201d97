"""The surface of a solid: closed, outward, as large as it says; and the counts that the thesis published."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from volume_oracles import random_mask

from choque.volumes import ExtremeVertices, Volume, phantoms
from choque.volumes._measures import boundary, content
from choque.volumes._surface import closed_surface, covered_surface, face_loops, solid_corners

PUBLISHED = {1: (56, 96), 2: (56, 96), 3: (192, 368), 4: (248, 456)}
CORNERS = {1: 56, 2: 56, 3: 192, 4: 248}


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


@pytest.mark.parametrize("per_unit", [1, 2, 3, 4])
def test_the_published_counts(per_unit: int) -> None:
    """F-003-26, F-003-27."""
    model = Volume.from_mesh(phantoms.sphere_mesh(), voxels_per_unit=per_unit, fill="surface").model
    points, faces = covered_surface(model)
    assert (len(points), len(faces)) == PUBLISHED[per_unit]
    assert len(solid_corners(model)) == CORNERS[per_unit]
    check(model)


def test_outlines_bound_the_solid() -> None:
    """The divergence theorem over polygons with their holes: outer outlines add, holes take away."""
    random = np.random.default_rng(1)
    for _ in range(60):
        model = ExtremeVertices.from_mask(random_mask(random, 3, 6))
        total = 0
        for loop in face_loops(model):
            area = np.cross(loop, np.roll(loop, -1, axis=0)).sum(axis=0)  # twice the area, along the normal
            total += int(area @ loop[0])
        assert total == 6 * content(model)


def test_corners_hold_the_extreme_vertices_and_more() -> None:
    """F-003-27."""
    random = np.random.default_rng(2)
    for _ in range(30):
        model = ExtremeVertices.from_mask(random_mask(random, 3, 5))
        corners = set(map(tuple, solid_corners(model).tolist()))
        assert set(map(tuple, model.points.tolist())) <= corners


def test_the_surface_of_a_collision_is_that_of_the_intersection() -> None:
    """F-003-45."""
    one, two = phantoms.make("vertebra", 24), phantoms.make("screw", 24)
    found = one.collision(two)
    assert found is not None
    assert found.region() == (one & two)
    assert found.volume() == (one.voxels((0, 0, 0), (24,) * 3) & two.voxels((0, 0, 0), (24,) * 3)).sum()
    check(found.region().model)


def test_nothing_has_no_surface() -> None:
    points, faces = Volume.from_voxels(np.zeros((2, 2, 2), np.bool_)).surface()
    assert points.shape == (0, 3)
    assert faces.shape == (0, 3)

"""The narrow phase of polygons against every triangle of one body tested with every triangle of the other."""

from __future__ import annotations

import numpy as np
import pytest
from interest_oracles import arena

from choque.bounds import Boxes, Spheres
from choque.broad import create
from choque.files.meshes import MeshArrays
from choque.theses.evm.triangles import colliding_triangles
from choque.theses.interest.config import InterestConfig
from choque.theses.interest.trials import polygons_overlap, run_config, unit_facets


def faceted_mesh(center: np.ndarray, radius: float) -> MeshArrays:
    """The triangles of one body, as a mesh."""
    triangles = unit_facets().triangles * radius + center
    return MeshArrays(triangles.reshape(-1, 3), np.arange(3 * len(triangles)).reshape(-1, 3))


def meshes_meet(spheres: Spheres, one: int, two: int) -> bool:
    """Every triangle against every other, or the centre of one behind all faces of the other.

    Corners lie on the sphere of a body, so bodies whose spheres are apart are not looked at any closer.
    """
    if np.linalg.norm(spheres.center[one] - spheres.center[two]) > 1.001 * (spheres.radius[one] + spheres.radius[two]):
        return False
    first, second = (faceted_mesh(spheres.center[row], float(spheres.radius[row])) for row in (one, two))
    if len(colliding_triangles(first, second)[0]):
        return True
    facets = unit_facets()
    for row, other in ((one, two), (two, one)):
        offset = spheres.center[other] - spheres.center[row]
        if (facets.normals @ offset <= facets.levels * spheres.radius[row]).all():
            return True
    return False


def test_a_body_has_the_256_triangles_of_the_thesis() -> None:
    facets = unit_facets()
    assert facets.triangles.shape == (256, 3, 3)
    assert np.linalg.norm(facets.triangles, axis=2) == pytest.approx(1.0)
    assert (facets.levels > 0).all()
    assert 0.9 < facets.inner_radius < 1.0


def test_it_agrees_with_the_meshes(thorough: bool) -> None:
    """F-004-38: pairs at distances where the spheres around and inside the bodies do not settle it."""
    random = np.random.default_rng(0)
    count = 400 if thorough else 60
    radius = random.uniform(0.04, 0.4, (count, 2))
    heading = random.normal(size=(count, 3))
    heading /= np.linalg.norm(heading, axis=1)[:, np.newaxis]
    apart = radius.sum(axis=1) * random.uniform(0.93, 1.01, count)
    start = random.random((count, 3))
    centers = np.stack((start, start + apart[:, np.newaxis] * heading), axis=1).reshape(-1, 3)
    spheres = Spheres(centers, radius.ravel())
    pairs = np.arange(2 * count, dtype=np.int32).reshape(-1, 2)
    found = polygons_overlap(spheres, pairs, thread_count=2)
    assert found.tolist() == [meshes_meet(spheres, *pair) for pair in pairs.tolist()]
    assert 0.2 < found.mean() < 0.98
    assert (found <= spheres.overlap(pairs)).all()


def test_one_body_within_another_collides() -> None:
    """F-004-38: no two triangles meet there."""
    spheres = Spheres([[0.0, 0.0, 0.0], [0.98, 0.0, 0.0], [0.9, 0.3, 0.0]], [1.0, 0.001, 0.001])
    pairs = np.array([[0, 1], [0, 2], [1, 2]], np.int32)
    assert polygons_overlap(spheres, pairs).tolist() == [True, True, False]
    assert [meshes_meet(spheres, *pair) for pair in pairs.tolist()] == [True, True, False]


def test_no_colliding_pair_of_meshes_is_missing_from_the_candidates() -> None:
    """F-004-26, F-004-38: in the arena, every pair of all is tested, and the candidates hold those that meet."""
    motion = arena(40, start="sparse")
    spheres = Spheres(*motion.spheres(200))
    everyone = np.array(np.triu_indices(40, 1), np.int32).T.copy()
    wanted = everyone[polygons_overlap(spheres, everyone)].tolist()
    candidates = create("interest", Boxes(*motion.frame(200))).pairs()
    assert candidates[polygons_overlap(spheres, candidates)].tolist() == wanted
    assert wanted == [pair for pair in everyone.tolist() if meshes_meet(spheres, *pair)]


def test_a_run_with_polygons_finds_no_more_than_with_spheres() -> None:
    spheres, polygons = (
        run_config(InterestConfig(steps=25, objects=80, narrow=narrow)).column("collisions")
        for narrow in ("spheres", "polygons")
    )
    assert (polygons <= spheres).all()
    assert polygons.sum() < spheres.sum()

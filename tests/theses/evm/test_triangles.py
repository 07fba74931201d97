"""The test of two triangles against exact oracles."""

from __future__ import annotations

import numpy as np
import pytest

from choque.files.meshes import MeshArrays
from choque.theses.evm.objects import sphere_mesh
from choque.theses.evm.triangles import colliding_triangles, triangles_meet

BASE = np.array([[0.0, 0, 0], [4, 0, 0], [0, 4, 0]])
SPHERE = sphere_mesh()


def moved(shift: tuple[float, float, float]) -> MeshArrays:
    return MeshArrays(SPHERE.vertices + np.array(shift), SPHERE.faces)


@pytest.mark.parametrize(
    ("other", "meet"),
    [
        ([[1, 1, -1], [1, 1, 1], [2, 1, 1]], True),  # pierces
        ([[5, 5, -1], [5, 5, 1], [6, 5, 1]], False),  # crosses the plane elsewhere
        ([[1, 1, 1], [2, 1, 1], [1, 2, 1]], False),  # parallel
        ([[1, 1, 0], [2, 1, 0], [1, 2, 0]], True),  # inside, in one plane
        ([[5, 5, 0], [6, 5, 0], [5, 6, 0]], False),  # in one plane, apart
        ([[-1, -1, 0], [9, -1, 0], [-1, 9, 0]], True),  # around it, in one plane
        ([[4, 0, 0], [6, 0, 0], [6, 0, 3]], True),  # touches a corner
        ([[2, 0, 0], [2, -2, 0], [3, -2, 2]], True),  # touches an edge
        ([[2, -0.01, 0], [2, -2, 0], [3, -2, 2]], False),  # nearly
        ([[1, 1, 0], [1, 1, 0], [2, 2, 2]], False),  # has no area
    ],
)
def test_known_pairs(other: list[list[float]], meet: bool) -> None:
    """F-003-32."""
    triangle = np.array(other, float)
    for _ in range(3):
        triangle = np.roll(triangle, 1, axis=0)
        assert triangles_meet(BASE, triangle) == meet
        assert triangles_meet(triangle, BASE[::-1].copy()) == meet


def share_a_point(one: np.ndarray, two: np.ndarray) -> bool:
    """Exact on whole numbers: no direction that can separate two triangles does."""
    edges, others = (np.roll(triangle, -1, axis=0) - triangle for triangle in (one, two))
    normals = np.array([np.cross(*edges[:2]), np.cross(*others[:2])])
    across = np.cross(edges[:, None], others[None]).reshape(-1, 3)
    within = [np.cross(normals[0], edges), np.cross(normals[1], others)]
    directions = np.concatenate([normals, across, *within])
    here, there = directions @ one.T, directions @ two.T
    return not ((here.max(axis=1) < there.min(axis=1)) | (there.max(axis=1) < here.min(axis=1))).any()


def test_triangles_on_whole_numbers_miss_no_touch() -> None:
    """F-003-32: edges that cross in one point, which no float holds, among them."""
    pairs = [
        ([[2, 0, 0], [0, 2, 1], [2, 0, 2]], [[0, 0, 2], [2, 2, 2], [0, 1, 1]]),
        ([[3, 2, 0], [2, 0, 4], [2, 2, 2]], [[3, 1, 4], [0, 0, 2], [3, 4, 2]]),
        ([[4, 0, 3], [0, 1, 3], [4, 2, 4]], [[3, 2, 4], [1, 0, 2], [1, 4, 3]]),
    ]
    for one, two in [*np.array(pairs), *np.random.default_rng(5).integers(0, 5, (1500, 2, 3, 3))]:
        if all(np.cross(triangle[1] - triangle[0], triangle[2] - triangle[0]).any() for triangle in (one, two)):
            assert triangles_meet(one.astype(float), two.astype(float)) == share_a_point(one, two)


def test_random_pairs_equal_a_sampled_answer() -> None:
    """In general position two triangles meet just when an edge of one pierces the other, by signs of whole numbers."""
    random = np.random.default_rng(0)
    for _ in range(300):
        one, two = random.integers(-6, 7, (2, 3, 3))
        pierced = any(
            _pierces(edge, triangle)
            for triangle, other in ((one, two), (two, one))
            for edge in ((other[0], other[1]), (other[1], other[2]), (other[2], other[0]))
        )
        degenerate = _volume(one, two) is None
        if not degenerate:
            assert triangles_meet(one.astype(float), two.astype(float)) == pierced


def _sign(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> int:
    return int(np.sign(round(np.linalg.det(np.array([b - a, c - a, d - a], float)))))


def _volume(one: np.ndarray, two: np.ndarray) -> int | None:
    signs = [_sign(*one, corner) for corner in two] + [_sign(*two, corner) for corner in one]
    return None if 0 in signs else 1


def _pierces(edge: tuple[np.ndarray, np.ndarray], triangle: np.ndarray) -> bool:
    start, stop = edge
    if _sign(*triangle, start) == _sign(*triangle, stop):
        return False
    sides = {_sign(start, stop, triangle[at], triangle[(at + 1) % 3]) for at in range(3)}
    return len(sides - {0}) <= 1


def test_disjoint_spheres_take_every_test() -> None:
    """F-003-32."""
    pairs, tests = colliding_triangles(SPHERE, moved((0, 0, 2.2)))
    assert tests == 760**2 == 577_600
    assert len(pairs) == 0

"""Which triangles of two meshes meet, by a tree over the boxes of one, against all pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from choque.files.meshes import MeshArrays
from choque.theses.evm.objects import sphere_mesh
from choque.theses.evm.triangles import TriangleSearch, colliding_triangles

SPHERE = sphere_mesh(8, 7)


def meeting_pairs(one: MeshArrays, two: MeshArrays) -> np.ndarray:
    """All pairs tested, less those whose boxes are apart by a rounding, which the test of triangles may not see."""
    pairs, _ = colliding_triangles(one, two)
    first, second = one.vertices[one.faces[pairs[:, 0]]], two.vertices[two.faces[pairs[:, 1]]]
    near = (first.min(axis=1) <= second.max(axis=1)) & (second.min(axis=1) <= first.max(axis=1))
    return pairs[near.all(axis=1)]


@settings(max_examples=15, deadline=None)
@given(shift=st.tuples(*[st.floats(-2.2, 2.2, allow_nan=False)] * 3))
def test_the_pairs_are_those_of_testing_all(shift: tuple[float, float, float]) -> None:
    other = MeshArrays(SPHERE.vertices + np.array(shift), SPHERE.faces)
    np.testing.assert_array_equal(TriangleSearch(SPHERE).meeting(other), meeting_pairs(SPHERE, other))


def test_triangles_without_area_meet_nothing_and_rows_are_those_of_the_mesh() -> None:
    flat = np.array([[0, 0, 0], *SPHERE.faces], np.int64)  # a triangle that is a point comes first
    found = TriangleSearch(MeshArrays(SPHERE.vertices, flat)).meeting(MeshArrays(SPHERE.vertices + 0.5, SPHERE.faces))
    plain = TriangleSearch(SPHERE).meeting(MeshArrays(SPHERE.vertices + 0.5, SPHERE.faces))
    assert len(plain) > 0
    np.testing.assert_array_equal(found, plain + [1, 0])


def test_a_mesh_without_triangles_meets_nothing() -> None:
    empty = MeshArrays(np.empty((0, 3)), np.empty((0, 3), np.int64))
    assert TriangleSearch(empty).meeting(SPHERE).shape == (0, 2)
    assert TriangleSearch(SPHERE).meeting(empty).shape == (0, 2)

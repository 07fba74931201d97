"""Vertices and triangles as arrays: what is refused, and what is degenerate."""

from __future__ import annotations

import numpy as np
import pytest

from choque.errors import InvalidInput
from choque.files.meshes import MeshArrays, check_mesh

CORNERS = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize(
    ("vertices", "faces", "words"),
    [
        ([["a", 0, 0]], [[0, 0, 0]], "not made of numbers"),
        (CORNERS, [[0, 1]], r"vertices of shape \(3, 3\) and faces of shape \(1, 2\)"),
        ([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]], r"vertices of shape \(3, 2\)"),
        (CORNERS, [[0.0, 1.0, 2.0]], "faces of type float64; they must be whole numbers"),
        ([[0, 0, 0], [1, np.nan, 0], [0, 1, 0]], [[0, 1, 2]], "not finite, number 1"),
        (CORNERS, [[0, 1, 2], [0, 1, 3]], r"number 1, with corners \[0, 1, 3\]; there are 3 vertices"),
        (CORNERS, [[-1, 1, 2]], "number 0, with corners"),
    ],
)
def test_a_bad_mesh_is_refused_in_a_sentence(vertices: list[list[object]], faces: list[list[int]], words: str) -> None:
    with pytest.raises(InvalidInput, match=f"^The part.*{words}"):
        check_mesh(vertices, faces, InvalidInput, "The part")


def test_a_mesh_without_triangles_is_one() -> None:
    mesh = check_mesh(CORNERS, [], InvalidInput, "The part")
    assert mesh.faces.shape == (0, 3)
    assert mesh.faces.dtype == np.int64
    assert mesh.degenerate.shape == (0,)


def test_triangles_with_two_corners_at_one_place_are_degenerate() -> None:
    vertices = np.array([*CORNERS, [1.0, 0.0, 0.0]])
    faces = np.array([[0, 1, 2], [0, 0, 2], [1, 2, 3], [2, 1, 3]])
    assert MeshArrays(vertices, faces).degenerate.tolist() == [False, True, True, True]

"""Sides of lines and faces: F-002-44."""

from __future__ import annotations

import numpy as np
import pytest

from choque.errors import InvalidInput
from choque.theses.kdop.orientation import orientation_2d, orientation_3d


def test_left_right_and_on_the_line() -> None:
    targets = [[0, 1], [0, -1], [7, 0], [-3, 0], [1e6, 1e-3]]
    assert orientation_2d([0, 0], [1, 0], targets).tolist() == [1, -1, 0, 0, 1]
    assert orientation_2d([1, 0], [0, 0], targets).tolist() == [-1, 1, 0, 0, -1]
    assert orientation_2d([0.1, 0.1], [0.3, 0.3], [0.7, 0.7]) == 0


def test_before_behind_and_in_the_plane() -> None:
    face = ([0, 0, 1], [2, 0, 1], [0, 2, 1])
    targets = [[5, 5, 2], [0, 0, 0], [9, -9, 1]]
    assert orientation_3d(*face, targets).tolist() == [1, -1, 0]
    assert orientation_3d(face[1], face[0], face[2], targets).tolist() == [-1, 1, 0]


def test_it_is_the_sign_of_the_determinant() -> None:
    random = np.random.default_rng(0)
    a, b, c, d = random.integers(-9, 9, (4, 200, 3))
    wanted = np.sign(np.linalg.det(np.stack([b - a, c - a, d - a], axis=1)).round(6))
    assert orientation_3d(a, b, c, d).tolist() == wanted.tolist()
    columns = np.stack([np.ones((200, 3)), *np.stack([a, b, c], axis=2)[:, :2].transpose(1, 0, 2)], axis=1)
    flat = np.sign(np.linalg.det(columns).round(6))
    assert orientation_2d(a[:, :2], b[:, :2], c[:, :2]).tolist() == flat.tolist()


def test_bad_points_are_refused() -> None:
    with pytest.raises(InvalidInput, match="target has the shape"):
        orientation_2d([0, 0], [1, 0], [0, 0, 0])
    with pytest.raises(InvalidInput, match="different lengths"):
        orientation_2d(np.zeros((2, 2)), np.zeros((3, 2)), [0, 0])
    with pytest.raises(InvalidInput, match="finite"):
        orientation_3d([0, 0, 0], [1, 0, 0], [0, 1, np.inf], [0, 0, 0])
    with pytest.raises(InvalidInput, match="not a point"):
        orientation_3d("a", [1, 0, 0], [0, 1, 0], [0, 0, 0])

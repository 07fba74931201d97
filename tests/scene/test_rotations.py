"""Angles in degrees to matrices, against the product of three elementary turns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from choque.dynamics.response import rotations


def elementary(axis: int, degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    first, second = [(1, 2), (2, 0), (0, 1)][axis]
    turn = np.eye(3)
    turn[first, first] = turn[second, second] = c
    turn[first, second], turn[second, first] = -s, s
    return turn


@given(st.lists(st.tuples(*[st.floats(-1e4, 1e4)] * 3), min_size=1, max_size=5))
def test_the_turn_is_z_times_y_times_x(angles: list[tuple[float, ...]]) -> None:
    expected = [elementary(2, z) @ elementary(1, y) @ elementary(0, x) for x, y, z in angles]
    np.testing.assert_allclose(rotations(np.array(angles)), expected, atol=1e-11)


@pytest.mark.parametrize("turns", [(90, 0, 0), (0, 0, -90), (180, 270, 0), (-90, 450, 90)])
def test_quarter_turns_are_exact(turns: tuple[int, ...]) -> None:
    matrix = rotations(np.array([turns], dtype=float))[0]
    assert set(np.abs(matrix).ravel()) == {0.0, 1.0}
    assert np.linalg.det(matrix) == pytest.approx(1)
    assert not np.signbit(matrix[matrix == 0]).any()


def test_an_upright_capsule_points_along_y() -> None:
    """F-001-01: the local axis is z, and 90 degrees about x turn it to -y."""
    np.testing.assert_array_equal(rotations(np.array([[90.0, 0, 0]]))[0] @ [0, 0, 1], [0, -1, 0])

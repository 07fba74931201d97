"""Eigenvalues of symmetric 3 × 3 matrices: F-002-10, the solver."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from choque._core.jacobi import jacobi, symmetric_eigen
from choque.errors import InvalidInput


def test_the_example_of_the_thesis() -> None:
    """Figure 4.2: three values, and unit vectors as rows, to three digits."""
    values, vectors = symmetric_eigen([[4, 2, 0], [2, 5, 3], [0, 3, 6]])
    wanted = {
        1.4516: (-0.54801, 0.69826, -0.46056),
        8.9089: (0.27285, 0.6697, 0.69069),
        4.6395: (0.79072, 0.25284, -0.55753),
    }
    assert values == pytest.approx(sorted(wanted), abs=1e-3)
    for value, vector in zip(values, vectors, strict=True):
        expected = np.array(wanted[min(wanted, key=lambda known: abs(known - value))])
        assert abs(vector @ expected) == pytest.approx(1, abs=1e-3)


@given(arrays(np.float64, (3, 3), elements=st.floats(-1e3, 1e3)))
def test_it_agrees_with_lapack(matrix: np.ndarray) -> None:
    symmetric = matrix + matrix.T
    values, vectors = symmetric_eigen(symmetric)
    size = max(np.abs(symmetric).max(), 1e-300)
    assert values == pytest.approx(np.linalg.eigvalsh(symmetric), abs=1e-12 * size)
    assert vectors @ vectors.T == pytest.approx(np.eye(3), abs=1e-12)
    assert vectors @ symmetric @ vectors.T == pytest.approx(np.diag(values), abs=1e-10 * size)


@pytest.mark.parametrize("size", [1e-310, 1e-200, 1e-90, 1e90, 1e200, 1e307])
def test_any_magnitude_gives_the_same_eigenvectors(size: float) -> None:
    matrix = np.array([[4.0, 2, 0], [2, 5, 3], [0, 3, 6]])
    values, vectors = symmetric_eigen(matrix * size)
    known, directions = symmetric_eigen(matrix)
    assert values / size == pytest.approx(known, rel=1e-12)
    assert vectors == pytest.approx(directions, abs=1e-12)


@pytest.mark.parametrize("matrix", [np.zeros((3, 3)), np.eye(3), np.diag([3.0, -1, 2]), np.ones((3, 3))])
def test_equal_and_zero_eigenvalues(matrix: np.ndarray) -> None:
    values, vectors = symmetric_eigen(matrix)
    assert values == pytest.approx(np.linalg.eigvalsh(matrix), abs=1e-14)
    assert vectors @ vectors.T == pytest.approx(np.eye(3), abs=1e-14)


def test_a_matrix_that_is_not_finite_does_not_converge() -> None:
    assert not jacobi(np.full((3, 3), np.nan), np.empty(3), np.empty((3, 3)))


@pytest.mark.parametrize(
    ("matrix", "text"),
    [
        (np.eye(2), "shape"),
        ([[1, 2, 0], [0, 1, 0], [0, 0, 1]], "not symmetric"),
        (np.full((3, 3), np.inf), "finite"),
        ("abc", "element type"),
    ],
)
def test_bad_matrices_are_refused(matrix: object, text: str) -> None:
    with pytest.raises(InvalidInput, match=text):
        symmetric_eigen(matrix)  # type: ignore[arg-type]

"""The rotation in a matrix: polar decomposition by the square root of a symmetric matrix."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque.bounds._jacobi import as_symmetric, jacobi
from choque.errors import InvalidInput
from choque.kernel import kernel

SINGULAR = 1e-10
"""A symmetric matrix whose smallest eigenvalue is below this share of its largest one has no usable inverse."""

DISTORTION = 0.01
"""How far from a rotation a recovered matrix R may be: the largest entry of RᵀR − I."""


@kernel
def square_root(
    matrix: NDArray[np.float64],
    root: NDArray[np.float64],
    inverse: NDArray[np.float64],
    values: NDArray[np.float64],
    vectors: NDArray[np.float64],
) -> bool:
    """Write the ``root`` S of a symmetric matrix, S S = matrix, and its ``inverse``, all (3, 3).

    By Jacobi's eigenvectors: M = V D Vᵀ, S = V √D Vᵀ. False, and nothing written, when the iteration does not converge
    or the matrix is singular or has a negative eigenvalue. ``values`` (3,) and ``vectors`` (3, 3) are working memory.
    """
    if not jacobi(matrix, values, vectors):
        return False
    smallest = min(values[0], values[1], values[2])
    largest = max(values[0], values[1], values[2])
    if not (smallest > SINGULAR * largest and largest < math.inf):
        return False
    first, second, third = math.sqrt(values[0]), math.sqrt(values[1]), math.sqrt(values[2])
    first_inverse, second_inverse, third_inverse = 1.0 / first, 1.0 / second, 1.0 / third
    for row in range(3):
        for column in range(row, 3):
            x = vectors[0, row] * vectors[0, column]
            y = vectors[1, row] * vectors[1, column]
            z = vectors[2, row] * vectors[2, column]
            root[row, column] = root[column, row] = first * x + second * y + third * z
            inverse[row, column] = inverse[column, row] = first_inverse * x + second_inverse * y + third_inverse * z
    return True


@kernel
def rotation_in(matrix: NDArray[np.float64], work: NDArray[np.float64], rotation: NDArray[np.float64]) -> bool:
    """Write the rotation R of ``matrix`` = R S, S symmetric and positive; False, and nothing written, if there is none.

    R = A (AᵀA)^−½. There is none when the root cannot be taken, when A mirrors, and when R is distorted by more than a
    hundredth. ``work`` is working memory, (5, 3, 3).
    """
    square, root, inverse, vectors = work[0], work[1], work[2], work[3]
    for row in range(3):
        for column in range(row, 3):
            total = 0.0
            for inner in range(3):
                total += matrix[inner, row] * matrix[inner, column]
            square[row, column] = square[column, row] = total
    if not square_root(square, root, inverse, work[4, 0], vectors):
        return False
    for row in range(3):
        for column in range(3):
            total = 0.0
            for inner in range(3):
                total += matrix[row, inner] * inverse[inner, column]
            root[row, column] = total
    if not is_rotation(root):
        return False
    for row in range(3):
        for column in range(3):
            rotation[row, column] = root[row, column]
    return True


@kernel
def is_rotation(matrix: NDArray[np.float64]) -> bool:
    """Whether ``matrix`` (3, 3) is a rotation, give or take a hundredth: the rule on residual scale."""
    for row in range(3):
        for column in range(row, 3):
            total = -1.0 if row == column else 0.0
            for inner in range(3):
                total += matrix[inner, row] * matrix[inner, column]
            if not abs(total) <= DISTORTION:
                return False
    volume = (
        matrix[0, 0] * (matrix[1, 1] * matrix[2, 2] - matrix[1, 2] * matrix[2, 1])
        - matrix[0, 1] * (matrix[1, 0] * matrix[2, 2] - matrix[1, 2] * matrix[2, 0])
        + matrix[0, 2] * (matrix[1, 0] * matrix[2, 1] - matrix[1, 1] * matrix[2, 0])
    )
    return volume > 0


def matrix_square_root(matrix: ArrayLike) -> NDArray[np.float64]:
    """The positive root S of a symmetric positive matrix (3, 3): S S = matrix.

    Examples
    --------
    >>> matrix_square_root([[4, 0, 0], [0, 9, 0], [0, 0, 1]]).tolist()
    [[2.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 1.0]]
    """
    given = as_symmetric(matrix)
    root, inverse = np.empty((3, 3)), np.empty((3, 3))
    if not square_root(given, root, inverse, np.empty(3), np.empty((3, 3))):
        raise InvalidInput(f"The matrix {given.tolist()} is singular or not positive; it has no usable square root.")
    return root

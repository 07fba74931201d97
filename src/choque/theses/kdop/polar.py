"""Polar decomposition: the rotation closest to a matrix, by the square root of a symmetric matrix."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from choque._core.jacobi import as_symmetric, jacobi
from choque._core.kernel import helper, kernel
from choque.errors import InvalidInput

SINGULAR = 1e-10
"""A symmetric matrix whose smallest eigenvalue is below this fraction of its largest counts as singular."""

DISTORTION = 0.01
"""Maximum deviation of a recovered matrix R from a rotation: the largest entry of RᵀR − I."""

WELL_CONDITIONED = 1e-2
"""A matrix whose determinant is above this fraction of its norm cubed is left to Newton's iteration."""

NEWTON_LIMIT = 12
NEWTON_TOLERANCE = 1e-8
"""Convergence is quadratic: the step after one of this size changes nothing but the last bits."""


@kernel
def square_root(
    matrix: NDArray[np.float64],
    root: NDArray[np.float64],
    inverse: NDArray[np.float64],
    values: NDArray[np.float64],
    vectors: NDArray[np.float64],
) -> bool:
    """Write the ``root`` S of a symmetric matrix, S S = matrix, and its ``inverse``, all (3, 3).

    By Jacobi's eigenvectors: M = V D Vᵀ, S = V √D Vᵀ. Return False, and write nothing, if the iteration does not
    converge or the matrix is singular or has a negative eigenvalue. ``values`` (3,) and ``vectors`` (3, 3) are
    working memory.
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


@helper
def rotation_in(matrix: NDArray[np.float64], work: NDArray[np.float64], rotation: NDArray[np.float64]) -> bool:
    """Write the rotation R of ``matrix`` = R S, S symmetric and positive; return False, and write nothing, if it fails.

    If the matrix is far from singular, Newton's iteration finds R four times faster than the square root, which is used
    otherwise. It fails if neither converges, if the matrix is singular or a reflection, and if R deviates from a
    rotation by more than 0.01. ``work`` is working memory, (5, 3, 3).
    """
    found = work[0]
    if not (_by_newton(matrix, found) or _by_root(matrix, work, found)) or not is_rotation(found):
        return False
    for row in range(3):
        for column in range(3):
            rotation[row, column] = found[row, column]
    return True


@helper
def _by_newton(matrix: NDArray[np.float64], rotation: NDArray[np.float64]) -> bool:
    """Iterate R ← (R + R^−ᵀ) / 2 from the matrix at unit norm (Higham, "Computing the polar decomposition", 1986)."""
    a, b, c = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    d, e, f = matrix[1, 0], matrix[1, 1], matrix[1, 2]
    g, h, i = matrix[2, 0], matrix[2, 1], matrix[2, 2]
    size = math.sqrt((a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i) / 3.0)
    if not size < math.inf:
        return False
    volume = a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
    if not volume > WELL_CONDITIONED * size * size * size:
        return False
    scale = 1.0 / size
    a, b, c = scale * a, scale * b, scale * c
    d, e, f = scale * d, scale * e, scale * f
    g, h, i = scale * g, scale * h, scale * i
    for _ in range(NEWTON_LIMIT):
        first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
        half = 0.5 / (a * first + b * second + c * third)
        fourth, fifth, sixth = c * h - b * i, a * i - c * g, b * g - a * h
        seventh, eighth, ninth = b * f - c * e, c * d - a * f, a * e - b * d
        changed = abs(0.5 * a - half * first) + abs(0.5 * b - half * second) + abs(0.5 * c - half * third)
        changed += abs(0.5 * d - half * fourth) + abs(0.5 * e - half * fifth) + abs(0.5 * f - half * sixth)
        changed += abs(0.5 * g - half * seventh) + abs(0.5 * h - half * eighth) + abs(0.5 * i - half * ninth)
        a, b, c = 0.5 * a + half * first, 0.5 * b + half * second, 0.5 * c + half * third
        d, e, f = 0.5 * d + half * fourth, 0.5 * e + half * fifth, 0.5 * f + half * sixth
        g, h, i = 0.5 * g + half * seventh, 0.5 * h + half * eighth, 0.5 * i + half * ninth
        if changed < NEWTON_TOLERANCE:
            rotation[0, 0], rotation[0, 1], rotation[0, 2] = a, b, c
            rotation[1, 0], rotation[1, 1], rotation[1, 2] = d, e, f
            rotation[2, 0], rotation[2, 1], rotation[2, 2] = g, h, i
            return True
    return False


@helper
def _by_root(matrix: NDArray[np.float64], work: NDArray[np.float64], rotation: NDArray[np.float64]) -> bool:
    """Write R = A (AᵀA)^−½, by the square root of a symmetric matrix; ``rotation`` may be the first of ``work``."""
    square, root, inverse, vectors = work[1], work[2], work[3], work[4]
    for row in range(3):
        for column in range(row, 3):
            total = 0.0
            for inner in range(3):
                total += matrix[inner, row] * matrix[inner, column]
            square[row, column] = square[column, row] = total
    if not square_root(square, root, inverse, work[0, 0], vectors):
        return False
    for row in range(3):
        for column in range(3):
            total = 0.0
            for inner in range(3):
                total += matrix[row, inner] * inverse[inner, column]
            rotation[row, column] = total
    return True


@helper
def is_rotation(matrix: NDArray[np.float64]) -> bool:
    """Return whether ``matrix`` (3, 3) is a rotation within 0.01, so that no scale is left in it."""
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
    return bool(volume > 0)


def matrix_square_root(matrix: ArrayLike) -> NDArray[np.float64]:
    """Return the positive root S of a symmetric positive matrix (3, 3): S S = matrix.

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

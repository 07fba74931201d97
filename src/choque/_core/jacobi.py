"""Eigenvalues and eigenvectors of symmetric 3 × 3 matrices by Jacobi rotations, accurate to the last few bits."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from choque._core import check
from choque._core.kernel import kernel
from choque._core.types import F64
from choque.errors import InvalidInput

Vector: TypeAlias = tuple[float, float, float]

MAX_ROTATIONS = 50
"""Convergence is quadratic and takes about six rotations; only a matrix that is not finite reaches the limit."""

DIAGONAL_TOLERANCE = 1e-24
"""A matrix counts as diagonal when the squares off the diagonal are below this fraction of those on it."""

SMALLEST, LARGEST = 1e-100, 1e100
"""Matrices whose largest entry is outside this range are scaled, since squares would overflow or underflow."""


@kernel
def jacobi(matrix: F64, values: F64, vectors: F64) -> bool:
    """Write the eigenvalues (3,) and, as rows, the unit eigenvectors (3, 3) of the upper half of ``matrix``.

    Classical Jacobi: each rotation clears the largest element off the diagonal. The values come in the order of the
    diagonal. Return False, with unspecified values, if the matrix is not finite.
    """
    a, b, c = matrix[0, 0], matrix[1, 1], matrix[2, 2]
    ab, ac, bc = matrix[0, 1], matrix[0, 2], matrix[1, 2]
    unit = 1.0
    largest = max(abs(a), abs(b), abs(c), abs(ab), abs(ac), abs(bc))
    if largest > 0 and not SMALLEST <= largest <= LARGEST:
        unit = largest
        a, b, c, ab, ac, bc = a / unit, b / unit, c / unit, ab / unit, ac / unit, bc / unit
    first, second, third = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    converged = False
    for _ in range(MAX_ROTATIONS):
        beside = ab * ab + ac * ac + bc * bc
        if beside <= DIAGONAL_TOLERANCE * (a * a + b * b + c * c):
            converged = True
            break
        largest = max(abs(ab), abs(ac), abs(bc))
        if abs(ab) == largest:
            a, b, cosine, sine = _clear(a, b, ab)
            ab, ac, bc = 0.0, cosine * ac - sine * bc, sine * ac + cosine * bc
            first, second = _turn(first, second, cosine, sine)
        elif abs(ac) == largest:
            a, c, cosine, sine = _clear(a, c, ac)
            ac, ab, bc = 0.0, cosine * ab - sine * bc, sine * ab + cosine * bc
            first, third = _turn(first, third, cosine, sine)
        else:
            b, c, cosine, sine = _clear(b, c, bc)
            bc, ab, ac = 0.0, cosine * ab - sine * ac, sine * ab + cosine * ac
            second, third = _turn(second, third, cosine, sine)
    values[0], values[1], values[2] = a * unit, b * unit, c * unit
    for column in range(3):
        vectors[0, column], vectors[1, column], vectors[2, column] = first[column], second[column], third[column]
    return converged


def symmetric_eigen(matrix: ArrayLike) -> tuple[F64, F64]:
    """Return the eigenvalues (3,), ascending, and the unit eigenvectors (3, 3), one in each row, of a symmetric matrix.

    Examples
    --------
    >>> values, vectors = symmetric_eigen([[2, 1, 0], [1, 2, 0], [0, 0, 5]])
    >>> values.round(12).tolist()
    [1.0, 3.0, 5.0]
    """
    given = as_symmetric(matrix)
    values, vectors = np.empty(3), np.empty((3, 3))
    jacobi(given, values, vectors)
    order = np.argsort(values, kind="stable")
    return values[order], vectors[order]


def as_symmetric(matrix: ArrayLike) -> F64:
    """Return ``matrix`` as (3, 3) finite float64; it must be symmetric within a billionth of its largest entry."""
    given = check.vectors(matrix, "matrix")
    if len(given) != 3:
        raise InvalidInput(f"matrix has the shape {given.shape}; it must be (3, 3).")
    if np.abs(given - given.T).max() > 1e-9 * np.abs(given).max():
        raise InvalidInput(f"The matrix {given.tolist()} is not symmetric; give a symmetric one.")
    return given


@kernel
def _clear(p: float, q: float, pq: float) -> tuple[float, float, float, float]:
    """Return the two diagonal elements after the rotation that clears ``pq`` between them, and its cosine and sine."""
    difference, twice = q - p, 2.0 * pq
    tangent = twice / (difference + math.copysign(math.sqrt(difference * difference + twice * twice), difference))
    cosine = 1.0 / math.sqrt(tangent * tangent + 1.0)
    return p - tangent * pq, q + tangent * pq, cosine, tangent * cosine


@kernel
def _turn(one: Vector, other: Vector, cosine: float, sine: float) -> tuple[Vector, Vector]:
    """Return two rows of the eigenvector matrix after the same rotation."""
    return (
        (cosine * one[0] - sine * other[0], cosine * one[1] - sine * other[1], cosine * one[2] - sine * other[2]),
        (sine * one[0] + cosine * other[0], sine * one[1] + cosine * other[1], sine * one[2] + cosine * other[2]),
    )

"""Vectors in single precision, as the Fingsics engine keeps them: three float32 in a tuple.

Lengths alone are worked out in double precision and rounded once, and thresholds are doubles. Both show in the counts
of collisions, so both are kept. Written with typed constants only: a bare number would widen a kernel to double.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from choque._core.kernel import kernel
from choque._core.types import Integer
from choque.narrow.pair import Manifold

Vector: TypeAlias = tuple[Any, Any, Any]
"""Three float32."""

Touch: TypeAlias = tuple[Any, Vector, Vector, Any]
"""Whether two shapes touch, and if so the point, the normal and the depth."""

ZERO = np.float32(0.0)
ONE = np.float32(1.0)
HALF = np.float32(0.5)
NEAR_ZERO = np.float64(1e-4)
NEARLY_PARALLEL = np.float64(1e-5)


@kernel
def vector(rows: Any, row: Integer) -> Vector:
    """Return row ``row`` of (n, 3)."""
    return np.float32(rows[row, 0]), np.float32(rows[row, 1]), np.float32(rows[row, 2])


@kernel
def single(a: Any) -> Vector:
    """Return a vector in single precision."""
    return np.float32(a[0]), np.float32(a[1]), np.float32(a[2])


@kernel
def axis(rotation: Any, row: Integer, which: Integer) -> Vector:
    """Return the direction of the local axis ``which`` of body ``row``, a column of its rotation."""
    return np.float32(rotation[row, 0, which]), np.float32(rotation[row, 1, which]), np.float32(rotation[row, 2, which])


@kernel
def plus(a: Vector, b: Vector) -> Vector:
    """Return ``a + b``."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def minus(a: Vector, b: Vector) -> Vector:
    """Return ``a - b``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def times(a: Vector, factor: Any) -> Vector:
    """Return ``a`` times ``factor``."""
    return a[0] * factor, a[1] * factor, a[2] * factor


@kernel
def over(a: Vector, divisor: Any) -> Vector:
    """Return ``a`` divided by ``divisor``."""
    return a[0] / divisor, a[1] / divisor, a[2] / divisor


@kernel
def opposite(a: Vector) -> Vector:
    """Return ``-a``."""
    return -a[0], -a[1], -a[2]


@kernel
def dot(a: Vector, b: Vector) -> Any:
    """Return the dot product of ``a`` and ``b``."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product of ``a`` and ``b``."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def square(number: Any) -> Any:
    """Return the squared length, in double precision."""
    return np.float64(number) * np.float64(number)


@kernel
def length_squared(a: Vector) -> Any:
    """Summed in double precision, rounded once."""
    return np.float32(square(a[0]) + square(a[1]) + square(a[2]))


@kernel
def length(a: Vector) -> Any:
    """Summed and rooted in double precision, rounded once."""
    return np.float32(np.sqrt(square(a[0]) + square(a[1]) + square(a[2])))


@kernel
def unit(a: Vector) -> Vector:
    """Return ``a`` at length 1; up if it is zero, for which the engine stops with an error."""
    size = length(a)
    if size == ZERO:
        return ZERO, ONE, ZERO
    return over(a, size)


@kernel
def is_near_zero(a: Vector) -> bool:
    """Return whether every component is below the engine's threshold of 0.0001."""
    return bool(abs(a[0]) < NEAR_ZERO and abs(a[1]) < NEAR_ZERO and abs(a[2]) < NEAR_ZERO)


@kernel
def are_parallel(a: Vector, b: Vector) -> bool:
    """Return whether two unit vectors, or one and the negative of the other, have a squared distance below 0.00001."""
    return bool(length_squared(minus(a, b)) < NEARLY_PARALLEL or length_squared(plus(a, b)) < NEARLY_PARALLEL)


@kernel
def apart() -> Touch:
    """Return no contact."""
    nowhere = (ZERO, ZERO, ZERO)
    return False, nowhere, nowhere, ZERO


@kernel
def to_manifold(touch: Touch, sign: Any) -> Manifold:
    """Return a contact as a manifold of one point, its normal times ``sign``."""
    hit, point, normal, depth = touch
    x, y, z = normal[0] * sign, normal[1] * sign, normal[2] * sign
    return Manifold(
        1 if hit else 0,
        (np.float64(x), np.float64(y), np.float64(z)),
        ((np.float64(point[0]), np.float64(point[1]), np.float64(point[2])),),
        (np.float64(-depth),),
        (0,),
    )

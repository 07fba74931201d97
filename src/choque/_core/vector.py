"""Vectors of space as tuples of three numbers, which stay in registers inside a kernel; and rotation matrices."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from choque._core.kernel import helper, inline
from choque._core.types import F64, Floats, Integer

Vector: TypeAlias = tuple[float, float, float]


@helper
def point_of(points: Floats, row: Integer) -> Vector:
    """Return row ``row`` of an array (n, 3)."""
    return points[row, 0], points[row, 1], points[row, 2]


@helper
def add(a: Vector, b: Vector) -> Vector:
    """Return ``a + b``."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@helper
def subtract(a: Vector, b: Vector) -> Vector:
    """Return ``a − b``."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@helper
def scaled(a: Vector, factor: float) -> Vector:
    """Return ``factor · a``."""
    return a[0] * factor, a[1] * factor, a[2] * factor


@helper
def along(a: Vector, direction: Vector, factor: float) -> Vector:
    """Return ``a + factor · direction``."""
    return a[0] + factor * direction[0], a[1] + factor * direction[1], a[2] + factor * direction[2]


@helper
def dot(a: Vector, b: Vector) -> float:
    """Return the dot product of ``a`` and ``b``."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@helper
def cross(a: Vector, b: Vector) -> Vector:
    """Return the cross product of ``a`` and ``b``."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@helper
def length(a: Vector) -> float:
    """Return the length of ``a``."""
    return math.sqrt(dot(a, a))


@helper
def unit(a: Vector) -> Vector:
    """Return ``a`` scaled to length 1; the first axis if its length is 0."""
    size = math.sqrt(dot(a, a))
    if not size > 0:
        return 1.0, 0.0, 0.0
    return a[0] / size, a[1] / size, a[2] / size


@helper
def store(target: Floats, row: Integer, value: Vector) -> None:
    """Write a vector into row ``row`` of an array (n, 3)."""
    target[row, 0] = value[0]
    target[row, 1] = value[1]
    target[row, 2] = value[2]


NEWTON_STEPS = 3  # each step squares the error: the tolerance of input, 1e-4, becomes 1e-32


def orthonormalised(rotation: F64) -> F64:
    """Return the rotations nearest to nearly orthonormal matrices (n, 3, 3); exact ones are unchanged."""
    for _ in range(NEWTON_STEPS):
        rotation = rotation @ (1.5 * np.eye(3) - 0.5 * (rotation.transpose(0, 2, 1) @ rotation))
    return rotation


@inline
def turn(rotation: Any, row: Any, x: float, y: float, z: float) -> None:
    """Turn matrix ``row`` by the rotation vector (x, y, z), radians about the axes of the world, and orthonormalise it.

    The turn is exact for a constant angular velocity (Rodrigues' formula). One Newton step toward the nearest
    orthonormal matrix (Higham, "Computing the Polar Decomposition", 1986) keeps it a rotation to the last bits.
    """
    squared = x * x + y * y + z * z
    if squared < 1e-8:
        # The series, exact to the last bit here; the formula would divide by almost 0.
        first = 1.0 - squared / 6.0
        second = 0.5 - squared / 24.0
    else:
        angle = np.sqrt(squared)
        first = np.sin(angle) / angle
        second = (1.0 - np.cos(angle)) / squared
    xx = 1.0 - second * (y * y + z * z)
    yy = 1.0 - second * (x * x + z * z)
    zz = 1.0 - second * (x * x + y * y)
    xy, yx = second * x * y - first * z, second * x * y + first * z
    xz, zx = second * x * z + first * y, second * x * z - first * y
    yz, zy = second * y * z - first * x, second * y * z + first * x
    a0, b0, c0 = rotation[row, 0, 0], rotation[row, 0, 1], rotation[row, 0, 2]
    a1, b1, c1 = rotation[row, 1, 0], rotation[row, 1, 1], rotation[row, 1, 2]
    a2, b2, c2 = rotation[row, 2, 0], rotation[row, 2, 1], rotation[row, 2, 2]
    a0, a1, a2 = xx * a0 + xy * a1 + xz * a2, yx * a0 + yy * a1 + yz * a2, zx * a0 + zy * a1 + zz * a2
    b0, b1, b2 = xx * b0 + xy * b1 + xz * b2, yx * b0 + yy * b1 + yz * b2, zx * b0 + zy * b1 + zz * b2
    c0, c1, c2 = xx * c0 + xy * c1 + xz * c2, yx * c0 + yy * c1 + yz * c2, zx * c0 + zy * c1 + zz * c2
    # Columns a, b, c times (3 − RᵀR) / 2.
    aa = 1.5 - 0.5 * (a0 * a0 + a1 * a1 + a2 * a2)
    bb = 1.5 - 0.5 * (b0 * b0 + b1 * b1 + b2 * b2)
    cc = 1.5 - 0.5 * (c0 * c0 + c1 * c1 + c2 * c2)
    ab = -0.5 * (a0 * b0 + a1 * b1 + a2 * b2)
    ac = -0.5 * (a0 * c0 + a1 * c1 + a2 * c2)
    bc = -0.5 * (b0 * c0 + b1 * c1 + b2 * c2)
    rotation[row, 0, 0] = a0 * aa + b0 * ab + c0 * ac
    rotation[row, 1, 0] = a1 * aa + b1 * ab + c1 * ac
    rotation[row, 2, 0] = a2 * aa + b2 * ab + c2 * ac
    rotation[row, 0, 1] = a0 * ab + b0 * bb + c0 * bc
    rotation[row, 1, 1] = a1 * ab + b1 * bb + c1 * bc
    rotation[row, 2, 1] = a2 * ab + b2 * bb + c2 * bc
    rotation[row, 0, 2] = a0 * ac + b0 * bc + c0 * cc
    rotation[row, 1, 2] = a1 * ac + b1 * bc + c1 * cc
    rotation[row, 2, 2] = a2 * ac + b2 * bc + c2 * cc
